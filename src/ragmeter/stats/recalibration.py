"""Whether recalibrating probabilities by labels helps, by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ragmeter.documents.record import Interval
from ragmeter.metrics.offline.curves import EDGE, fit
from ragmeter.stats.clusters import Codes
from ragmeter.stats.intervals import mean_interval
from ragmeter.table import Scores

_FOLDS = 5


@dataclass(frozen=True)
class Gain:
    """The effect of recalibration on held-out rows. `gain` is the decrease of the log loss, with its interval."""

    n: int
    n_groups: int
    log_loss_before: float
    log_loss_after: float
    calibration_error_before: float
    calibration_error_after: float
    agreement_before: float
    agreement_after: float
    gain: float
    standard_error: float
    interval: Interval | None

    @property
    def helps(self) -> bool:
        """Whether the gain on held-out rows is larger than its standard error.

        Where there is nothing to gain, a gain above 0 occurs one time in five by chance, and would do harm; a gain
        above its standard error one time in fifty. A large true gain is hardly ever missed.
        """
        return self.gain > self.standard_error


def cross_validated(
    chances: Scores, right: Scores, groups: Codes, seed: int = 0, weights: Scores | None = None
) -> Gain:
    """Five-fold cross-validation by cluster: all rows of a question or a conversation are in the same fold.

    `weights` say how many rows each label stands for.
    """
    shares = np.ones(len(right)) if weights is None else weights / weights.mean()
    _, places = np.unique(groups, return_inverse=True)
    n_groups = int(places.max()) + 1
    fold = np.random.default_rng(seed).permutation(n_groups)[places] % _FOLDS
    after = chances.copy()
    for number in range(min(_FOLDS, n_groups)):
        is_test = fold == number
        if 0 < right[~is_test].sum() < (~is_test).sum():
            after[is_test] = fit(chances[~is_test], right[~is_test], shares[~is_test])(chances[is_test])
    before_loss, after_loss = _losses(chances, right), _losses(after, right)
    gain = float(np.average(before_loss - after_loss, weights=shares))
    # A ratio of two sums over clusters: its spread is that of the linearised sums.
    totals = np.bincount(places, shares * (before_loss - after_loss - gain)) * n_groups / shares.sum()
    spread = float(totals.std(ddof=1)) if n_groups > 1 else 0.0
    return Gain(
        n=len(right),
        n_groups=n_groups,
        log_loss_before=float(np.average(before_loss, weights=shares)),
        log_loss_after=float(np.average(after_loss, weights=shares)),
        calibration_error_before=calibration_error(chances, right, weights=shares),
        calibration_error_after=calibration_error(after, right, weights=shares),
        agreement_before=float(np.average((chances >= 0.5) == (right > 0.5), weights=shares)),
        agreement_after=float(np.average((after >= 0.5) == (right > 0.5), weights=shares)),
        gain=gain,
        standard_error=spread / n_groups**0.5,
        interval=mean_interval(gain, spread, n_groups),
    )


def calibration_error(chances: Scores, right: Scores, bins: int = 10, weights: Scores | None = None) -> float:
    """Expected calibration error: the mean distance between probability and frequency, over bins of as many labels."""
    if not len(chances):
        return 0.0
    shares = np.ones(len(right)) if weights is None else weights
    order = np.argsort(chances, kind="stable")
    rows_of_bins: Sequence[Any] = [rows for rows in np.array_split(order, bins) if len(rows)]
    total = sum(abs(shares[rows] @ (chances[rows] - right[rows])) for rows in rows_of_bins)
    return float(total / shares.sum())


def _losses(chances: Scores, right: Scores) -> Scores:
    clipped = np.clip(chances, EDGE, 1 - EDGE)
    return np.asarray(-np.where(right > 0.5, np.log(clipped), np.log(1 - clipped)))
