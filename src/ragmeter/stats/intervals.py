"""Intervals for means and rates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

from ragmeter.stats.distributions import t_quantile

Interval = tuple[float, float]


def mean_interval(mean: float, sd: float, n: int, level: float = 0.95) -> Interval | None:
    """Student's interval for a mean; none for fewer than two values."""
    if n < 2:
        return None
    margin = t_quantile(0.5 + level / 2, n - 1) * sd / math.sqrt(n)
    return mean - margin, mean + margin


def wilson_interval(successes: float, n: int, level: float = 0.95) -> Interval | None:
    """Wilson's score interval for a rate; none for no trials."""
    if n < 1:
        return None
    z = NormalDist().inv_cdf(0.5 + level / 2)
    rate = successes / n
    centre = (rate + z * z / (2 * n)) / (1 + z * z / n)
    margin = z / (1 + z * z / n) * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    return max(0.0, centre - margin), min(1.0, centre + margin)


def within(bounds: Sequence[float] | None, limits: Sequence[float | None]) -> Interval | None:
    """An interval as far as the metric can go. Student's knows no limits; the summary has it whole."""
    if bounds is None:
        return None
    low, high = limits
    return max(bounds[0], -math.inf if low is None else low), min(bounds[1], math.inf if high is None else high)
