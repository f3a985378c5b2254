"""Numbers with their units, so that 48 hours are two days, and a quarter is 25%.

A number's unit is the sign before it, or the word after it, perhaps behind an "of": "18 millones de dólares".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ragmeter.metrics.bags import Ids
from ragmeter.metrics.offline.reading.tables import Mark, Table
from ragmeter.metrics.offline.reading.vocabulary import Bools, Floats, Texts, Words, counted

SHARE = "share"
_SIGNS = np.array([ord(sign) for sign in "$€£¥%"])
_STEPS = (1, 2)  # places after a number in which its unit may stand; between them only a word like "of"


class Quantities(NamedTuple):
    """Numbers that have a unit: the item of each, the item of its unit or the same item, its dimension, its size."""

    item: Ids
    unit: Ids
    dimension: Ids
    size: Floats

    def keys(self) -> Ids:
        """A number for each quantity, equal where the dimension and the size are, to six figures."""
        with np.errstate(divide="ignore", invalid="ignore"):
            magnitude = np.where(self.size > 0, np.round(np.log(self.size), 6) * 1e6, -1e9)
        return np.asarray(self.dimension * 10**10 + magnitude.astype(np.int64), np.int64)


def quantities(texts: Texts, words: Words, table: Table) -> Quantities:
    """The numbers of texts that have a unit, and fractions: half a kilo, a quarter."""
    measure_of = _Measures.of(texts, words, table)
    is_number = texts.has(Mark.NUMBER) & np.isfinite(texts.value)
    places = np.flatnonzero(is_number | (measure_of.fraction > 0))
    value = np.where(measure_of.fraction[places] > 0, measure_of.fraction[places], texts.value[places])
    unit = np.full(len(places), -1)
    for step in _STEPS:
        beside = np.minimum(places + step, len(texts.ids) - 1)
        is_beside = (texts.text[beside] == texts.text[places]) & (beside > places) & (unit < 0)
        if step > 1:
            is_beside &= texts.has(Mark.FUNCTION)[beside - 1]
        is_beside &= (measure_of.dimension[beside] >= 0) & ~_ends(texts)[beside - 1]
        unit[is_beside] = beside[is_beside]
    sign = np.maximum(places - 1, 0)
    is_sign = (texts.text[sign] == texts.text[places]) & (sign < places) & (measure_of.dimension[sign] >= 0)
    is_sign &= np.isin(texts.letter[sign], _SIGNS) & ~_ends(texts)[sign]
    unit[is_sign] = sign[is_sign]
    is_share = (unit < 0) & (measure_of.fraction[places] > 0)
    dimension = np.where(unit >= 0, measure_of.dimension[unit], np.where(is_share, measure_of.share, -1))
    size = value * np.where(unit >= 0, measure_of.size[unit], 1.0)
    kept = dimension >= 0
    return Quantities(places[kept], np.where(unit >= 0, unit, places)[kept], dimension[kept], size[kept])


def _ends(texts: Texts) -> Bools:
    return texts.has(Mark.CLAUSE | Mark.SENTENCE)


class _Measures(NamedTuple):
    """What each item is as a unit: the number of its dimension or -1, its size; and its value as a fraction, or 0."""

    dimension: Ids
    size: Floats
    fraction: Floats
    share: int

    @classmethod
    def of(cls, texts: Texts, words: Words, table: Table) -> _Measures:
        """Look up each distinct word."""
        is_used = np.zeros(len(words), bool)
        is_used[texts.ids] = True
        distinct, number = np.flatnonzero(is_used), (counted(is_used) - 1)[texts.ids]
        numbers = {name: place for place, name in enumerate(sorted({name for name, _ in table.measures.values()}))}
        known = [table.measures.get(table.units.get(word, word)) for word in map(str, words[distinct].tolist())]
        dimension = np.array([numbers[own[0]] if own else -1 for own in known], np.int64)
        size = np.array([own[1] if own else 0.0 for own in known])
        fraction = np.array([table.fractions.get(word, 0.0) for word in words[distinct].tolist()])
        return cls(dimension[number], size[number], fraction[number], numbers[SHARE])
