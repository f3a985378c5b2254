"""Bootstrap intervals and tests: rows, or whole clusters of rows, are resampled. Seeded."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ragmeter.stats.clusters import Clustered
from ragmeter.stats.confidence import FEWEST_DRAWS
from ragmeter.stats.distributions import z_cdf, z_quantile
from ragmeter.table import Scores

#: The number of values drawn at once, and the total above which fewer draws are made than requested.
_AT_ONCE, _IN_ALL = 1_000_000, 2_000_000_000


def bootstrap_means(units: Clustered, draws: int, seed: int) -> Scores:
    """The means of `draws` resamples, each of as many units as there are, with replacement."""
    number = len(units)
    draws = max(FEWEST_DRAWS, min(draws, _IN_ALL // max(number, 1)))
    generator = np.random.default_rng(seed)
    is_unclustered = bool((units.counts == 1).all())
    means = []
    for size in _portions(draws, max(1, _AT_ONCE // number)):
        drawn = generator.integers(0, number, (size, number))
        totals = number if is_unclustered else units.counts[drawn].sum(axis=1)
        means.append(units.sums[drawn].sum(axis=1) / totals)
    return np.concatenate(means)


def percentile_interval(units: Clustered, level: float, draws: int, seed: int) -> tuple[float, float] | None:
    """The percentile interval of the bootstrap means; None for fewer than two units."""
    if len(units) < 2:
        return None
    return _between(bootstrap_means(units, draws, seed), (1 - level) / 2, (1 + level) / 2)


def bca_interval(units: Clustered, level: float, draws: int, seed: int) -> tuple[float, float] | None:
    """Efron's bias-corrected and accelerated interval; None for fewer than two units."""
    if len(units) < 2:
        return None
    drawn, mean = bootstrap_means(units, draws, seed), units.mean
    below = (np.count_nonzero(drawn < mean) + np.count_nonzero(drawn <= mean)) / (2 * len(drawn))
    if not 0 < below < 1:  # all draws are the same
        return mean, mean
    without_one = (units.sums.sum() - units.sums) / (units.n - units.counts)
    strays = without_one.mean() - without_one
    spread = float((strays**2).sum())
    acceleration = float((strays**3).sum()) / (6 * spread**1.5) if spread > 0 else 0.0
    bias = z_quantile(below)

    def moved(p: float) -> float:
        shifted = bias + z_quantile(p)
        return z_cdf(bias + shifted / (1 - acceleration * shifted))

    return _between(drawn, moved((1 - level) / 2), moved((1 + level) / 2))


def bootstrap_p(units: Clustered, draws: int, seed: int) -> float:
    """Two-sided p-value of a zero mean: how often a resample is as far from the mean as the mean is from zero."""
    drawn, mean = bootstrap_means(units, draws, seed), units.mean
    slack = 1e-12 * max(1.0, math.fabs(mean))
    return float((1 + np.count_nonzero(np.abs(drawn - mean) >= abs(mean) - slack)) / (1 + len(drawn)))


def _between(drawn: Scores, low: float, high: float) -> tuple[float, float]:
    ends = np.percentile(drawn, [low * 100, high * 100])
    return float(ends[0]), float(ends[1])


def _portions(total: int, size: int) -> Iterator[int]:
    while total > 0:
        yield min(size, total)
        total -= size
