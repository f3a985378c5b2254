"""Intervals for means, rates, and differences between two systems on the same questions.

Student's, Wilson's and Newcombe's, robust to clusters, or by bootstrap.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ragmeter.documents.record import Interval
from ragmeter.errors import UsageError
from ragmeter.hints import option
from ragmeter.stats.anytime import anytime_interval
from ragmeter.stats.bootstrap import bca_interval, percentile_interval
from ragmeter.stats.clusters import Clustered, Codes
from ragmeter.stats.confidence import ANYTIME, AUTO, Confidence
from ragmeter.stats.distributions import t_quantile, z_quantile
from ragmeter.stats.pseudo_rows import UNKNOWN, Moments, n_at_ends
from ragmeter.table import Scores

#: The rounding error allowed at the ends of a range: a cosine of 1.0000000000000002 is 1.
_ROUNDING = 1e-9
#: What is added to a method's name where pseudo-rows at the ends of the range count.
PADDED = "_with_pseudo_rows"


def interval_of(
    values: Scores,
    confidence: Confidence,
    *,
    binary: bool = False,
    codes: Codes | None = None,
    limits: Interval = UNKNOWN,
) -> tuple[Interval | None, str]:
    """The interval of a mean, and the name of its method. `codes` are the values' clusters, `limits` is their range.

    Values that are all at the ends of the range are a rate, whatever the metric says of itself.
    """
    limits = (0.0, 1.0) if binary else limits
    if confidence.method == ANYTIME:
        return anytime_interval(Clustered.of(values, codes), limits, confidence.level), ANYTIME
    if confidence.method in ("bootstrap", "bca"):
        return _bootstrap(Clustered.of(values, codes), confidence, limits, clustered=codes is not None)
    moments = Moments.of(values, limits)
    if codes is None:
        return unclustered_interval(moments, confidence, binary=binary)
    units = Clustered.of(values, codes)
    if is_wilson(moments, confidence, binary=binary):
        return clustered_wilson(units, confidence.level, limits), "wilson_clustered"
    name = "student_t_clustered" + (PADDED if len(units) > 1 and units.pseudo_size(limits) else "")
    return units.interval(confidence.level, limits), name


def unclustered_interval(moments: Moments, confidence: Confidence, *, binary: bool) -> tuple[Interval | None, str]:
    """The interval of the mean of independent values."""
    if is_wilson(moments, confidence, binary=binary):
        low, high = moments.limits
        rate = wilson_interval((moments.total - moments.n * low) / (high - low), moments.n, confidence.level)
        return _scaled(rate, moments.limits), "wilson"
    padded = moments.n > 1 and moments.has_pseudo_rows
    return moments.student(confidence.level), "student_t" + (PADDED if padded else "")


def is_wilson(moments: Moments, confidence: Confidence, *, binary: bool) -> bool:
    """Whether the interval is Wilson's; an error if it was asked for, and the values are no rate."""
    if confidence.method == "wilson" and moments.n and not (binary or moments.is_rate):
        raise UsageError(
            "Wilson's interval needs scores of 0 and 1", hint=f"{option('interval', 'auto')} chooses by metric"
        )
    return (binary or moments.is_rate) and confidence.method != "t"


def _bootstrap(
    units: Clustered, confidence: Confidence, limits: Interval, *, clustered: bool
) -> tuple[Interval | None, str]:
    name = f"{confidence.method}_clustered" if clustered else confidence.method
    if len(units) < 2:
        return None, name
    size = units.pseudo_size(limits)
    make = percentile_interval if confidence.method == "bootstrap" else bca_interval
    interval = make(units.padded(size, limits), confidence.level, confidence.draws, confidence.seed)
    if interval is None or not size:
        return interval, name
    return (min(interval[0], units.mean), max(interval[1], units.mean)), name + PADDED


def mean_interval(mean: float, sd: float, n: int, level: float = 0.95) -> Interval | None:
    """Student's interval for a mean; None for fewer than two values."""
    return Moments(n, mean * n, mean, sd).student(level) if n > 1 else None


def wilson_interval(successes: float, n: float, level: float = 0.95, *, wider: float = 1.0) -> Interval | None:
    """Wilson's score interval for a rate; None for no trials. `wider` multiplies the quantile, for an estimated n."""
    if n < 1:
        return None
    z = z_quantile(0.5 + level / 2) * wider
    rate = successes / n
    centre = (rate + z * z / (2 * n)) / (1 + z * z / n)
    margin = z / (1 + z * z / n) * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    return max(0.0, min(centre - margin, rate)), min(1.0, max(centre + margin, rate))  # the rate, in spite of rounding


def clustered_wilson(units: Clustered, level: float = 0.95, limits: Interval = (0.0, 1.0)) -> Interval | None:
    """Wilson's interval for a rate of rows in clusters, at the effective number of rows; None for fewer than two
    clusters.

    That is the number of independent rows with the same standard error. Clusters that are all alike have none, so it is
    estimated with a pseudo-cluster at each end, of at least half a cluster (Jeffreys): where all are alike, a cluster
    counts about as one row. It is never more than the number of rows. As it is an estimate, the quantile grows as
    Student's does from the degrees of freedom of rows to those of clusters (Korn and Graubard).
    """
    if len(units) < 2:
        return None
    low, high = limits
    rates = Clustered((units.sums - low * units.counts) / (high - low), units.counts)
    padded = rates.padded(max(0.5, rates.pseudo_size((0.0, 1.0))), (0.0, 1.0))
    worth = padded.mean * (1 - padded.mean) / padded.standard_error() ** 2
    worth = max(1.0, min(worth, rates.n))
    wider = t_quantile(0.5 + level / 2, rates.df) / t_quantile(0.5 + level / 2, rates.n - 1)
    rate = min(1.0, max(0.0, rates.mean))
    return _scaled(wilson_interval(rate * worth, worth, level, wider=wider), limits)


def _scaled(rate: Interval | None, limits: Interval) -> Interval | None:
    """The interval of a rate as that of the mean of values at these ends."""
    low, high = limits
    return None if rate is None else (low + (high - low) * rate[0], low + (high - low) * rate[1])


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
    limits: Interval = UNKNOWN,
) -> tuple[Interval | None, str]:
    """The interval of mean(b) - mean(a), and the name of its method. `limits` is the range of a difference."""
    rates = confidence.method in (AUTO, "wilson") and (binary or _are_rates(a, b, limits))
    if rates and codes is None:
        interval, method = _difference_of_rates(a, b, confidence.level)
        return within(interval, limits), method
    if rates:
        confidence = replace(confidence, method=AUTO)  # differences of -1, 0 and 1 are no rate
    interval, method = interval_of(b - a, confidence, codes=codes, limits=(-1.0, 1.0) if binary else limits)
    return within(interval, limits), method


def _are_rates(a: Scores, b: Scores, limits: Interval) -> bool:
    """Whether all scores are 0 or 1, of a metric from 0 to 1 that promises no such thing."""
    ends = (0.0, 1.0)
    return limits == (-1.0, 1.0) and 0 < len(a) == n_at_ends(a, ends) == n_at_ends(b, ends)


def _difference_of_rates(a: Scores, b: Scores, level: float) -> tuple[Interval | None, str]:
    """Newcombe's interval, and where rows did not move, not surer than with pseudo-rows.

    Newcombe takes two rates near 0.5 for sure to go together because they did in these rows. How many others may move
    does not depend on the rates.
    """
    interval, moments = newcombe_interval(a, b, level), Moments.of(b - a, (-1.0, 1.0))
    padded = (-1.0, 1.0) if moments.n == 1 else moments.student(level) if moments.has_pseudo_rows else None
    if interval is None or padded is None:
        return interval, "newcombe"
    hull = min(interval[0], padded[0]), max(interval[1], padded[1])
    return hull, "newcombe" + (PADDED if hull != interval else "")


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
