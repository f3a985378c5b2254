"""Pseudo-rows: what keeps the interval of a bounded mean from being surer than its rows.

Where all rows have one value, or all but a few, their spread says nothing about values that were not drawn: of 30 rows
of which none has lost, a tenth may still lose. So a pseudo-row is added at each end of the range, as Laplace did for
rates. It is a whole row where all rows are in one heap, nothing where at most a third are, and in between its square
grows in proportion, so that scores that vary are left alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ragmeter.stats.distributions import t_quantile
from ragmeter.table import Scores

Ends = tuple[float, float]
#: No known range, so there are no ends to put pseudo-rows at.
UNKNOWN: Ends = (-math.inf, math.inf)
#: Values this close to the median, as a share of the range, form the heap: noise must not hide it.
_NEAR = 0.005


def is_known(limits: Ends) -> bool:
    """Whether a range has two different, finite ends."""
    return math.isfinite(limits[0]) and math.isfinite(limits[1]) and limits[0] < limits[1]


def n_at_ends(values: Scores, limits: Ends) -> int:
    """The number of values that are exactly at an end of the range."""
    return int(np.count_nonzero((values == limits[0]) | (values == limits[1])))


def n_near(values: Scores, median: float, limits: Ends) -> int:
    """The number of values in the heap around the median."""
    distances = values - median
    np.abs(distances, out=distances)  # a column may be long: no third array of its length
    return int(np.count_nonzero(distances <= _NEAR * (limits[1] - limits[0])))


def size_of(values: Scores, limits: Ends) -> float:
    """The size of a pseudo-row, in rows."""
    if not is_known(limits) or not len(values):
        return 0.0
    return _size(n_near(values, float(np.median(values)), limits) / len(values))


def _size(share: float) -> float:
    """The size of a pseudo-row, from the heap's share of the rows."""
    return math.sqrt(max(0.0, (3 * share - 1) / 2))


@dataclass(frozen=True)
class Moments:
    """The numbers for an interval of independent values. Without a known range, none is at its ends or in a heap."""

    n: int
    total: float
    mean: float | None
    sd: float | None
    n_at_ends: int = 0
    n_near: int = 0
    limits: Ends = UNKNOWN

    @classmethod
    def of(cls, values: Scores, limits: Ends = UNKNOWN) -> Moments:
        """The moments of values in memory."""
        n = len(values)
        mean, sd = float(values.mean()) if n else None, float(values.std(ddof=1)) if n > 1 else None
        heap = (0, 0)
        if n and is_known(limits):
            heap = n_at_ends(values, limits), n_near(values, float(np.median(values)), limits)
        return cls(n, float(values.sum()), mean, sd, *heap, limits)

    @property
    def is_rate(self) -> bool:
        """Whether all values are at the ends of the range, such as 0 and 1."""
        return 0 < self.n == self.n_at_ends

    @property
    def has_pseudo_rows(self) -> bool:
        """Whether they count for anything."""
        return self._size > 0

    @property
    def _size(self) -> float:
        return _size(self.n_near / self.n) if self.n else 0.0

    def student(self, level: float) -> Ends | None:
        """Student's interval of the mean; None for fewer than two values."""
        if self.mean is None or self.sd is None:
            return None
        quantile, size = t_quantile(0.5 + level / 2, self.n - 1), self._size
        plain = quantile * self.sd / math.sqrt(self.n)
        if not size:
            return self.mean - plain, self.mean + plain
        low, high = self.limits
        n = self.n + 2 * size
        centre = (self.n * self.mean + size * (low + high)) / n
        squares = (self.n - 1) * self.sd**2 + self.n * (self.mean - centre) ** 2
        ends = size**2 * ((low - centre) ** 2 + (high - centre) ** 2)
        margin = quantile * math.sqrt(squares / (1 - 1 / n) + ends / (1 - size / n)) / n
        return around_mean(self.mean, centre, max(plain, margin))


def around_mean(mean: float, centre: float, margin: float) -> Ends:
    """An interval around a centre that pseudo-rows have moved: the mean itself stays inside."""
    return min(mean, centre - margin), max(mean, centre + margin)
