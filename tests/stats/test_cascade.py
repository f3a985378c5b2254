"""Cascades: thresholds by hand, the bound beside scipy's, and promises that hold on rows that had no part in them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ragmeter.errors import UsageError
from ragmeter.stats.cascade import Cascade, choose_for_agreement, choose_for_share, clopper_pearson_upper


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (1, 10), (5, 10), (10, 10), (3, 1000), (40, 2000)])
def test_the_bound_is_scipy_s(successes: int, n: int) -> None:
    expected = 1.0 if successes == n else stats.beta.ppf(0.95, successes + 1, n - successes)
    assert clopper_pearson_upper(successes, n) == pytest.approx(expected, abs=1e-9)


def test_by_hand() -> None:
    probability = np.array([0.01, 0.3, 0.45, 0.6, 0.99])
    right = np.array([False, False, True, True, True])
    found = choose_for_share(probability, right, 0.4)
    assert found.asks(probability).tolist() == [False, False, True, True, False]
    assert (found.asked, found.agreement, found.n) == (0.4, 1.0, 5)
    nobody = choose_for_share(probability, right, 0)
    assert (nobody.asked, nobody.agreement) == (0, 0.8)
    everybody = choose_for_share(probability, right, 1)
    assert (everybody.asked, everybody.agreement, everybody.promised) == (1, 1, 1)
    few = choose_for_agreement(probability, right, 0.98)  # five rows promise nothing: everything is asked
    assert (few.asked, few.promised) == (1, 1)


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(UsageError, match="no judged rows"):
        choose_for_agreement(np.zeros(0), np.zeros(0, bool))
    with pytest.raises(UsageError, match="2 probabilities for 1 verdicts"):
        choose_for_share(np.zeros(2), np.zeros(1, bool), 0.5)
    with pytest.raises(UsageError, match="between 0 and 1"):
        choose_for_share(np.zeros(1), np.zeros(1, bool), 1.5)
    with pytest.raises(UsageError, match="up to 1"):
        choose_for_agreement(np.zeros(1), np.zeros(1, bool), 1.5)


def judged(chance: np.random.Generator, questions: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Five answers to each question, whose verdicts hang together: a hard question is hard for all."""
    hard = np.repeat(chance.normal(0, 1.5, questions), 5)
    score = hard + chance.normal(0, 2.5, questions * 5)
    right = chance.random(questions * 5) < 1 / (1 + np.exp(-2 * score))
    return (
        1 / (1 + np.exp(-2 * (score + np.repeat(chance.normal(0, 0.3, questions), 5)))),
        right,
        np.repeat(np.arange(questions), 5),
    )


def kept(cascade: Cascade, probability: np.ndarray, right: np.ndarray) -> float:
    asked = cascade.asks(probability)
    return float((asked | ((probability >= 0.5) == right)).mean())


def test_a_promise_holds_on_new_rows() -> None:
    chance = np.random.default_rng(3)
    probability, right, _ = judged(chance, 40_000)
    held = asked = 0.0
    for _ in range(100):
        seen, verdicts, groups = judged(chance, 200)
        found = choose_for_agreement(seen, verdicts, 0.97, groups=groups.tolist())
        assert found.promised >= 0.97
        held += kept(found, probability, right) >= 0.97
        asked += found.asked / 100
    assert held >= 95
    assert asked < 0.5
