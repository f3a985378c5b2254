"""The trained judge: an ensemble of symmetric trees in a plain file, and its arithmetic.

All nodes of one level of a symmetric tree ask the same question, so a tree of depth 5 is five comparisons and one look
into a table of 32 values: whole columns at a time, and no step depends on the one before.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from ragmeter.metrics.offline.features import NAMES
from ragmeter.metrics.offline.vocabulary import Floats

MODEL = "model.json.gz"
_AT_ONCE = 4096  # rows whose columns fit into the processor's cache


@dataclass(frozen=True)
class Trees:
    """`feature[t, k]` is compared with `threshold[t, k]`; the answers, bit k each, are the place in `value[t]`.

    `weight` says how many rows of the training data came to each leaf.
    """

    feature: npt.NDArray[np.int64]
    threshold: Floats
    value: Floats
    weight: Floats
    bias: float
    slope: float
    intercept: float

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> Trees:
        """The trees of a model's file, by the names of its features."""
        place = {name: number for number, name in enumerate(NAMES)}
        feature = np.array(
            [[place[content["features"][each]] for each in tree] for tree in content["feature"]], np.int64
        )
        threshold, value, weight = (np.array(content[name], np.float64) for name in ("threshold", "value", "weight"))
        slope, intercept = content["calibration"]
        return cls(feature, threshold, value, weight, content["bias"], slope, intercept)

    def scores(self, features: Floats) -> Floats:
        """The log-odds of each row as the trees have them, before calibration."""
        found = np.full(len(features), self.bias, np.float64)
        for begin in range(0, len(features), _AT_ONCE):
            columns = np.ascontiguousarray(features[begin : begin + _AT_ONCE].T)
            part = found[begin : begin + _AT_ONCE]
            for feature, threshold, value in zip(self.feature, self.threshold, self.value, strict=True):
                leaf = np.zeros(len(part), np.uint8)
                for bit, (column, than) in enumerate(zip(feature, threshold, strict=True)):
                    leaf |= (columns[column] > than).view(np.uint8) << bit
                part += value[leaf]
        return found

    def probabilities(self, features: Floats) -> Floats:
        """The calibrated probability that each row's answer is right."""
        return self.calibrated(self.scores(features))

    def calibrated(self, scores: Floats) -> Floats:
        """Probabilities from log-odds."""
        return 1 / (1 + np.exp(-(self.slope * scores + self.intercept)))

    def contributions(self, features: Floats) -> Floats:
        """By how much each feature of one row moved its calibrated log-odds, on the way down each tree.

        Together with `prior`, they add up to the row's log-odds.
        """
        found = np.zeros(len(NAMES))
        for feature, threshold, value, weight in zip(
            self.feature, self.threshold, self.value, self.weight, strict=True
        ):
            before = _mean(value, weight)
            leaves = np.arange(len(value))
            for bit, (column, than) in enumerate(zip(feature.tolist(), threshold, strict=True)):
                leaves = leaves[(leaves >> bit & 1) == int(features[column] > than)]
                after = _mean(value[leaves], weight[leaves]) if bit + 1 < len(feature) else float(value[leaves][0])
                found[column] += after - before
                before = after
        return found * self.slope

    @property
    def prior(self) -> float:
        """The calibrated log-odds before anything is known of a row."""
        means = [_mean(value, weight) for value, weight in zip(self.value, self.weight, strict=True)]
        return self.slope * (self.bias + sum(means)) + self.intercept


def _mean(value: Floats, weight: Floats) -> float:
    """The mean of leaves by their weight; the plain one where nothing of the training data came by."""
    total = float(weight.sum())
    return float(value @ weight) / total if total else float(value.mean())


@cache
def trees() -> Trees:
    """The judge that comes with ragmeter."""
    packed = files("ragmeter.metrics.offline").joinpath(MODEL).read_bytes()
    return Trees.read(json.loads(gzip.decompress(packed)))
