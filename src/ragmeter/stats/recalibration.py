"""Chances bent until they are what they say they are: by two numbers where labels are few, by steps where many.

`Platt` is a logistic curve of the log odds (Platt 1999, with his target smoothing), `Isotonic` the best line of rising
steps. Which one is chosen goes by the number of labels; whether it helped is told by cross-validation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ragmeter.errors import InputError
from ragmeter.stats.clusters import Codes
from ragmeter.stats.intervals import Interval, mean_interval
from ragmeter.table import Scores

#: From so many labels on steps are worth more than a curve.
_MANY = 1_000
_FOLDS = 5
_EDGE = 1e-6


@dataclass(frozen=True)
class Platt:
    """The log odds times `slope`, plus `shift`. The slope is never negative: order is kept."""

    slope: float
    shift: float

    @classmethod
    def fit(cls, chances: Scores, right: Scores) -> Self:
        """By Newton's method on the likelihood, with steps that are halved until they help."""
        odds = log_odds(chances)
        number = right.sum()
        high, low = (number + 1) / (number + 2), 1 / (len(right) - number + 2)
        wanted = np.where(right > 0.5, high, low)
        given = np.column_stack([odds, np.ones(len(odds))])

        def loss(held: Scores) -> float:
            sums = given @ held
            return float((np.logaddexp(0, sums) - wanted * sums).sum())

        held = np.array([1.0, 0.0])
        for _ in range(100):
            found = 1 / (1 + np.exp(-(given @ held)))
            bend = (given * (found * (1 - found))[:, None]).T @ given + 1e-9 * np.eye(2)
            step = np.linalg.solve(bend, given.T @ (found - wanted))
            while np.abs(step).max() > 1e-12 and loss(held - step) > loss(held):
                step = step / 2
            held = held - step
            if np.abs(step).max() < 1e-10:
                break
        return cls(max(float(held[0]), 0.0), float(held[1]))

    def __call__(self, chances: Scores) -> Scores:
        """The chances as they should have been."""
        return np.asarray(1 / (1 + np.exp(-(self.slope * log_odds(chances) + self.shift))))

    def as_dict(self) -> dict[str, Any]:
        """For a file."""
        return {"kind": "platt", "slope": self.slope, "shift": self.shift}


@dataclass(frozen=True)
class Isotonic:
    """Steps: from each of `begins` on, the chance is that of `values`."""

    begins: tuple[float, ...]
    values: tuple[float, ...]

    @classmethod
    def fit(cls, chances: Scores, right: Scores) -> Self:
        """By pooling neighbours that fall until none does; the first and last step keep off 0 and 1."""
        order = np.argsort(chances, kind="stable")
        blocks: list[list[float]] = []  # begin, sum, count
        for begin, value in zip(chances[order].tolist(), right[order].tolist(), strict=True):
            if blocks and blocks[-1][0] == begin:
                blocks[-1][1] += value
                blocks[-1][2] += 1
            else:
                blocks.append([begin, value, 1])
            while len(blocks) > 1 and blocks[-2][1] * blocks[-1][2] >= blocks[-1][1] * blocks[-2][2]:
                _, total, count = blocks.pop()
                blocks[-1][1] += total
                blocks[-1][2] += count
        values = [(total + 0.5) / (count + 1) if total in (0, count) else total / count for _, total, count in blocks]
        return cls(tuple(block[0] for block in blocks), tuple(np.maximum.accumulate(values).tolist()))

    def __call__(self, chances: Scores) -> Scores:
        """The chances as they should have been."""
        places = np.searchsorted(self.begins, chances, side="right") - 1
        return np.asarray(self.values, dtype=np.float64)[np.maximum(places, 0)]

    def as_dict(self) -> dict[str, Any]:
        """For a file."""
        return {"kind": "isotonic", "begins": list(self.begins), "values": list(self.values)}


Curve = Platt | Isotonic


def curve_from(found: Any, file: str = "") -> Curve:
    """A curve from what a file says."""
    try:
        if found["kind"] == "platt":
            return Platt(float(found["slope"]), float(found["shift"]))
        if found["kind"] == "isotonic" and len(found["begins"]) == len(found["values"]) > 0:
            return Isotonic(tuple(map(float, found["begins"])), tuple(map(float, found["values"])))
    except (KeyError, TypeError, ValueError):
        pass
    raise InputError("this is no calibration of the offline judge", file=file, hint="make one: ragmeter calibrate")


def fit(chances: Scores, right: Scores) -> Curve:
    """The curve that fits the number of labels."""
    return Isotonic.fit(chances, right) if len(right) >= _MANY else Platt.fit(chances, right)


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
    interval: Interval | None

    @property
    def helps(self) -> bool:
        """Whether it is better by more than nothing, on rows that it has not seen."""
        return self.gain > 0


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
        interval=mean_interval(float(gains.mean()), spread, number),
    )


def calibration_error(chances: Scores, right: Scores, bins: int = 10) -> float:
    """The mean distance, over equally full bins, between what was said and what was so."""
    if not len(chances):
        return 0.0
    order = np.argsort(chances, kind="stable")
    parts: Sequence[Any] = [part for part in np.array_split(order, bins) if len(part)]
    return float(sum(abs(chances[part].mean() - right[part].mean()) * len(part) for part in parts) / len(chances))


def log_odds(chances: Scores) -> Scores:
    """Of chances that keep off 0 and 1."""
    held = np.clip(chances, _EDGE, 1 - _EDGE)
    return np.asarray(np.log(held / (1 - held)))


def _losses(chances: Scores, right: Scores) -> Scores:
    held = np.clip(chances, _EDGE, 1 - _EDGE)
    return np.asarray(-np.where(right > 0.5, np.log(held), np.log(1 - held)))
