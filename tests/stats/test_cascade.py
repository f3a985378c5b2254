"""Thresholds of a cascade: the promise by simulation, and the mean that stays unbiased."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ragmeter.stats.cascade import (
    ASK_ALL,
    audited,
    by_expectation,
    by_labels,
    by_share,
    corrected_mean,
    corrected_scores,
    labels_needed,
    sureness,
)
from ragmeter.stats.confidence import Confidence
from ragmeter.stats.intervals import interval_of


def answers(random: np.random.Generator, n: int, honest: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Chances, and whether the answers are right: as often as the chances say, or much less surely."""
    chances = random.beta(0.35, 0.25, n)
    truth = chances if honest else 0.5 + (chances - 0.5) * 0.8
    return chances, (random.random(n) < truth).astype(float)


def test_labels_that_a_promise_takes() -> None:
    """149 rows without a mistake show that fewer than 2% are wrong, 95 times of 100."""
    assert labels_needed(0.98) == 149
    assert stats.binom.cdf(0, 149, 0.02) < 0.05 < stats.binom.cdf(0, 148, 0.02)
    sure = np.full(149, 0.9)
    assert by_labels(sure, np.ones(149), 0.98).least == 0.9
    assert by_labels(sure[:148], np.ones(148), 0.98) == ASK_ALL


def test_too_few_labels_ask_about_everything() -> None:
    chances, right = answers(np.random.default_rng(0), 100)
    assert by_labels(chances, right, 0.98) == ASK_ALL
    assert not ASK_ALL.sure(chances).any()


def test_without_mistakes_everything_is_decided() -> None:
    chances = np.linspace(0, 1, 200)
    assert by_labels(chances, (chances >= 0.5).astype(float), 0.98).sure(chances).all()


@pytest.mark.parametrize("honest", [True, False])
def test_the_promise_is_kept_in_95_of_100_calibrations(honest: bool) -> None:
    random = np.random.default_rng(7)
    chances, right = answers(random, 40_000, honest)
    wrong = (chances >= 0.5) != (right >= 0.5)
    kept = shares = 0.0
    for _ in range(500):
        sample = random.choice(40_000, 600, replace=False)
        sure = by_labels(chances[sample], right[sample], 0.95).sure(chances)
        kept += 1 - np.mean(sure & wrong) >= 0.95
        shares += 1 - sure.mean()
    assert kept / 500 >= 0.94  # 0.95, less what 500 trials may be off
    assert shares / 500 < 0.9  # and it is not kept by asking about everything


def test_answers_to_one_question_are_not_independent() -> None:
    """Five systems answer each question, and what is hard is hard for all: rows taken for independent promise more."""
    random = np.random.default_rng(2)
    groups = np.repeat(np.arange(200), 5)
    hard = np.repeat(random.random(200) < 0.15, 5)
    chances = random.uniform(0.5, 1.0, 1_000)
    right = np.where(hard, random.random(1_000) < 0.6, 1.0).astype(float)
    alone, together = by_labels(chances, right, 0.95), by_labels(chances, right, 0.95, groups=groups)
    assert together.least > alone.least
    groups = np.arange(1_000)  # groups of one: what is an estimate is taken more carefully
    assert by_labels(chances, right, 0.95, groups=groups).least >= alone.least
    assert by_labels(chances, right, 0.95, groups=np.zeros(1_000, dtype=np.int64)) == ASK_ALL


def test_by_expectation_holds_where_chances_are_honest() -> None:
    chances, right = answers(np.random.default_rng(3), 50_000)
    sure = by_expectation(chances, 0.97).sure(chances)
    wrong = (chances >= 0.5) != (right >= 0.5)
    assert 1 - np.mean(sure & wrong) == pytest.approx(0.97, abs=0.003)
    assert not by_expectation(np.array([0.5, 0.6]), 0.999).sure(np.array([0.5, 0.6])).any()
    assert by_expectation(np.array([0.6]), 0.95, total=10).sure(np.array([0.6])).all()  # 0.4 mistakes in 10 rows
    even = np.array([0.6, 0.6, 0.6])
    assert not by_expectation(even, 0.8).sure(even).any()  # one of them would do, and which?
    assert by_expectation(even, 0.6).sure(even).all()


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 1.0])
def test_by_share(share: float) -> None:
    chances = np.random.default_rng(1).random(1_000)
    asked = ~by_share(chances, share).sure(chances)
    assert asked.mean() == pytest.approx(share)
    assert not asked.any() or sureness(chances)[asked].max() <= sureness(chances)[~asked].min(initial=1.0)


def test_a_share_of_rows_that_are_equally_sure() -> None:
    """Whom it falls to is a matter of their names, not of their order; rows that are less sure come first."""
    chances = np.array([0.9] * 10 + [0.6, 0.99])
    names = [f"q{number}" for number in range(12)]
    threshold = by_share(chances, 0.5)
    assert (threshold.least, threshold.n_tied, threshold.n_tied_asked) == (0.9, 10, 5)
    sure = threshold.sure(chances, names)
    assert (~sure).sum() == 6
    assert not sure[10]
    assert sure[11]
    backwards = threshold.sure(chances[::-1], names[::-1])[::-1]
    assert (backwards == sure).all()
    assert (by_share(chances, 0.75).sure(chances, names) <= sure).all()  # a larger share asks about the same and more
    assert by_share(chances, 1 / 12).n_tied_asked == 0


def test_the_threshold_that_is_shown_is_one_that_is_decided() -> None:
    chances = np.array([0.9, 0.9, 0.95, 0.99])
    threshold = by_expectation(chances, 0.98)
    assert threshold.sure(chances).tolist() == [False, False, True, True]
    assert threshold.least == 0.95


def test_audited_rows_are_a_seeded_sample_of_the_decided() -> None:
    sure = np.arange(1_000) % 2 == 0
    chosen, chance = audited(sure, 0.1, 30, seed=4)
    assert chosen.sum() == 50
    assert chance == 0.1
    assert not (chosen & ~sure).any()
    assert (audited(sure, 0.1, 30, seed=4)[0] == chosen).all()
    assert audited(sure, 0.01, 30, seed=4)[0].sum() == 30
    assert audited(np.zeros(5, dtype=bool), 0.1, 30, seed=4)[0].sum() == 0


@pytest.mark.parametrize(("n", "accuracy", "errors"), [(3_000, 0.98, 0.01), (500, 0.95, 0.02), (3_000, 0.7, 0.03)])
def test_an_audit_that_finds_no_mistake_does_not_show_that_there_are_none(
    n: int, accuracy: float, errors: float
) -> None:
    """Mistakes so rare that many audits see none, or one: the interval covers the truth all the same."""
    random = np.random.default_rng(11)
    hits, means = 0, []
    for trial in range(400):
        truth = (random.random(n) < accuracy).astype(float)
        cheap = np.where((truth == 0) & (random.random(n) < errors / (1 - accuracy)), 1.0, truth)
        sure = random.random(n) < 0.9
        asked = np.where(~sure | audited(sure, 0.05, 30, trial)[0], truth, np.nan)
        mean, interval = corrected_mean(cheap, asked, sure, np.arange(n))
        assert mean is not None
        assert interval is not None
        means.append(mean)
        hits += interval[0] <= accuracy <= interval[1]
    assert np.mean(means) == pytest.approx(accuracy, abs=0.003)
    assert hits / 400 >= 0.94


def test_the_mean_of_units_that_are_more_than_a_row() -> None:
    cheap = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 0.0])
    asked = np.array([1.0, 1.0, np.nan, np.nan, np.nan, np.nan])
    units, every = np.array([0, 0, 1, 1, 2, 2]), np.ones(6, dtype=bool)
    # one of three units was drawn: its difference of 1 stands for 3 in 6 rows
    assert corrected_scores(cheap, asked, every, units).mean() == pytest.approx((3 + 3) / 6)
    mean, interval = corrected_mean(cheap, asked, every, units)
    assert mean == pytest.approx(1.0)
    assert interval is not None
    assert interval[0] < 0.5
    assert interval[1] == 1.0
    assert corrected_mean(cheap, np.full(6, np.nan), every, units) == (None, None)
    mean, interval = corrected_mean(np.ones(3), np.ones(3), np.ones(3, dtype=bool), np.arange(3))
    assert mean == 1.0
    assert interval is not None  # everything was asked about: three right answers are no certainty
    assert interval[0] < 0.6


def test_the_mean_stays_unbiased_whatever_the_cheap_judge_does() -> None:
    """A cheap judge that calls every tenth wrong answer right: its own accuracy is off, the corrected one is not."""
    random = np.random.default_rng(5)
    hits, corrected, plain = 0, [], []
    for trial in range(1_000):
        truth = (random.random(2_000) < 0.6).astype(float)
        cheap = np.where((truth == 0) & (random.random(2_000) < 0.1), 1.0, truth)
        sure = random.random(2_000) < 0.8
        asked = np.where(~sure | audited(sure, 0.1, 30, trial)[0], truth, np.nan)
        scores = corrected_scores(cheap, asked, sure)
        interval, _ = interval_of(scores, Confidence())
        assert interval is not None
        hits += interval[0] <= 0.6 <= interval[1]
        corrected.append(scores.mean())
        plain.append(np.where(sure, cheap, asked).mean())
    assert np.mean(corrected) == pytest.approx(0.6, abs=0.002)
    assert np.mean(plain) > 0.62
    assert hits / 1_000 == pytest.approx(0.95, abs=0.02)
