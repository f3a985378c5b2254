"""Learns the weights of the offline judge of long answers from people's preferences, and says how well they agree."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.stats import pearsonr, spearmanr

from ragmeter.metrics.offline.shares import SHARES, shares

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ids = npt.NDArray[np.int64]
#: From the rows to learn from and their preferences: the weights.
Learner = Callable[[Floats, Floats], Floats]

NAMES = list(SHARES)
FOLDS = 10
SEEDS = range(10)  # of the folds: every figure is the mean over them
#: The penalty on squared weights, for shares of unit size. Every value from 0.1 to 10 gives nearly the same.
STRENGTH = 1.0
STRENGTHS = (0.3, 1.0, 3.0, 10.0)
#: Shares that belong together. What is left without each of them says what it is good for.
GROUPS = {
    "new words": NAMES[:3],
    "all words": NAMES[3:6],
    "names and numbers": NAMES[6:8],
    "length": NAMES[8:10],
    "refusal": NAMES[10:],
}


@dataclass(frozen=True)
class Preference:
    """Two answers to a question, and for each aspect how much each person prefers the second."""

    question: str
    reference: str
    answers: tuple[str, str]
    preferences: dict[str, list[float]]
    domain: str = ""


def read(path: Path) -> list[Preference]:
    """The preferences of a file of `make_preferences.py`."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return [Preference(**{**record, "answers": tuple(record["answers"])}) for record in records]


def both(rows: Sequence[Preference], *, with_question: bool = True) -> Floats:
    """The shares of both answers: rows, answers, shares."""
    questions = [row.question if with_question else None for row in rows]
    references = [row.reference for row in rows]
    return np.stack([shares(questions, references, [row.answers[place] for row in rows]) for place in (0, 1)], axis=1)


def mean_preference(rows: Sequence[Preference], aspect: str) -> Floats:
    """What people prefer, on average."""
    return np.array([np.mean(row.preferences[aspect]) for row in rows])


def correlations(difference: Floats, rows: Sequence[Preference], aspect: str) -> tuple[float, float]:
    """Pearson's and Spearman's correlation, in hundredths, of the difference of scores with every person's preference.

    As RAGChecker's meta-evaluation has it: each person's label is a point of its own. Its linear normalisation of the
    differences changes neither.
    """
    labels = np.array([row.preferences[aspect] for row in rows], np.float64)
    repeated = np.repeat(difference, labels.shape[1])
    return 100 * float(pearsonr(repeated, labels.ravel())[0]), 100 * float(spearmanr(repeated, labels.ravel())[0])


def fit(differences: Floats, preference: Floats, strength: float = STRENGTH) -> Floats:
    """Ridge regression without intercept, with no weight below 0; the weights add up to 1.

    Swapping the two answers of a row changes nothing, and no share can count against an answer.
    """
    size = np.sqrt((differences**2).mean(axis=0))
    scaled = differences / np.where(size > 0, size, 1.0)
    moments = scaled.T @ scaled / len(scaled) + strength * np.eye(scaled.shape[1])
    target = scaled.T @ preference / len(scaled)
    weights = np.zeros(len(target))
    for _ in range(2_000):  # coordinate descent: the minimum is the only one
        before = weights.copy()
        for place in range(len(weights)):
            gradient = target[place] - moments[place] @ weights
            weights[place] = max(0.0, weights[place] + gradient / moments[place, place])
        if np.abs(weights - before).max() < 1e-10:
            break
    weights = weights / np.where(size > 0, size, np.inf)
    return np.asarray(weights / weights.sum())


def fit_some(differences: Floats, preference: Floats, names: Sequence[str], strength: float = STRENGTH) -> Floats:
    """Weights of these shares alone; the others get 0."""
    places = [NAMES.index(name) for name in names]
    weights = np.zeros(len(NAMES))
    weights[places] = fit(differences[:, places], preference, strength)
    return weights


def without(group: str) -> list[str]:
    """The shares without a group."""
    return [name for name in NAMES if name not in GROUPS.get(group, ())]


def fit_chosen(differences: Floats, preference: Floats) -> Floats:
    """Weights of the set of shares and the strength that do best in five folds of these very rows."""
    choices = [(without(group), strength) for group in ("", *GROUPS) for strength in STRENGTHS]
    fold = folds(len(differences), 0, 5)

    def agreement(names: Sequence[str], strength: float) -> float:
        predicted = held_out(
            differences, preference, fold, lambda rows, wanted: fit_some(rows, wanted, names, strength)
        )
        return float(pearsonr(predicted, preference)[0] + spearmanr(predicted, preference)[0])

    names, strength = max(choices, key=lambda choice: agreement(*choice))
    return fit_some(differences, preference, names, strength)


def folds(rows: int, seed: int, number: int = FOLDS) -> Ids:
    """The fold of each row: of equal size, drawn anew for each seed. A row is a question."""
    fold = np.empty(rows, np.int64)
    fold[np.random.default_rng(seed).permutation(rows)] = np.arange(rows) % number
    return fold


def held_out(
    differences: Floats, preference: Floats, fold: Ids, learner: Learner, *, judged: Floats | None = None
) -> Floats:
    """Each row's difference of scores, by weights that have not seen its fold."""
    judged = differences if judged is None else judged
    predicted = np.zeros(len(differences))
    for number in np.unique(fold).tolist():
        inside = fold == number
        predicted[inside] = judged[inside] @ learner(differences[~inside], preference[~inside])
    return predicted


def cross_validated(
    rows: Sequence[Preference],
    aspect: str,
    learner: Learner,
    *,
    seeds: Sequence[int] = SEEDS,
    judged: Floats | None = None,
) -> Iterator[tuple[float, float]]:
    """Both correlations of all rows in ten folds by question, once for each seed."""
    shares_of_both = both(rows)
    differences, preference = shares_of_both[:, 1] - shares_of_both[:, 0], mean_preference(rows, aspect)
    for seed in seeds:
        predicted = held_out(differences, preference, folds(len(rows), seed), learner, judged=judged)
        yield correlations(predicted, rows, aspect)
