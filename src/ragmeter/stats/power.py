"""How many questions a difference needs, and which difference a number of questions can show.

Two systems answer the same n questions. The difference of their means varies with `between`, the variance over
questions of the difference between the systems' expected scores, and with `within`, the variance that answering or
judging the same question again brings, which K repeats divide by K: (between + within_a / K + within_b / K) / n. Rows
that come in clusters are worth fewer than they are; the design effect says how many times fewer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ragmeter.stats.distributions import z_quantile


@dataclass(frozen=True)
class Variances:
    """What makes a difference of means vary, for one question."""

    between: float
    within_a: float = 0.0
    within_b: float = 0.0
    design_effect: float = 1.0

    def per_question(self, repeats: int = 1) -> float:
        """The variance that one question with this many repeats adds."""
        return (self.between + (self.within_a + self.within_b) / repeats) * self.design_effect


def questions_needed(
    variances: Variances, difference: float, *, repeats: int = 1, alpha: float = 0.05, power: float = 0.8
) -> int:
    """The least n that shows a true difference of this size with this power, in a two-sided test."""
    needed = (_reach(alpha, power) / difference) ** 2 * variances.per_question(repeats)
    return max(2, math.ceil(needed - 1e-9))


def smallest_difference(
    variances: Variances, n: int, *, repeats: int = 1, alpha: float = 0.05, power: float = 0.8
) -> float:
    """The least true difference that n questions show with this power."""
    return _reach(alpha, power) * math.sqrt(variances.per_question(repeats) / n)


def _reach(alpha: float, power: float) -> float:
    return z_quantile(power) - z_quantile(alpha / 2)  # and not 1 - alpha / 2, which for a tiny alpha is 1
