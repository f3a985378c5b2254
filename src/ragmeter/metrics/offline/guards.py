"""What forbids being sure, whatever the trees say: where it is found, the chance is capped.

The trees learnt from answers that systems wrote in good faith. An answer that is made to please a judge (the gold
words negated, among alternatives, in a heap of everything, the question said back) is rare among those, so that much
other evidence can outweigh what is wrong with it. A cap can't be outweighed, and only ever lowers a chance. Of several
gold answers each has its own cap, and the best one counts as always.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import regex

from ragmeter.metrics.bags import Ids, share
from ragmeter.metrics.offline.matching import Match
from ragmeter.metrics.offline.tables import Mark
from ragmeter.metrics.offline.vocabulary import Bools, Chunked, Floats, Small, Texts, counted


class Guard(NamedTuple):
    """Why a chance is capped, in words, and the cap."""

    because: str
    cap: float


#: The first that holds is the one that is named; the lowest caps come first. People call many answers right in which a
#: gold word stands beside an "or" or a negation ("a bank or credit union"), if they speak of what was asked: those are
#: only kept from being sure. An answer that is nothing but alternatives, a negation or a refusal is held for wrong.
GUARDS = (
    Guard("not one number of the gold answer is there, and others stand in their place", 0.3),
    Guard("the answer declines to answer, and says nothing of what was asked", 0.4),
    Guard("the gold words stand only among alternatives, and nothing is said of what was asked", 0.45),
    Guard("the gold words stand only beside a negation, and nothing is said of what was asked", 0.45),
    Guard("the answer is a heap in which the gold words are a small part, and little is said of what was asked", 0.45),
    Guard("the answer is longer than any that the judge has learnt from", 0.45),
    Guard("the answer declines to answer", 0.8),
    Guard("the answer says the question back, and no gold word that the question does not have", 0.8),
    Guard("the gold words stand only among alternatives", 0.8),
    Guard("the gold words stand only where something is negated", 0.8),
    Guard("the answer is a heap in which the gold words are a small part", 0.8),
)
NO_CAP = 1.0
_CAPS = np.array([NO_CAP, *(each.cap for each in GUARDS)])

_GAP = 3  # places between gold words that still are one mention of the gold answer
_MENTION = 0.6  # of the words of the largest mention make another one
_REACH = 4  # words between a negation or an "or" and the mention that it is about
_LONGEST = 700  # words
_HEAP = 25  # other words, where the answer does not take up the question
_LARGE_HEAP = 80
_SAID_BACK = 0.7  # of the question's words
_SAYS_NOTHING = 0.3  # of the question's words
_LAST_CASED = 0x0530  # where the alphabets with small and large letters end
_SLASHED = regex.compile(r"\d{1,4}/\d{1,2}/\d{1,4}(*SKIP)(*FAIL)|[^\s/]\s*/\s*[^\s/]")  # no date, no address
_SLASHED_WORDS = 25  # in a longer text a slash is mostly part of a name or an address


def guard_of(reason: float) -> Guard | None:
    """The guard that a reason stands for."""
    return GUARDS[int(reason) - 1] if reason else None


def capped(chances: Floats, reasons: Floats) -> Floats:
    """The chances, none above what the reasons allow. A reason is the place of a guard, from 1 on, or 0."""
    return np.asarray(np.minimum(chances, _CAPS[reasons.astype(np.int64)]))


def reasons(pairs: Match, refusal: Bools, answers: Chunked, references: Chunked) -> Floats:
    """For each pair the guard that holds, or 0; but for the first, which goes by the numbers' features."""
    mentions = _Mentions.of(pairs)
    near_either, either = _alternatives(pairs, mentions, answers, references)
    near_negation, negation = _negations(pairs, mentions)
    told = _told(pairs)
    bare = told < _SAYS_NOTHING
    heap = _heap(pairs)
    held = (
        refusal & bare, near_either & bare, near_negation & bare,
        (heap > _LARGE_HEAP) & bare, np.diff(pairs.answer.starts) > _LONGEST,
        refusal, _echo(pairs), either, negation, (heap > _HEAP) & (told < _SAID_BACK),
    )  # fmt: skip
    return np.select(held, np.arange(2.0, len(GUARDS) + 1), 0.0)


def with_numbers(reasons: Floats, features: Mapping[str, Floats]) -> Floats:
    """The guards that hold, numbers that contradict the gold answer's before all others."""
    none_found = (features["numbers_missing"] > 0) & (features["numbers_found"] <= 0)
    return np.where(none_found & (features["numbers_contradicted"] > 0), 1.0, reasons)


def _told(pairs: Match) -> Floats:
    """How much of what the question says the answer takes up, beside words that are the gold answer's as well."""
    asked = ~pairs.question.has(Mark.FUNCTION)
    told = pairs.question.per_text(pairs.question_answered & asked) - pairs.gold.per_text(_asked_gold(pairs))
    return share(np.maximum(told, 0), pairs.question.per_text(asked))


def _asked_gold(pairs: Match) -> Bools:
    return np.asarray(pairs.gold_asked & (pairs.credit > 0) & ~pairs.gold.has(Mark.FUNCTION))


class _Mentions(NamedTuple):
    """Runs of gold words in an answer. One that nothing is wrong with is enough."""

    hits: Ids  # the items, in order
    run: Ids  # of each hit
    text: Ids  # of each run

    @classmethod
    def of(cls, pairs: Match) -> _Mentions:
        """The gold words that the question does not have; where it has them all, all.

        A gold answer like "no" is mentioned by its small words, unless the answer begins with it: "No, it isn't."
        """
        answer, gold = pairs.answer, pairs.gold
        small = gold.per_text(~gold.has(Mark.FUNCTION)) == 0
        small &= answer.per_text(pairs.answer_gold & (answer.place == 0)) == 0
        hit = pairs.answer_gold & (pairs.answer_content | small[answer.text])
        hit &= ~pairs.answer_asked | (answer.per_text(hit & ~pairs.answer_asked) == 0)[answer.text]
        hits = np.flatnonzero(hit)
        # A sentence's end parts mentions, unless the gold answer has one inside: "Panic! at the Disco".
        inside = gold.has(Mark.SENTENCE)
        inside[gold.starts[1:][np.diff(gold.starts) > 0] - 1] = False
        whole = (gold.per_text(inside) > 0)[answer.text]
        block = _blocks(answer, _ends(answer) & ~whole)[hits]
        apart = (np.diff(hits) > _GAP) | (np.diff(block) > 0)
        run = np.concatenate([[0], np.cumsum(apart)]) if len(hits) else hits
        first = np.concatenate([[True], apart]) if len(hits) else np.zeros(0, bool)
        text = answer.text[hits[first]]
        # Words of the gold answer that stand somewhere by chance are no mention beside one that has more of them.
        words = np.bincount(run, minlength=len(text))
        most = np.zeros(answer.count)
        np.maximum.at(most, text, words)
        counts = words >= _MENTION * most[text]
        return cls(hits[counts[run]], (np.cumsum(counts) - 1)[run[counts[run]]], text[counts])

    def all_are(self, spoiled: Bools, count: int) -> Bools:
        """In which texts there are mentions, each with an item that is spoiled."""
        of_run = np.bincount(self.run, spoiled[self.hits], len(self.text)) > 0
        runs = np.bincount(self.text, minlength=count)
        return np.asarray((runs > 0) & (np.bincount(self.text, of_run, count) == runs))


def _blocks(side: Texts, stops: Bools) -> Small:
    """A number for each stretch between stops, never the same in two texts."""
    begins = np.zeros(len(stops) + 1, bool)
    begins[1:] = stops
    begins[side.starts] = True
    return counted(begins[:-1])


def _ends(side: Texts) -> Bools:
    """After which items a sentence ends. None does before a small letter: "Help! or Adam", "7 a.m. or later"."""
    ends = side.has(Mark.SENTENCE)
    small = ~side.has(Mark.CAPITAL) & (side.letter >= ord("a")) & (side.letter < _LAST_CASED)
    ends[:-1] &= ~small[1:]
    return ends


def _in_block_with(what: Bools, block: Small) -> Bools:
    count = int(block[-1]) + 1 if len(block) else 0
    return np.asarray((np.bincount(block, what, count) > 0)[block]) if len(block) else what


def _near(what: Bools, block: Small) -> Bools:
    """Which items have one of `what` within reach in their block."""
    near = what.copy()
    for step in range(1, min(_REACH, len(what) - 1) + 1):
        same = block[step:] == block[:-step]
        near[step:] |= what[:-step] & same
        near[:-step] |= what[step:] & same
    return near


def _alternatives(pairs: Match, mentions: _Mentions, answers: Chunked, references: Chunked) -> tuple[Bools, Bools]:
    """Where every mention is one candidate of several: close by, and anywhere in its sentence."""
    answer = pairs.answer
    either = _beyond(pairs, Mark.EITHER | Mark.CHOICE)
    sentence = _blocks(answer, _ends(answer))
    hedge = answer.has(Mark.HEDGE | Mark.DOUBT) & ~pairs.answer_gold
    hedged_twice = _in_block_with(hedge, sentence) & (answer.per_text(hedge) > 1)[answer.text]
    slashed = _has_slash(answers) & ~_has_slash(references) & (np.diff(answer.starts) <= _SLASHED_WORDS)
    slashed &= answer.per_text(pairs.answer_content & ~pairs.answer_gold) > 0
    wide = mentions.all_are(_in_block_with(either, sentence) | hedged_twice | slashed[answer.text], answer.count)
    return mentions.all_are(_near(either, sentence), answer.count), wide


def _beyond(pairs: Match, mark: int) -> Bools:
    """The answer's items that are marked so, where it has more than the gold answer, or the question if said back."""
    answer, gold, question = pairs.answer, pairs.gold, pairs.question
    said_back = share(question.per_text(pairs.question_answered), np.diff(question.starts)) >= _SAID_BACK
    cut = gold.has(Mark.EITHER) & (gold.place == 0)  # a gold answer that begins with "or" was cut out of a text
    whole = gold.per_text(pairs.content & ~pairs.exact) == 0  # "Pangaea or Morocco" is not "Pangaea or Pangea"
    own = np.where(whole, gold.per_text(gold.has(mark) & ~cut), 0) + np.where(
        said_back, question.per_text(question.has(mark)), 0
    )
    found = answer.has(mark)
    return np.asarray(found & (answer.per_text(found) > own)[answer.text])


def _has_slash(side: Chunked) -> Bools:
    found = np.array(["/" in text and _SLASHED.search(text) is not None for text in side.texts], bool)
    return np.asarray(found[side.of_row])


def _negations(pairs: Match, mentions: _Mentions) -> tuple[Bools, Bools]:
    """Where every mention is negated: close by in its clause, and anywhere in its sentence or right after it."""
    answer = pairs.answer
    negation = _beyond(pairs, Mark.NEGATION | Mark.NO | Mark.DENIAL)
    ends = _ends(answer)
    sentence = _blocks(answer, ends)
    first = np.ones(len(ends), bool)
    first[1:] = sentence[1:] != sentence[:-1]
    wide = _in_block_with(negation, sentence)
    # "Paris? No." and "Some say Paris. Wrong."
    follows = np.zeros(int(sentence[-1]) + 1 if len(sentence) else 0, bool)
    follows[sentence[first & negation & (answer.place > 0)] - 1] = True
    wide |= follows[sentence]
    clause = _blocks(answer, ends | answer.has(Mark.CLAUSE))
    return mentions.all_are(_near(negation, clause), answer.count), mentions.all_are(wide, answer.count)


def _echo(pairs: Match) -> Bools:
    """The question said back, and no gold word that it does not have."""
    question = pairs.question
    asked = ~question.has(Mark.FUNCTION)
    told = share(question.per_text(pairs.question_answered & asked), question.per_text(asked))
    new = pairs.answer.per_text(pairs.answer_content & pairs.answer_gold & ~pairs.answer_asked)
    return np.asarray((told >= _SAID_BACK) & (new == 0))


def _heap(pairs: Match) -> Floats:
    """How many words are neither gold nor asked; none where the gold words are not just a small part beside them."""
    answer = pairs.answer
    free = pairs.answer_content & ~pairs.answer_asked
    other, own = answer.per_text(free & ~pairs.answer_gold), answer.per_text(free & pairs.answer_gold)
    return np.where(own < other / 2, other, 0.0)
