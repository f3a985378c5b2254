"""Compares rows of texts, language by language, and classifies whole questions and answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ragmeter.metrics.bags import Ids, slices
from ragmeter.metrics.normalize import words
from ragmeter.metrics.offline import thresholds as threshold
from ragmeter.metrics.offline.guards import Case
from ragmeter.metrics.offline.matching import Match, match
from ragmeter.metrics.offline.mentions import Stretches
from ragmeter.metrics.offline.parts import Asked, Parts
from ragmeter.metrics.offline.polarity import polarities
from ragmeter.metrics.offline.reading import uncited
from ragmeter.metrics.offline.roles import contradicted_by_another, swapped_roles
from ragmeter.metrics.offline.tables import Mark, plain, table
from ragmeter.metrics.offline.vocabulary import (
    DEFAULT,
    Bools,
    Chunked,
    Texts,
    Words,
    chunked,
    languages_of,
    vocabulary,
)
from ragmeter.metrics.refusals import is_miss

_AT_ONCE = 1 << 20  # words of the three sides: more would take too much memory
_REFUSES_AT_LENGTH = 800  # characters
_QUESTION_READ = 1500  # characters


@dataclass(frozen=True)
class Compared:
    """The pairs of one language: their rows, how they match, refusals and guards."""

    rows: Ids
    language: str
    words: Words
    pairs: Match
    parts: Parts  # of the gold answers
    refusal: Bools
    case: Case  # for the guards


def matches(
    question: Sequence[str], reference: Sequence[str], answer: Sequence[str], language: str | None
) -> Iterator[Compared]:
    """The pairs compared, language by language."""
    answer = [uncited(text, gold) for text, gold in zip(answer, reference, strict=True)]
    split = [chunked(side) for side in (question, reference, answer)]
    languages = np.array([language] * len(answer) if language else languages_of(split[0], split[2]))
    less_precise = contradicted_by_another(*split)
    sizes = np.stack([np.diff(side.starts)[side.of_row] for side in split]).sum(axis=0)
    for code in np.unique(languages).tolist():
        of_language = np.flatnonzero(languages == code)
        for part in slices(sizes[of_language], _AT_ONCE):
            rows = of_language[part]
            yield _compared(rows, code, [side.rows(rows) for side in split], less_precise[rows])


def _compared(rows: Ids, code: str, split: Sequence[Chunked], less_precise: Bools) -> Compared:
    """Some pairs of one language, compared."""
    vocab = vocabulary(code)
    questions, references, answers = split
    texts = [vocab.texts(side) for side in split]
    pairs = match(texts[0], texts[1], texts[2], vocab.properties.words)
    refusal = refusals(texts[2], answers, code)
    asked = _asked(questions, code)
    parts = Parts.of(pairs)
    polarity = polarities(questions, references, answers, code)
    roles = swapped_roles(asked.winner, references, answers)
    titles = vocab.roots_of(vocab.table.titles)
    case = Case(
        pairs, parts, refusal, asked, questions, answers, references, polarity, roles, vocab.table, titles, less_precise
    )
    return Compared(rows, code, vocab.properties.words, pairs, parts, refusal, case)


def _asked(questions: Chunked, language: str) -> Asked:
    """What the questions ask for."""
    asks = np.array([_asks(text[:_QUESTION_READ], language) for text in questions.texts], bool)
    return Asked(*asks.reshape(-1, 4)[questions.of_row].T)


@lru_cache(maxsize=4_096)
def _asks(question: str, language: str) -> tuple[bool, bool, bool, bool]:
    """Whether a question asks for a place, for several things, for a term, or for a winner."""
    asked, own = words(plain(question)), table(language)
    is_place = own.kind_of_question(asked) == "where"
    return is_place, own.asks_for_several(asked), not own.term.isdisjoint(asked), own.asks_for_winner(asked)


def refusals(answers: Texts, split: Chunked, language: str) -> Bools:
    """Which answers decline to answer. Only those with a negation or an apology are checked in full."""
    begins = np.flatnonzero(answers.has(Mark.NEGATION | Mark.SORRY) & (answers.place < threshold.REFUSES_WITHIN))
    begins = begins[begins - Stretches(answers, answers.has(Mark.SENTENCE)).first(begins) < threshold.BEGINS_WITHIN]
    candidates = np.unique(answers.text[begins])
    declines = np.zeros(len(split.texts), bool)
    for text in np.unique(split.of_row[candidates]).tolist():
        declines[text] = is_miss(split.texts[text][:_REFUSES_AT_LENGTH], {language, DEFAULT})
    return np.asarray(declines[split.of_row] | (np.diff(answers.starts) == 0))
