"""Guards: conditions that cap the probability, whatever the trees say, and one that lifts it.

The trees were trained on honest answers of systems. Answers that try to deceive a judge (the gold words negated, among
alternatives, in a heap of other words, the question repeated) are rare among those, so that other evidence could
outweigh what is wrong with them. A cap can't be outweighed. With several gold answers each has its own guard, and the
best one counts.

Where a guard costs more right answers than it catches wrong ones, on answers that it was not made for, its cap is
`threshold.NOT_SURE`, with the exceptions that docs/offline-judge.md names beside the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ragmeter.metrics.bags import Ids, share
from ragmeter.metrics.offline import thresholds as threshold
from ragmeter.metrics.offline.another import another_name, another_number, another_unit, other_numbers
from ragmeter.metrics.offline.matching import Match
from ragmeter.metrics.offline.mentions import Mentions
from ragmeter.metrics.offline.parts import Asked, Parts, lacks_part
from ragmeter.metrics.offline.polarity import Polarity
from ragmeter.metrics.offline.scope import alternatives, negations, not_said, rephrased, stated_elsewhere
from ragmeter.metrics.offline.tables import Mark, Table
from ragmeter.metrics.offline.vocabulary import Bools, Chunked, Floats

NO_CAP = 1.0


@dataclass(frozen=True)
class Case:
    """Compared pairs and everything that guards look at; computed once, where a guard asks for it."""

    pairs: Match
    parts: Parts
    refusal: Bools
    asked: Asked
    questions: Chunked
    answers: Chunked
    references: Chunked
    polarity: Polarity
    swapped: Bools  # scores and roles the other way round
    table: Table
    titles: Ids  # the roots of words like "president", which are no names
    less_precise: Bools  # another gold answer has the date of this one's year, and the answer another date

    @cached_property
    def mentions(self) -> Mentions:
        """Where the answers mention the gold answers."""
        return Mentions.of(self.pairs)

    @cached_property
    def alternatives(self) -> tuple[Bools, Bools]:
        """Where every mention is among alternatives; and in a wider sense."""
        return alternatives(self.mentions, self.asked)

    @cached_property
    def negations(self) -> tuple[Bools, Bools]:
        """Where every mention is negated, clearly or in any way."""
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
        """Where hardly anything is said of what was asked."""
        return np.asarray(self.question_share < threshold.SAYS_NOTHING)

    @cached_property
    def negated(self) -> Bools:
        """Where every mention is clearly negated, by the writer and not in what is quoted."""
        return self.negations[0] & ~stated_elsewhere(self.negations[0], self.answers, self.references, self.table)

    @cached_property
    def bare_alternatives(self) -> Bools:
        """Where a brief answer has the gold words only among alternatives, and they are not two names of one thing."""
        pairs, mentions = self.pairs, self.mentions
        answer = pairs.answer
        other = pairs.answer_content & ~pairs.answer_gold & ~pairs.answer_asked
        has_other = answer.per_text(other) > 0
        asks = has_other & (answer.per_text(answer.has(Mark.ASKS)) > 0)  # "Who was it? Ann or Ben."
        beside_question = asks & mentions.all_are(mentions.question_share < threshold.SAYS_NOTHING)
        is_named_twice = self.asked.term & (answer.per_text(other & answer.has(Mark.CAPITAL | Mark.NUMBER)) == 0)
        is_named_twice &= (answer.per_text(answer.has(Mark.EITHER)) == 1) & (
            answer.per_text(other) <= threshold.SECOND_NAME
        )
        is_brief = answer.per_text(~pairs.answer_gold) <= threshold.BRIEF_ANSWER
        either = self.alternatives[0] & (self.bare | beside_question) & is_brief & ~is_named_twice
        return np.asarray(either & ~rephrased(either, self.questions, self.answers, self.table))

    @property
    def only_question(self) -> Bools:
        """Where the answer is the question, once or several times: its words, no others, as many or a multiple."""
        pairs = self.pairs
        n_others = pairs.answer.per_text(~pairs.answer_asked) + pairs.question.per_text(~pairs.question_answered)
        lengths = np.diff(pairs.answer.starts), np.maximum(np.diff(pairs.question.starts), 1)
        return np.asarray((n_others == 0) & (lengths[0] > 0) & (lengths[0] % lengths[1] == 0))

    @property
    def echo(self) -> Bools:
        """Where a brief answer repeats the question, and has no gold word that the question does not have."""
        pairs, question = self.pairs, self.pairs.question
        asked = ~question.has(Mark.FUNCTION)
        question_share = share(question.per_text(pairs.question_answered & asked), question.per_text(asked))
        new = pairs.answer.per_text(pairs.answer_content & pairs.answer_gold & ~pairs.answer_asked)
        return np.asarray((question_share >= threshold.ECHO) & (new == 0) & self.mentions.short)

    @cached_property
    def n_heaped(self) -> Floats:
        """The number of words that are neither gold nor the question's; 0 unless they far outnumber the gold words."""
        pairs, answer = self.pairs, self.pairs.answer
        free = pairs.answer_content & ~pairs.answer_asked
        n_other, n_gold = answer.per_text(free & ~pairs.answer_gold), answer.per_text(free & pairs.answer_gold)
        return np.where(n_gold < n_other / 2, n_other, 0.0)

    @cached_property
    def same_polarity(self) -> Bools:
        """Where the answer says the same of yes and no, and nothing forbids to believe it."""
        is_believed = ~self.refusal & ~self.only_question & (self.n_heaped <= threshold.HEAP)
        return self.polarity.same & is_believed & ~other_numbers(self.pairs)


Features = Mapping[str, Floats]


class Guard(NamedTuple):
    """The condition, in words and as a predicate, and the cap; or a floor."""

    because: str
    cap: float
    holds: Callable[[Case, Features], Bools]
    floor: float = 0.0


def _other_numbers(case: Case, features: Features) -> Bools:
    none_there = (features["numbers_missing"] > 0) & (features["numbers_found"] <= 0)
    none_there &= case.pairs.gold.per_text(case.pairs.rough) == 0
    return np.asarray(none_there & (features["numbers_contradicted"] > 0) & ~case.same_polarity)


_BARE = ", and nothing is said of what was asked"
_HEAPED = "the answer is a heap in which the gold words are a small part"
#: The first guard that holds is the one that counts: what both texts say comes before how it is said. People accept
#: many answers in which a gold word is beside an "or" or a negation ("a bank or credit union"), if they address the
#: question: those get a mild cap. An answer with nothing but alternatives, a negation or a refusal counts as wrong.
GUARDS = {
    "numbers": Guard(
        "not one number of the gold answer is there, and others stand in their place", 0.3, _other_numbers
    ),
    "another number": Guard(
        "a name has another number after it than in the gold answer", 0.3, lambda case, _: another_number(case.pairs)
    ),
    "another unit": Guard(
        "the number has another unit than in the gold answer", 0.3, lambda case, _: another_unit(case.pairs)
    ),
    "opposite": Guard(
        "the answer says the opposite of the gold answer", 0.2, lambda case, _: case.polarity.opposite
    ),
    "another date": Guard(
        "another gold answer has the date, and the answer gives another one", 0.3, lambda case, _: case.less_precise
    ),
    "roles": Guard(
        "a score is the other way round, or the gold answer is the one that was beaten", 0.4,
        lambda case, _: case.swapped,
    ),
    "list in part": Guard(
        "a part of the gold answer's list is missing", 0.4,
        lambda case, _: lacks_part(case.pairs, case.parts, case.asked),
    ),
    "same polarity": Guard(
        "the answer says the same of yes and no as the gold answer", threshold.NOT_SURE,
        lambda case, features: case.same_polarity & (features["recall_all"] < 1), 0.65,
    ),
    "bare refusal": Guard(
        "the answer declines to answer, and says nothing of what was asked", threshold.WRONG,
        lambda case, _: case.refusal & case.bare,
    ),
    "only the question": Guard(
        "the answer says the question back, and nothing else", threshold.WRONG, lambda case, _: case.only_question
    ),
    "another name": Guard(
        "another name stands in the place of one of the gold answer's", 0.45,
        lambda case, _: another_name(case.pairs, case.titles),
    ),
    "negated": Guard("the gold words stand only beside a negation", threshold.WRONG, lambda case, _: case.negated),
    "bare alternatives": Guard(
        "the gold words stand only among alternatives" + _BARE, threshold.WRONG,
        lambda case, _: case.bare_alternatives,
    ),
    "bare negation": Guard(
        "the gold words stand only where something is negated" + _BARE, threshold.WRONG,
        lambda case, _: case.negations[1] & case.bare,
    ),
    "bare and not said": Guard(
        "the gold words are only asked about, or a 'but' follows them" + _BARE, threshold.WRONG,
        lambda case, _: not_said(case.mentions) & case.bare & case.mentions.short,
    ),
    "bare heap": Guard(
        f"{_HEAPED}, and little is said of what was asked", 0.45,
        lambda case, _: (case.n_heaped > threshold.LARGE_HEAP) & case.bare,
    ),
    "long": Guard(
        "the answer is longer than any that the judge has learnt from", 0.45,
        lambda case, _: np.diff(case.pairs.answer.starts) > threshold.LONGEST_ANSWER,
    ),
    "refusal": Guard("the answer declines to answer", threshold.NOT_SURE, lambda case, _: case.refusal),
    "echo": Guard(
        "the answer says the question back, and no gold word that the question does not have", threshold.NOT_SURE,
        lambda case, _: case.echo,
    ),
    "alternatives": Guard(
        "the gold words stand only among alternatives", threshold.NOT_SURE,
        lambda case, _: case.alternatives[0] | (case.alternatives[1] & case.mentions.short),
    ),
    "negation": Guard(
        "the gold words stand only where something is negated", threshold.NOT_SURE, lambda case, _: case.negations[1]
    ),
    "heap": Guard(
        _HEAPED, threshold.NOT_SURE,
        lambda case, _: (case.n_heaped > threshold.HEAP) & (case.question_share < threshold.ON_TOPIC),
    ),
}  # fmt: skip
_CAPS = np.array([NO_CAP, *(guard.cap for guard in GUARDS.values())])
_FLOORS = np.array([0.0, *(guard.floor for guard in GUARDS.values())])


def guard_of(reason: float) -> Guard | None:
    """The guard with this number, if any."""
    return list(GUARDS.values())[int(reason) - 1] if reason else None


def capped(chances: Floats, reasons: Floats) -> Floats:
    """The probabilities between the floor and the cap of their guards. A reason is a guard's number, from 1, or 0."""
    places = reasons.astype(np.int64)
    return np.asarray(np.clip(chances, _FLOORS[places], _CAPS[places]))


def reasons(case: Case, features: Features) -> Floats:
    """For each pair the number of the first guard that holds, or 0."""
    numbers = [float(number) for number in range(1, len(GUARDS) + 1)]
    return np.select([guard.holds(case, features) for guard in GUARDS.values()], numbers, 0.0)
