"""The parts of a gold answer that is a list: "blue, white and red"."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ragmeter.metrics.offline.matching import Match
from ragmeter.metrics.offline.tables import Mark
from ragmeter.metrics.offline.vocabulary import Bools, Floats, counted


class Parts(NamedTuple):
    """How many parts each gold answer has, and how much is found of the one that is found least."""

    number: Floats
    least: Floats

    @classmethod
    def of(cls, pairs: Match) -> Parts:
        """The parts are parted by commas, and by words that join."""
        gold = pairs.gold
        begins = np.zeros(len(gold.ids), bool)
        ends = gold.has(Mark.CLAUSE | Mark.SENTENCE)
        begins[1:] = ends[:-1]
        begins |= gold.has(Mark.ALSO)
        begins[gold.starts[:-1][np.diff(gold.starts) > 0]] = True
        part = counted(begins) - 1
        words = np.bincount(part, pairs.content)
        found = np.bincount(part, pairs.credit * pairs.content)
        of_pair = gold.text[np.flatnonzero(begins)]
        real = words > 0
        least = np.ones(gold.count)
        np.minimum.at(least, of_pair[real], found[real] / words[real])
        least[gold.per_text(pairs.content) == 0] = 0.0
        return cls(np.bincount(of_pair[real], minlength=gold.count).astype(float), least)


class Asked(NamedTuple):
    """What the questions ask for: a place, more than one thing."""

    place: Bools
    several: Bools


def in_part(pairs: Match, parts: Parts, asked: Asked) -> tuple[Bools, Bools]:
    """Gold answers that are a list, where nothing is there of one of its parts, or more.

    A list has an "and" in it, or three parts and more that are no place ("Toronto, Ontario, Canada") and no date.
    People take one of a pair for right as often as not, unless the question asks for more than one.
    """
    gold = pairs.gold
    joined = gold.per_text(gold.has(Mark.ALSO)) > 0
    listed = (parts.number > 2) & ~asked.place & (gold.per_text(gold.has(Mark.NUMBER | Mark.MONTH)) == 0)
    lacking = (joined | listed) & (parts.number > 1) & (parts.least <= 0) & ~pairs.squashed
    return lacking & ((parts.number > 2) | asked.several), lacking
