"""How many labels an estimate needs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ragmeter.analysis.people.sample import allocate
from ragmeter.stats.corrections import ppi_mean, ppi_weighted
from ragmeter.stats.design import Drawn
from ragmeter.stats.labels import half_width_of, labels_for, labels_to_tell


def test_without_a_judge_it_is_the_textbook_s_number() -> None:
    assert labels_for(0.05, 0.5, 0.0, 10_000) == 385
    assert labels_for(0.03, 0.5, 0.0, 10_000) == 1068
    assert half_width_of(385, 0.5, 0.0, 10_000) == pytest.approx(0.05, abs=1e-4)


def test_a_judge_saves_labels_and_too_few_rows_are_never_enough() -> None:
    assert labels_for(0.05, 0.5, 0.9, 10_000) == 76
    assert labels_for(0.05, 0.5, 0.9, 400) == 329
    assert labels_for(0.01, 0.5, 0.9, 400) is None
    assert labels_for(0.1, 1.0, 0.0, 400) == 19


def test_judges_that_differ_seldom_cannot_be_far_apart() -> None:
    assert labels_to_tell(0.05, 0.2) == 124
    assert labels_to_tell(0.2, 0.2) == 6
    assert labels_to_tell(0.3, 0.2) is None
    assert labels_to_tell(0.1, 0.0) is None


@pytest.mark.slow
@pytest.mark.parametrize(("share", "sensitivity", "specificity"), [(0.7, 0.95, 0.85), (0.5, 0.8, 0.8), (0.9, 0.9, 0.6)])
def test_so_many_labels_give_the_interval_that_was_planned(
    share: float, sensitivity: float, specificity: float
) -> None:
    random = np.random.default_rng(41)
    rows, wanted, draws = 3_000, 0.05, 1_000
    said = share * sensitivity + (1 - share) * (1 - specificity)
    together = share * sensitivity - share * said
    correlation = together / math.sqrt(share * (1 - share) * said * (1 - said))
    n = labels_for(wanted, share, correlation, rows)
    assert n is not None
    covered, widths = 0, []
    for _ in range(draws):
        people = (random.random(rows) < share).astype(float)
        judge = (random.random(rows) < np.where(people == 1, sensitivity, 1 - specificity)).astype(float)
        estimate = ppi_mean(people[:n], judge[:n], judge[n:]).estimate
        low, high = estimate.interval or (0, 0)
        covered += low <= share <= high
        widths.append((high - low) / 2)
    assert np.mean(widths) == pytest.approx(wanted, rel=0.06)
    assert 0.93 <= covered / draws <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("accuracies", [(0.9, 0.85, 0.6), (0.95, 0.7, 0.7)])
def test_labels_drawn_where_jurors_differ_are_weighted_back(accuracies: tuple[float, ...]) -> None:
    """Half of 100 labels are of rows on which not all of three jurors say the same; weighted, the interval covers."""
    random = np.random.default_rng(43)
    share, rows, n, draws = 0.7, 1_000, 100, 1_500
    covered, estimates = 0, []
    for _ in range(draws):
        people = (random.random(rows) < share).astype(float)
        votes = np.array([np.where(random.random(rows) < right, people, 1 - people) for right in accuracies])
        kinds = np.where(votes.min(axis=0) < votes.max(axis=0), 0, 1 + votes[0]).astype(int)
        sizes = np.bincount(kinds, minlength=3)
        counts = allocate(sizes.tolist(), n, [0.5, None, None])
        places = np.concatenate(
            [random.choice(np.flatnonzero(kinds == kind), count, replace=False) for kind, count in enumerate(counts)]
        )
        judge = (votes.sum(axis=0) > 1).astype(float)
        drawn = Drawn.stratified(kinds[places], sizes.astype(float))
        estimate = ppi_weighted(drawn, people[places], judge[places], judge).estimate
        low, high = estimate.interval or (0, 0)
        covered += low <= share <= high
        estimates.append(estimate.value or 0.0)
    assert np.mean(estimates) == pytest.approx(share, abs=0.004)
    assert 0.93 <= covered / draws <= 0.975


@pytest.mark.slow
def test_labels_where_two_judges_differ_show_the_better_one() -> None:
    random = np.random.default_rng(42)
    difference, differing, draws = 0.08, 0.25, 2_000
    n = labels_to_tell(difference, differing)
    assert n is not None
    won = random.binomial(n, 0.5 + difference / differing / 2, draws)
    seen = np.abs(won - n / 2) / math.sqrt(n / 4) > 1.959964
    assert 0.76 <= np.mean(seen) <= 0.86
    false_alarms = np.abs(random.binomial(n, 0.5, draws) - n / 2) / math.sqrt(n / 4) > 1.959964
    assert np.mean(false_alarms) <= 0.07
