"""The interval of a difference between two systems on the same questions."""

from __future__ import annotations

import math

import numpy as np

from ragmeter.stats.clusters import Codes
from ragmeter.stats.confidence import Confidence
from ragmeter.stats.intervals import Interval, interval_of, wilson_interval, within
from ragmeter.table import Scores


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
