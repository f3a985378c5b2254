"""Where an answer mentions the gold answer, and the context of each mention."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ragmeter.metrics.bags import Ids
from ragmeter.metrics.offline import thresholds as threshold
from ragmeter.metrics.offline.matching.match import Match
from ragmeter.metrics.offline.reading.tables import Mark
from ragmeter.metrics.offline.reading.vocabulary import Bools, Floats, Small, Texts, counted

_LAST_CASED = 0x0530  # the end of the alphabets with upper and lower case
NEVER = 1 << 60  # a place after all others, and an unlimited reach


@dataclass(frozen=True)
class Places:
    """Some places among all items, sorted. Searching near a few of them is fast, however many items there are."""

    at: Ids

    @classmethod
    def of(cls, flags: Bools) -> Places:
        """The places of set flags."""
        return cls(np.flatnonzero(flags))

    def before(self, places: Ids) -> Ids:
        """The last mention at or before each of `places`, or -1."""
        return np.append(self.at, -1)[np.searchsorted(self.at, places, side="right") - 1]

    def after(self, places: Ids) -> Ids:
        """The first mention at or after each of `places`, or NEVER."""
        return np.append(self.at, NEVER)[np.searchsorted(self.at, places)]

    def between(self, begin: Ids, end: Ids) -> Ids:
        """How many are at or after each beginning and before its end."""
        return np.searchsorted(self.at, end) - np.searchsorted(self.at, begin)


def begins(side: Texts, stops: Bools) -> Places:
    """Where parts of the texts begin, such as sentences or clauses: after each stop, and with each text."""
    flags = np.zeros(len(stops) + 1, bool)
    flags[1:] = stops
    flags[side.starts] = True
    return Places.of(flags)


@dataclass(frozen=True)
class Mentions:
    """Runs of gold words in the answers, and their contexts. A single good mention is enough."""

    pairs: Match
    ends: Bools  # after which items of the answers a sentence ends
    first: Ids  # the first gold word of each run
    last: Ids
    text: Ids  # the answer that it is in

    @classmethod
    def of(cls, pairs: Match) -> Mentions:
        """Mentions by the gold words that the question does not have; if it has them all, by all.

        A gold answer of function words like "no" is mentioned by these, unless the answer begins with it: "No, it
        isn't."
        """
        answer, gold = pairs.answer, pairs.gold
        ends = _ends_of_sentences(answer)
        small = gold.per_text(~gold.has(Mark.FUNCTION)) == 0
        small &= answer.per_text(pairs.answer_gold & (answer.place == 0)) == 0
        is_hit = pairs.answer_gold & (pairs.answer_content | small[answer.text])
        is_hit &= ~pairs.answer_asked | (answer.per_text(is_hit & ~pairs.answer_asked) == 0)[answer.text]
        hits = np.flatnonzero(is_hit)
        # The end of a sentence separates mentions, unless the gold answer has one inside: "Panic! at the Disco".
        inside = gold.has(Mark.SENTENCE)
        inside[gold.starts[1:][np.diff(gold.starts) > 0] - 1] = False
        has_inner_end = (gold.per_text(inside) > 0)[answer.text]
        sentence = begins(answer, ends & ~has_inner_end).before(hits)
        apart = (np.diff(hits) > threshold.GAP) | (np.diff(sentence) > 0)
        runs = np.flatnonzero(np.concatenate([[True], apart])[: len(hits)])
        words = np.diff(np.append(runs, len(hits)))
        first, last = hits[runs], hits[runs + words - 1]
        # A few gold words that occur by chance are not a mention beside one that has more of them.
        text = answer.text[first]
        longest = np.zeros(answer.count)
        np.maximum.at(longest, text, words)
        is_mention = words >= threshold.MENTION * longest[text]
        return cls(pairs, ends, first[is_mention], last[is_mention], text[is_mention])

    def all_are(self, spoiled: Bools) -> Bools:
        """Whether a pair has mentions and all of them are `spoiled`, for each pair."""
        count = self.pairs.answer.count
        mentions = np.bincount(self.text, minlength=count)
        return np.asarray((mentions > 0) & (np.bincount(self.text, spoiled, count) == mentions))

    @cached_property
    def sentences(self) -> Places:
        """Where the sentences of the answers begin."""
        return begins(self.pairs.answer, self.ends)

    @cached_property
    def sentence(self) -> tuple[Ids, Ids]:
        """Where each mention's sentence begins and ends (exclusive)."""
        return self.sentences.before(self.first), self.sentences.after(self.last + 1)

    @cached_property
    def question_share(self) -> Floats:
        """The share of the question's content words in each mention's sentence, without gold words."""
        pairs = self.pairs
        answered = Places.of(pairs.answer_asked & pairs.answer_content & ~pairs.answer_gold)
        asked = pairs.question.per_text(~pairs.question.has(Mark.FUNCTION))
        return np.asarray(answered.between(*self.sentence) / np.maximum(asked, 1)[self.text])

    @cached_property
    def short(self) -> Bools:
        """Answers of a few words beside the gold ones, where every word counts."""
        return np.asarray(self.pairs.answer.per_text(~self.pairs.answer_gold) <= threshold.SHORT_ANSWER)

    @cached_property
    def bare(self) -> Bools:
        """Mentions in short answers, in sentences that hardly address the question."""
        return np.asarray(self.short[self.text] & (self.question_share < threshold.SAYS_NOTHING))

    def in_sentence(self, flags: Bools) -> Bools:
        """Which mentions have a flagged item in their sentence."""
        first, end = self.sentence
        return np.asarray(Places.of(flags).after(first) < end)

    @cached_property
    def _others_before(self) -> Small:
        """How many items before each item are not gold words."""
        return counted(np.concatenate([[False], ~self.pairs.answer_gold]))

    def near(self, flags: Bools, reach: int | Ids, before: Places | None = None, after: Places | None = None) -> Bools:
        """Which mentions have a flagged item within reach: before them, not beyond the last place of `before`; or after
        them, not beyond the next place of `after`. `near(is_not, 5, before=clauses)`: a "not" in the same clause.

        Gold words do not count, so that the length of the gold answer has no effect.
        """
        places = Places.of(flags)
        is_near = np.zeros(len(self.first), bool)
        others = self._others_before
        if before is not None:
            latest = places.before(self.last)
            is_near |= (latest >= before.before(self.first)) & (others[self.first] - others[latest] <= reach)
        if after is not None:
            next_one = places.after(self.first)
            inside = next_one < after.after(self.last + 1)
            is_near |= inside & (others[np.where(inside, next_one, 0)] - others[self.last] < reach)
        return is_near

    def ends_in(self, flags: Bools) -> Bools:
        """Which mentions have a flagged item after them in their sentence, with no new content word between."""
        pairs = self.pairs
        new = Places.of(pairs.answer_content & ~pairs.answer_gold & ~pairs.answer_asked).after(self.first)
        return np.asarray(Places.of(flags).after(self.first) < np.minimum(new, self.sentence[1]))


def _ends_of_sentences(side: Texts) -> Bools:
    """After which items a sentence ends; never before a lower-case letter: "Help! or Adam", "7 a.m. or later"."""
    ends = side.has(Mark.SENTENCE)
    small = ~side.has(Mark.CAPITAL) & (side.letter >= ord("a")) & (side.letter < _LAST_CASED)
    ends[:-1] &= ~small[1:] | side.has(Mark.ASKS)[:-1]
    return ends
