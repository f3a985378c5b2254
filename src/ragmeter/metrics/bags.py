"""Two sides of many pairs as arrays of ids, and the items that they have in common.

The two sides are a reference's words and an answer's, or the gold documents and the retrieved ones: the arithmetic is
the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ragmeter import kernel
from ragmeter.kernel.pairs import overlaps

Ids = npt.NDArray[np.int64]

_AT_ONCE = 1 << 22  # pairs of a word of one side and a word of the other: more would take too much memory


@dataclass(frozen=True)
class Sides:
    """Ids of all the references' items, then of all the answers'. Text `t` has `ids[starts[t]:starts[t + 1]]`.

    With `n` pairs, texts 0 to n - 1 are the references, n to 2n - 1 the answers.
    """

    ids: Ids
    starts: Ids

    @property
    def pairs(self) -> int:
        """The number of pairs of texts."""
        return (len(self.starts) - 1) // 2

    @cached_property
    def lengths(self) -> Ids:
        """How many items each text has."""
        return np.diff(self.starts)

    @property
    def reference_lengths(self) -> Ids:
        """How many items each reference has."""
        return self.lengths[: self.pairs]

    @property
    def answer_lengths(self) -> Ids:
        """How many items each answer has."""
        return self.lengths[self.pairs :]

    @property
    def pair_lengths(self) -> Ids:
        """How many items both sides of each pair have together."""
        return self.reference_lengths + self.answer_lengths

    @cached_property
    def pair_of_item(self) -> Ids:
        """Which pair each item belongs to."""
        return np.repeat(np.tile(np.arange(self.pairs), 2), self.lengths)


@dataclass(frozen=True)
class _Groups:
    """The items of each pair grouped by equality, as `Bags` has them."""

    order: Ids
    firsts: Ids
    pair: Ids
    reference_counts: Ids
    answer_counts: Ids


@dataclass(frozen=True)
class Bags:
    """The items of each pair grouped by equality, when they are asked for."""

    sides: Sides

    @cached_property
    def _groups(self) -> _Groups:
        return _grouped(self.sides)

    @property
    def order(self) -> Ids:
        """The items group by group: in each group the reference's, then the answer's, in the order of the text."""
        return self._groups.order

    @property
    def firsts(self) -> Ids:
        """Where each group begins in `order`."""
        return self._groups.firsts

    @property
    def pair(self) -> Ids:
        """Which pair each group belongs to."""
        return self._groups.pair

    @property
    def reference_counts(self) -> Ids:
        """How many members of each group are the reference's."""
        return self._groups.reference_counts

    @property
    def answer_counts(self) -> Ids:
        """How many members of each group are the answer's."""
        return self._groups.answer_counts

    @cached_property
    def overlap(self) -> Ids:
        """How many items the two sides of each pair share, duplicates counted."""
        if kernel.library():
            return overlaps(self.sides.ids, self.sides.starts)
        return self.per_pair(np.minimum(self.reference_counts, self.answer_counts)).astype(np.int64)

    @cached_property
    def _bounds(self) -> Ids:
        """Where the groups of each pair begin, and the end of the last."""
        return np.searchsorted(self.pair, np.arange(self.sides.pairs + 1))

    def per_pair(self, values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """The sum over each pair's groups. Whole numbers are added up exactly, and faster."""
        if values.dtype.kind in "bi":
            sums = np.zeros(len(values) + 1, np.int64)
            np.cumsum(values, out=sums[1:])
            return np.diff(sums[self._bounds]).astype(np.float64)
        return np.asarray(np.bincount(self.pair, values, self.sides.pairs), dtype=np.float64)


def bags(sides: Sides) -> Bags:
    """The items of each pair, to be grouped by equality."""
    return Bags(sides)


def _grouped(sides: Sides) -> _Groups:
    """Group the items of each pair by sorting them once by (pair, id, place)."""
    ids, total = sides.ids, len(sides.ids)
    pair = sides.pair_of_item
    n_ids = int(ids.max()) + 1 if total else 1
    place_bits = total.bit_length()
    if sides.pairs * n_ids < 1 << (63 - place_bits):
        key = (pair * n_ids + ids) << place_bits | np.arange(total)
        key.sort(kind="stable")  # both sides are in the order of pairs already, which makes this sort fast
        order = key & ((1 << place_bits) - 1)
        group = key >> place_bits
    else:  # the three numbers don't fit into 63 bits
        order = np.lexsort((ids, pair))
        group = pair[order] * n_ids + ids[order]
    begins = np.ones(total, dtype=bool)
    np.not_equal(group[1:], group[:-1], out=begins[1:])
    firsts = np.flatnonzero(begins)
    bounds = np.append(firsts, total)
    in_reference = np.zeros(total + 1, np.int64)
    np.cumsum(order < sides.starts[sides.pairs], out=in_reference[1:])
    reference_counts = np.diff(in_reference[bounds])
    return _Groups(order, firsts, group[firsts] // n_ids, reference_counts, np.diff(bounds) - reference_counts)


def ranges(firsts: Ids, counts: Ids) -> Ids:
    """`first, first + 1 ...`, `count` numbers for each first, in one array."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(firsts - (ends - counts), counts) + np.arange(total)


def slices(counts: Ids, at_once: int = _AT_ONCE) -> Iterator[slice]:
    """Slices of consecutive items whose counts add up to at most `at_once`, unless a single one has more."""
    ends = np.cumsum(counts)
    begin = 0
    while begin < len(counts):
        before = ends[begin] - counts[begin]
        end = max(begin + 1, int(np.searchsorted(ends, before + at_once, side="right")))
        yield slice(begin, end)
        begin = end


def share(
    numerators: npt.NDArray[Any], denominators: npt.NDArray[Any], empty: float | npt.NDArray[Any] = 0.0
) -> npt.NDArray[np.float64]:
    """`numerators / denominators`, and `empty` where the denominator is 0."""
    is_positive = denominators > 0
    return np.where(is_positive, numerators / np.where(is_positive, denominators, 1), empty)
