"""Two systems on the same questions: is the mean difference more than chance?

Each test takes the differences, one for each question or the sum over each cluster, and gives a two-sided p-value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ragmeter.stats.bootstrap import bootstrap_p
from ragmeter.stats.clusters import Clustered
from ragmeter.stats.confidence import BOOTSTRAP, MCNEMAR, STUDENT
from ragmeter.stats.distributions import coin_two_sided, t_two_sided, z_two_sided
from ragmeter.table import Scores

#: Up to so many differences every assignment of signs is looked at; of the largest, so many are flipped one by one.
_ALL_SIGNS, _ONE_BY_ONE = 16, 10_000
_AT_ONCE = 4_000_000


def randomisation_p(differences: Scores, draws: int = 9_999, seed: int = 0) -> float:
    """Fisher's randomisation test: if the systems were alike, each difference might as well have the other sign.

    Exact for differences of one size (McNemar's exact test) and for few of them, else by random signs. Where there are
    very many, the smaller ones are flipped together: the sum of thousands of small flips is normal. Where no draw comes
    as far as the differences did, p is at most what the draws can tell, and at most Hoeffding's bound for such flips:
    without it, no difference could be seen among very many tests.
    """
    sizes = np.abs(differences[differences != 0])
    if not len(sizes):
        return 1.0
    if np.ptp(sizes) <= 1e-12 * sizes.max():
        return coin_two_sided(int(np.count_nonzero(differences > 0)), len(sizes))
    reached = abs(float(differences.sum())) - 1e-12 * float(sizes.sum())  # ties that rounding has parted are ties
    if len(sizes) <= _ALL_SIGNS:
        sums = np.zeros(1)
        for size in sizes:
            sums = np.concatenate([sums + size, sums - size])
        return float(np.mean(np.abs(sums) >= reached))
    generator = np.random.default_rng(seed)
    sizes = np.sort(sizes)[::-1]
    large, rest = sizes[:_ONE_BY_ONE], math.sqrt(float((sizes[_ONE_BY_ONE:] ** 2).sum()))
    total, as_far = float(large.sum()), 0
    left = draws
    while left > 0:
        number = min(left, max(1, _AT_ONCE // len(large)))
        kept = generator.integers(0, 2, (number, len(large)), dtype=np.int8).astype(np.float64)
        sums = 2 * (kept @ large) - total
        if rest > 0:
            sums += generator.normal(0.0, rest, number)
        as_far += int(np.count_nonzero(np.abs(sums) >= reached))
        left -= number
    bound = 2 * math.exp(-(reached**2) / (2 * float(sizes @ sizes))) if as_far == 0 else 1.0
    return min((1 + as_far) / (1 + draws), bound)


@dataclass(frozen=True)
class McNemar:
    """What the questions on which just one of two systems is right say."""

    only_a: int
    only_b: int

    @property
    def chi_squared(self) -> float:
        """McNemar's statistic, without continuity correction."""
        both = self.only_a + self.only_b
        return (self.only_a - self.only_b) ** 2 / both if both else 0.0

    @property
    def p(self) -> float:
        """By the distribution of chi squared; good where there are 25 such questions or more."""
        return z_two_sided(math.sqrt(self.chi_squared))

    @property
    def exact_p(self) -> float:
        """By the binomial distribution, good for any number."""
        return coin_two_sided(self.only_a, self.only_a + self.only_b)


def paired_p(units: Clustered, test: str, draws: int, seed: int) -> float:
    """The p-value of a mean difference of zero. `mcnemar` is for differences of -1, 0 and 1 of single rows."""
    if test == BOOTSTRAP:
        return bootstrap_p(units, draws, seed)
    if test == STUDENT:
        error = units.standard_error()
        return t_two_sided(units.mean / error, len(units) - 1) if error else float(units.mean == 0)
    if test == MCNEMAR:
        return McNemar(int((units.sums < 0).sum()), int((units.sums > 0).sum())).exact_p
    return randomisation_p(units.sums, draws, seed)
