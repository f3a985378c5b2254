"""One verdict from the votes of several judges. A vote is 1 for correct, -1 for wrong, 0 for no verdict."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt

from ragmeter.stats.clusters import Codes
from ragmeter.table import Scores

#: A row for each judge, a column for each answer.
Ballots = npt.NDArray[np.float64]
#: A sum of votes, or of log-odds, as near to 0 as this decides nothing.
_NOTHING = 1e-9
#: The weights are pulled towards 0 as if by so many answers on which a vote says nothing.
_RIDGE = 1.0
_FOLDS, _MOST_STEPS = 10, 50


def joint_verdicts(ballots: Ballots, weights: Scores | None = None) -> Scores:
    """The verdict of most judges, or by their weights, as 1 or 0; NaN where it is tied or too few have a verdict.

    The first weight is the log-odds of correct before anybody has voted, the others are those of each judge's vote.
    """
    sums = ballots.sum(axis=0) if weights is None else weights[0] + weights[1:] @ ballots
    verdicts = np.where(np.abs(sums) < _NOTHING, np.nan, sums > 0)
    return np.where(has_quorum(ballots), verdicts, np.nan)


def has_quorum(ballots: Ballots) -> npt.NDArray[np.bool_]:
    """Whether at least half of the judges have a verdict."""
    return np.asarray(2 * (ballots != 0).sum(axis=0) >= len(ballots))


def learnt_weights(ballots: Ballots, people: Scores, row_weights: Scores | None = None) -> Scores:
    """The weights by which the votes predict people's verdicts best: a logistic regression with a ridge.

    It is fitted to all judges together, so two that make the same mistakes count as little more than one.
    """
    features = np.vstack([np.ones(ballots.shape[1]), ballots])
    counts = np.ones(len(people)) if row_weights is None else row_weights * len(people) / row_weights.sum()
    ridge = np.diag([1e-3, *[_RIDGE] * len(ballots)])
    weights = np.zeros(len(features))
    for _ in range(_MOST_STEPS):
        chances = 1 / (1 + np.exp(-np.clip(weights @ features, -30, 30)))
        gradient = features @ (counts * (people - chances)) - ridge @ weights
        curvature = (features * (counts * chances * (1 - chances))) @ features.T + ridge
        step = np.linalg.solve(curvature, gradient)
        weights = weights + np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-8:
            break
    return weights


def cross_fitted(ballots: Ballots, people: Scores, row_weights: Scores, groups: Codes) -> Scores:
    """The weighted verdict on each answer, by weights that were learnt from other groups of answers."""
    folds = folds_of(groups, _FOLDS)
    verdicts = np.full(len(people), np.nan)
    for fold in np.unique(folds):
        others = folds != fold
        weights = learnt_weights(ballots[:, others], people[others], row_weights[others])
        verdicts[~others] = joint_verdicts(ballots[:, ~others], weights)
    return verdicts


def folds_of(groups: Codes, n_folds: int, seed: int = 0) -> npt.NDArray[np.intp]:
    """The number of the fold that each answer is in. Answers of a group are in the same one."""
    _, codes = np.unique(groups, return_inverse=True)
    n_groups = int(codes.max(initial=-1)) + 1
    return np.asarray((np.random.default_rng(seed).permutation(n_groups) % n_folds)[codes], dtype=np.intp)


def panels(n_judges: int) -> list[tuple[int, ...]]:
    """All panels of judges that can decide by their majority: those of an odd number."""
    return [panel for size in range(1, n_judges + 1, 2) for panel in combinations(range(n_judges), size)]
