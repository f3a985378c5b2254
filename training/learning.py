"""Fitting the trees, and the figures that tell how good they are."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from judged import Judged, fold

from ragmeter.metrics.offline.features import FEATURES, NAMES, Feature, features
from ragmeter.metrics.offline.guards import capped
from ragmeter.metrics.offline.trees import ModelFile, Trees
from ragmeter.stats.cascade import by_labels

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ids = npt.NDArray[np.int64]

SETTINGS: dict[str, Any] = {
    "iterations": 400,
    "depth": 4,
    "learning_rate": 0.05,
    "l2_leaf_reg": 15,
    "rsm": 0.4,  # of the features are looked at for each split
    "bootstrap_type": "Bernoulli",
    "subsample": 0.7,
    "border_count": 64,
    "random_seed": 7,
    "thread_count": 1,  # the same file each time
    "allow_writing_files": False,
    "verbose": False,
}


@dataclass(frozen=True)
class Rows:
    """Rows with the features of their pairs: a row has as many pairs as gold answers."""

    features: Floats
    row: Ids  # of each pair
    right: Bools
    weight: Floats

    @classmethod
    def of(cls, rows: Sequence[Judged]) -> Rows:
        """Compute the features of all pairs."""
        pairs = [(place, gold) for place, row in enumerate(rows) for gold in row.golds]
        lines = features(
            [rows[place].question for place, _ in pairs],
            [gold for _, gold in pairs],
            [rows[place].answer for place, _ in pairs],
        )
        which = np.array([place for place, _ in pairs], np.int64)
        return cls(lines, which, np.array([row.right for row in rows]), np.array([row.weight for row in rows]))

    def some(self, which: Bools) -> Rows:
        """The rows of this mask."""
        kept = which[self.row]
        numbers = np.cumsum(which) - 1
        return Rows(self.features[kept], numbers[self.row[kept]], self.right[which], self.weight[which])

    def best(self, scores: Floats) -> Floats:
        """Each row's greatest score."""
        values = np.full(len(self.right), -np.inf)
        np.maximum.at(values, self.row, scores)
        return values

    def chances(self, scores: Floats, slope: float, intercept: float) -> Floats:
        """Each row's greatest chance, from the log-odds of its pairs, calibrated so and capped by the guards."""
        return self.best(capped(1 / (1 + np.exp(-(slope * scores + intercept))), self.features[:, -1]))

    def best_pairs(self, scores: Floats) -> Ids:
        """Where each row's pair with the greatest score is."""
        order = np.lexsort((-scores, self.row))
        first = np.concatenate([[True], np.diff(self.row[order]) > 0])
        return np.asarray(order[first])


def fingerprint(rows: Sequence[Judged]) -> str:
    """A hash of the features of one question in thirty.

    It is in the model's file: trees that were learnt from other features than the code makes today are noticed.
    """
    sample = [row for row in rows if fold(f"sample {row.question}", 30) == 0]
    features = np.round(Rows.of(sample).features[:, : len(NAMES)], 6) + 0.0
    return hashlib.sha256(features.tobytes()).hexdigest()


def fit(rows: Rows, **settings: Any) -> ModelFile:
    """Train on each row's best pair, the one with the most of the gold answer in it; the trees as plain arrays."""
    most = {"recall_new": 1.0, "precision": 0.1}
    features = rows.features[:, : len(NAMES)]  # the guard is no feature
    pairs = rows.best_pairs(features @ np.array([most.get(name, 0.0) for name in NAMES]))
    return grown(features[pairs], rows.right, rows.weight, FEATURES, {**SETTINGS, **settings})


def grown(
    features: Floats, right: Bools, weight: Floats, described: Sequence[Feature], settings: Mapping[str, Any]
) -> ModelFile:
    """Trees for these rows, as plain arrays; `described` has the name and the direction of each feature."""
    from catboost import CatBoostClassifier

    model = CatBoostClassifier(**settings, monotone_constraints=[feature.direction for feature in described])
    model.fit(features, right.astype(int), sample_weight=weight)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        content = json.loads(path.read_text(encoding="utf-8"))
    scale, (bias,) = content["scale_and_bias"]
    trees = [tree for tree in content["oblivious_trees"] if tree["splits"]]
    depth, leaves = settings["depth"], 1 << settings["depth"]
    return {
        "features": [feature.name for feature in described],
        "bias": round(bias, 6),
        "calibration": [1.0, 0.0],
        "feature": [_filled([split["float_feature_index"] for split in tree["splits"]], depth, 0) for tree in trees],
        "threshold": [_filled([round(split["border"], 5) for split in tree["splits"]], depth, 1e9) for tree in trees],
        "value": [_filled([round(value * scale, 5) for value in tree["leaf_values"]], leaves, 0.0) for tree in trees],
        "weight": [_filled([round(value, 1) for value in tree["leaf_weights"]], leaves, 0.0) for tree in trees],
    }


def _filled(values: list[Any], length: int, blank: Any) -> list[Any]:
    """A tree that stopped early, as deep as the others: what is never reached has no value."""
    return values + [blank] * (length - len(values))


def cross_validated(rows: Rows, fold: Ids, is_real: Bools, **settings: Any) -> Floats:
    """The log-odds of each pair from trees that saw no row of its fold. Made-up rows are only ever learnt from."""
    scores = np.zeros(len(rows.row))
    for number_of_fold in np.unique(fold[is_real]).tolist():
        inside = fold == number_of_fold
        fitted = Trees.read(fit(rows.some(~inside), **settings))
        held_out = inside[rows.row]
        scores[held_out] = fitted.scores(rows.features[held_out])
    return scores


def calibration(scores: Floats, right: Bools, weights: Floats | None = None) -> tuple[float, float]:
    """Slope and intercept that make log-odds of these scores (Platt's scaling, by Newton's method)."""
    slope, intercept = 1.0, 0.0
    own = 1.0 if weights is None else weights
    for _ in range(50):
        probability = 1 / (1 + np.exp(-(slope * scores + intercept)))
        weight = probability * (1 - probability) * own
        error = (probability - right) * own
        gradient = np.array([(error * scores).sum(), error.sum()])
        inside = (weight * scores).sum()
        curvature = np.array([[(weight * scores**2).sum(), inside], [inside, weight.sum()]])
        step = np.linalg.solve(curvature, gradient)
        slope, intercept = slope - step[0], intercept - step[1]
        if np.abs(step).max() < 1e-12:
            break
    return round(float(slope), 6), round(float(intercept), 6)


def agreement(predicted: Bools, right: Bools) -> float:
    """The share of rows on which the two say the same."""
    return float((predicted == right).mean())


def kappa(predicted: Bools, right: Bools) -> float:
    """Cohen's kappa: agreement beyond what chance would give."""
    chance = predicted.mean() * right.mean() + (1 - predicted.mean()) * (1 - right.mean())
    return float((agreement(predicted, right) - chance) / (1 - chance)) if chance < 1 else 1.0


def calibration_error(probability: Floats, right: Bools, bins: int = 15) -> float:
    """The expected calibration error over bins of equal size."""
    parts = np.array_split(np.argsort(probability, kind="stable"), bins)
    gaps = [abs(probability[part].mean() - right[part].mean()) * len(part) for part in parts if len(part)]
    return float(sum(gaps) / len(right))


def best_threshold(scores: Floats, right: Bools) -> float:
    """The threshold on a score that agrees with people most often, chosen on these rows."""
    order = np.argsort(-scores, kind="stable")
    gained = np.cumsum(np.where(right[order], 1, -1))
    ends = np.append(np.diff(scores[order]) != 0, True)
    return float(scores[order][np.argmax(np.where(ends, gained, -len(right)))])


def promised(
    probability: Floats, right: Bools, number: Ids, target: float, chance: np.random.Generator, times: int = 100
) -> tuple[list[float], list[float]]:
    """Questions drawn anew, a threshold by their labels, and what it does to all answers: agreement and share asked."""
    same = (probability >= 0.5) == right
    of_question = [np.flatnonzero(number == value) for value in np.unique(number)]
    kept, asked = [], []
    for _ in range(times):
        drawn = chance.integers(len(of_question), size=len(of_question)).tolist()
        seen = np.concatenate([of_question[question] for question in drawn])
        groups = np.repeat(np.arange(len(drawn)), [len(of_question[question]) for question in drawn])
        labels = right[seen].astype(np.float64)
        asks = ~by_labels(probability[seen], labels, target, groups=groups).sure(probability)
        kept.append(float((asks | same).mean()))
        asked.append(float(asks.mean()))
    return kept, asked
