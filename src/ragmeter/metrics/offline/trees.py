"""The trained judge: an ensemble of symmetric trees in a plain file, and its arithmetic.

All nodes of one level of a symmetric tree make the same comparison, so a tree of depth 4 is four comparisons and one
look-up in a table of 16 values, for all trees at once. The trees have some hundred distinct comparisons, a few for each
feature, so a feature is first replaced by the number of its thresholds that it exceeds, which fits into one byte.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import NotRequired, TypedDict

import numpy as np
import numpy.typing as npt

from ragmeter.metrics.offline.features import NAMES
from ragmeter.metrics.offline.guards import capped
from ragmeter.metrics.offline.reading.vocabulary import Floats

MODEL = "model.json.gz"
_AT_ONCE = 512  # rows whose leaves fit into the processor's cache


class ModelFile(TypedDict):
    """A model's file: `feature`, `threshold`, `value` and `weight` have a list for each tree."""

    features: list[str]
    bias: float
    calibration: Sequence[float]  # slope and intercept
    feature: list[list[int]]
    threshold: list[list[float]]
    value: list[list[float]]
    weight: list[list[float]]
    fingerprint: NotRequired[str]  # of the features that it was learnt from
    answer: NotRequired[Sequence[float]]  # slope and intercept, from the odds of claims to those of an answer


@dataclass(frozen=True)
class Trees:
    """`feature[t, k]` is compared with `threshold[t, k]`; the result is bit k of the index into `value[t]`.

    `weight` has the number of training rows in each leaf.
    """

    feature: npt.NDArray[np.int64]
    threshold: Floats
    value: Floats
    weight: Floats
    bias: float
    slope: float
    intercept: float
    n_features: int

    @classmethod
    def read(cls, content: ModelFile, names: Sequence[str] = NAMES) -> Trees:
        """The trees of a model's file, by the names of its features; `names` are those of the columns."""
        columns = np.array([names.index(name) for name in content["features"]], np.int64)
        feature = columns[np.array(content["feature"])]
        arrays = content["threshold"], content["value"], content["weight"]
        threshold, value, weight = (np.array(array, np.float64) for array in arrays)
        slope, intercept = content["calibration"]
        return cls(feature, threshold, value, weight, content["bias"], slope, intercept, len(names))

    def scores(self, features: Floats) -> Floats:
        """The log-odds of each row, before calibration."""
        # One more, blank row: numpy sums a single column in another order, and a score must not depend on other rows.
        codes = np.pad(self._codes(features), ((0, 0), (0, 1)))
        table, first = self._pairs.ravel(), np.arange(len(self._pairs))[:, None] * self._pairs.shape[1]
        scores = np.empty(codes.shape[1])
        for begin in range(0, len(scores), _AT_ONCE):
            leaves = self._leaves(codes[:, begin : begin + _AT_ONCE])
            leaf_pairs = leaves[0::2].astype(np.uint16)
            leaf_pairs[: len(leaves) // 2] |= leaves[1::2].astype(np.uint16) << self.depth
            scores[begin : begin + _AT_ONCE] = table.take(leaf_pairs + first).sum(axis=0)
        return scores[:-1] + self.bias

    def probabilities(self, features: Floats) -> Floats:
        """The calibrated probability of each row, capped where a guard holds: a column after the features, if any."""
        chances = self.calibrated(self.scores(features))
        return capped(chances, features[:, -1]) if features.shape[1] > self.n_features else chances

    def calibrated(self, scores: Floats) -> Floats:
        """Probabilities from log-odds."""
        return 1 / (1 + np.exp(-(self.slope * scores + self.intercept)))

    def contributions(self, features: Floats) -> Floats:
        """The contribution of each feature of each row to its calibrated log-odds, summed along the paths of the trees.

        The contributions of a row and `prior` add up to its log-odds.
        """
        codes = self._codes(features)
        contributions = np.zeros((len(features), self.n_features))
        trees = np.arange(len(self.feature))[:, None]
        for begin in range(0, len(features), _AT_ONCE):
            leaves = self._leaves(codes[:, begin : begin + _AT_ONCE])
            before = self._means[0][trees, 0]
            for bit in range(self.depth):
                after = self._means[bit + 1][trees, leaves & ((2 << bit) - 1)]
                asks = self.feature[:, bit, None] == np.arange(self.n_features)
                contributions[begin : begin + _AT_ONCE] += (after - before).T @ asks.astype(np.float64)
                before = after
        return contributions * self.slope

    @property
    def prior(self) -> float:
        """The calibrated log-odds of an average row."""
        return float(self.slope * (self.bias + self._means[0].sum()) + self.intercept)

    @property
    def depth(self) -> int:
        """The number of comparisons of each tree."""
        return int(self.feature.shape[1])

    @cached_property
    def _borders(self) -> list[Floats]:
        """Each feature's distinct thresholds."""
        return [np.unique(self.threshold[self.feature == column]) for column in range(self.n_features)]

    @cached_property
    def _ranks(self) -> npt.NDArray[np.uint8]:
        """The index of each comparison's threshold among those of its feature."""
        ranks = np.zeros(self.feature.shape, np.uint8)
        for column, borders in enumerate(self._borders):
            is_column = self.feature == column
            ranks[is_column] = np.searchsorted(borders, self.threshold[is_column])
        return ranks

    @cached_property
    def _pairs(self) -> Floats:
        """The sums of the values of two neighbouring trees, which halves the number of look-ups."""
        padded = np.concatenate([self.value, np.zeros((len(self.value) % 2, self.value.shape[1]))])
        return np.asarray(padded[1::2, :, None] + padded[0::2, None, :]).reshape(len(padded) // 2, -1)

    @cached_property
    def _means(self) -> list[Floats]:
        """Each tree's weighted mean value below each node, depth by depth.

        It is the unweighted mean below nodes without training data.
        """
        means = []
        for asked in range(self.depth + 1):
            shape = (len(self.value), -1, 1 << asked)
            value, weight = self.value.reshape(shape), self.weight.reshape(shape)
            total = weight.sum(axis=1)
            weighed = (value * weight).sum(axis=1) / np.where(total > 0, total, 1)
            means.append(np.where(total > 0, weighed, value.mean(axis=1)))
        return means

    def _codes(self, features: Floats) -> npt.NDArray[np.uint8]:
        """The number of a feature's thresholds that a row's value exceeds, for each feature and row."""
        codes = [np.searchsorted(borders, features[:, place]) for place, borders in enumerate(self._borders)]
        return np.array(codes, np.uint8).reshape(self.n_features, len(features))

    def _leaves(self, codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """The leaf of each tree for each row."""
        leaves = np.zeros((len(self.feature), codes.shape[1]), np.uint8)
        for bit in range(self.depth):
            leaves |= (codes[self.feature[:, bit]] > self._ranks[:, bit, None]).view(np.uint8) << bit
        return leaves


@cache
def trees() -> Trees:
    """The trees of the built-in model."""
    return Trees.read(read_model(MODEL))


def read_model(name: str) -> ModelFile:
    """A model's file in this package."""
    content: ModelFile = json.loads(gzip.decompress(files("ragmeter.metrics.offline").joinpath(name).read_bytes()))
    return content
