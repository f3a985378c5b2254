"""Rows of texts to matches, language by language, with what is told from the whole of a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ragmeter.metrics.bags import Ids, ranges
from ragmeter.metrics.offline.matching import Match, match
from ragmeter.metrics.offline.tables import Mark
from ragmeter.metrics.offline.values import Item
from ragmeter.metrics.offline.vocabulary import (
    Bools,
    Chunked,
    Texts,
    Vocabulary,
    chunked,
    languages_of,
    vocabulary,
)
from ragmeter.metrics.refusals import is_miss

_REFUSES_WITHIN = 60  # words


@dataclass(frozen=True)
class Compared:
    """The pairs of one language: which rows they are, how they match, and what the whole texts say."""

    rows: Ids
    language: str
    items: Sequence[Item]
    pairs: Match
    kinds: list[str]
    refusal: Bools


def matches(
    question: Sequence[str], reference: Sequence[str], answer: Sequence[str], language: str | None
) -> Iterator[Compared]:
    """The pairs compared, language by language."""
    split = [chunked(side) for side in (question, reference, answer)]
    languages = np.array([language] * len(answer) if language else languages_of(split[0], split[2]))
    for code in np.unique(languages).tolist():
        rows = np.flatnonzero(languages == code)
        known = vocabulary(code)
        texts = [known.texts(part if len(rows) == len(answer) else _rows(part, rows)) for part in split]
        pairs = match(texts[0], texts[1], texts[2], known.items)
        refusal = _refusals(texts[2], [answer[row] for row in rows.tolist()])
        yield Compared(rows, code, known.items, pairs, _kinds(texts[0], known), refusal)


def _rows(split: Chunked, rows: Ids) -> Chunked:
    """Some of the texts, and only the chunks that stand in them."""
    counts = np.diff(split.starts)[rows]
    used, which = np.unique(split.which[ranges(split.starts[rows], counts)], return_inverse=True)
    starts = np.concatenate([[0], np.cumsum(counts)])
    return Chunked([split.distinct[each] for each in used.tolist()], which, starts)


def _kinds(questions: Texts, known: Vocabulary) -> list[str]:
    kinds: dict[bytes, str] = {}
    found = []
    for begin, end in zip(questions.starts[:-1].tolist(), questions.starts[1:].tolist(), strict=True):
        ids = questions.ids[begin:end]
        key = ids.tobytes()
        if key not in kinds:
            kinds[key] = known.table.kind_of_question([known.items[each].word for each in ids.tolist()])
        found.append(kinds[key])
    return found


def _refusals(answers: Texts, texts: Sequence[str]) -> Bools:
    """Which answers decline to answer. Only those are read closely that have a word that could."""
    could = answers.has(Mark.NEGATION | Mark.SORRY) & (answers.place < _REFUSES_WITHIN)
    refuses = np.diff(answers.starts) == 0
    seen: dict[str, bool] = {}
    for row in np.flatnonzero(answers.per_text(could)).tolist():
        text = texts[row]
        if text not in seen:
            seen[text] = is_miss(text)
        refuses[row] = seen[text]
    return np.asarray(refuses)
