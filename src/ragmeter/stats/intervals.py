"""Intervals for means, rates, and differences between two systems on the same questions.

Student's, Wilson's and Newcombe's, robust to clusters, or by bootstrap.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ragmeter.errors import UsageError
from ragmeter.hints import option
from ragmeter.stats.bootstrap import bca_interval, percentile_interval
from ragmeter.stats.clusters import Clustered, Codes
from ragmeter.stats.confidence import Confidence
from ragmeter.stats.distributions import t_quantile, z_quantile
from ragmeter.table import Scores

Interval = tuple[float, float]
#: With fewer values, the coverage of an interval may be below its level; a warning is shown.
SMALL = 30
#: The rounding error allowed at the ends of a range: a cosine of 1.0000000000000002 is 1.
_ROUNDING = 1e-9


def is_few(n: int, clusters: int | None) -> bool:
    """Whether there are too few rows, or clusters of rows, for an interval to reach its level."""
    return (n if clusters is None else clusters) < SMALL


def interval_of(
    values: Scores, confidence: Confidence, *, binary: bool = False, codes: Codes | None = None
) -> tuple[Interval | None, str]:
    """The interval of a mean, and the name of its method. `codes` are the values' clusters."""
    units = Clustered.of(values, codes)
    if confidence.method in ("bootstrap", "bca"):
        make = percentile_interval if confidence.method == "bootstrap" else bca_interval
        interval = make(units, confidence.level, confidence.draws, confidence.seed)
        return interval, confidence.method if codes is None else f"{confidence.method}_clustered"
    if codes is not None and confidence.method != "wilson":
        if binary and len(units) >= 2 and units.standard_error() == 0:
            # All clusters have the same mean, so the standard error is 0: count each cluster as one row.
            return wilson_interval(units.mean * len(units), len(units), confidence.level), "wilson_clustered"
        return units.interval(confidence.level), "student_t_clustered"
    n = len(values)
    mean, sd = float(values.mean()) if n else None, float(values.std(ddof=1)) if n > 1 else None
    return unclustered_interval(float(values.sum()), mean, sd, n, confidence, binary=binary)


def unclustered_interval(
    total: float, mean: float | None, sd: float | None, n: int, confidence: Confidence, *, binary: bool
) -> tuple[Interval | None, str]:
    """The interval of the mean of n independent values, by their sum, their mean and their standard deviation."""
    if confidence.method == "wilson" and not binary:
        raise UsageError(
            "Wilson's interval needs scores of 0 and 1", hint=f"{option('interval', 'auto')} chooses by metric"
        )
    if confidence.method != "t" and binary:
        return wilson_interval(total, n, confidence.level), "wilson"
    if mean is None or sd is None:
        return None, "student_t"
    return mean_interval(mean, sd, n, confidence.level), "student_t"


def mean_interval(mean: float, sd: float, n: int, level: float = 0.95) -> Interval | None:
    """Student's interval for a mean; None for fewer than two values."""
    if n < 2:
        return None
    margin = t_quantile(0.5 + level / 2, n - 1) * sd / math.sqrt(n)
    return mean - margin, mean + margin


def wilson_interval(successes: float, n: float, level: float = 0.95) -> Interval | None:
    """Wilson's score interval for a rate; None for no trials."""
    if n < 1:
        return None
    z = z_quantile(0.5 + level / 2)
    rate = successes / n
    centre = (rate + z * z / (2 * n)) / (1 + z * z / n)
    margin = z / (1 + z * z / n) * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    return max(0.0, centre - margin), min(1.0, centre + margin)


def wilson_at(rate: float, worth: float, freedom: float, level: float = 0.95) -> Interval | None:
    """Wilson's interval for a rate at an effective number of trials, whose variance has these degrees of freedom."""
    p = 0.5 + level / 2
    n = max(1.0, worth * (z_quantile(p) / t_quantile(p, freedom)) ** 2)
    return wilson_interval(rate * n, n, level)


def within(bounds: Sequence[float] | None, limits: Sequence[float | None]) -> Interval | None:
    """An interval clipped to the possible values, because Student's may exceed them. None: no limit on that side."""
    if bounds is None:
        return None
    low, high = (-math.inf if limits[0] is None else limits[0]), (math.inf if limits[1] is None else limits[1])
    return min(max(bounds[0], low), high), max(min(bounds[1], high), low)


def limits_of(bounds: Interval, values: Scores) -> Interval:
    """A metric's range, or no limits where scores lie outside of it: then the declared range is wrong."""
    if not len(values):
        return bounds
    low, high = bounds
    outside = float(values.min()) < low - _ROUNDING or float(values.max()) > high + _ROUNDING
    return (-math.inf, math.inf) if outside else bounds


def difference_limits(*ranges: Interval) -> Interval:
    """The range of a difference between two scores of these ranges: -1 to 1 for scores from 0 to 1."""
    span = max(high for _, high in ranges) - min(low for low, _ in ranges)
    return -span, span


def difference_interval(
    a: Scores,
    b: Scores,
    confidence: Confidence,
    *,
    binary: bool = False,
    codes: Codes | None = None,
    limits: Interval = (-math.inf, math.inf),
) -> tuple[Interval | None, str]:
    """The interval of mean(b) - mean(a) clipped to `limits`, and the name of its method."""
    interval, method = _unlimited(a, b, confidence, binary=binary, codes=codes)
    return within(interval, limits), method


def _unlimited(
    a: Scores, b: Scores, confidence: Confidence, *, binary: bool, codes: Codes | None
) -> tuple[Interval | None, str]:
    if binary and codes is None and confidence.method in ("auto", "wilson"):
        return newcombe_interval(a, b, confidence.level), "newcombe"
    if binary and codes is not None and confidence.method == "auto" and len(a) and np.ptp(b - a) == 0:
        # All differences are the same, so the standard error is 0: count each cluster as one row.
        _, first = np.unique(codes, return_index=True)
        return newcombe_interval(a[first], b[first], confidence.level) if len(first) > 1 else None, "newcombe_clustered"
    return interval_of(b - a, confidence, codes=codes)


def newcombe_interval(a: Scores, b: Scores, level: float = 0.95) -> Interval | None:
    """Newcombe's interval for a difference of paired rates, from Wilson's for each rate (his method 10).

    Unlike Student's, its width is not 0 where the two systems agree on each of a few questions.
    """
    n = len(a)
    if n < 1:
        return None
    both_right, only_a, only_b = float(a @ b), float(a @ (1 - b)), float((1 - a) @ b)
    both_wrong = n - both_right - only_a - only_b
    rate_a, rate_b = (both_right + only_a) / n, (both_right + only_b) / n
    bounds_a, bounds_b = wilson_interval(rate_a * n, n, level), wilson_interval(rate_b * n, n, level)
    assert bounds_a is not None and bounds_b is not None  # noqa: S101, PT018 - there are trials
    margins = (both_right + only_a) * (only_b + both_wrong) * (both_right + only_b) * (only_a + both_wrong)
    covariation = both_right * both_wrong - only_a * only_b
    if covariation > 0:
        covariation = max(covariation - n / 2, 0.0)
    phi = covariation / math.sqrt(margins) if margins else 0.0
    down_a, up_a = rate_a - bounds_a[0], bounds_a[1] - rate_a
    down_b, up_b = rate_b - bounds_b[0], bounds_b[1] - rate_b
    low = math.sqrt(max(down_b**2 - 2 * phi * down_b * up_a + up_a**2, 0.0))
    high = math.sqrt(max(up_b**2 - 2 * phi * up_b * down_a + down_a**2, 0.0))
    return rate_b - rate_a - low, rate_b - rate_a + high
