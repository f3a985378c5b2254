"""Guards: conditions that cap the probability, whatever the trees say.

The trees were trained on honest answers of systems. Answers that try to deceive a judge (the gold words negated, among
alternatives, in a heap of other words, the question repeated) are rare among those, so that other evidence could
outweigh what is wrong with them. A cap can't be outweighed, and only lowers a probability. With several gold answers
each has its own cap, and the best one counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ragmeter.metrics.bags import share
from ragmeter.metrics.offline.another import another_name, another_number, another_unit
from ragmeter.metrics.offline.matching import Match
from ragmeter.metrics.offline.mentions import SAYS_NOTHING, Mentions
from ragmeter.metrics.offline.parts import Asked, Parts, in_part
from ragmeter.metrics.offline.scope import SAID_BACK, alternatives, is_prose, negations, not_said
from ragmeter.metrics.offline.tables import Mark
from ragmeter.metrics.offline.vocabulary import Bools, Chunked, Floats


class Guard(NamedTuple):
    """The reason for a cap, in words, and the cap."""

    because: str
    cap: float


_BARE = ", and nothing is said of what was asked"
_HEAPED = "the answer is a heap in which the gold words are a small part"
#: The first guard that holds is the one that is reported; the lowest caps come first. People accept many answers in
#: which a gold word is beside an "or" or a negation ("a bank or credit union"), if they address the question: those
#: get a mild cap. An answer with nothing but alternatives, a negation or a refusal counts as wrong.
GUARDS = {
    "numbers": Guard("not one number of the gold answer is there, and others stand in their place", 0.3),
    "another number": Guard("a name has another number after it than in the gold answer", 0.3),
    "another unit": Guard("the number has another unit than in the gold answer", 0.3),
    "list in part": Guard("a part of the gold answer's list is missing", 0.4),
    "bare refusal": Guard("the answer declines to answer, and says nothing of what was asked", 0.4),
    "another name": Guard("another name stands in the place of one of the gold answer's", 0.45),
    "negated": Guard("the gold words stand only beside a negation", 0.45),
    "bare alternatives": Guard("the gold words stand only among alternatives" + _BARE, 0.45),
    "bare negation": Guard("the gold words stand only where something is negated" + _BARE, 0.45),
    "bare and not said": Guard("the gold words are only asked about, or a 'but' follows them" + _BARE, 0.45),
    "bare heap": Guard(f"{_HEAPED}, and little is said of what was asked", 0.45),
    "long": Guard("the answer is longer than any that the judge has learnt from", 0.45),
    "pair in part": Guard("one of the two that the gold answer names is missing", 0.8),
    "refusal": Guard("the answer declines to answer", 0.8),
    "echo": Guard("the answer says the question back, and no gold word that the question does not have", 0.8),
    "alternatives": Guard("the gold words stand only among alternatives", 0.8),
    "negation": Guard("the gold words stand only where something is negated", 0.8),
    "not said": Guard("the gold words are only asked about, or a 'but' follows them", 0.8),
    "heap": Guard(_HEAPED, 0.8),
}
NO_CAP = 1.0
_CAPS = np.array([NO_CAP, *(guard.cap for guard in GUARDS.values())])
_PLACES = {name: place for place, name in enumerate(GUARDS, 1)}

_LONGEST = 700  # words
_HEAP = 25  # other words, where the answer does not take up the question
_LARGE_HEAP = 80
_ECHO = 0.85  # of the question's content words


def guard_of(reason: float) -> Guard | None:
    """The guard with this number, if any."""
    return list(GUARDS.values())[int(reason) - 1] if reason else None


def capped(chances: Floats, reasons: Floats) -> Floats:
    """The probabilities, capped by their guards. A reason is the number of a guard, from 1 on, or 0."""
    return np.asarray(np.minimum(chances, _CAPS[reasons.astype(np.int64)]))


def reasons(pairs: Match, parts: Parts, refusal: Bools, asked: Asked, answers: Chunked, references: Chunked) -> Floats:
    """For each pair the number of the guard that holds, or 0; without "numbers", which depends on features."""
    mentions = Mentions.of(pairs)
    list_in_part, pair_in_part = in_part(pairs, parts, asked)
    either, listed = alternatives(mentions, asked, answers, references)
    (negated, negation), unsaid = negations(mentions), not_said(mentions)
    question_share = _question_share(pairs)
    bare = question_share < SAYS_NOTHING
    heap = _heap(pairs)
    holds = {
        "another number": another_number(pairs),
        "another unit": another_unit(pairs),
        "list in part": list_in_part,
        "bare refusal": refusal & bare,
        "another name": another_name(pairs),
        "negated": negated,
        "bare alternatives": either & bare,
        "bare negation": negation & bare,
        "bare and not said": unsaid & bare,
        "bare heap": (heap > _LARGE_HEAP) & bare,
        "long": np.diff(pairs.answer.starts) > _LONGEST,
        "pair in part": pair_in_part,
        "refusal": refusal,
        "echo": _echo(pairs),
        "alternatives": either | listed,
        "negation": negation,
        "not said": unsaid,
        "heap": (heap > _HEAP) & (bare | ((question_share < SAID_BACK) & ~is_prose(pairs))),
    }
    names = [name for name in GUARDS if name in holds]
    return np.select([holds[name] for name in names], [float(_PLACES[name]) for name in names], 0.0)


def with_numbers(reasons: Floats, features: Mapping[str, Floats]) -> Floats:
    """The reasons, with the guard "numbers", which precedes all others."""
    none_found = (features["numbers_missing"] > 0) & (features["numbers_found"] <= 0) & (features["roughly"] <= 0)
    return np.where(none_found & (features["numbers_contradicted"] > 0), _PLACES["numbers"], reasons)


def _question_share(pairs: Match) -> Floats:
    """The share of the question's content words that occur in the answer, without the gold answer's words."""
    asked = ~pairs.question.has(Mark.FUNCTION)
    asked_gold = pairs.gold_asked & (pairs.credit > 0) & ~pairs.gold.has(Mark.FUNCTION)
    answered = pairs.question.per_text(pairs.question_answered & asked) - pairs.gold.per_text(asked_gold)
    return share(np.maximum(answered, 0), pairs.question.per_text(asked))


def _echo(pairs: Match) -> Bools:
    """Where the answer repeats the question, and has no gold word that the question does not have."""
    question = pairs.question
    asked = ~question.has(Mark.FUNCTION)
    question_share = share(question.per_text(pairs.question_answered & asked), question.per_text(asked))
    new = pairs.answer.per_text(pairs.answer_content & pairs.answer_gold & ~pairs.answer_asked)
    return np.asarray((question_share >= _ECHO) & (new == 0))


def _heap(pairs: Match) -> Floats:
    """The number of words that are neither gold nor the question's; 0 unless they far outnumber the gold words."""
    answer = pairs.answer
    free = pairs.answer_content & ~pairs.answer_asked
    n_other, n_gold = answer.per_text(free & ~pairs.answer_gold), answer.per_text(free & pairs.answer_gold)
    return np.where(n_gold < n_other / 2, n_other, 0.0)
