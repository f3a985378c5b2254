"""The numbers of texts with their units, one by one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ragmeter.metrics.offline.reading.quantities import quantities
from ragmeter.metrics.offline.reading.tables import Mark
from ragmeter.metrics.offline.reading.vocabulary import (
    Bools,
    Texts,
    Vocabulary,
    chunked,
    languages_of,
    vocabulary,
)

#: The dimension of a number without a unit.
_PLAIN = -1
#: Numbers are read from decimal figures: equal ones may differ in the last binary digit.
_ROUNDING = 1e-9


class Figure(NamedTuple):
    """A number, and the dimension of its unit; `size` is in the dimension's smallest unit, `value` as it is written."""

    dimension: int
    size: float
    value: float

    def equals(self, other: Figure, tolerance: float) -> bool:
        """Whether another one is as large. A number without a unit may be one of any."""
        if _PLAIN in (self.dimension, other.dimension):
            return _close(self.value, other.value, tolerance)
        return self.dimension == other.dimension and _close(self.size, other.size, tolerance)


def _close(expected: float, value: float, tolerance: float) -> bool:
    return abs(value - expected) <= (tolerance + _ROUNDING) * abs(expected)


def figures(
    reference: Sequence[str], answer: Sequence[str], language: str | None = None
) -> tuple[list[list[Figure]], list[list[Figure]]]:
    """The numbers of each reference and of each answer; both are read in one language."""
    sides = chunked(answer), chunked(reference)
    languages = np.array([language] * len(answer) if language else languages_of(*sides))
    numbers: list[list[list[Figure]]] = [[[] for _ in answer] for _ in sides]
    for code in np.unique(languages).tolist() if len(answer) else ():
        rows, own = np.flatnonzero(languages == code), vocabulary(code)
        for side, of_rows in zip(sides, numbers, strict=True):
            for row, of_row in zip(rows.tolist(), _figures(own.texts(side.rows(rows)), own), strict=True):
                of_rows[row] = of_row
    answers, references = numbers
    return references, answers


def _figures(texts: Texts, own: Vocabulary) -> list[list[Figure]]:
    """The numbers of each text."""
    measured = quantities(texts, own.properties.words, own.table)
    units = zip(measured.dimension.tolist(), measured.size.tolist(), strict=True)
    by_item = dict(zip(measured.item.tolist(), units, strict=True))
    of_texts: list[list[Figure]] = [[] for _ in range(texts.count)]
    plain = texts.has(Mark.NUMBER) & np.isfinite(texts.value) & ~_footnoted(texts)
    for item in sorted({*np.flatnonzero(plain).tolist(), *by_item}):
        value = float(texts.value[item])
        dimension, size = by_item.get(item, (_PLAIN, value))
        of_texts[int(texts.text[item])].append(Figure(dimension, size, value if math.isfinite(value) else size))
    return of_texts


def _footnoted(texts: Texts) -> Bools:
    """Which items are the year of a number that may be a year with a footnote: the number itself follows (19841)."""
    after, same_text = np.abs(np.roll(texts.value, -1)), np.roll(texts.text, -1) == texts.text
    with np.errstate(invalid="ignore"):
        begins = (after // 10 == np.abs(texts.value)) | (after // 100 == np.abs(texts.value))
        is_longer = same_text & (after >= 10_000) & (after < 1_000_000)
        return np.asarray(texts.has(Mark.WEAK) & is_longer & begins)
