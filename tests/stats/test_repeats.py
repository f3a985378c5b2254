"""Variances within and between questions, pass@k and pass^k."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from ragmeter.stats.repeats import components, pass_rates

NAN = np.nan


def test_variances_by_hand() -> None:
    # questions 0, 1 and 3 with two answers each; MSW = (0.5 + 0 + 0.5) / 3; MSB = 2 * var of means (0.5, 2, 3.5) = 4.5
    parts = components(np.array([0.0, 1, 2, 2, 3, 4]), np.array([5, 5, 1, 1, 7, 7]))
    assert parts.within == pytest.approx(1 / 3)
    assert parts.between == pytest.approx((4.5 - 1 / 3) / 2)
    assert parts.share_within == pytest.approx((1 / 3) / (1 / 3 + 25 / 12))
    assert (parts.questions, parts.repeated) == (3, 3)


def test_variances_of_unequal_numbers_are_those_of_the_textbook() -> None:
    # MSW = 2 / 2, MSB = 3 * (2 - 3.25)^2 + 1 * (7 - 3.25)^2 = 18.75, n0 = (4 - 10 / 4) / 1 = 1.5
    parts = components(np.array([1.0, 2, 3, 7, NAN]), np.array([0, 0, 0, 1, 1]))
    assert parts.within == pytest.approx(1)
    assert parts.between == pytest.approx((18.75 - 1) / 1.5)
    assert parts.repeated == 1


def test_variances_are_unbiased() -> None:
    rng = np.random.default_rng(1)
    codes = np.repeat(np.arange(10), 3)
    estimates = []
    for _ in range(2000):
        scores = 2 * rng.standard_normal(10)[codes] + rng.standard_normal(30)
        estimates.append(components(scores, codes))
    assert np.mean([parts.within or 0.0 for parts in estimates]) == pytest.approx(1, rel=0.03)
    assert np.mean([parts.between or 0.0 for parts in estimates]) == pytest.approx(4, rel=0.05)


@pytest.mark.parametrize(
    ("scores", "codes", "within", "between"),
    [
        ([], [], None, None),
        ([NAN], [0], None, None),
        ([1.0, 0.0], [0, 1], None, None),  # asked once each
        ([1.0, 0.0], [0, 0], 0.5, None),  # one question
        ([1.0, 1.0, 0.0, 0.0], [0, 0, 1, 1], 0.0, 0.5),  # it always answers the same
        ([1.0, 0.0, 0.0, 1.0], [0, 0, 1, 1], 0.5, 0.0),  # below 0 there is no variance
    ],
)
def test_variances_of_little(
    scores: list[float], codes: list[int], within: float | None, between: float | None
) -> None:
    parts = components(np.array(scores), np.array(codes, dtype=np.int64))
    assert (parts.within, parts.between) == (within, between)


@pytest.mark.parametrize(("chance", "n", "k"), [(0.3, 5, 2), (0.5, 4, 4), (0.9, 6, 3), (0.2, 3, 1)])
def test_pass_rates_have_no_bias(chance: float, n: int, k: int) -> None:
    """Over all outcomes of n answers, by their probabilities."""
    expected = np.zeros(2)
    for right in range(n + 1):
        probability = comb(n, right) * chance**right * (1 - chance) ** (n - right)
        scores = np.array([1.0] * right + [0.0] * (n - right))
        rates = pass_rates(scores, np.zeros(n, dtype=np.int64), k)
        expected += probability * np.array([rate.value for rate in rates])
    assert expected == pytest.approx([1 - (1 - chance) ** k, chance**k])


def test_pass_rates_and_their_questions() -> None:
    scores, codes = np.array([1.0, 0, 0, 0, 1, NAN, 1, 1]), np.array([0, 0, 1, 1, 2, 2, 3, 3])
    at_least, every = pass_rates(scores, codes, 2)
    assert [at_least.value, every.value] == pytest.approx([2 / 3, 1 / 3])
    assert (at_least.n, at_least.method) == (3, "wilson")
    at_least, _ = pass_rates(scores, codes, 1)
    assert at_least.value == pytest.approx((0.5 + 0 + 1 + 1) / 4)
    assert (at_least.n, at_least.method) == (4, "student_t")
    assert at_least.interval is not None
    assert 0 <= at_least.interval[0] < at_least.interval[1] <= 1
    none, _ = pass_rates(scores, codes, 3)
    assert (none.value, none.undefined) == (None, "no question has 3 scores")
