"""Agreement against krippendorff, statsmodels, scikit-learn and published figures."""

from __future__ import annotations

import math

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa as oracle_kappa
from statsmodels.stats.proportion import proportion_confint

from ragmeter.errors import UsageError
from ragmeter.stats.agreement import (
    DISTANCES,
    cohens_kappa,
    confusion,
    krippendorff_alpha,
    pairwise_agreement,
    rate,
    sensitivity_specificity,
)

_ = math.nan
#: Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section C: four observers, twelve units.
C = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
    [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
]


@pytest.mark.parametrize(
    ("measurement", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_krippendorff_s_published_figures(measurement: str, published: float) -> None:
    alpha = krippendorff_alpha(C, measurement)
    assert alpha.value == pytest.approx(published, abs=5e-4)
    assert (alpha.n_units, alpha.n_values, alpha.n_raters) == (11, 40, 4)


@pytest.mark.parametrize("measurement", list(DISTANCES))
@pytest.mark.parametrize("seed", range(8))
def test_alpha_is_the_package_s(measurement: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ratings = rng.integers(1, 2 + seed, (2 + seed % 4, 30)).astype(float)
    ratings[rng.random(ratings.shape) < 0.3] = np.nan
    expected = krippendorff.alpha(ratings, level_of_measurement=measurement) if seed else None
    alpha = krippendorff_alpha(ratings, measurement)
    if expected is None:
        assert alpha.value is None
        assert "same value" in str(alpha.undefined)
    else:
        assert alpha.value == pytest.approx(expected, abs=1e-9)


def test_alpha_of_what_nobody_rated_twice() -> None:
    alpha = krippendorff_alpha([[1, _], [_, 0]])
    assert alpha.value is None
    assert "two people" in str(alpha.undefined)
    assert krippendorff_alpha([[_, _], [_, _]]).value is None
    with pytest.raises(UsageError, match="nominal"):
        krippendorff_alpha([[1]], "cardinal")


def test_alpha_by_hand() -> None:
    """Two raters, four units, one disagreement: D_o = 2/8, D_e = 2·5·3/(8·7)."""
    alpha = krippendorff_alpha([[1, 1, 0, 1], [1, 1, 0, 0]])
    assert alpha.value == pytest.approx(1 - (2 / 8) / (2 * 5 * 3 / (8 * 7)))


def test_pairs_that_agree() -> None:
    assert pairwise_agreement(np.array([[1, 1, 0, _], [1, 0, 0, 1], [1, 0, _, _]])) == (5 / 7, 7)
    assert pairwise_agreement(np.array([[1, _]])) == (None, 0)


@pytest.mark.parametrize("seed", range(6))
def test_kappa_is_statsmodels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    one = rng.integers(0, 2 + seed % 3, 80).astype(float)
    other = np.where(rng.random(80) < 0.6, one, rng.integers(0, 2 + seed % 3, 80))
    kappa = cohens_kappa(confusion(one, other))
    expected = oracle_kappa(confusion(one, other))
    assert kappa.value == pytest.approx(expected.kappa, abs=1e-9)
    assert kappa.standard_error == pytest.approx(expected.std_kappa, abs=1e-9)
    assert kappa.interval == pytest.approx((expected.kappa_low, expected.kappa_upp), abs=1e-9)
    assert kappa.value == pytest.approx(cohen_kappa_score(one, other), abs=1e-9)
    assert kappa.n == 80


def test_kappa_where_there_is_none() -> None:
    assert cohens_kappa(np.zeros((2, 2))).value is None
    kappa = cohens_kappa([[12, 0], [0, 0]])
    assert kappa.value is None
    assert kappa.n == 12
    assert "same value" in str(kappa.undefined)
    assert cohens_kappa([[7, 0], [0, 5]]).value == 1


def test_sensitivity_and_specificity() -> None:
    judge = np.array([1, 1, 1, 0, 0, 1, 0, 0.0])
    people = np.array([1, 1, 1, 1, 0, 0, 0, 0.0])
    sensitivity, specificity = sensitivity_specificity(judge, people)
    assert (sensitivity.value, sensitivity.n) == (0.75, 4)
    assert (specificity.value, specificity.n) == (0.75, 4)
    assert sensitivity.interval == pytest.approx(proportion_confint(3, 4, method="wilson"), abs=1e-9)
    nothing, _all = sensitivity_specificity(judge, np.zeros(8))
    assert nothing.value is None
    assert "correct" in str(nothing.undefined)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_a_rate_lies_in_its_interval(case: tuple[int, int]) -> None:
    estimate = rate(*case)
    assert estimate.interval is not None
    assert estimate.value is not None
    assert 0 <= estimate.interval[0] <= estimate.value + 1e-12
    assert estimate.value - 1e-12 <= estimate.interval[1] <= 1
    assert estimate.interval == pytest.approx(proportion_confint(*case, method="wilson"), abs=1e-9)
