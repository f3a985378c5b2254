"""The offline support model: whether passages support a claim, from the texts alone.

`coverage.py` looks up the words of claims in the sentences of passages, `features.py` turns the result into
numbers, trees that people's labels have trained weigh them. `training/` in the repository trains the trees,
docs/offline-support.md says how good they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain

import numpy as np

from ragmeter.metrics.bags import Ids, ranges, slices
from ragmeter.metrics.offline.reading.omissions import pieces, readable, with_stops
from ragmeter.metrics.offline.reading.vocabulary import Floats, chunked, languages_of, vocabulary
from ragmeter.metrics.offline.support.coverage import Pairs
from ragmeter.metrics.offline.support.features import (
    N_COLUMNS,
    NAMES,
    ComparedClaims,
    is_contradicted,
    is_half_missing,
    support_features,
)
from ragmeter.metrics.offline.trees import Trees, read_model

#: From this probability on a claim counts as supported.
SUPPORTED = 0.5
MODEL = "support.json.gz"
#: Characters of texts that are compared at once, so that memory stays flat.
_AT_ONCE = 1 << 21
_NEGATED = -1.1  # the greatest log-odds of a claim that is negated: a probability of 0.25
_HALF_MISSING = -0.2  # and of one of two words, if a word is missing: 0.45
_VERBATIM = 1.1  # the least of a claim that stands in a passage word for word: 0.75
_HEAD = 1_000  # characters of a text that tell its language


def support(claims: Sequence[str], passages: Sequence[str]) -> Floats:
    """The probability that a passage supports a claim, for each claim (rows) and each passage (columns)."""
    return support_of_rows([claims], [passages])[0]


def supported(claims: Sequence[str], passages: Sequence[str]) -> Floats:
    """The probability that the passages together support a claim, for each claim."""
    return supported_of_rows([claims], [passages])[0]


def unsupported_words(claim: str, passages: Sequence[str]) -> list[tuple[int, int]]:
    """Where the words of the claim begin and end, in characters, that no passage has in any form."""
    from ragmeter.metrics.offline.support.gaps import unsupported_spans  # which needs this module

    return unsupported_spans(claim, passages)


def support_of_rows(claims: Sequence[Sequence[str]], passages: Sequence[Sequence[str]]) -> list[Floats]:
    """`support` for many rows at once, which takes far less time than row by row."""
    rows = list(zip(claims, passages, strict=True))
    counts = [len(row_claims) * len(row_passages) for row_claims, row_passages in rows]
    parts = split_into(_chances(rows, by_passage=True), counts)
    return [part.reshape(len(row[0]), len(row[1])) for part, row in zip(parts, rows, strict=True)]


def supported_of_rows(claims: Sequence[Sequence[str]], passages: Sequence[Sequence[str]]) -> list[Floats]:
    """`supported` for many rows at once, which takes far less time than row by row."""
    return split_into(_chances(list(zip(claims, passages, strict=True))), [len(row) for row in claims])


def split_into(values: Floats, counts: Sequence[int]) -> list[Floats]:
    """Consecutive parts of so many values each."""
    return np.split(values, np.cumsum(counts)[:-1]) if len(counts) else []


Row = tuple[Sequence[str], Sequence[str]]


def _chances(rows: Sequence[Row], *, by_passage: bool = False) -> Floats:
    return np.asarray(1 / (1 + np.exp(-log_odds(support_lines(rows, by_passage=by_passage), support_trees()))))


def log_odds(lines: Floats, trees: Trees) -> Floats:
    """The calibrated log-odds of claims by their features, capped where a claim is negated, or lacks half of itself.

    A claim that stands in a passage word for word is supported, whatever the features say.
    """
    odds = trees.slope * trees.scores(lines) + trees.intercept
    odds = np.where(is_half_missing(lines), np.minimum(odds, _HALF_MISSING), odds)
    odds = np.where(is_contradicted(lines), np.minimum(odds, _NEGATED), odds)
    return np.where(lines[:, len(NAMES)] > 0, np.maximum(odds, _VERBATIM), odds)


@cache
def support_trees() -> Trees:
    """The trees of the packaged model."""
    return Trees.read(read_model(MODEL), NAMES)


def support_lines(rows: Sequence[Row], *, by_passage: bool = False) -> Floats:
    """The features of each claim with all passages of its row, or with each of them, row by row, claim by claim."""
    counts = [len(claims) * (len(passages) if by_passage else 1) for claims, passages in rows]
    starts = np.concatenate([[0], np.cumsum(np.array(counts, np.int64))]).astype(np.int64)
    lines = np.zeros((int(starts[-1]), N_COLUMNS))
    for block in compare(rows, by_passage=by_passage):
        lines[ranges(starts[block.rows], np.diff(starts)[block.rows])] = support_features(block.compared)
    return lines


@dataclass(frozen=True)
class Block:
    """Some rows of one language, compared. The pairs are in the order of the rows and of their claims."""

    rows: Ids
    compared: ComparedClaims


def compare(rows: Sequence[Row], *, by_passage: bool = False) -> Iterator[Block]:
    """Compare the claims of rows with their passages, some rows at a time, language by language."""
    sizes = np.array([sum(map(len, chain(*row))) for row in rows], np.int64)
    for part in slices(sizes, _AT_ONCE):
        numbers = np.arange(part.start, part.stop)
        heads = [[" ".join(texts[:3])[:_HEAD] for texts in side] for side in zip(*rows[part], strict=True)]
        languages = np.array(languages_of(chunked(heads[1]), chunked(heads[0])))
        for language in np.unique(languages).tolist():
            some = numbers[languages == language]
            yield Block(some, _compared([rows[number] for number in some.tolist()], language, by_passage))


def _compared(rows: Sequence[Row], language: str, by_passage: bool) -> ComparedClaims:
    vocab = vocabulary(language)
    parts = [pieces(passage) for _, passages in rows for passage in passages]
    n_parts = np.fromiter(map(len, parts), np.int64, len(parts))
    claims = vocab.texts(chunked([with_stops(readable(claim)) for claims, _ in rows for claim in claims]))
    passages = vocab.texts(chunked(list(chain.from_iterable(parts))))
    return ComparedClaims.of(claims, passages, _pairs(rows, n_parts, by_passage), vocab.properties.words, language)


def _pairs(rows: Sequence[Row], n_parts: Ids, by_passage: bool) -> Pairs:
    """Each claim with all passages of its row, or with each of them. `n_parts` has the parts of each passage."""
    n_claims = np.array([len(claims) for claims, _ in rows], np.int64)
    n_passages = np.array([len(passages) for _, passages in rows], np.int64)
    row_of_claim = np.repeat(np.arange(len(rows)), n_claims)
    if not by_passage:
        of_part = np.repeat(np.repeat(np.arange(len(rows)), n_passages), n_parts)
        return Pairs(np.arange(len(row_of_claim)), row_of_claim, of_part, len(rows))
    claim = np.repeat(np.arange(len(row_of_claim)), n_passages[row_of_claim])
    passage = ranges((np.cumsum(n_passages) - n_passages)[row_of_claim], n_passages[row_of_claim])
    return Pairs(claim, passage, np.repeat(np.arange(len(n_parts)), n_parts), len(n_parts))
