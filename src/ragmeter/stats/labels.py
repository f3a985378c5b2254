"""How many labels by people an estimate needs.

Of N rows all have a judge's verdict, and n have a label. With the correlation r of the two, the corrected share p of
right answers (PPI++ at its best weight) has the variance p (1 - p) ((1 - r²) / n + r² / N): labels pay for what the
judge does not know, and rows for the rest. Without a judge r is 0.
"""

from __future__ import annotations

import math

from ragmeter.stats.distributions import z_quantile


def labels_for(half_width: float, share: float, correlation: float, rows: int, level: float = 0.95) -> int | None:
    """The labels that make the interval so narrow; None if not even labels of all rows do."""
    known = correlation**2
    wanted = (half_width / -z_quantile((1 - level) / 2)) ** 2 / _spread(share) - known / rows
    n = math.inf if wanted <= 0 else (1 - known) / wanted
    return max(2, math.ceil(n - 1e-9)) if n <= rows else None


def half_width_of(n: int, share: float, correlation: float, rows: int, level: float = 0.95) -> float:
    """The half width of the interval with so many labels."""
    known = correlation**2
    return -z_quantile((1 - level) / 2) * math.sqrt(_spread(share) * ((1 - known) / n + known / rows))


def _spread(share: float) -> float:
    """The variance of one label; at 0 and 1, that of a share of 5%."""
    inside = min(0.95, max(0.05, share))
    return inside * (1 - inside)


def labels_to_tell(difference: float, differing: float, alpha: float = 0.05, power: float = 0.8) -> int | None:
    """The labels, all of rows on which two judges differ, that show which of them people agree with more often.

    `differing` is the share of such rows, and `difference` that between the judges' agreements with people. On a row
    where both say the same, people can't prefer one. None if the judges differ too seldom for such a difference.
    """
    lean = difference / differing if differing else math.inf  # of the rows where they differ: won minus lost
    if lean > 1:
        return None
    reach = z_quantile(power) * math.sqrt(1 - lean**2) - z_quantile(alpha / 2)
    return max(6, math.ceil((reach / lean) ** 2 - 1e-9))  # of fewer than 6, no share is significant
