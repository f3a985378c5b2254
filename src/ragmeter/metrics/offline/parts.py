"""The parts of a gold answer that is a list: "blue, white and red"."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ragmeter.metrics.offline.matching import Match
from ragmeter.metrics.offline.tables import Mark
from ragmeter.metrics.offline.vocabulary import Bools, Floats, counted


class Parts(NamedTuple):
    """The number of parts of each gold answer, and the share that was found of the part that was found least."""

    number: Floats
    least: Floats

    @classmethod
    def of(cls, pairs: Match) -> Parts:
        """The parts between commas and words like "and"."""
        gold = pairs.gold
        begins = np.zeros(len(gold.ids), bool)
        ends = gold.has(Mark.CLAUSE | Mark.SENTENCE)
        begins[1:] = ends[:-1]
        begins |= gold.has(Mark.ALSO)
        begins[gold.starts[:-1][np.diff(gold.starts) > 0]] = True
        part_of_item = counted(begins) - 1
        words = np.bincount(part_of_item, pairs.content)
        found_words = np.bincount(part_of_item, pairs.credit * pairs.content)
        of_pair = gold.text[np.flatnonzero(begins)]
        has_words = words > 0
        least = np.ones(gold.count)
        np.minimum.at(least, of_pair[has_words], found_words[has_words] / words[has_words])
        least[gold.per_text(pairs.content) == 0] = 0.0
        return cls(np.bincount(of_pair[has_words], minlength=gold.count).astype(float), least)


class Asked(NamedTuple):
    """Whether the questions ask for a place, for more than one thing, what something is called, or who won."""

    place: Bools
    several: Bools
    term: Bools
    winner: Bools


def lacks_part(pairs: Match, parts: Parts, asked: Asked) -> Bools:
    """Gold answers that are a list of which at least one part is missing.

    A list has an "and" in it, or at least three parts and is not a place ("Toronto, Ontario, Canada") or a date. People
    accept one of two, or a part of what only commas separate, unless the question asks for more than one.
    """
    gold = pairs.gold
    joined = gold.per_text(gold.has(Mark.ALSO)) > 0
    listed = (parts.number > 2) & ~asked.place & (gold.per_text(gold.has(Mark.NUMBER | Mark.MONTH)) == 0)
    lacking = (joined | listed) & (parts.number > 1) & (parts.least <= 0) & ~pairs.squashed
    return np.asarray(lacking & ((joined & (parts.number > 2)) | asked.several))
