"""Two systems on the same questions: is the mean difference more than chance?

Each test takes the differences, one for each question or the sum over each cluster, and gives a two-sided p-value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ragmeter.stats.bootstrap import bootstrap_p
from ragmeter.stats.clusters import Clustered
from ragmeter.stats.confidence import BOOTSTRAP, MCNEMAR, RANDOMISATION
from ragmeter.stats.distributions import coin_two_sided, t_two_sided, z_two_sided
from ragmeter.table import Scores

#: Up to this many differences all assignments of signs are enumerated; of more, this many of the largest get a random
#: sign each.
_ALL_SIGNS, _ONE_BY_ONE = 16, 10_000
_AT_ONCE = 4_000_000
#: Where drawing may stop early, so many draws are made between two looks.
_BEFORE_A_STOP = 500
#: A spread below this share of the largest difference is rounding.
_ROUNDING = 1e-12


def randomisation_p(differences: Scores, draws: int = 9_999, seed: int = 0, *, enough: int | None = None) -> float:
    """Fisher's randomisation test: if the systems are equally good, each difference could as well have the other sign.

    Exact if all differences have the same size (McNemar's exact test) or if there are few, else by random signs. Of
    very many differences, the sum of the smaller ones is drawn from the normal distribution. If no draw is as extreme
    as the data, p is the smaller of 1 / (1 + draws) and Hoeffding's bound: without the bound, p could never be small
    enough for a correction over very many tests. Drawing stops early when `enough` draws were as extreme: such a p is
    large, and known well enough (Besag and Clifford, 1991).
    """
    sizes = np.abs(differences[differences != 0])
    if not len(sizes):
        return 1.0
    if np.ptp(sizes) <= 1e-12 * sizes.max():
        return coin_two_sided(int(np.count_nonzero(differences > 0)), len(sizes))
    reached = abs(float(differences.sum())) - 1e-12 * float(sizes.sum())  # differences by rounding alone are ties
    if len(sizes) <= _ALL_SIGNS:
        sums = np.zeros(1)
        for size in sizes:
            sums = np.concatenate([sums + size, sums - size])
        return float(np.mean(np.abs(sums) >= reached))
    generator = np.random.default_rng(seed)
    sizes = np.sort(sizes)[::-1]
    large, rest_sd = sizes[:_ONE_BY_ONE], math.sqrt(float((sizes[_ONE_BY_ONE:] ** 2).sum()))
    total, as_far, drawn = float(large.sum()), 0, 0
    at_once = _AT_ONCE if enough is None else min(_AT_ONCE, _BEFORE_A_STOP * len(large))
    while drawn < draws and (enough is None or as_far < enough):
        n_draws = min(draws - drawn, max(1, at_once // len(large)))
        positive = generator.integers(0, 2, (n_draws, len(large)), dtype=np.int8).astype(np.float64)
        sums = 2 * (positive @ large) - total
        if rest_sd > 0:
            sums += generator.normal(0.0, rest_sd, n_draws)
        as_far += int(np.count_nonzero(np.abs(sums) >= reached))
        drawn += n_draws
    bound = 2 * math.exp(-(reached**2) / (2 * float(sizes @ sizes))) if as_far == 0 else 1.0
    return min((1 + as_far) / (1 + drawn), bound)


@dataclass(frozen=True)
class McNemar:
    """McNemar's test, from the numbers of questions on which only one of two systems is right."""

    only_a: int
    only_b: int

    @property
    def chi_squared(self) -> float:
        """McNemar's statistic, without continuity correction."""
        discordant = self.only_a + self.only_b
        return (self.only_a - self.only_b) ** 2 / discordant if discordant else 0.0

    @property
    def p(self) -> float:
        """The p-value by the chi-squared distribution; for 25 such questions or more."""
        return z_two_sided(math.sqrt(self.chi_squared))

    @property
    def exact_p(self) -> float:
        """The p-value by the binomial distribution; for any number of questions."""
        return coin_two_sided(self.only_a, self.only_a + self.only_b)


def least_p(test: str, units: int) -> float | None:
    """The smallest p-value that a test of so many differences can give; None for tests without such a limit."""
    return 2.0 ** (1 - units) if test in (RANDOMISATION, MCNEMAR) and units else None


def has_spread(units: Clustered) -> bool:
    """Whether the differences differ by more than rounding."""
    strays = np.abs(units.sums - units.counts * units.mean)
    return bool(strays.max() > _ROUNDING * max(np.abs(units.sums).max(), _ROUNDING))


def paired_p(units: Clustered, test: str, draws: int, seed: int, *, enough: int | None = None) -> float | None:
    """The p-value of a mean difference of zero; None if there is no test: a spread of nothing has no t.

    `mcnemar` is for differences of -1, 0 and 1 of single rows.
    """
    if test == MCNEMAR:
        return McNemar(int((units.sums < 0).sum()), int((units.sums > 0).sum())).exact_p
    if test == RANDOMISATION:
        return randomisation_p(units.sums, draws, seed, enough=enough)
    if not has_spread(units):
        return None if units.sums.any() else 1.0
    if test == BOOTSTRAP:
        return bootstrap_p(units, draws, seed)
    return t_two_sided(units.mean / units.standard_error(), units.df)
