"""The trained judge: an ensemble of symmetric trees in a plain file, and its arithmetic.

All nodes of one level of a symmetric tree ask the same question, so a tree of depth 5 is five comparisons and one look
into a table of 32 values: all trees at a time, and no step depends on the one before. The trees ask some hundred
distinct questions, a few of each feature, so a feature is first replaced by how many of its thresholds it is above: one
byte.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from ragmeter.metrics.offline.features import NAMES
from ragmeter.metrics.offline.guards import capped
from ragmeter.metrics.offline.vocabulary import Floats

MODEL = "model.json.gz"
_AT_ONCE = 512  # rows whose leaves fit into the processor's cache


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
        # A blank row more: numpy adds up a single column in another order, and a row's score must not depend on others.
        codes = np.pad(self._codes(features), ((0, 0), (0, 1)))
        table, first = self._pairs.ravel(), np.arange(len(self._pairs))[:, None] * self._pairs.shape[1]
        found = np.empty(codes.shape[1])
        for begin in range(0, len(found), _AT_ONCE):
            leaves = self._leaves(codes[:, begin : begin + _AT_ONCE])
            both = leaves[0::2].astype(np.uint16)
            both[: len(leaves) // 2] |= leaves[1::2].astype(np.uint16) << self.depth
            found[begin : begin + _AT_ONCE] = table.take(both + first).sum(axis=0)
        return found[:-1] + self.bias

    def probabilities(self, features: Floats) -> Floats:
        """The calibrated probability that each row's answer is right, capped where a guard holds (the last column)."""
        return capped(self.calibrated(self.scores(features)), features[:, len(NAMES)])

    def calibrated(self, scores: Floats) -> Floats:
        """Probabilities from log-odds."""
        return 1 / (1 + np.exp(-(self.slope * scores + self.intercept)))

    def contributions(self, features: Floats) -> Floats:
        """By how much each feature of each row moved its calibrated log-odds, on the way down each tree.

        Together with `prior`, those of a row add up to its log-odds.
        """
        codes = self._codes(features)
        found = np.zeros((len(features), len(NAMES)))
        trees = np.arange(len(self.feature))[:, None]
        for begin in range(0, len(features), _AT_ONCE):
            leaves = self._leaves(codes[:, begin : begin + _AT_ONCE])
            before = self._means[0][trees, 0]
            for bit in range(self.depth):
                after = self._means[bit + 1][trees, leaves & ((2 << bit) - 1)]
                asks = self.feature[:, bit, None] == np.arange(len(NAMES))
                found[begin : begin + _AT_ONCE] += (after - before).T @ asks.astype(np.float64)
                before = after
        return found * self.slope

    @property
    def prior(self) -> float:
        """The calibrated log-odds before anything is known of a row."""
        return float(self.slope * (self.bias + self._means[0].sum()) + self.intercept)

    @property
    def depth(self) -> int:
        """How many questions each tree asks."""
        return int(self.feature.shape[1])

    @cached_property
    def _borders(self) -> list[Floats]:
        """Each feature's distinct thresholds."""
        return [np.unique(self.threshold[self.feature == column]) for column in range(len(NAMES))]

    @cached_property
    def _ranks(self) -> npt.NDArray[np.uint8]:
        """Which of its feature's thresholds each comparison has."""
        found = np.zeros(self.feature.shape, np.uint8)
        for column, borders in enumerate(self._borders):
            own = self.feature == column
            found[own] = np.searchsorted(borders, self.threshold[own])
        return found

    @cached_property
    def _pairs(self) -> Floats:
        """The sums of the values of two neighbouring trees, for half as many looks into a table."""
        padded = np.concatenate([self.value, np.zeros((len(self.value) % 2, self.value.shape[1]))])
        return np.asarray(padded[1::2, :, None] + padded[0::2, None, :]).reshape(len(padded) // 2, -1)

    @cached_property
    def _means(self) -> list[Floats]:
        """For each number of questions asked, each tree's mean value under each sequence of answers, by weight.

        It is the plain mean where nothing of the training data came by.
        """
        found = []
        for asked in range(self.depth + 1):
            shape = (len(self.value), -1, 1 << asked)
            value, weight = self.value.reshape(shape), self.weight.reshape(shape)
            total = weight.sum(axis=1)
            weighed = (value * weight).sum(axis=1) / np.where(total > 0, total, 1)
            found.append(np.where(total > 0, weighed, value.mean(axis=1)))
        return found

    def _codes(self, features: Floats) -> npt.NDArray[np.uint8]:
        """For each feature, and each row, how many of the feature's thresholds it is above."""
        found = [np.searchsorted(borders, features[:, place]) for place, borders in enumerate(self._borders)]
        return np.array(found, np.uint8).reshape(len(NAMES), len(features))

    def _leaves(self, codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """In which leaf of each tree each row ends."""
        found = np.zeros((len(self.feature), codes.shape[1]), np.uint8)
        for bit in range(self.depth):
            found |= (codes[self.feature[:, bit]] > self._ranks[:, bit, None]).view(np.uint8) << bit
        return found


@cache
def trees() -> Trees:
    """The judge that comes with ragmeter."""
    packed = files("ragmeter.metrics.offline").joinpath(MODEL).read_bytes()
    return Trees.read(json.loads(gzip.decompress(packed)))
