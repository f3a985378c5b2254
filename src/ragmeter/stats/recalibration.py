"""Whether bending chances by labels helps, told by rows that had no part in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ragmeter.metrics.offline.curves import EDGE, fit
from ragmeter.stats.clusters import Codes
from ragmeter.stats.intervals import Interval, mean_interval
from ragmeter.table import Scores

_FOLDS = 5


@dataclass(frozen=True)
class Gain:
    """What recalibration does to rows that it has not seen. `gain` is the fall of the log loss, with its interval."""

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
        """Whether it is better on rows that it has not seen, by more than luck would have it.

        A gain above 0 alone would be luck one time in five where there is nothing to gain, and would then do harm; a
        gain above its standard error is so one time in fifty, and hardly ever missed where much is to gain.
        """
        return self.gain > self.standard_error


def cross_validated(chances: Scores, right: Scores, groups: Codes, seed: int = 0) -> Gain:
    """Fit without a fifth of the questions, try on that fifth, five times over: rows of a question stay together."""
    _, places = np.unique(groups, return_inverse=True)
    number = int(places.max()) + 1
    fold = np.random.default_rng(seed).permutation(number)[places] % _FOLDS
    after = chances.copy()
    for each in range(min(_FOLDS, number)):
        out = fold == each
        if 0 < right[~out].sum() < (~out).sum():
            after[out] = fit(chances[~out], right[~out])(chances[out])
    before_loss, after_loss = _losses(chances, right), _losses(after, right)
    gains = np.bincount(places, before_loss - after_loss) / np.bincount(places)
    spread = float(gains.std(ddof=1)) if number > 1 else 0.0
    return Gain(
        n=len(right),
        n_groups=number,
        log_loss_before=float(before_loss.mean()),
        log_loss_after=float(after_loss.mean()),
        calibration_error_before=calibration_error(chances, right),
        calibration_error_after=calibration_error(after, right),
        agreement_before=float(np.mean((chances >= 0.5) == (right > 0.5))),
        agreement_after=float(np.mean((after >= 0.5) == (right > 0.5))),
        gain=float((before_loss - after_loss).mean()),
        standard_error=spread / number**0.5,
        interval=mean_interval(float(gains.mean()), spread, number),
    )


def calibration_error(chances: Scores, right: Scores, bins: int = 10) -> float:
    """The mean distance, over equally full bins, between what was said and what was so."""
    if not len(chances):
        return 0.0
    order = np.argsort(chances, kind="stable")
    parts: Sequence[Any] = [part for part in np.array_split(order, bins) if len(part)]
    return float(sum(abs(chances[part].mean() - right[part].mean()) * len(part) for part in parts) / len(chances))


def _losses(chances: Scores, right: Scores) -> Scores:
    held = np.clip(chances, EDGE, 1 - EDGE)
    return np.asarray(-np.where(right > 0.5, np.log(held), np.log(1 - held)))
