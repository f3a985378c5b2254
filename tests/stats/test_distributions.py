"""Distribution functions against scipy's."""

from __future__ import annotations

import pytest
from scipy import stats

from ragmeter.stats.distributions import (
    binomial_cdf,
    coin_two_sided,
    t_two_sided,
    z_cdf,
    z_quantile,
    z_two_sided,
)


@pytest.mark.parametrize("p", [1e-12, 0.001, 0.025, 0.3, 0.5, 0.975, 1 - 1e-9])
def test_normal_quantile(p: float) -> None:
    assert z_quantile(p) == pytest.approx(stats.norm.ppf(p), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("z", [-9.0, -1.96, 0.0, 0.3, 4.0, 12.0])
def test_normal_tails(z: float) -> None:
    assert z_cdf(z) == pytest.approx(stats.norm.cdf(z), rel=1e-9)
    assert z_two_sided(z) == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-9)


@pytest.mark.parametrize("t", [0.0, 0.5, -2.2, 7.0, 40.0])
@pytest.mark.parametrize("df", [1, 4, 30, 2_000])
def test_student_tails(t: float, df: int) -> None:
    assert t_two_sided(t, df) == pytest.approx(2 * stats.t.sf(abs(t), df), rel=1e-9)


@pytest.mark.parametrize(("k", "n"), [(-1, 5), (0, 5), (2, 5), (5, 5), (86, 236), (500, 1_000)])
@pytest.mark.parametrize("p", [0.01, 0.5, 0.9])
def test_binomial(k: int, n: int, p: float) -> None:
    assert binomial_cdf(k, n, p) == pytest.approx(stats.binom.cdf(k, n, p), rel=1e-9)


@pytest.mark.parametrize(("heads", "tosses"), [(0, 0), (0, 1), (3, 6), (2, 9), (86, 236), (150, 236)])
def test_a_fair_coin(heads: int, tosses: int) -> None:
    oracle = stats.binomtest(heads, tosses).pvalue if tosses else 1.0
    assert coin_two_sided(heads, tosses) == pytest.approx(oracle, rel=1e-9)
