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
from ragmeter.metrics.offline.reading.vocabulary import Bools, Chunked, Floats, chunked, languages_of, vocabulary
from ragmeter.metrics.offline.support.contradictions import clashes
from ragmeter.metrics.offline.support.coverage import Pairs
from ragmeter.metrics.offline.support.features import (
    CLASHES,
    COPIED,
    N_COLUMNS,
    NAMES,
    ComparedClaims,
    is_half_missing,
    support_features,
)
from ragmeter.metrics.offline.trees import Trees, read_model

#: From this probability on a claim counts as supported.
SUPPORTED = 0.5
MODEL = "support.json.gz"
#: Characters of texts that are compared at once, so that memory stays flat.
_AT_ONCE = 1 << 21
_CLASHES = -1.1  # the greatest log-odds of a claim that clashes with the passage: a probability of 0.25
_HALF_MISSING = -0.2  # and of one of two words, if a word is missing: 0.45
_NOWHERE = -0.6  # and of one with a number that stands nowhere: 0.35
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
    chances = probabilities(log_odds(support_lines(rows, support_trees()), support_trees()))
    parts = split_into(chances, pair_counts(rows).tolist())
    return [
        part.reshape(len(own), max(len(texts), 1))[:, : len(texts)]
        for part, (own, texts) in zip(parts, rows, strict=True)
    ]


def labels_of_rows(claims: Sequence[Sequence[str]], passages: Sequence[Sequence[str]]) -> list[tuple[Bools, Bools]]:
    """Which passages (columns) support which claims (rows), and which contradict them, for each row."""
    rows = list(zip(claims, passages, strict=True))
    lines = support_lines(rows)
    is_supported = probabilities(log_odds(lines, support_trees())) >= SUPPORTED
    clashes = (lines[:, CLASHES] > 0) & ~is_supported
    ends = np.cumsum(pair_counts(rows)).tolist()
    labels = []
    for (own, texts), begin, end in zip(rows, [0, *ends], ends, strict=False):
        shape = len(own), max(len(texts), 1)
        both = (flags[begin:end].reshape(shape)[:, : len(texts)] for flags in (is_supported, clashes))
        labels.append((next(both), next(both)))
    return labels


def supported_of_rows(claims: Sequence[Sequence[str]], passages: Sequence[Sequence[str]]) -> list[Floats]:
    """`supported` for many rows at once, which takes far less time than row by row."""
    rows = list(zip(claims, passages, strict=True))
    odds = log_odds(support_lines(rows, support_trees()), support_trees())
    return split_into(probabilities(odds[best_pairs(odds, rows)]), [len(own) for own in claims])


def split_into(values: Floats, counts: Sequence[int]) -> list[Floats]:
    """Consecutive parts of so many values each."""
    return np.split(values, np.cumsum(counts)[:-1]) if len(counts) else []


Row = tuple[Sequence[str], Sequence[str]]


def probabilities(odds: Floats) -> Floats:
    """Probabilities from log-odds."""
    return np.asarray(1 / (1 + np.exp(-odds)))


def pair_counts(rows: Sequence[Row]) -> Ids:
    """How many pairs of a claim and a passage each row has. A row without passages has an empty one."""
    return np.array([len(claims) * max(len(passages), 1) for claims, passages in rows], np.int64)


def best_pairs(odds: Floats, rows: Sequence[Row]) -> Ids:
    """The pair with the greatest odds of each claim: the passage that supports it best.

    A claim is supported by passages as it is by the best of them, so that one more passage never lowers it.
    """
    counts = [max(len(passages), 1) for claims, passages in rows for _ in claims]
    claim = np.repeat(np.arange(len(counts)), counts)
    order = np.lexsort((-odds, claim))
    return np.asarray(order[np.cumsum([0, *counts])[:-1]], np.int64)


def log_odds(lines: Floats, trees: Trees) -> Floats:
    """The calibrated log-odds of claims by their features, capped where a claim is negated, or lacks half of itself.

    A claim that stands in a passage word for word is supported, whatever the features say.
    """
    odds = trees.slope * trees.scores(lines) + trees.intercept
    odds = np.where(is_half_missing(lines), np.minimum(odds, _HALF_MISSING), odds)
    copied, clashes, nowhere = lines[:, len(NAMES) :].T > 0
    odds = np.where(nowhere, np.minimum(odds, _NOWHERE), odds)
    odds = np.where(clashes, np.minimum(odds, _CLASHES), odds)
    return np.asarray(np.where(copied, np.maximum(odds, _VERBATIM), odds))


@cache
def support_trees() -> Trees:
    """The trees of the packaged model."""
    return Trees.read(read_model(MODEL), NAMES)


def support_lines(rows: Sequence[Row], trees: Trees | None = None) -> Floats:
    """The features of each claim with each passage of its row: row by row, claim by claim, passage by passage.

    With trees, a clash is looked for only where it would lower the probability.
    """
    lines = np.zeros((int(pair_counts(rows).sum()), N_COLUMNS))
    for block in compare(rows):
        lines[block.pairs] = lines_of(block.compared, trees)
    return lines


def lines_of(compared: ComparedClaims, trees: Trees | None = None) -> Floats:
    """The features of compared pairs, and what limits their probability."""
    lines = support_features(compared)
    is_asked = np.ones(len(lines), bool) if trees is None else log_odds(lines, trees) > _CLASHES
    lines[list(clashes(compared, is_asked & (lines[:, COPIED] == 0))), CLASHES] = 1.0
    return lines


@dataclass(frozen=True)
class Block:
    """Some passages of one language, compared with the claims of their rows."""

    claims: Ids  # the number of each claim that is compared, among those of all rows
    pairs: Ids  # the number of each pair, among those of all rows
    compared: ComparedClaims


def compare(rows: Sequence[Row]) -> Iterator[Block]:
    """Compare the claims of rows with each of their passages, some rows at a time, language by language.

    Each passage is read in its own language, whatever stands beside it.
    """
    sizes = np.array([sum(map(len, chain(*row))) for row in rows], np.int64)
    firsts = [
        np.cumsum(counts) - counts for counts in (np.array([len(own) for own, _ in rows], np.int64), pair_counts(rows))
    ]
    for part in slices(sizes, _AT_ONCE):
        cells = [(row, place) for row in range(part.start, part.stop) for place in range(max(len(rows[row][1]), 1))]
        texts = [rows[row][1][place] if rows[row][1] else "" for row, place in cells]
        parts = [pieces(text) for text in texts]
        counts = np.fromiter(map(len, parts), np.int64, len(parts))
        begins = np.cumsum(counts) - counts
        split = chunked(list(chain.from_iterable(parts)))
        heads = {row: " ".join(rows[row][0][:3])[:_HEAD] for row in range(part.start, part.stop)}
        languages = np.array(languages_of(split.rows(begins), chunked([heads[row] for row, _ in cells])))
        row_of, place_of = np.array(cells, np.int64).reshape(-1, 2).T
        for language in np.unique(languages).tolist():
            some = np.flatnonzero(languages == language)
            passages = split.rows(ranges(begins[some], counts[some])), counts[some]
            yield _block(rows, (row_of[some], place_of[some]), passages, firsts, language)


def _block(
    rows: Sequence[Row], cells: tuple[Ids, Ids], passages: tuple[Chunked, Ids], firsts: Sequence[Ids], language: str
) -> Block:
    """These passages with the claims of their rows.

    `cells` has the row and the place of each passage, `passages` their parts and how many parts each has.
    """
    row_of, place_of = cells
    parts, n_parts = passages
    used, number = np.unique(row_of, return_inverse=True)
    n_claims = np.array([len(rows[row][0]) for row in used.tolist()], np.int64)
    n_passages = np.array([max(len(rows[row][1]), 1) for row in used.tolist()], np.int64)
    per_cell = n_claims[number]
    own = ranges(np.zeros(len(number), np.int64), per_cell)  # the place of each pair's claim in its row
    cell = np.repeat(np.arange(len(number)), per_cell)
    pairs = (firsts[1][row_of] + place_of)[cell] + own * n_passages[number][cell]
    of_part = np.repeat(np.arange(len(n_parts)), n_parts)
    claim = (np.cumsum(n_claims) - n_claims)[number][cell] + own
    vocab = vocabulary(language)
    texts = [with_stops(readable(text)) for row in used.tolist() for text in rows[row][0]]
    grouped = Pairs(claim, cell, of_part, len(n_parts))
    compared = ComparedClaims.of(vocab.texts(chunked(texts)), vocab.texts(parts), grouped, vocab)
    return Block(ranges(firsts[0][used], n_claims), pairs, compared)
