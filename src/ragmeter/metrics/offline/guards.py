"""Guards: conditions that cap the probability, whatever the trees say, and one that lifts it.

The trees were trained on honest answers of systems. Answers that try to deceive a judge (the gold words negated, among
alternatives, in a heap of other words, the question repeated) are rare among those, so that other evidence could
outweigh what is wrong with them. A cap can't be outweighed. With several gold answers each has its own guard, and the
best one counts.

Where a guard costs more right answers than it catches wrong ones, on answers that it was not made for, its cap is
`threshold.NOT_SURE`, with the exceptions that docs/offline-judge.md names beside the table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ragmeter.metrics.bags import share
from ragmeter.metrics.offline import thresholds as threshold
from ragmeter.metrics.offline.matching.comparison import Compared, refusals
from ragmeter.metrics.offline.matching.replacements import (
    another_day,
    another_name,
    another_number,
    another_unit,
    other_numbers,
)
from ragmeter.metrics.offline.matching.roles import swapped_roles
from ragmeter.metrics.offline.matching.scope import is_rephrased, is_stated_elsewhere, not_said
from ragmeter.metrics.offline.matching.signs import another_sign
from ragmeter.metrics.offline.reading.tables import Mark
from ragmeter.metrics.offline.reading.vocabulary import Bools, Floats
from ragmeter.metrics.offline.thresholds import NOT_SURE, WRONG

NO_CAP = 1.0


class Guard(NamedTuple):
    """The condition, in words and as a predicate, and the cap; or a floor."""

    because: str
    cap: float
    holds: Callable[[Compared], Bools]
    floor: float = 0.0


def _same_signs(case: Compared) -> Bools:
    """Where gold answer and answer have no words, and are the same signs: ">=", an emoji."""
    pairs = case.pairs
    same = (np.diff(pairs.gold.starts) == 0) & (np.diff(pairs.answer.starts) == 0)
    for row in np.flatnonzero(same).tolist():
        gold, answer = (text.strip() for text in case.texts(row)[1:])
        same[row] = bool(gold) and gold == answer
    return np.asarray(same)


def _both_decline(case: Compared) -> Bools:
    """Where the gold answer says that there is no answer, and so does the answer. An empty one says nothing."""
    says_something = (np.diff(case.pairs.answer.starts) > 0) & ~_only_question(case)
    return np.asarray(_nothing_to_answer(case, declined=True) & says_something)


def _nothing_to_answer(case: Compared, *, declined: bool) -> Bools:
    """Where the gold answer says that there is no answer, and the answer declines, or gives one."""
    return np.asarray(case.gold_declines & (refusals(case.pairs.answer, case.answers) == declined))


def _no_number(case: Compared) -> Bools:
    """Where not one number of the gold answer is there, not even roughly, and others are."""
    numbers, gold = case.pairs.numbers, case.pairs.gold
    none_there = (numbers["numbers_missing"] > 0) & (numbers["numbers_found"] <= 0)
    none_there &= (gold.per_text(case.pairs.rough) == 0) & (numbers["numbers_contradicted"] > 0)
    return np.asarray(none_there & ~_same_polarity(case))


def _same_polarity(case: Compared) -> Bools:
    """Where the answer says the same of yes and no, and nothing forbids to believe it."""
    is_believed = ~case.refusal & ~_only_question(case) & (case.n_heaped <= threshold.HEAP)
    return np.asarray((case.polarity > 0) & is_believed & ~other_numbers(case.pairs))


def _lacks_part(case: Compared) -> Bools:
    """Gold answers that are a list of which at least one part is missing.

    A list has an "and" in it, or at least three parts and is not a place ("Toronto, Ontario, Canada") or a date. People
    accept one of two, or a part of what only commas separate, unless the question asks for more than one.
    """
    gold, parts = case.pairs.gold, case.pairs.parts
    joined = gold.per_text(gold.has(Mark.ALSO)) > 0
    listed = (parts.number > 2) & ~case.asked.place & (gold.per_text(gold.has(Mark.NUMBER | Mark.MONTH)) == 0)
    lacking = (joined | listed) & (parts.number > 1) & (parts.least <= 0) & ~case.pairs.squashed
    return np.asarray(lacking & ((joined & (parts.number > 2)) | case.asked.several))


def _only_question(case: Compared) -> Bools:
    """Where the answer is the question, once or several times: its words, no others, as many or a multiple."""
    pairs = case.pairs
    n_others = pairs.answer.per_text(~pairs.answer_asked) + pairs.question.per_text(~pairs.question_answered)
    length, asked_length = np.diff(pairs.answer.starts), np.maximum(np.diff(pairs.question.starts), 1)
    return np.asarray((n_others == 0) & (length > 0) & (length % asked_length == 0))


def _echo(case: Compared) -> Bools:
    """Where a brief answer repeats the question, and has no gold word that the question does not have."""
    pairs, question = case.pairs, case.pairs.question
    asked = ~question.has(Mark.FUNCTION)
    question_share = share(question.per_text(pairs.question_answered & asked), question.per_text(asked))
    new = pairs.answer.per_text(pairs.answer_content & pairs.answer_gold & ~pairs.answer_asked)
    return np.asarray((question_share >= threshold.ECHO) & (new == 0) & case.mentions.short)


def _negated(case: Compared) -> Bools:
    """Where every mention is clearly negated, by the writer and not in what is quoted, and the gold answer is not."""
    return _unless(is_stated_elsewhere, case.negations.clearly & ~_same_polarity(case), case)


def _bare_alternatives(case: Compared) -> Bools:
    """Where a brief answer has the gold words only among alternatives, and they are not two names of one thing."""
    pairs, mentions, answer = case.pairs, case.mentions, case.pairs.answer
    other = pairs.answer_content & pairs.other
    n_others = answer.per_text(other)
    asks = (n_others > 0) & (answer.per_text(answer.has(Mark.ASKS)) > 0)  # "Who was it? Ann or Ben."
    beside_question = asks & mentions.all_are(mentions.question_share < threshold.SAYS_NOTHING)
    is_named_twice = case.asked.term & (answer.per_text(other & answer.has(Mark.CAPITAL | Mark.NUMBER)) == 0)
    is_named_twice &= (answer.per_text(answer.has(Mark.EITHER)) == 1) & (n_others <= threshold.SECOND_NAME)
    is_brief = answer.per_text(~pairs.answer_gold) <= threshold.BRIEF_ANSWER
    either = case.alternatives.clearly & (case.bare | beside_question) & is_brief & ~is_named_twice
    return _unless(is_rephrased, either, case)


def _unless(excuse: Callable[..., bool], flags: Bools, case: Compared) -> Bools:
    """The flagged pairs whose texts have no excuse; only these few are read."""
    excused = [row for row in np.flatnonzero(flags).tolist() if excuse(*case.texts(row), case.vocabulary.table)]
    stays = np.array(flags)
    stays[excused] = False
    return stays


_BARE = ", and nothing is said of what was asked"
_HEAPED = "the answer is a heap in which the gold words are a small part"
#: The first guard that holds is the one that counts, so a new one stands before those that it is to beat: what both
#: texts say comes before how it is said. People accept many answers in which a gold word is beside an "or" or a
#: negation ("a bank or credit union"), if they address the question: those get a mild cap. An answer with nothing but
#: alternatives, a negation or a refusal counts as wrong.
GUARDS = {
    "same signs": Guard("gold answer and answer are the same signs, and no words", NO_CAP, _same_signs, 0.95),
    "both decline": Guard(
        "the gold answer says that there is no answer, and so does the answer", NO_CAP, _both_decline, 0.65
    ),
    "nothing to answer": Guard(
        "the gold answer says that there is no answer, and the answer gives one", WRONG,
        lambda case: _nothing_to_answer(case, declined=False),
    ),
    "numbers": Guard("not one number of the gold answer is there, and others stand in their place", 0.3, _no_number),
    "another number": Guard("a name has another number after it than in the gold answer", 0.3, another_number),
    "another unit": Guard("the number has another unit than in the gold answer", 0.3, another_unit),
    "another sign": Guard(
        "a letter or its sign (hepatitis A, C++), or a number's unit (GB, MB), is another than in the gold answer", 0.3,
        lambda case: another_sign(case.references, case.answers),
    ),
    "another day": Guard(
        "a date in figures is another day than the gold answer's, however it is read", 0.3, another_day
    ),
    "opposite": Guard(
        "the answer says the opposite of the gold answer", WRONG, lambda case: case.polarity < 0
    ),
    "another date": Guard(
        "another gold answer has the date, and the answer gives another one", 0.3, lambda case: case.has_another_date
    ),
    "roles": Guard(
        "a score is the other way round, or the gold answer is the one that was beaten", 0.4,
        lambda case: swapped_roles(case.asked.winner, case.references, case.answers),
    ),
    "list in part": Guard("a part of the gold answer's list is missing", 0.4, _lacks_part),
    "same polarity": Guard(
        "the answer says the same of yes and no as the gold answer", NOT_SURE,
        lambda case: _same_polarity(case) & (case.pairs.gold.per_text(case.pairs.credit < 1) > 0), 0.65,
    ),
    "bare refusal": Guard(
        "the answer declines to answer, and says nothing of what was asked", WRONG,
        lambda case: case.refusal & case.bare,
    ),
    "only the question": Guard("the answer says the question back, and nothing else", WRONG, _only_question),
    "another name": Guard("another name stands in the place of one of the gold answer's", 0.45, another_name),
    "negated": Guard("the gold words stand only beside a negation", WRONG, _negated),
    "bare alternatives": Guard("the gold words stand only among alternatives" + _BARE, WRONG, _bare_alternatives),
    "bare negation": Guard(
        "the gold words stand only where something is negated" + _BARE, WRONG,
        lambda case: case.negations.widely & case.bare,
    ),
    "bare and not said": Guard(
        "the gold words are only asked about, or a 'but' follows them" + _BARE, WRONG,
        lambda case: not_said(case.mentions) & case.bare & case.mentions.short,
    ),
    "bare heap": Guard(
        f"{_HEAPED}, and little is said of what was asked", 0.45,
        lambda case: (case.n_heaped > threshold.LARGE_HEAP) & case.bare,
    ),
    "long": Guard(
        "the answer is longer than any that the judge has learnt from", 0.45,
        lambda case: np.diff(case.pairs.answer.starts) > threshold.LONGEST_ANSWER,
    ),
    "refusal": Guard("the answer declines to answer", NOT_SURE, lambda case: case.refusal),
    "echo": Guard(
        "the answer says the question back, and no gold word that the question does not have", NOT_SURE, _echo
    ),
    "alternatives": Guard(
        "the gold words stand only among alternatives", NOT_SURE,
        lambda case: case.alternatives.clearly | (case.alternatives.widely & case.mentions.short),
    ),
    "negation": Guard(
        "the gold words stand only where something is negated", NOT_SURE, lambda case: case.negations.widely
    ),
    "heap": Guard(
        _HEAPED, NOT_SURE, lambda case: (case.n_heaped > threshold.HEAP) & (case.question_share < threshold.ON_TOPIC)
    ),
}  # fmt: skip
_LIMITS = np.array([(0.0, NO_CAP), *((guard.floor, guard.cap) for guard in GUARDS.values())]).T


def guard_of(number: float) -> Guard | None:
    """The guard with this number, if any."""
    return list(GUARDS.values())[int(number) - 1] if number else None


def capped(chances: Floats, guard_numbers: Floats) -> Floats:
    """The probabilities between the floor and the cap of their guards. A guard's number is from 1 on; 0 is none."""
    floors, caps = _LIMITS[:, guard_numbers.astype(np.int64)]
    return np.asarray(np.clip(chances, floors, caps))


def guard_numbers(case: Compared) -> Floats:
    """The number of the first guard that holds for each pair, or 0."""
    holds = [guard.holds(case) for guard in GUARDS.values()]
    return np.select(holds, [float(number) for number in range(1, len(GUARDS) + 1)], 0.0)
