"""Rows of texts to matches, language by language, with what is told from the whole of a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ragmeter.metrics.bags import Ids
from ragmeter.metrics.normalize import words
from ragmeter.metrics.offline.matching import Match, match
from ragmeter.metrics.offline.tables import Mark, plain
from ragmeter.metrics.offline.values import Item
from ragmeter.metrics.offline.vocabulary import (
    DEFAULT,
    Bools,
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
        texts = [known.texts(part if len(rows) == len(answer) else part.rows(rows).without_idle()) for part in split]
        pairs = match(texts[0], texts[1], texts[2], known.items)
        refusal = _refusals(texts[2], [answer[row] for row in rows.tolist()], code)
        yield Compared(rows, code, known.items, pairs, _kinds([question[row] for row in rows.tolist()], known), refusal)


def _kinds(questions: Sequence[str], known: Vocabulary) -> list[str]:
    """What each question asks for."""
    kinds = {text: known.table.kind_of_question(words(plain(text))) for text in dict.fromkeys(questions)}
    return [kinds[text] for text in questions]


def _refusals(answers: Texts, texts: Sequence[str], language: str) -> Bools:
    """Which answers decline to answer. Only those are read closely that have a word that could."""
    could = answers.has(Mark.NEGATION | Mark.SORRY) & (answers.place < _REFUSES_WITHIN)
    refuses = np.diff(answers.starts) == 0
    seen: dict[str, bool] = {}
    for row in np.flatnonzero(answers.per_text(could)).tolist():
        text = texts[row]
        if text not in seen:
            seen[text] = is_miss(text, {language, DEFAULT})
        refuses[row] = seen[text]
    return np.asarray(refuses)
