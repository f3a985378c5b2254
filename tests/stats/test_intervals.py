"""Intervals against scipy and published figures."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special, stats

from ragmeter.errors import UsageError
from ragmeter.stats.agreement import cohens_kappa
from ragmeter.stats.clusters import Clustered, Codes
from ragmeter.stats.confidence import Confidence
from ragmeter.stats.distributions import incomplete_beta, t_cdf, t_quantile
from ragmeter.stats.intervals import (
    difference_interval,
    difference_limits,
    interval_of,
    mean_interval,
    newcombe_interval,
    wilson_interval,
)
from ragmeter.stats.summary import summarise
from ragmeter.table import Scores

RANDOM = np.random.default_rng(8)


@pytest.mark.parametrize("df", [1, 2, 3, 5, 10, 30, 99, 1000, 350_000, 1e7])
@pytest.mark.parametrize("p", [0.001, 0.025, 0.3, 0.5, 0.9, 0.975, 0.995])
def test_student_s_quantile_is_scipy_s(p: float, df: float) -> None:
    assert t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("t", [-30.0, -2.5, -0.1, 0.0, 0.7, 4.0, 300.0])
@pytest.mark.parametrize("df", [1, 4, 60, 5000])
def test_student_s_distribution_is_scipy_s(t: float, df: float) -> None:
    assert t_cdf(t, df) == pytest.approx(stats.t.cdf(t, df), rel=1e-9, abs=1e-13)


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (2, 3), (50, 0.5), (0.1, 20), (1e4, 0.5)])
def test_the_incomplete_beta_function_is_scipy_s(a: float, b: float) -> None:
    for x in (0.0, 1e-6, 0.2, 0.5, 0.9, 0.999999, 1.0):
        assert incomplete_beta(a, b, x) == pytest.approx(special.betainc(a, b, x), rel=1e-9, abs=1e-14)


def test_wilson_s_published_figures() -> None:
    """Newcombe (1998): 81/263, and the upper limit for 0/30 (Wilson's own, two-sided 95%)."""
    assert wilson_interval(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    low, high = wilson_interval(0, 30) or (math.nan, math.nan)
    assert low == 0
    assert high == pytest.approx(0.1135, abs=5e-5)


@pytest.mark.parametrize(("successes", "n"), [(0, 5), (3, 7), (7, 7), (500, 1000)])
def test_wilson_is_scipy_s(successes: int, n: int) -> None:
    expected = stats.binomtest(successes, n).proportion_ci(method="wilson")
    assert wilson_interval(successes, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_the_interval_of_a_mean_is_scipy_s() -> None:
    values = np.random.default_rng(3).normal(5, 2, 40)
    expected = stats.t.interval(0.95, 39, values.mean(), stats.sem(values))
    assert mean_interval(values.mean(), values.std(ddof=1), 40) == pytest.approx(expected, abs=1e-12)


def test_a_summary() -> None:
    scores = np.array([1.0, 2.0, np.nan, 6.0])
    summary = summarise(scores, {"no_answer": 1}, binary=False, direction="higher")
    assert (summary.mean, summary.min, summary.max, summary.median) == (3.0, 1.0, 6.0, 2.0)
    assert summary.sd == pytest.approx(math.sqrt(7))
    assert summary.interval == pytest.approx(stats.t.interval(0.95, 2, 3, math.sqrt(7 / 3)))
    assert (summary.n_total, summary.n_scored, summary.n_not_scored) == (4, 3, {"no_answer": 1})


def test_a_summary_of_one_and_of_nothing() -> None:
    one = summarise(np.array([0.5]), {}, binary=False, direction="higher")
    assert (one.mean, one.sd, one.interval) == (0.5, None, None)
    nothing = summarise(np.array([np.nan, np.nan]), {"no_answer": 2}, binary=True, direction="higher")
    assert (nothing.mean, nothing.median, nothing.interval) == (None, None, None)
    assert (nothing.n_total, nothing.n_scored) == (2, 0)
    rate = summarise(np.array([1.0]), {}, binary=True, direction="higher")
    assert rate.interval == pytest.approx(wilson_interval(1, 1))


@pytest.mark.parametrize("method", ["auto", "t", "bootstrap"])
def test_an_interval_stays_within_the_metric_s_range(method: str) -> None:
    """Two scores of 0.5 and 1 have a Student's interval of -2.43 to 3.93."""
    summary = summarise(np.array([0.5, 1.0]), {}, confidence=Confidence(method))
    assert summary.interval is not None
    assert 0 <= summary.interval[0] < summary.interval[1] <= 1
    assert summary.range == (0.0, 1.0)
    slow = summarise(np.array([1.0, 900.0]), {}, bounds=(0.0, math.inf), confidence=Confidence("t"))
    assert slow.interval is not None
    assert slow.interval[0] == 0
    assert slow.interval[1] > 5000


def test_scores_outside_of_the_range_have_no_known_range() -> None:
    """A scorer of the user's that goes from 0 to 100 has said nothing about its range."""
    summary = summarise(np.array([20.0, 80.0, 50.0]), {})
    assert summary.range == (None, None)
    assert summary.interval == mean_interval(50, 30, 3)
    nearly = summarise(np.array([1.0000000000000002, 1.0]), {})
    assert nearly.range == (0.0, 1.0)


def test_what_a_difference_can_be() -> None:
    assert difference_limits((0.0, 1.0), (0.0, 1.0)) == (-1.0, 1.0)
    assert difference_limits((-1.0, 1.0), (0.0, 1.0)) == (-2.0, 2.0)
    assert difference_limits((0.0, math.inf), (0.0, math.inf)) == (-math.inf, math.inf)
    differences = difference_interval(
        np.array([0.0, 1.0]), np.array([1.0, 1.0]), Confidence("t"), limits=difference_limits((0.0, 1.0))
    )
    assert differences == ((-1.0, 1.0), "student_t")


def test_kappa_s_interval_ends_at_one() -> None:
    kappa = cohens_kappa([[9, 1], [0, 10]])
    assert kappa.interval is not None
    assert kappa.interval[1] == 1.0


def test_hits_are_wilson_s_whatever_the_metric_s_name() -> None:
    """recall@5 of 40 hits was sure of its 1.0000 to 1.0000, while hit@5, the same forty numbers, was not."""
    assert summarise(np.ones(40), {}).interval == wilson_interval(40, 40)
    assert summarise(np.ones(40), {}).interval_method == "wilson"
    percent = summarise(np.array([0.0, 100.0, 100.0]), {}, bounds=(0.0, 100.0)).interval
    assert percent == pytest.approx(tuple(100 * end for end in wilson_interval(2, 3) or ()))
    unknown = summarise(np.ones(40), {}, bounds=(0.0, math.inf))
    assert (unknown.interval, unknown.interval_method) == ((1.0, 1.0), "student_t")


@pytest.mark.parametrize("method", ["auto", "t", "bootstrap", "bca"])
@pytest.mark.parametrize("codes", [None, np.repeat(np.arange(20), 2)])
@pytest.mark.parametrize("value", [0.0, 0.5, 0.999, 1.0])
def test_equal_scores_have_an_interval_with_a_width(method: str, codes: Codes | None, value: float) -> None:
    summary = summarise(np.full(40, value), {}, confidence=Confidence(method), codes=codes)
    assert summary.interval is not None
    assert 0 <= summary.interval[0] <= value <= summary.interval[1] <= 1
    assert summary.interval[1] - summary.interval[0] > 0.03


def test_pseudo_rows_are_two_more_rows() -> None:
    """Forty equal scores: as if there were a 0 and a 1 besides, with the 39 degrees of freedom of the 40."""
    with_ends = np.array([*[0.5] * 40, 0.0, 1.0])
    expected = stats.t.interval(0.95, 39, with_ends.mean(), stats.sem(with_ends))
    summary = summarise(np.full(40, 0.5), {})
    assert summary.interval == pytest.approx(expected)
    assert summary.interval_method == "student_t_with_pseudo_rows"


def test_independent_rows_are_clusters_of_one() -> None:
    values = np.where(RANDOM.random(60) < 0.8, 0.0, RANDOM.random(60))
    one, method = interval_of(values, Confidence(), limits=(0.0, 1.0))
    assert method == "student_t_with_pseudo_rows"
    assert Clustered.of(values, np.arange(60)).interval(0.95, (0.0, 1.0)) == pytest.approx(one, abs=1e-12)


def test_scores_that_vary_have_student_s_interval() -> None:
    values = RANDOM.random(30)
    assert summarise(values, {}).interval == mean_interval(values.mean(), values.std(ddof=1), 30)
    third = np.array([0.0, 0.0, 0.0, 0.2, 0.4, 0.5, 0.6, 0.8, 0.9])
    assert summarise(third, {}).interval_method == "student_t"


def test_rows_that_do_not_move_rule_nothing_out() -> None:
    """Three equal rows had a difference of 0.0000 to 0.0000."""
    equal = np.array([0.3, 0.5, 0.8])
    for codes in (None, np.arange(3)):
        interval, _ = difference_interval(equal, equal, Confidence(), codes=codes, limits=(-1.0, 1.0))
        assert interval == (-1.0, 1.0)
    many = RANDOM.random(1000)
    interval, _ = difference_interval(many, many, Confidence(), limits=(-1.0, 1.0))
    assert interval is not None
    assert 2 / 1000 < interval[1] == -interval[0] < 3 / 1000  # the rule of three
    hits = np.ones(40)
    assert difference_interval(hits, hits, Confidence(), limits=(-1.0, 1.0)) == (
        newcombe_interval(hits, hits),
        "newcombe",
    )


def test_a_difference_of_rates_in_clusters_may_be_asked_for_by_wilson() -> None:
    a, codes = (RANDOM.random(40) < 0.5).astype(float), np.repeat(np.arange(10), 4)
    by_name = difference_interval(a, 1 - a, Confidence("wilson"), binary=True, codes=codes)
    assert by_name == difference_interval(a, 1 - a, Confidence(), binary=True, codes=codes)


def test_rates_that_did_not_move_are_not_surer_than_other_scores() -> None:
    """Of 100 equal rows, half of them right, the difference was -0.0192 to +0.0192; of 100 other scores 0.028."""
    plain = np.full(100, 0.5)
    other, _ = difference_interval(plain, plain, Confidence(), limits=(-1.0, 1.0))
    for right in (1, 2, 10, 30, 50, 90, 100):
        rate = (np.arange(100) < right).astype(float)
        for binary in (True, False):
            interval, method = difference_interval(rate, rate, Confidence(), binary=binary, limits=(-1.0, 1.0))
            assert interval is not None
            assert other is not None
            assert interval[0] <= other[0] < other[1] <= interval[1]
            assert method.startswith("newcombe")
    half = (np.arange(100) < 50).astype(float)
    assert difference_interval(half, half, Confidence(), binary=True) == (other, "newcombe_with_pseudo_rows")
    moved = 1 - half
    assert difference_interval(half, moved, Confidence(), binary=True)[1] == "newcombe", "where all rows moved"


@pytest.mark.parametrize(("n", "margin"), [(100, 0.02), (200, 0.01), (400, 0.01), (150, 0.013)])
def test_a_gate_on_rates_of_a_half_passes_seldom_at_its_margin(n: int, margin: float) -> None:
    """9 to 13% of runs that had lost just the margin passed; 2.5% is meant."""
    random = np.random.default_rng(3)
    passed = 0
    for _ in range(1_000):
        a = (random.random(n) < 0.5).astype(float)
        lost = np.where((a == 1) & (random.random(n) < margin / 0.5), 0.0, a)
        interval, _ = difference_interval(a, lost, Confidence(), binary=True, limits=(-1.0, 1.0))
        passed += interval is not None and interval[0] >= -margin
    assert passed / 1_000 <= 0.03


def test_wilson_s_interval_takes_what_is_a_rate() -> None:
    """It refused ten zeros of a metric that had not said that it gives 0 and 1: `needs scores of 0 and 1`."""
    rates: list[Scores] = [np.zeros(10), np.ones(10), np.repeat([0.0, 1.0], 5)]
    for values in rates:
        asked = summarise(values, {}, confidence=Confidence("wilson"))
        assert (asked.interval, asked.interval_method) == (summarise(values, {}).interval, "wilson")
        difference, _ = difference_interval(values, values, Confidence("wilson"), limits=(-1.0, 1.0))
        assert difference == difference_interval(values, values, Confidence(), limits=(-1.0, 1.0))[0]
    with pytest.raises(UsageError, match="needs scores of 0 and 1"):
        summarise(np.array([0.0, 0.5, 1.0]), {}, confidence=Confidence("wilson"))


def test_one_row_says_no_more_than_two() -> None:
    one, two = (
        difference_interval(np.zeros(n), np.ones(n), Confidence(), binary=True, limits=(-1.0, 1.0))[0] for n in (1, 2)
    )
    assert one == two == (-1.0, 1.0)
