"""Intervals for means and rates: Student's and Wilson's, robust to clusters, or by bootstrap where asked."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ragmeter.errors import UsageError
from ragmeter.hints import option
from ragmeter.stats.bootstrap import bca_interval, percentile_interval
from ragmeter.stats.clusters import Clustered, Codes
from ragmeter.stats.confidence import Confidence
from ragmeter.stats.distributions import t_quantile, z_quantile
from ragmeter.table import Scores

Interval = tuple[float, float]
#: Fewer values than this are too few for an interval to keep its promise; whoever shows one says so.
SMALL = 30
#: A score may leave its range by this much: a cosine of 1.0000000000000002 is 1.
_ROUNDING = 1e-9


def is_few(n: int, clusters: int | None) -> bool:
    """Whether an interval rests on too few rows, or too few groups of them, to keep its promise."""
    return (n if clusters is None else clusters) < SMALL


def interval_of(
    values: Scores, how: Confidence, *, binary: bool = False, codes: Codes | None = None
) -> tuple[Interval | None, str]:
    """The interval of a mean, and the name of what it was made by. `codes` are the values' clusters."""
    units = Clustered.of(values, codes)
    if how.method in ("bootstrap", "bca"):
        make = percentile_interval if how.method == "bootstrap" else bca_interval
        found = make(units, how.level, how.draws, how.seed)
        return found, how.method if codes is None else f"{how.method}_clustered"
    if codes is not None and how.method != "wilson":
        if binary and len(units) >= 2 and units.standard_error() == 0:
            # All the same: a spread of nothing would promise certainty. As if each cluster were one row.
            return wilson_interval(units.mean * len(units), len(units), how.level), "wilson_clustered"
        return units.interval(how.level), "student_t_clustered"
    if how.method == "wilson" and not binary:
        raise UsageError(
            "Wilson's interval is for scores of 0 and 1 alone", hint=f"{option('interval', 'auto')} chooses by metric"
        )
    if how.method != "t" and binary:
        return wilson_interval(float(values.sum()), len(values), how.level), "wilson"
    if len(values) < 2:
        return None, "student_t"
    return mean_interval(float(values.mean()), float(values.std(ddof=1)), len(values), how.level), "student_t"


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
    z = z_quantile(0.5 + level / 2)
    rate = successes / n
    centre = (rate + z * z / (2 * n)) / (1 + z * z / n)
    margin = z / (1 + z * z / n) * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    return max(0.0, centre - margin), min(1.0, centre + margin)


def within(bounds: Sequence[float] | None, limits: Sequence[float | None]) -> Interval | None:
    """An interval clipped to the values that are possible; Student's knows no limits. None: no limit on that side."""
    if bounds is None:
        return None
    low, high = (-math.inf if limits[0] is None else limits[0]), (math.inf if limits[1] is None else limits[1])
    return min(max(bounds[0], low), high), max(min(bounds[1], high), low)


def limits_of(bounds: Interval, values: Scores) -> Interval:
    """A metric's range, or no limits where scores lie outside of it: then nobody has said what its range is."""
    if not len(values):
        return bounds
    low, high = bounds
    outside = float(values.min()) < low - _ROUNDING or float(values.max()) > high + _ROUNDING
    return (-math.inf, math.inf) if outside else bounds


def difference_limits(*ranges: Interval) -> Interval:
    """The range of a difference between two scores of these ranges: -1 to 1 for scores from 0 to 1."""
    span = max(high for _, high in ranges) - min(low for low, _ in ranges)
    return -span, span
