"""Intervals by drawing again, against scipy's with the same seed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ragmeter.stats.bootstrap import bca_interval, bootstrap_means, bootstrap_p, percentile_interval
from ragmeter.stats.clusters import Clustered

SKEWED = np.random.default_rng(5).exponential(2.0, 60)
ALONE = Clustered(SKEWED, np.ones(60))


@pytest.mark.parametrize(("make", "method"), [(percentile_interval, "percentile"), (bca_interval, "BCa")])
def test_equal_to_scipy(make: object, method: str) -> None:
    assert callable(make)
    oracle = stats.bootstrap(
        (SKEWED,), np.mean, n_resamples=4_000, method=method, rng=np.random.default_rng(11), vectorized=True
    ).confidence_interval
    assert make(ALONE, 0.95, 4_000, 11) == pytest.approx((oracle.low, oracle.high), abs=1e-9)


def test_the_seed_decides() -> None:
    assert percentile_interval(ALONE, 0.95, 2_000, 1) == percentile_interval(ALONE, 0.95, 2_000, 1)
    assert percentile_interval(ALONE, 0.95, 2_000, 1) != percentile_interval(ALONE, 0.95, 2_000, 2)


def test_whole_clusters_are_drawn() -> None:
    """Ten copies of each value as one cluster say no more than the value alone."""
    clusters = Clustered(SKEWED * 10, np.full(60, 10.0))
    assert percentile_interval(clusters, 0.95, 2_000, 3) == pytest.approx(percentile_interval(ALONE, 0.95, 2_000, 3))
    assert bca_interval(clusters, 0.95, 2_000, 3) == pytest.approx(bca_interval(ALONE, 0.95, 2_000, 3))


def test_clusters_of_unequal_size_are_weighed_by_their_rows() -> None:
    units = Clustered(np.array([0.0, 9.0]), np.array([1.0, 9.0]))
    assert set(np.round(bootstrap_means(units, 1_000, 0), 9)) == {0.0, 0.9, 1.0}


@pytest.mark.parametrize("make", [percentile_interval, bca_interval])
def test_too_few_and_all_the_same(make: object) -> None:
    assert callable(make)
    assert make(Clustered(np.array([1.0]), np.ones(1)), 0.95, 1_000, 0) is None
    assert make(Clustered(np.ones(5), np.ones(5)), 0.95, 1_000, 0) == (1.0, 1.0)


def test_the_draws_of_earlier_versions() -> None:
    """A seed keeps its promise: up to 2,000,000,000 values, the same draws to the bit."""
    assert percentile_interval(ALONE, 0.95, 2_000, 1) == (1.3519588365702708, 2.0232217349472275)
    clusters = Clustered(SKEWED, np.arange(1.0, 61.0))
    assert percentile_interval(clusters, 0.95, 2_000, 1) == (0.0424646998522777, 0.0694835437124412)


_CLUSTER_SIZES = np.random.default_rng(2).integers(1, 9, 3_000).astype(np.float64)
_NUMBERS = np.random.default_rng(1)
MANY = {
    "even": Clustered(_NUMBERS.random(3_000), np.ones(3_000)),
    "skewed": Clustered(_NUMBERS.exponential(2.0, 3_000), np.ones(3_000)),
    "one far away": Clustered(np.append(_NUMBERS.random(2_999), 1e4), np.ones(3_000)),
    "yes or no": Clustered(np.round(_NUMBERS.random(3_000)), np.ones(3_000)),
    "clusters": Clustered(_NUMBERS.random(3_000) * _CLUSTER_SIZES, _CLUSTER_SIZES),
}


@pytest.mark.parametrize("units", MANY.values(), ids=MANY)
def test_draws_by_groups_have_the_distribution_of_draws_one_by_one(
    units: Clustered, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_by_one = bootstrap_means(units, 5_000, 0)
    monkeypatch.setattr("ragmeter.stats.bootstrap._ONE_BY_ONE", 0)
    by_groups = bootstrap_means(units, 5_000, 0)
    assert stats.ks_2samp(one_by_one.round(9), by_groups.round(9)).pvalue > 1e-3  # rounded: ties are ties
    assert by_groups.std() == pytest.approx(one_by_one.std(), rel=0.05)
    np.testing.assert_array_equal(by_groups, bootstrap_means(units, 5_000, 0))
    assert (by_groups != bootstrap_means(units, 5_000, 1)).any()


def test_large_samples_get_all_their_draws() -> None:
    """As many as the manifest says: a million rows got 2,000 of 9,999 before."""
    values = np.random.default_rng(0).random(1_000_000)
    means = bootstrap_means(Clustered(values, np.ones(len(values))), 9_999, 0)
    assert len(means) == 9_999
    assert means.std() == pytest.approx(values.std() / 1_000, rel=0.03)


def test_p_of_a_mean_of_zero() -> None:
    values = np.random.default_rng(0).normal(0.3, 1.0, 100)
    p = bootstrap_p(Clustered(values, np.ones(100)), 9_999, 0)
    assert p == pytest.approx(stats.ttest_1samp(values, 0).pvalue, abs=0.01)
    assert bootstrap_p(Clustered(np.zeros(20), np.ones(20)), 999, 0) == 1.0


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_few_units_are_no_false_alarm(n: int) -> None:
    """By the distance alone, it was one in 49, 31, 15 and 9% of the cases in which there was no difference."""
    random = np.random.default_rng(n)
    alarms = [bootstrap_p(Clustered(random.normal(0, 1, n), np.ones(n)), 499, seed) < 0.05 for seed in range(400)]
    assert np.mean(alarms) <= 0.075


def test_p_of_clusters_counts_each_once() -> None:
    """Ten copies of each value as one cluster say no more than the value alone."""
    values = np.random.default_rng(0).normal(0.3, 1.0, 40)
    alone, tenfold = (Clustered(values * times, np.full(40, float(times))) for times in (1, 10))
    assert bootstrap_p(tenfold, 1_999, 3) == bootstrap_p(alone, 1_999, 3)
