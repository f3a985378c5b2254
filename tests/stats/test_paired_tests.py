"""Tests of differences: published figures, scipy's and statsmodels', and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

from ragmeter.stats.clusters import Clustered
from ragmeter.stats.confidence import BOOTSTRAP, MCNEMAR, RANDOMISATION, STUDENT, Confidence
from ragmeter.stats.intervals import difference_interval, newcombe_interval
from ragmeter.stats.paired_tests import McNemar, paired_p, randomisation_p


def alone(differences: list[float] | np.ndarray[tuple[int], np.dtype[np.float64]]) -> Clustered:
    values = np.asarray(differences, dtype=np.float64)
    return Clustered(values, np.ones(len(values)))


def test_mcnemar_as_published() -> None:
    result = McNemar(86, 150)
    assert result.chi_squared == pytest.approx(17.356, abs=5e-4)
    assert result.exact_p == pytest.approx(3.716e-5, abs=5e-9)
    table = [[794, 86], [150, 570]]
    assert result.exact_p == pytest.approx(mcnemar(table, exact=True).pvalue, rel=1e-9)
    by_chi = mcnemar(table, exact=False, correction=False)
    assert (result.chi_squared, result.p) == pytest.approx((by_chi.statistic, by_chi.pvalue), rel=1e-9)
    assert McNemar(0, 0).exact_p == McNemar(0, 0).p == 1.0


def test_randomisation_of_right_and_wrong_is_mcnemars_exact_test() -> None:
    differences = np.concatenate([np.full(86, -1.0), np.full(150, 1.0), np.zeros(1_364)])
    assert randomisation_p(differences) == pytest.approx(McNemar(86, 150).exact_p, rel=1e-12)
    assert paired_p(alone(differences), MCNEMAR, 0, 0) == McNemar(86, 150).exact_p


def test_randomisation_by_hand() -> None:
    """1, 2 and 3 all for one side: of the eight ways to set the signs, two reach a sum of 6."""
    assert randomisation_p(np.array([1.0, 2.0, 3.0])) == 0.25
    assert randomisation_p(np.array([1.0, 2.0, -3.0])) == 1.0
    assert randomisation_p(np.zeros(9)) == randomisation_p(np.array([])) == 1.0


@pytest.mark.parametrize("n", [5, 12, 16])
def test_all_signs_equal_to_scipy(n: int) -> None:
    differences = np.random.default_rng(n).normal(0.5, 1.0, n)
    oracle = stats.permutation_test(
        (differences,), np.sum, permutation_type="samples", n_resamples=np.inf, alternative="two-sided"
    )
    assert randomisation_p(differences) == pytest.approx(oracle.pvalue, rel=1e-9)


def test_random_signs_come_near_all_signs() -> None:
    differences = np.random.default_rng(3).normal(0.3, 1.0, 200)
    assert randomisation_p(differences) == pytest.approx(stats.ttest_1samp(differences, 0).pvalue, abs=0.01)


def test_very_many_differences_keep_their_p(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flipping the small ones together changes nothing, even where a few large ones hold most of the sum."""
    generator = np.random.default_rng(8)
    differences = np.concatenate([generator.normal(0.02, 0.1, 3_000), generator.standard_t(2, 30) + 3])
    one_by_one = randomisation_p(differences, seed=1)
    monkeypatch.setattr("ragmeter.stats.paired_tests._ONE_BY_ONE", 100)
    assert randomisation_p(differences, seed=1) == pytest.approx(one_by_one, abs=0.01)


def test_student_and_bootstrap() -> None:
    differences = np.random.default_rng(2).normal(0.2, 1.0, 150)
    oracle = stats.ttest_1samp(differences, 0).pvalue
    assert paired_p(alone(differences), STUDENT, 0, 0) == pytest.approx(oracle, rel=1e-9)
    assert paired_p(alone(differences), BOOTSTRAP, 9_999, 0) == pytest.approx(oracle, abs=0.01)


@pytest.mark.parametrize("test", [STUDENT, BOOTSTRAP])
def test_a_spread_of_nothing_has_no_t(test: str) -> None:
    """Thirty equal differences had p = 0; 0.3 - 0.2 and 0.4 - 0.3 differ by rounding alone."""
    assert paired_p(alone([0.0] * 5), test, 999, 0) == 1.0
    assert paired_p(alone([1.0] * 5), test, 999, 0) is None
    assert paired_p(alone([0.3 - 0.2, 0.4 - 0.3, 0.1] * 10), test, 999, 0) is None
    clusters = Clustered(np.array([0.1, 0.3, 0.2]), np.array([1.0, 3.0, 2.0]))
    assert paired_p(clusters, test, 999, 0) is None


def test_drawing_may_stop_where_p_is_large() -> None:
    differences = np.random.default_rng(3).normal(0.0, 1.0, 200)
    whole, stopped = randomisation_p(differences), randomisation_p(differences, enough=100)
    assert whole > 0.2
    assert stopped == pytest.approx(whole, abs=0.1)
    certain = np.random.default_rng(3).normal(0.5, 1.0, 200)
    assert randomisation_p(certain, enough=100) == randomisation_p(certain)


def test_clusters_flip_together() -> None:
    """Four turns of one conversation are one flip, not four."""
    differences, codes = np.array([1.0, 1.0, 1.0, 1.0, 2.0, 1.5]), np.array([0, 0, 0, 0, 1, 2])
    assert paired_p(Clustered.of(differences, codes), RANDOMISATION, 999, 0) == 0.25


@given(st.lists(st.floats(-1, 1), max_size=40))
def test_p_is_a_chance_and_has_no_side(differences: list[float]) -> None:
    values = np.array(differences)
    p = randomisation_p(values, draws=199)
    assert 0 < p <= 1
    assert randomisation_p(-values, draws=199) == p


def test_newcombe_by_hand() -> None:
    """Ten questions, all the same on both sides: Student's would say that the systems can't differ at all."""
    low, high = newcombe_interval(np.ones(10), np.ones(10)) or (0.0, 0.0)
    assert (low, high) == pytest.approx((-0.2775, 0.2775), abs=5e-5)  # Wilson's for 10 of 10 is .7225 to 1
    assert newcombe_interval(np.array([]), np.array([])) is None


def test_newcombe_turns_with_its_sides() -> None:
    generator = np.random.default_rng(1)
    a, b = (generator.random((2, 300)) < [[0.6], [0.7]]).astype(float)
    low, high = newcombe_interval(a, b) or (0.0, 0.0)
    assert newcombe_interval(b, a) == pytest.approx((-high, -low), abs=1e-12)
    student = stats.ttest_1samp(b - a, 0).confidence_interval()
    assert (low, high) == pytest.approx((student.low, student.high), abs=0.003)


def test_what_no_draw_reaches_is_seen_among_many_tests() -> None:
    """The draws alone could say no less than 1 / (1 + draws), and after the correction of 600 tests nothing at all."""
    values = np.random.default_rng(3).normal(1.0, 0.5, 300)
    p = randomisation_p(values, draws=999)
    assert p == pytest.approx(2 * math.exp(-(values.sum() ** 2) / (2 * (values**2).sum())), rel=1e-6)
    assert p < 1e-20


def test_the_bound_is_one() -> None:
    """Never below the exact p: all signs of 16 differences, looked at one by one."""
    random = np.random.default_rng(8)
    for _ in range(50):
        sizes = random.random(16)
        exact = randomisation_p(sizes)
        assert exact <= 2 * math.exp(-(sizes.sum() ** 2) / (2 * (sizes**2).sum()))


def test_clustered_rates_that_agree_promise_no_certainty() -> None:
    """Ten conversations of four turns, both systems wrong on all: no more is known than of ten questions."""
    zeros, codes = np.zeros(40), np.repeat(np.arange(10), 4)
    interval, method = difference_interval(zeros, zeros, Confidence(), binary=True, codes=codes)
    assert method == "student_t_clustered_with_pseudo_rows"
    assert interval == pytest.approx(newcombe_interval(np.zeros(10), np.zeros(10)), abs=0.01)
    assert difference_interval(zeros, zeros, Confidence(), binary=True, codes=np.zeros(40, dtype=np.int64))[0] is None
