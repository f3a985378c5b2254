"""One verdict from the votes of several judges."""

from __future__ import annotations

import numpy as np
import pytest

from ragmeter.stats.intervals import wilson_interval
from ragmeter.stats.jury import Ballots, cross_fitted, folds_of, joint_verdicts, learnt_weights, panels
from ragmeter.table import Scores


def draws(
    n: int, rates: list[tuple[float, float]], *, prior: float = 0.6, seed: int = 0, copies: int = 0
) -> tuple[Ballots, Scores]:
    """Votes of judges of these sensitivities and specificities on rows of which `prior` are right, and people's."""
    random = np.random.default_rng(seed)
    people = (random.random(n) < prior).astype(np.float64)
    votes = [np.where(random.random(n) < np.where(people == 1, right, 1 - wrong), 1.0, -1.0) for right, wrong in rates]
    return np.array([*votes, *[votes[-1]] * copies]), people


def test_most_votes_decide_and_a_quorum_is_half() -> None:
    ballots = np.array([[1, 1, 1, 0, 0], [1, -1, 0, 0, -1], [-1, 0, 0, 0, -1]], dtype=float)
    assert joint_verdicts(ballots).tolist() == pytest.approx([1, np.nan, np.nan, np.nan, 0], nan_ok=True)


def test_weights_are_those_of_a_logistic_regression() -> None:
    """With many independent votes, log-odds by Bayes: of a judge that says 1 on 90% of right and 20% of wrong ones."""
    ballots, people = draws(200_000, [(0.9, 0.8), (0.6, 0.6)], seed=1)
    weights = learnt_weights(ballots, people)
    by_bayes = [
        np.log(0.6 / 0.4)
        + 0.5 * (np.log(0.9 / 0.2) + np.log(0.1 / 0.8))
        + 0.5 * (np.log(0.6 / 0.4) + np.log(0.4 / 0.6)),
        0.5 * (np.log(0.9 / 0.2) - np.log(0.1 / 0.8)),
        0.5 * (np.log(0.6 / 0.4) - np.log(0.4 / 0.6)),
    ]
    assert weights == pytest.approx(by_bayes, abs=0.03)


def test_copies_of_a_bad_judge_do_not_outvote_a_good_one() -> None:
    ballots, people = draws(2_000, [(0.95, 0.95), (0.6, 0.6)], copies=2, seed=2)
    majority = np.mean(joint_verdicts(ballots) == people)
    weighted = np.mean(cross_fitted(ballots, people, np.ones(2_000), np.arange(2_000)) == people)
    assert majority < 0.8
    assert weighted == pytest.approx(0.95, abs=0.02)


def test_weights_of_judges_that_know_nothing_are_near_0() -> None:
    ballots, people = draws(60, [(0.5, 0.5)] * 4, seed=3)
    assert np.abs(learnt_weights(ballots, people)[1:]).max() < 1


def test_labels_count_by_what_they_stand_for() -> None:
    ballots, people = draws(300, [(0.9, 0.6)], seed=4)
    counts = np.where(people == 1, 3.0, 1.0)
    repeated = np.repeat(np.arange(300), counts.astype(int))
    twice = learnt_weights(ballots[:, repeated], people[repeated])
    assert learnt_weights(ballots, people, counts) == pytest.approx(twice, abs=0.1)


def test_cross_fitting_does_not_flatter() -> None:
    """Of judges that know nothing, the weighted verdict is as often right as the commoner verdict of people."""
    agreements = []
    for seed in range(40):
        ballots, people = draws(80, [(0.5, 0.5)] * 5, prior=0.5, seed=seed)
        agreements.append(np.mean(cross_fitted(ballots, people, np.ones(80), np.arange(80)) == people))
    assert np.mean(agreements) < 0.51


def test_answers_of_a_group_are_in_one_fold() -> None:
    groups = np.repeat(np.arange(30), 4)
    folds = folds_of(groups, 10)
    assert all(len(set(folds[groups == group])) == 1 for group in range(30))
    assert np.bincount(folds).tolist() == [12] * 10


def test_panels_have_an_odd_number_of_judges() -> None:
    assert panels(3) == [(0,), (1,), (2,), (0, 1, 2)]


@pytest.mark.slow
def test_the_agreement_of_a_chosen_panel_is_covered_on_the_other_half() -> None:
    """The best of many panels looks better than it is on the labels that it was chosen by, and not on the others."""
    rates = [(0.85, 0.8), (0.8, 0.85), (0.9, 0.7), (0.75, 0.9), (0.8, 0.8)]
    many, truth = draws(100_000, rates, seed=7)
    true = {panel: float(np.mean(joint_verdicts(many[list(panel)]) == truth)) for panel in panels(5)}
    covered, flattered, n = [], [], 160
    for seed in range(1_000):
        ballots, people = draws(n, rates, seed=1_000 + seed)
        half = folds_of(np.arange(n), 2) == 0
        agrees = {panel: joint_verdicts(ballots[list(panel)]) == people for panel in true}
        best = max(agrees, key=lambda panel: np.mean(agrees[panel][half]))
        low, high = wilson_interval(int(agrees[best][~half].sum()), int((~half).sum())) or (0, 0)
        covered.append(low <= true[best] <= high)
        flattered.append(np.mean(agrees[best][half]) - true[best])
    assert np.mean(flattered) > 0.015
    assert 0.93 <= np.mean(covered) <= 0.97


@pytest.mark.slow
def test_the_agreement_of_cross_fitted_weights_is_covered() -> None:
    rates, n = [(0.9, 0.85), (0.7, 0.7), (0.7, 0.7)], 120
    many, truth = draws(100_000, rates, seed=8)
    covered = []
    for seed in range(400):
        ballots, people = draws(n, rates, seed=2_000 + seed)
        verdicts = cross_fitted(ballots, people, np.ones(n), np.arange(n))
        low, high = wilson_interval(int((verdicts == people).sum()), n) or (0, 0)
        true = np.mean(joint_verdicts(many, learnt_weights(ballots, people)) == truth)
        covered.append(low <= true <= high)
    assert 0.93 <= np.mean(covered) <= 0.98
