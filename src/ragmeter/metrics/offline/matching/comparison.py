"""Compares rows of texts, language by language, and classifies whole questions and answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from ragmeter.metrics.bags import Ids, share, slices
from ragmeter.metrics.normalize import same_words, words_and_figures
from ragmeter.metrics.offline import thresholds as threshold
from ragmeter.metrics.offline.matching.match import Match, match
from ragmeter.metrics.offline.matching.mentions import Mentions
from ragmeter.metrics.offline.matching.roles import contradicted_by_another
from ragmeter.metrics.offline.matching.scope import Spoiled, alternatives, negations
from ragmeter.metrics.offline.polarity.polarities import polarities
from ragmeter.metrics.offline.reading.omissions import uncited, without_struck_out
from ragmeter.metrics.offline.reading.tables import Mark, plain, table
from ragmeter.metrics.offline.reading.vocabulary import (
    Bools,
    Chunked,
    Floats,
    Small,
    Texts,
    Vocabulary,
    chunked,
    languages_of,
    vocabulary,
)
from ragmeter.metrics.refusals import is_miss, is_read_as_refusal

_AT_ONCE = 1 << 20  # words of the three sides: more would take too much memory
_QUESTION_READ = 1500  # characters


class Asked(NamedTuple):
    """Whether the questions ask for a place, for more than one thing, what something is called, or who won."""

    place: Bools
    several: Bools
    term: Bools
    winner: Bools


@dataclass(frozen=True)
class Compared:
    """Some pairs of one language, and what features and guards look at; computed once, where it is asked for."""

    rows: Ids
    vocabulary: Vocabulary
    pairs: Match
    has_another_date: Bools  # another gold answer has the date of this one's year, and the answer another date
    questions: Chunked
    references: Chunked
    answers: Chunked

    @property
    def language(self) -> str:
        """The language of all these pairs."""
        return self.vocabulary.language

    def texts(self, row: int) -> tuple[str, str, str]:
        """The question, the gold answer and the answer of a pair."""
        return self.questions.text(row), self.references.text(row), self.answers.text(row)

    @cached_property
    def refusal(self) -> Bools:
        """The answers that decline to answer, as flags; one that is the gold answer word for word is none."""
        declines = refusals(self.pairs.answer, self.answers)
        for row in np.flatnonzero(declines).tolist():
            declines[row] = not same_words(self.references.text(row), self.answers.text(row))
        return declines

    @cached_property
    def gold_declines(self) -> Bools:
        """The gold answers that say that there is no answer, by known phrases alone: a name may sound like one."""
        return np.asarray(clear_refusals(self.pairs.gold, self.references) & (np.diff(self.pairs.gold.starts) > 0))

    @cached_property
    def asked(self) -> Asked:
        """The kind of thing that each question asks for."""
        asks = np.array([_asks(text[:_QUESTION_READ], self.language) for text in self.questions.texts], bool)
        return Asked(*asks.reshape(-1, 4)[self.questions.of_row].T)

    @cached_property
    def polarity(self) -> Small:
        """1 where an answer says the same of yes and no as the gold answer, -1 where it says the opposite."""
        return polarities(self.questions, self.references, self.answers, self.language)

    @cached_property
    def mentions(self) -> Mentions:
        """Where the answers mention the gold answers."""
        return Mentions.of(self.pairs)

    @cached_property
    def alternatives(self) -> Spoiled:
        """The pairs in which every mention is among alternatives."""
        return alternatives(self.mentions, self.asked.several)

    @cached_property
    def negations(self) -> Spoiled:
        """The pairs in which every mention is negated."""
        return negations(self.mentions)

    @cached_property
    def question_share(self) -> Floats:
        """The share of the question's content words that occur in the answer, without the gold answer's words."""
        pairs = self.pairs
        asked = ~pairs.question.has(Mark.FUNCTION)
        asked_gold = pairs.gold_asked & (pairs.credit > 0) & ~pairs.gold.has(Mark.FUNCTION)
        answered = pairs.question.per_text(pairs.question_answered & asked) - pairs.gold.per_text(asked_gold)
        return share(np.maximum(answered, 0), pairs.question.per_text(asked))

    @cached_property
    def bare(self) -> Bools:
        """The pairs in which hardly anything is said of what was asked."""
        return np.asarray(self.question_share < threshold.SAYS_NOTHING)

    @cached_property
    def n_heaped(self) -> Floats:
        """The number of words that are neither gold nor the question's; 0 unless they far outnumber the gold words."""
        pairs, answer = self.pairs, self.pairs.answer
        n_other = answer.per_text(pairs.answer_content & pairs.other)
        n_gold = answer.per_text(pairs.answer_content & pairs.answer_gold & ~pairs.answer_asked)
        return np.where(n_gold < n_other / 2, n_other, 0.0)


def compared_pairs(
    question: Sequence[str], reference: Sequence[str], answer: Sequence[str], language: str | None
) -> Iterator[Compared]:
    """The pairs compared, language by language."""
    answer = [uncited(without_struck_out(text), gold) for text, gold in zip(answer, reference, strict=True)]
    split = [chunked(side) for side in (question, reference, answer)]
    languages = np.array([language] * len(answer) if language else languages_of(split[0], split[2]))
    has_another_date = contradicted_by_another(*split)
    sizes = np.stack([np.diff(side.starts)[side.of_row] for side in split]).sum(axis=0)
    for code in np.unique(languages).tolist():
        of_language = np.flatnonzero(languages == code)
        for part in slices(sizes[of_language], _AT_ONCE):
            rows, vocab = of_language[part], vocabulary(code)
            sides = [side.rows(rows) for side in split]
            asked, gold, answered = (vocab.texts(side) for side in sides)
            pairs = match(asked, gold, answered, vocab.properties.words)
            yield Compared(rows, vocab, pairs, has_another_date[rows], *sides)


@lru_cache(maxsize=4_096)
def _asks(question: str, language: str) -> tuple[bool, bool, bool, bool]:
    """Whether a question asks for a place, for several things, for a term, or for a winner."""
    asked, own = words_and_figures(plain(question)), table(language)
    is_place = own.kind_of_question(asked) == "where"
    return is_place, own.asks_for_several(asked), not own.words["term"].isdisjoint(asked), own.asks_for_winner(asked)


def refusals(answers: Texts, split: Chunked) -> Bools:
    """The answers that decline to answer, as flags."""
    declines = np.array([is_miss(text) for text in split.texts], bool)
    return np.asarray(declines[split.of_row] | (np.diff(answers.starts) == 0))


def clear_refusals(references: Texts, split: Chunked) -> Bools:
    """The references that say in a known phrase that there is no answer, as flags: a sentence may sound like one."""
    declines = np.array([is_read_as_refusal(text) for text in split.texts], bool)
    return np.asarray(declines[split.of_row] | (np.diff(references.starts) == 0))
