"""How far a quick judge can be left alone: thresholds for a cascade that asks a slower judge only where it matters.

The quick judge gives a probability of being right. Where it is at most `low` or at least `high`, its word stands;
between them the slower judge is asked. The thresholds are chosen on rows that the slower judge, or a person, has
judged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ragmeter.errors import UsageError
from ragmeter.stats.distributions import incomplete_beta, t_quantile
from ragmeter.table import Scores

_STEPS = 200


@dataclass(frozen=True)
class Cascade:
    """Thresholds, and what they promise: agreement with the slower judge over all rows, asked or not."""

    low: float
    high: float
    asked: float  # the share of rows that go to the slower judge
    agreement: float  # on the rows of the calibration
    promised: float  # the lower bound of the agreement on rows like these
    level: float
    n: int

    def asks(self, probability: Scores) -> npt.NDArray[np.bool_]:
        """Which rows go to the slower judge."""
        return np.asarray((probability > self.low) & (probability < self.high))


def choose_for_agreement(
    probability: Scores,
    right: npt.NDArray[np.bool_],
    target: float = 0.98,
    *,
    groups: Sequence[object] | None = None,
    level: float = 0.95,
) -> Cascade:
    """The cascade that asks least among those that promise this agreement; asking all promises everything.

    Candidates are tried from the most cautious on, and the first that can't keep the promise ends the search: in this
    order no candidate's test takes from the confidence of another's. Rows of one group (one question answered by
    several systems) are not taken for independent.
    """
    if not 0 < target <= 1:
        raise UsageError(f"the agreement of a cascade is a share above 0 and up to 1, and not {target:g}")
    _check(probability, right)
    best = _cascade(probability, right, 0.5, groups, level)
    for margin in _margins(probability):
        tried = _cascade(probability, right, margin, groups, level)
        if tried.promised < target:
            break
        best = tried
    return best


def choose_for_share(
    probability: Scores,
    right: npt.NDArray[np.bool_],
    asked: float,
    *,
    groups: Sequence[object] | None = None,
    level: float = 0.95,
) -> Cascade:
    """The cascade that asks about at most this share of rows, those of which the quick judge is least sure."""
    if not 0 <= asked <= 1:
        raise UsageError(f"the share of rows to ask about is between 0 and 1, and not {asked:g}")
    _check(probability, right)
    margins = np.sort(np.abs(probability - 0.5))
    count = math.floor(asked * len(margins) + 1e-9)
    margin = 0.5 if count == len(margins) else float(margins[count])
    if count and count < len(margins) and margins[count] == margins[count - 1]:  # equals are all asked, or none
        below = margins[margins < margins[count]]
        margin = float(margins[count]) if len(below) else 0.0
    return _cascade(probability, right, margin, groups, level)


def _check(probability: Scores, right: npt.NDArray[np.bool_]) -> None:
    if len(probability) != len(right):
        raise UsageError(f"{len(probability)} probabilities for {len(right)} verdicts")
    if not len(right):
        raise UsageError("there are no judged rows to choose a cascade on", hint="give some rows with a verdict")


def _margins(probability: Scores) -> list[float]:
    """Candidates from the most cautious on: distances from one half beyond which the quick judge is left alone."""
    distinct = np.unique(np.abs(probability - 0.5))[::-1]
    if len(distinct) > _STEPS:
        distinct = distinct[np.linspace(0, len(distinct) - 1, _STEPS).round().astype(int)]
    return [float(each) for each in distinct]


def _cascade(
    probability: Scores,
    right: npt.NDArray[np.bool_],
    margin: float,
    groups: Sequence[object] | None,
    level: float,
) -> Cascade:
    """A margin's cascade. One half of margin asks everything but what is certain in itself."""
    low, high = (0.5 - margin, 0.5 + margin) if margin < 0.5 else (-math.inf, math.inf)
    alone = (probability <= low) | (probability >= high)
    wrong = alone & ((probability >= 0.5) != right)
    bound = _error_bound(wrong, groups, level)
    return Cascade(
        low,
        high,
        float(1 - alone.mean()),
        float(1 - wrong.mean()),
        1.0 if not alone.any() else 1 - bound,
        level,
        len(right),
    )


def _error_bound(wrong: npt.NDArray[np.bool_], groups: Sequence[object] | None, level: float) -> float:
    """An upper bound of the share of wrong rows: Clopper and Pearson's, or that of clusters if it is higher."""
    n, k = len(wrong), int(wrong.sum())
    bound = clopper_pearson_upper(k, n, level)
    if groups is None:
        return bound
    which = np.unique(np.array([str(each) for each in groups]), return_inverse=True)[1]
    clusters = int(which.max()) + 1
    if clusters < 2:
        return 1.0
    apart = np.bincount(which, wrong - k / n, clusters)
    spread = math.sqrt(clusters / (clusters - 1) * float((apart**2).sum())) / n
    return min(1.0, max(bound, k / n + t_quantile(level, clusters - 1) * spread))


def clopper_pearson_upper(successes: int, n: int, level: float = 0.95) -> float:
    """The greatest rate that still gives so few successes with a chance of 1 - level."""
    if successes >= n:
        return 1.0
    low, high = successes / n, 1.0
    for _ in range(60):  # the distribution function of the binomial falls as the rate rises
        middle = (low + high) / 2
        if 1 - incomplete_beta(successes + 1, n - successes, middle) > 1 - level:
            low = middle
        else:
            high = middle
    return high
