"""Intervals that hold at any time: by hand, beside the p-value, and by simulation over many looks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ragmeter.stats.anytime import anytime_interval, anytime_p, level_of_look
from ragmeter.stats.clusters import Clustered, Codes
from ragmeter.stats.confidence import ANYTIME, Confidence
from ragmeter.stats.intervals import difference_interval, interval_of
from ragmeter.table import Scores

UNIT = (0.0, 1.0)
LOOKS = 10


def capital(values: Scores, codes: Codes, mean: float) -> float:
    """What the bettors own after betting on one cluster after the other, row sums by hand."""
    stakes = np.geomspace(1e-3, 0.9, 24)
    largest = max(np.count_nonzero(codes == code) for code in codes)
    owned = np.full(len(stakes), 1 / len(stakes))
    for code in dict.fromkeys(codes.tolist()):
        rows = values[codes == code]
        owned *= 1 + stakes * (rows.sum() / mean - len(rows)) / largest
    return float(owned.sum())


@pytest.mark.parametrize("sizes", [[1] * 40, [1, 2, 3, 4, 5, 6] * 4])
def test_the_ends_are_where_the_capital_is_two_over_alpha(sizes: list[int]) -> None:
    random = np.random.default_rng(3)
    codes = np.repeat(np.arange(len(sizes)), sizes)
    values = random.beta(2, 1, len(codes))
    interval = anytime_interval(Clustered.of(values, codes), UNIT, 0.95)
    assert interval is not None
    assert capital(values, codes, interval[0]) == pytest.approx(40, rel=1e-3)
    assert capital(1 - values, codes, 1 - interval[1]) == pytest.approx(40, rel=1e-3)
    assert interval[0] < values.mean() < interval[1]
    shuffled = random.permutation(len(codes))
    assert anytime_interval(Clustered.of(values[shuffled], codes[shuffled]), UNIT, 0.95) == pytest.approx(interval)


def test_the_p_value_agrees_with_the_interval() -> None:
    random = np.random.default_rng(4)
    outcomes = set()
    for shift in np.linspace(0, 0.4, 30):
        units = Clustered.of(np.clip(random.normal(shift, 0.4, 60), -1, 1), None)
        interval, p = anytime_interval(units, (-1.0, 1.0), 0.95), anytime_p(units, (-1.0, 1.0))
        assert interval is not None
        assert p is not None
        assert (p < 0.05) == (interval[0] > 0 or interval[1] < 0)
        outcomes.add(p < 0.05)
    assert outcomes == {True, False}


def test_ends_of_the_range_and_what_has_none() -> None:
    ones = Clustered.of(np.ones(50), None)
    interval = anytime_interval(ones, UNIT, 0.95)
    assert interval is not None
    assert interval[1] == 1
    assert 0.7 < interval[0] < 0.95
    assert anytime_interval(Clustered.of(np.zeros(50), None), UNIT, 0.95) == pytest.approx((0, 1 - interval[0]))
    assert anytime_interval(ones, (-math.inf, math.inf), 0.95) is None
    assert anytime_p(ones, (0.0, math.inf)) is None
    assert anytime_interval(Clustered.of(np.ones(1), None), UNIT, 0.95) is None
    assert interval_of(np.ones(50), Confidence(ANYTIME), binary=True) == (interval, ANYTIME)
    found, method = difference_interval(np.zeros(50), np.ones(50), Confidence(ANYTIME), binary=True)
    assert method == ANYTIME
    assert found is not None
    assert found[0] > 0.4


def test_the_levels_of_looks_add_up() -> None:
    assert [level_of_look(look, 0.95) for look in (1, 2, 10)] == [0.975, 0.9917, 0.99955]
    assert sum(1 - level_of_look(look, 0.9) for look in range(1, 2000)) <= 0.1


def test_a_level_is_there_for_thousands_of_looks() -> None:
    levels = [level_of_look(look, 0.95) for look in (1, 71, 400, 5_000)]
    assert levels == sorted(set(levels))
    assert levels[-1] < 1
    assert anytime_interval(Clustered.of(np.ones(50), None), UNIT, levels[-1]) is not None


def alarms(trials: int, nights: int, each: int) -> tuple[float, float]:
    """How often any of ten looks at growing data rules out the true mean: by Student's interval, and by this one."""
    random = np.random.default_rng(8)
    usual = anytime = 0
    for _ in range(trials):
        moved = random.choice([-1.0, 0.0, 1.0], nights * each, p=[0.15, 0.7, 0.15])
        looks = [Clustered.of(moved[: (night + 1) * each], None) for night in range(nights)]
        usual += any(not low <= 0 <= high for low, high in (look.interval(0.95) or (0, 0) for look in looks))
        anytime += any((anytime_p(look, (-1.0, 1.0)) or 1) < 0.05 for look in looks)
    return usual / trials, anytime / trials


def test_ten_looks_at_growing_data() -> None:
    usual, anytime = alarms(200, LOOKS, 40)
    assert usual > 0.1
    assert anytime <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("each", [10, 40, 200])
def test_ten_looks_at_growing_data_at_length(each: int, capsys: pytest.CaptureFixture[str]) -> None:
    usual, anytime = alarms(4_000 if each < 200 else 1_000, LOOKS, each)
    with capsys.disabled():
        print(f"ten looks, {each} rows more each: usual {usual:.3f}, at any time {anytime:.3f}")
    assert usual > 0.15
    assert anytime <= 0.05


@pytest.mark.slow
def test_its_width_beside_the_usual_one(capsys: pytest.CaptureFixture[str]) -> None:
    random = np.random.default_rng(9)
    for n in (30, 100, 300, 1_000, 10_000):
        ratios = []
        for _ in range(30):
            a = (random.random(n) < 0.7).astype(float)
            b = np.where(random.random(n) < 0.2, 1 - a, a)
            usual, _ = difference_interval(a, b, Confidence(), binary=True)
            assert usual is not None
            row = []
            for level in (0.95, level_of_look(1, 0.95), level_of_look(10, 0.95), level_of_look(30, 0.95)):
                wide, _ = difference_interval(a, b, Confidence(ANYTIME, level=level), binary=True)
                assert wide is not None
                assert wide[0] < usual[0] < usual[1] < wide[1]
                row.append((wide[1] - wide[0]) / (usual[1] - usual[0]))
            ratios.append([(usual[1] - usual[0]) / 2, *row])
        with capsys.disabled():
            print(n, [round(float(value), 3) for value in np.mean(ratios, axis=0)])


@pytest.mark.slow
def test_ten_nights_beside_one_baseline(capsys: pytest.CaptureFixture[str]) -> None:
    """A system that stays as it is answers the same 150 questions each night: is any night said to differ?"""
    random = np.random.default_rng(10)
    usual = anytime = 0
    trials = 1_000
    for _ in range(trials):
        chances = random.beta(1.4, 0.6, 150)
        baseline, *nights = ((random.random(150) < chances).astype(float) for _ in range(LOOKS + 1))
        found = [difference_interval(baseline, night, Confidence(), binary=True)[0] for night in nights]
        usual += any(ends is not None and not ends[0] <= 0 <= ends[1] for ends in found)
        for look, night in enumerate(nights, 1):
            p = anytime_p(Clustered.of(night - baseline, None), (-1.0, 1.0))
            if p is not None and p < 1 - level_of_look(look, 0.95):
                anytime += 1
                break
    with capsys.disabled():
        print(f"ten nights: usual {usual / trials:.3f}, at any time {anytime / trials:.3f}")
    assert usual / trials > 0.15
    assert anytime / trials <= 0.05
