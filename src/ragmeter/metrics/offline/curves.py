"""Recalibrates the offline judge's probabilities by the user's labels.

`Platt` is a logistic curve of the log odds (Platt 1999, with his target smoothing): two parameters, for few labels.
`Isotonic` is isotonic regression, for many. Both keep the order of answers.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np

from ragmeter.errors import InputError
from ragmeter.table import Scores

#: From this many labels on, isotonic regression is used.
_MANY = 1_000
#: Probabilities are clipped to at least this distance from 0 and 1.
EDGE = 1e-6
#: Parameters beyond this are not from a fit: the file is damaged.
_STEEPEST = 50.0


@dataclass(frozen=True)
class Platt:
    """The log odds times `slope`, plus `shift`. The slope is never negative, which keeps the order."""

    slope: float
    shift: float

    @classmethod
    def fit(cls, chances: Scores, right: Scores, weights: Scores) -> Self:
        """Maximum likelihood by Newton's method, with step halving."""
        odds = log_odds(chances)
        number = weights @ right
        high, low = (number + 1) / (number + 2), 1 / (weights.sum() - number + 2)
        targets = np.where(right > 0.5, high, low)
        inputs = np.column_stack([odds, np.ones(len(odds))])

        def loss(parameters: Scores) -> float:
            sums = inputs @ parameters
            return float(weights @ (np.logaddexp(0, sums) - targets * sums))

        parameters = np.array([1.0, 0.0])
        for _ in range(100):
            predicted = 1 / (1 + np.exp(-(inputs @ parameters)))
            hessian = (inputs * (weights * predicted * (1 - predicted))[:, None]).T @ inputs + 1e-9 * np.eye(2)
            step = np.linalg.solve(hessian, inputs.T @ (weights * (predicted - targets)))
            while np.abs(step).max() > 1e-12 and loss(parameters - step) > loss(parameters):
                step = step / 2
            parameters = parameters - step
            if np.abs(step).max() < 1e-10:
                break
        return cls(max(float(parameters[0]), 0.0), float(parameters[1]))

    def __call__(self, chances: Scores) -> Scores:
        """The recalibrated probabilities."""
        return np.asarray(1 / (1 + np.exp(-(self.slope * log_odds(chances) + self.shift))))

    def as_dict(self) -> dict[str, object]:
        """The record for a file."""
        return {"kind": "platt", "slope": self.slope, "shift": self.shift}


@dataclass(frozen=True)
class Isotonic:
    """A step function: from each of `begins` on, the probability is that of `values`."""

    begins: tuple[float, ...]
    values: tuple[float, ...]

    @classmethod
    def fit(cls, chances: Scores, right: Scores, weights: Scores) -> Self:
        """Pool adjacent violators; steps of 0 or 1 are smoothed."""
        order = np.argsort(chances, kind="stable")
        blocks: list[list[float]] = []  # begin, sum, count
        for begin, value, weight in np.column_stack([chances, right, weights])[order].tolist():
            if blocks and blocks[-1][0] == begin:
                blocks[-1][1] += weight * value
                blocks[-1][2] += weight
            else:
                blocks.append([begin, weight * value, weight])
            while len(blocks) > 1 and blocks[-2][1] * blocks[-1][2] >= blocks[-1][1] * blocks[-2][2]:
                _, total, count = blocks.pop()
                blocks[-1][1] += total
                blocks[-1][2] += count
        values = [(total + 0.5) / (count + 1) if total in (0, count) else total / count for _, total, count in blocks]
        return cls(tuple(block[0] for block in blocks), tuple(np.maximum.accumulate(values).tolist()))

    def __call__(self, chances: Scores) -> Scores:
        """The recalibrated probabilities."""
        places = np.searchsorted(self.begins, chances, side="right") - 1
        return np.asarray(self.values, dtype=np.float64)[np.maximum(places, 0)]

    def as_dict(self) -> dict[str, object]:
        """The record for a file."""
        return {"kind": "isotonic", "begins": list(self.begins), "values": list(self.values)}


Curve = Platt | Isotonic


def curve_from(record: Any, file: str = "") -> Curve:
    """A curve from the record in a file."""
    try:
        if record["kind"] == "platt":
            platt = Platt(float(record["slope"]), float(record["shift"]))
            if 0 <= platt.slope <= _STEEPEST and abs(platt.shift) <= _STEEPEST:
                return platt
        if record["kind"] == "isotonic" and len(record["begins"]) == len(record["values"]) > 0:
            steps = Isotonic(tuple(map(float, record["begins"])), tuple(map(float, record["values"])))
            if _rises(steps.begins) and _rises(steps.values) and steps.values[0] >= 0 and steps.values[-1] <= 1:
                return steps
    except (KeyError, TypeError, ValueError):
        pass
    raise InputError(
        "this is not a calibration of the offline judge",
        file=file,
        hint="make one: ragmeter calibrate RUN --offline-judge",
    )


def _rises(numbers: tuple[float, ...]) -> bool:
    """Whether the numbers never decrease; False with NaN."""
    return all(number <= following for number, following in pairwise((-np.inf, *numbers, np.inf)))


def read_curve(path: str) -> Curve:
    """The curve in a file that `ragmeter calibrate --offline-judge` wrote."""
    try:
        changed = Path(path).stat().st_mtime_ns
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}", file=path) from None
    return _read(path, changed)


@lru_cache(maxsize=8)
def _read(path: str, changed: int) -> Curve:
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"can't be read: {error}", file=path) from None
    return curve_from(record.get("curve") if isinstance(record, dict) else None, path)


def fit(chances: Scores, right: Scores, weights: Scores | None = None) -> Curve:
    """Fit a curve: isotonic for many labels, Platt's for few. Weights say how many rows each label stands for."""
    shares = np.ones(len(right)) if weights is None else weights / weights.mean()
    kind: type[Isotonic] | type[Platt] = Isotonic if len(right) >= _MANY else Platt
    return kind.fit(chances, right, shares)


def log_odds(chances: Scores) -> Scores:
    """The log odds of probabilities, clipped away from 0 and 1."""
    clipped = np.clip(chances, EDGE, 1 - EDGE)
    return np.asarray(np.log(clipped / (1 - clipped)))
