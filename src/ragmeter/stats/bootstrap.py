"""Bootstrap intervals and tests: rows, or whole clusters of rows, are resampled. Seeded."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ragmeter.stats.clusters import Clustered
from ragmeter.stats.distributions import z_cdf, z_quantile
from ragmeter.table import Scores

#: The number of values that are drawn at once: few enough to stay in a processor's cache.
_AT_ONCE = 200_000
#: Up to so many values are drawn one by one. Beyond, draws are made by groups of similar units: so many groups, and
#: besides so many of the lowest units, and of the highest, each by itself.
_ONE_BY_ONE = 2_000_000_000
_GROUPS, _ALONE = 512, 256


def bootstrap_means(units: Clustered, draws: int, seed: int) -> Scores:
    """The means of `draws` resamples, each of as many units as there are, with replacement."""
    number = len(units)
    generator = np.random.default_rng(seed)
    if number * draws > _ONE_BY_ONE:
        return _means_by_groups(units, draws, generator)
    is_unclustered = bool((units.counts == 1).all())
    means = []
    for size in _portions(draws, max(1, _AT_ONCE // number)):
        drawn = generator.integers(0, number, (size, number))
        totals = number if is_unclustered else units.counts.take(drawn).sum(axis=1)
        means.append(units.sums.take(drawn).sum(axis=1) / totals)
    return np.concatenate(means)


def _means_by_groups(units: Clustered, draws: int, generator: np.random.Generator) -> Scores:
    """The means of resamples of very many units, in time that does not grow with their number.

    How often a resample has units of each group follows the multinomial distribution, exactly. The sum over those of
    one group is drawn from the normal distribution with its mean and variance: the units of a group differ little.
    Where the units have few distinct values, a group is a value, and nothing is left to approximate.

    A resample's mean is that of the data, and the sum of its units' strays from it over the number of its rows.
    """
    number, mean = len(units), units.mean
    strays = units.sums - mean * units.counts
    order = np.argsort(strays)
    strays, counts = strays[order], units.counts[order]
    firsts = _first_of_groups(strays)
    sizes = np.diff(firsts, append=number)
    stray, stray_variance = _moments(strays, firsts, sizes)
    count, count_variance = _moments(counts, firsts, sizes)
    means = []
    for size in _portions(draws, max(1, _AT_ONCE // len(sizes))):
        drawn = generator.multinomial(number, sizes / number, size).astype(np.float64)
        within = generator.standard_normal((2, size)) * np.sqrt([drawn @ stray_variance, drawn @ count_variance])
        means.append(mean + (drawn @ stray + within[0]) / (drawn @ count + within[1]))
    return np.concatenate(means)


def _first_of_groups(ordered: Scores) -> npt.NDArray[np.int64]:
    """The first place of each group: of each distinct value if there are few, or of equal parts between the ends."""
    number = len(ordered)
    firsts = np.flatnonzero(np.diff(ordered, prepend=-np.inf))
    if len(firsts) <= _GROUPS or number <= _GROUPS + 2 * _ALONE:
        return firsts
    parts = np.linspace(_ALONE, number - _ALONE, _GROUPS, endpoint=False).astype(np.int64)
    return np.concatenate([np.arange(_ALONE), parts, np.arange(number - _ALONE, number)])


def _moments(values: Scores, firsts: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]) -> tuple[Scores, Scores]:
    """The mean and the variance of each group's values."""
    means = np.add.reduceat(values, firsts) / sizes
    strays = values - np.repeat(means, sizes)
    return means, np.add.reduceat(strays**2, firsts) / sizes


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
    """Two-sided p-value of a zero mean, studentised: how often a resample's t is as far from zero as that of the data.

    Each resample's distance from the data's mean is measured in its own standard error: by the distance alone, five
    rows would be found significant too often. A resample without any spread counts as being as far. Of very many
    units, whose standard error hardly varies, the distance alone is compared.
    """
    number, mean = len(units), units.mean
    strays = units.sums - units.counts * mean
    squared_error = float(strays @ strays)  # up to a factor that the resamples' errors have as well
    if number * draws > _ONE_BY_ONE:
        drawn = bootstrap_means(units, draws, seed)
        slack = 1e-12 * max(1.0, math.fabs(mean))
        return float((1 + np.count_nonzero(np.abs(drawn - mean) >= abs(mean) - slack)) / (1 + len(drawn)))
    generator = np.random.default_rng(seed)
    reached = (mean * units.n) ** 2 * (1 - 1e-12)
    as_far = 0
    for size in _portions(draws, max(1, _AT_ONCE // number)):
        places = generator.integers(0, number, (size, number))
        moved, counts = strays.take(places), units.counts.take(places)
        total = moved.sum(axis=1)
        spread = ((moved - counts * (total / counts.sum(axis=1))[:, None]) ** 2).sum(axis=1)
        as_far += int(np.count_nonzero(total**2 * squared_error >= reached * spread))
    return (1 + as_far) / (1 + draws)


def _between(drawn: Scores, low: float, high: float) -> tuple[float, float]:
    ends = np.percentile(drawn, [low * 100, high * 100])
    return float(ends[0]), float(ends[1])


def _portions(total: int, size: int) -> Iterator[int]:
    while total > 0:
        yield min(size, total)
        total -= size
