"""The offline judge's chances bent until they are what they say they are, by labels of one's own.

`Platt` is a logistic curve of the log odds (Platt 1999, with his target smoothing): two numbers, for few labels.
`Isotonic` is the best line of rising steps, for many. Either keeps the order of answers.
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

#: From so many labels on steps are worth more than a curve.
_MANY = 1_000
#: Chances keep off 0 and 1 by so much.
EDGE = 1e-6
#: What no fit comes near: a curve this steep, or this far off, is a damaged file.
_STEEPEST = 50.0


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
            platt = Platt(float(found["slope"]), float(found["shift"]))
            if 0 <= platt.slope <= _STEEPEST and abs(platt.shift) <= _STEEPEST:
                return platt
        if found["kind"] == "isotonic" and len(found["begins"]) == len(found["values"]) > 0:
            steps = Isotonic(tuple(map(float, found["begins"])), tuple(map(float, found["values"])))
            if _rises(steps.begins) and _rises(steps.values) and steps.values[0] >= 0 and steps.values[-1] <= 1:
                return steps
    except (KeyError, TypeError, ValueError):
        pass
    raise InputError(
        "this is no calibration of the offline judge",
        file=file,
        hint="make one: ragmeter calibrate RUN --offline-judge",
    )


def _rises(numbers: tuple[float, ...]) -> bool:
    """Whether no number is less than the one before it; something that is no number is."""
    return all(one <= other for one, other in pairwise((-np.inf, *numbers, np.inf)))


def read_curve(path: str) -> Curve:
    """The curve of a file, as `ragmeter calibrate --offline-judge` writes it."""
    try:
        changed = Path(path).stat().st_mtime_ns
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}", file=path) from None
    return _read(path, changed)


@lru_cache(maxsize=8)
def _read(path: str, changed: int) -> Curve:
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"can't be read: {error}", file=path) from None
    return curve_from(found.get("curve") if isinstance(found, dict) else None, path)


def fit(chances: Scores, right: Scores) -> Curve:
    """The curve that fits the number of labels."""
    return Isotonic.fit(chances, right) if len(right) >= _MANY else Platt.fit(chances, right)


def log_odds(chances: Scores) -> Scores:
    """Of chances that keep off 0 and 1."""
    held = np.clip(chances, EDGE, 1 - EDGE)
    return np.asarray(np.log(held / (1 - held)))
