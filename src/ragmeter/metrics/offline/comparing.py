"""Rows of texts to matches, language by language, with what is told from the whole of a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ragmeter.metrics.bags import Ids
from ragmeter.metrics.normalize import words
from ragmeter.metrics.offline.guards import reasons
from ragmeter.metrics.offline.matching import Match, match
from ragmeter.metrics.offline.mentions import Stretches
from ragmeter.metrics.offline.parts import Asked, Parts
from ragmeter.metrics.offline.tables import QUESTIONS, Mark, plain
from ragmeter.metrics.offline.vocabulary import (
    DEFAULT,
    Bools,
    Chunked,
    Floats,
    Texts,
    Vocabulary,
    Words,
    chunked,
    languages_of,
    vocabulary,
)
from ragmeter.metrics.refusals import is_miss

_REFUSES_WITHIN = 60  # words of an answer
_BEGINS_WITHIN = 12  # words of a sentence
_REFUSES_AT_LENGTH = 800  # characters


@dataclass(frozen=True)
class Compared:
    """The pairs of one language: which rows they are, how they match, and what the whole texts say."""

    rows: Ids
    language: str
    words: Words
    pairs: Match
    parts: Parts  # of the gold answers
    kinds: Ids
    refusal: Bools
    reasons: Floats  # of the guards


def matches(
    question: Sequence[str], reference: Sequence[str], answer: Sequence[str], language: str | None
) -> Iterator[Compared]:
    """The pairs compared, language by language."""
    split = [chunked(side) for side in (question, reference, answer)]
    languages = np.array([language] * len(answer) if language else languages_of(split[0], split[2]))
    for code in np.unique(languages).tolist():
        rows = np.flatnonzero(languages == code)
        known = vocabulary(code)
        asked, wanted, told = (side.rows(rows) for side in split)
        texts = [known.texts(side) for side in (asked, wanted, told)]
        pairs = match(texts[0], texts[1], texts[2], known.properties.words)
        refusal = _refusals(texts[2], told, code)
        kinds, several = _asked(asked, known)
        parts = Parts.of(pairs)
        held = reasons(pairs, parts, refusal, Asked(kinds == QUESTIONS.index("where"), several), told, wanted)
        yield Compared(rows, code, known.properties.words, pairs, parts, kinds, refusal, held)


def _asked(questions: Chunked, known: Vocabulary) -> tuple[Ids, Bools]:
    """What each question asks for, as its place among the kinds, and whether it asks for more than one."""
    split = [words(plain(text)) for text in questions.texts]
    kinds = np.array([QUESTIONS.index(known.table.kind_of_question(each)) for each in split], np.int64)
    several = np.array([known.table.asks_for_several(each) for each in split], bool)
    return kinds[questions.of_row], several[questions.of_row]


def _refusals(answers: Texts, split: Chunked, language: str) -> Bools:
    """Which answers decline to answer. Only those are read closely that have a word that could."""
    begins = np.flatnonzero(answers.has(Mark.NEGATION | Mark.SORRY) & (answers.place < _REFUSES_WITHIN))
    begins = begins[begins - Stretches(answers, answers.has(Mark.SENTENCE)).first(begins) < _BEGINS_WITHIN]
    could = np.unique(answers.text[begins])
    declines = np.zeros(len(split.texts), bool)
    for each in np.unique(split.of_row[could]).tolist():
        declines[each] = is_miss(split.texts[each][:_REFUSES_AT_LENGTH], {language, DEFAULT})
    return np.asarray(declines[split.of_row] | (np.diff(answers.starts) == 0))
