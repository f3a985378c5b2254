"""Sample sizes: the published figure, statsmodels', and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.power import zt_ind_solve_power

from ragmeter.stats.distributions import z_two_sided
from ragmeter.stats.power import Variances, questions_needed, smallest_difference


def test_as_published() -> None:
    assert questions_needed(Variances(1 / 9), 0.03) == 969


@pytest.mark.parametrize("difference", [0.01, 0.03, 0.1])
@pytest.mark.parametrize("power", [0.8, 0.9, 0.95])
def test_equal_to_statsmodels(difference: float, power: float) -> None:
    oracle = zt_ind_solve_power(difference / 0.4, alpha=0.05, power=power, ratio=0)
    assert questions_needed(Variances(0.16), difference, power=power) == np.ceil(oracle - 1e-6)


def test_repeats_divide_what_varies_within_a_question() -> None:
    variances = Variances(0.1, within_a=0.06, within_b=0.04)
    assert variances.per_question() == pytest.approx(0.2)
    assert variances.per_question(10) == pytest.approx(0.11)
    assert questions_needed(variances, 0.03, repeats=10) < questions_needed(variances, 0.03)


def test_clusters_take_more_questions() -> None:
    assert questions_needed(Variances(1 / 9, design_effect=2), 0.03) == 1_938


@pytest.mark.parametrize("n", [50, 969, 12_345])
def test_one_turns_the_other_round(n: int) -> None:
    variances = Variances(0.3)
    assert questions_needed(variances, smallest_difference(variances, n)) == n


def test_the_promised_power_is_there() -> None:
    """Of 4,000 pairs of systems that differ by 0.1, 80% are told apart with the n that was named."""
    variances = Variances(0.25)
    n = questions_needed(variances, 0.1)
    means = np.random.default_rng(0).normal(0.1, 0.5, (4_000, n)).mean(axis=1)
    seen = np.mean([z_two_sided(mean / (0.5 / n**0.5)) < 0.05 for mean in means])
    assert seen == pytest.approx(0.8, abs=0.025)
