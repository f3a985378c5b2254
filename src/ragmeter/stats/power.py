"""The number of questions that shows a difference, and the smallest difference that a number of questions shows.

Two systems answer the same n questions. The variance of the difference of their means has two parts: `between`, the
variance over questions of the difference between the systems' expected scores, and `within`, the variance of repeated
answers or judgements of one question, which K repeats divide by K: (between + within_a / K + within_b / K) / n. With
clusters the effective n is smaller, by the design effect.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ragmeter.stats.distributions import z_quantile


@dataclass(frozen=True)
class Variances:
    """The parts of the variance of a difference, for one question.

    `pseudo_rows` is what those of an interval add to the variance of the mean, times n²: there are two, whatever n is.
    """

    between: float
    within_a: float = 0.0
    within_b: float = 0.0
    design_effect: float = 1.0
    pseudo_rows: float = 0.0

    def per_question(self, repeats: int = 1) -> float:
        """The variance of one question with this many repeats."""
        return (self.between + (self.within_a + self.within_b) / repeats) * self.design_effect

    @classmethod
    def of_interval(cls, standard_error: float, shown: float, n: int) -> Variances:
        """The variances behind this standard error of n questions; `shown` is that which the interval's width says."""
        return cls(standard_error**2 * n, pseudo_rows=max(0.0, shown**2 - standard_error**2) * n * n)


def questions_needed(
    variances: Variances, difference: float, *, repeats: int = 1, alpha: float = 0.05, power: float = 0.8
) -> int:
    """The smallest n at which a two-sided test shows a true difference of this size with this power."""
    squared = (_reach(alpha, power) / difference) ** 2
    half = squared * variances.per_question(repeats) / 2  # n² = 2 half n + squared pseudo_rows
    return max(2, math.ceil(half + math.sqrt(half * half + squared * variances.pseudo_rows) - 1e-9))


def questions_for_sequence(n: int, half_width: float, error: float, margin: float, *, power: float = 0.8) -> int:
    """How many questions show with this power that two runs that are alike differ by less than the margin.

    By an interval at any time, which n questions have given with this half of its width, and this standard error.
    That of scores that do not vary shrinks as 1 / n, any other as 1 / √n.
    """
    if not error:
        return math.ceil(n * half_width / margin)
    return math.ceil(n * ((half_width + z_quantile(power) * error) / margin) ** 2)


def smallest_difference(
    variances: Variances, n: int, *, repeats: int = 1, alpha: float = 0.05, power: float = 0.8
) -> float:
    """The smallest true difference that n questions show with this power."""
    return _reach(alpha, power) * math.sqrt(variances.per_question(repeats) / n + variances.pseudo_rows / n**2)


def _reach(alpha: float, power: float) -> float:
    return z_quantile(power) - z_quantile(alpha / 2)  # not 1 - alpha / 2, which rounds to 1 for a tiny alpha
