"""Intervals and p-values of a bounded mean that hold however often, and whenever, one looks: by betting.

Waudby-Smith and Ramdas (2024): a mean m is ruled out when a bettor whose game would be fair, if m were the mean, has
won much. Here the capital is that of bettors who each stake a constant share, all averaged: it depends on the rows and
not on their order. Of clusters, each is one bet.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ragmeter.documents.record import Interval
from ragmeter.stats.clusters import Clustered
from ragmeter.table import Scores

#: The stakes that are averaged: shares of the capital, the smaller ones for many rows and small differences.
_STAKES = np.geomspace(1e-3, 0.9, 24)
#: Halvings of an interval from 0 to 1: ends to seven digits.
_HALVINGS = 24
_FEWEST = 2


def level_of_look(look: int, level: float) -> float:
    """The level of one of many looks, so that all together hold at `level`: of the error, 1/2, 1/6, 1/12 … in turn.

    Its error is rounded down to two digits, for people to read.
    """
    error = (1 - level) / (look * (look + 1))
    digits = 1 - math.floor(math.log10(error))
    return float(round(1 - math.floor(error * 10.0**digits + 1e-6) / 10.0**digits, digits))


def anytime_interval(units: Clustered, limits: Interval, level: float) -> Interval | None:
    """The interval of the mean of rows between these limits; None without limits, and for fewer than two units."""
    game = _Game.of(units, limits)
    if game is None:
        return None
    low, high = limits
    needed = math.log(2 / (1 - level))
    ends = game.lowest(needed), 1 - game.turned().lowest(needed)
    return low + (high - low) * ends[0], low + (high - low) * ends[1]


def anytime_p(units: Clustered, limits: Interval) -> float | None:
    """The two-sided p-value of a zero mean, which agrees with the interval; None where there is none."""
    game = _Game.of(units, limits)
    if game is None:
        return None
    low, high = limits
    zero = -low / (high - low)
    return min(1.0, 2 * math.exp(-max(game.capital(zero), game.turned().capital(1 - zero))))


@dataclass(frozen=True)
class _Game:
    """Sums and numbers of rows by cluster, scaled to 0 to 1, each distinct pair once with its number of clusters."""

    sums: Scores
    counts: Scores
    times: Scores

    @classmethod
    def of(cls, units: Clustered, limits: Interval) -> _Game | None:
        low, high = limits
        if len(units) < _FEWEST or not math.isfinite(high - low):
            return None
        sums = np.clip((units.sums - low * units.counts) / (high - low), 0.0, units.counts)
        pairs, times = np.unique(np.stack([sums, units.counts]), axis=1, return_counts=True)
        return cls(pairs[0], pairs[1], times.astype(np.float64))

    def turned(self) -> _Game:
        """The same rows, each score as 1 less itself."""
        return _Game(self.counts - self.sums, self.counts, self.times)

    def capital(self, mean: float) -> float:
        """The logarithm of what a bettor has who says that the true mean is above this one, and began with 1."""
        if mean <= 0:
            return math.inf if self.sums.any() else 0.0
        gains = (self.sums / mean - self.counts) / self.counts.max()
        logs = np.array([float(np.log1p(stake * gains) @ self.times) for stake in _STAKES])
        return float(np.logaddexp.reduce(logs)) - math.log(len(_STAKES))

    def lowest(self, needed: float) -> float:
        """The least mean that is not ruled out: the capital falls as the mean rises."""
        low, high = 0.0, float((self.sums @ self.times) / (self.counts @ self.times))
        for _ in range(_HALVINGS if high > 0 else 0):
            middle = (low + high) / 2
            low, high = (middle, high) if self.capital(middle) > needed else (low, middle)
        return low
