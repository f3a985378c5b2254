"""Where an answer mentions the gold answer, and what stands around it there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ragmeter.metrics.bags import Ids
from ragmeter.metrics.offline.matching import Match
from ragmeter.metrics.offline.tables import Mark
from ragmeter.metrics.offline.vocabulary import Bools, Floats, Small, Texts, counted

_GAP = 3  # places between gold words that still are one mention of the gold answer
_MENTION = 0.6  # of the words of the largest mention make another one
SAYS_NOTHING = 0.3  # of the question's words
_SHORT = 30  # words beside the gold ones; longer answers have lists, lines and slashes for other reasons
_LAST_CASED = 0x0530  # where the alphabets with small and large letters end
NEVER = 1 << 60  # a place that is after all others, and a reach without an end


@dataclass(frozen=True)
class Places:
    """Some places among all items, in order. Looking around from few of them is cheap, however many items there are."""

    at: Ids

    @classmethod
    def of(cls, flags: Bools) -> Places:
        """Where the flags are set."""
        return cls(np.flatnonzero(flags))

    def before(self, here: Ids) -> Ids:
        """For each place the last of these that is not after it, or -1."""
        return np.append(self.at, -1)[np.searchsorted(self.at, here, side="right") - 1]

    def after(self, here: Ids) -> Ids:
        """For each place the first of these that is not before it, or one that is after all items."""
        return np.append(self.at, NEVER)[np.searchsorted(self.at, here)]

    def between(self, begin: Ids, end: Ids) -> Ids:
        """How many of these are from each beginning on and before its end."""
        return np.searchsorted(self.at, end) - np.searchsorted(self.at, begin)


class Stretches:
    """Parts of the answers, none over the end of an answer: sentences, clauses."""

    def __init__(self, side: Texts, stops: Bools) -> None:
        """Those that end after a stop."""
        self.stops = stops
        begins = np.zeros(len(stops) + 1, bool)
        begins[1:] = stops
        begins[side.starts] = True
        self.begins = Places.of(begins)

    def first(self, here: Ids) -> Ids:
        """Where the stretch of each place begins."""
        return self.begins.before(here)

    def end(self, here: Ids) -> Ids:
        """Before where the stretch of each place ends."""
        return self.begins.after(here + 1)


@dataclass(frozen=True)
class Mentions:
    """Runs of gold words in the answers, and their surroundings. One that nothing is wrong with is enough."""

    pairs: Match
    ends: Bools  # after which items of the answers a sentence ends
    first: Ids  # the first gold word of each run
    last: Ids
    text: Ids  # which answer it is in

    @classmethod
    def of(cls, pairs: Match) -> Mentions:
        """The gold words that the question does not have; where it has them all, all.

        A gold answer like "no" is mentioned by its small words, unless the answer begins with it: "No, it isn't."
        """
        answer, gold = pairs.answer, pairs.gold
        ends = _ends_of_sentences(answer)
        small = gold.per_text(~gold.has(Mark.FUNCTION)) == 0
        small &= answer.per_text(pairs.answer_gold & (answer.place == 0)) == 0
        hit = pairs.answer_gold & (pairs.answer_content | small[answer.text])
        hit &= ~pairs.answer_asked | (answer.per_text(hit & ~pairs.answer_asked) == 0)[answer.text]
        hits = np.flatnonzero(hit)
        # A sentence's end parts mentions, unless the gold answer has one inside: "Panic! at the Disco".
        inside = gold.has(Mark.SENTENCE)
        inside[gold.starts[1:][np.diff(gold.starts) > 0] - 1] = False
        whole = (gold.per_text(inside) > 0)[answer.text]
        sentence = Stretches(answer, ends & ~whole).first(hits)
        apart = (np.diff(hits) > _GAP) | (np.diff(sentence) > 0)
        begins = np.flatnonzero(np.concatenate([[True], apart])[: len(hits)])
        words = np.diff(np.append(begins, len(hits)))
        first, last = hits[begins], hits[begins + words - 1]
        # Words of the gold answer that stand somewhere by chance are no mention beside one that has more of them.
        text = answer.text[first]
        most = np.zeros(answer.count)
        np.maximum.at(most, text, words)
        counts = words >= _MENTION * most[text]
        return cls(pairs, ends, first[counts], last[counts], text[counts])

    def all_are(self, spoiled: Bools) -> Bools:
        """In which pairs there are mentions, and all of them spoiled."""
        count = self.pairs.answer.count
        mentions = np.bincount(self.text, minlength=count)
        return np.asarray((mentions > 0) & (np.bincount(self.text, spoiled, count) == mentions))

    @cached_property
    def sentences(self) -> Stretches:
        """The sentences of the answers."""
        return Stretches(self.pairs.answer, self.ends)

    @cached_property
    def sentence(self) -> tuple[Ids, Ids]:
        """Where each mention's sentence begins, and before where it ends."""
        return self.sentences.first(self.first), self.sentences.end(self.last)

    @cached_property
    def told(self) -> Floats:
        """How much of what was asked each mention's sentence takes up, beside gold words."""
        pairs = self.pairs
        told = Places.of(pairs.answer_asked & pairs.answer_content & ~pairs.answer_gold)
        asked = pairs.question.per_text(~pairs.question.has(Mark.FUNCTION))
        return np.asarray(told.between(*self.sentence) / np.maximum(asked, 1)[self.text])

    @cached_property
    def short(self) -> Bools:
        """Answers of a few words beside the gold ones."""
        return np.asarray(self.pairs.answer.per_text(~self.pairs.answer_gold) <= _SHORT)

    @cached_property
    def bare(self) -> Bools:
        """Mentions in sentences of short answers that take up next to nothing of the question."""
        return np.asarray(self.short[self.text] & (self.told < SAYS_NOTHING))

    def in_sentence(self, what: Bools) -> Bools:
        """Which mentions have one of these in their sentence."""
        first, end = self.sentence
        return np.asarray(Places.of(what).after(first) < end)

    @cached_property
    def _others_before(self) -> Small:
        """How many items that are no gold words stand before each item."""
        return counted(np.concatenate([[False], ~self.pairs.answer_gold]))

    def near(
        self, what: Bools, reach: int | Ids, before: Stretches | None = None, after: Stretches | None = None
    ) -> Bools:
        """Which mentions have one of these within reach, before them or after them, in their stretch of that kind.

        Gold words do not count, so that a long gold answer is as near as a short one.
        """
        places = Places.of(what)
        found = np.zeros(len(self.first), bool)
        others = self._others_before
        if before is not None:
            latest = places.before(self.last)
            found |= (latest >= before.first(self.first)) & (others[self.first] - others[latest] <= reach)
        if after is not None:
            next_one = places.after(self.first)
            inside = next_one < after.end(self.last)
            found |= inside & (others[np.where(inside, next_one, 0)] - others[self.last] < reach)
        return found

    def ends_in(self, what: Bools) -> Bools:
        """Which mentions have one of these right after them, with nothing new between."""
        pairs = self.pairs
        new = Places.of(pairs.answer_content & ~pairs.answer_gold & ~pairs.answer_asked).after(self.first)
        return np.asarray(Places.of(what).after(self.first) < np.minimum(new, self.sentence[1]))


def _ends_of_sentences(side: Texts) -> Bools:
    """After which items a sentence ends. None does before a small letter: "Help! or Adam", "7 a.m. or later"."""
    ends = side.has(Mark.SENTENCE)
    small = ~side.has(Mark.CAPITAL) & (side.letter >= ord("a")) & (side.letter < _LAST_CASED)
    ends[:-1] &= ~small[1:] | side.has(Mark.ASKS)[:-1]
    return ends
