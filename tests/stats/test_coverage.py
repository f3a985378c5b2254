"""Do intervals keep their promise, and does a comparison cry wolf? By simulation.

Each interval is tried at the size that it is made for. What it does for a handful of values is printed, not asserted:
`pytest -m slow -s tests/stats/test_coverage.py` shows it, and docs/statistics.md tells it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ragmeter import compare
from ragmeter.stats.clusters import Clustered
from ragmeter.stats.confidence import Confidence
from ragmeter.stats.intervals import interval_of, newcombe_interval, wilson_interval
from ragmeter.table import Scores
from tests.make_runs import make_run

pytestmark = pytest.mark.slow
Found = tuple[float, float] | None
Make = Callable[[np.random.Generator, int], tuple[float, Found]]


def scores(random: np.random.Generator, n: int) -> Scores:
    """Like token F1: many zeros, some ones, the rest in between; its mean is 0.4."""
    return np.where(random.random(n) < 0.3, 0.0, np.where(random.random(n) < 1 / 7, 1.0, random.beta(2, 2.2, n)))


MEAN = 0.7 * (1 / 7 + 6 / 7 * 2 / 4.2)


def student(random: np.random.Generator, n: int) -> tuple[float, Found]:
    return MEAN, interval_of(scores(random, n), Confidence("t"))[0]


def wilson(random: np.random.Generator, n: int) -> tuple[float, Found]:
    """Over many rates: at a single one, what n trials can come to makes it a point more or less."""
    rate = random.uniform(0.05, 0.95)
    return rate, wilson_interval(float(random.binomial(n, rate)), n)


def percentile(random: np.random.Generator, n: int) -> tuple[float, Found]:
    how = Confidence("bootstrap", draws=999, seed=int(random.integers(1 << 30)))
    return MEAN, interval_of(scores(random, n), how)[0]


def bca(random: np.random.Generator, n: int) -> tuple[float, Found]:
    how = Confidence("bca", draws=999, seed=int(random.integers(1 << 30)))
    return MEAN, interval_of(scores(random, n), how)[0]


def clustered(random: np.random.Generator, n: int) -> tuple[float, Found]:
    """n conversations of 1 to 6 turns, whose scores go together."""
    sizes = random.integers(1, 7, n)
    codes = np.repeat(np.arange(n), sizes)
    values = random.normal(0.5, 0.2, n)[codes] + random.normal(0, 0.2, len(codes))
    return 0.5, Clustered.of(values, codes).interval(0.95)


def clustered_bootstrap(random: np.random.Generator, n: int) -> tuple[float, Found]:
    sizes = random.integers(1, 7, n)
    codes = np.repeat(np.arange(n), sizes)
    values = random.normal(0.5, 0.2, n)[codes] + random.normal(0, 0.2, len(codes))
    how = Confidence("bootstrap", draws=999, seed=int(random.integers(1 << 30)))
    return 0.5, interval_of(values, how, codes=codes)[0]


def paired_rates(random: np.random.Generator, n: int) -> tuple[float, Found]:
    """Two systems that are right in 60% and 65%, mostly on the same questions."""
    a = (random.random(n) < 0.6).astype(float)
    again = random.random(n) < 0.3
    b = np.where(again, random.random(n) < 0.6 + 0.05 / 0.3, a).astype(float)
    return 0.05, newcombe_interval(a, b)


#: Each with the number of values that it is made for, and how often it is tried.
INTERVALS: list[tuple[Make, int, int]] = [
    (student, 100, 20_000),
    (wilson, 100, 20_000),
    (percentile, 300, 4_000),
    (bca, 300, 4_000),
    (clustered, 60, 8_000),
    (clustered_bootstrap, 200, 3_000),
    (paired_rates, 200, 8_000),
]


def coverage(make: Make, n: int, times: int, seed: int) -> float:
    random = np.random.default_rng(seed)
    hits = 0
    for _ in range(times):
        truth, result = make(random, n)
        hits += result is not None and result[0] <= truth <= result[1]
    return hits / times


@pytest.mark.parametrize(("make", "n", "times"), INTERVALS, ids=[method[0].__name__ for method in INTERVALS])
def test_the_truth_is_inside_95_times_of_100(make: Make, n: int, times: int) -> None:
    result = coverage(make, n, times, seed=2)
    small = {few: round(coverage(make, few, 1_000, seed=3), 3) for few in (5, 10, 20, 30)}
    print(f"\n{make.__name__}: {result:.3f} at n = {n}; small: {small}")
    assert 0.94 <= result <= 0.96


def test_the_comparison_does_not_cry_wolf(tmp_path: Path) -> None:
    """1,000 pairs of runs of one and the same system, six metrics that go together as real ones do."""
    random = np.random.default_rng(1)
    alarms = np.zeros((1_000, 6), dtype=bool)
    for trial in range(1_000):
        hard = random.random(80)
        folders = []
        for name in "ab":
            luck = random.random((6, 80)) * 0.5 + random.random(80) * 0.5
            results = {f"m{i}": np.clip(1.2 * luck[i] - 0.4 * hard, 0, 1) for i in range(4)}
            results |= {f"right{i}": (luck[i] > 0.3 + 0.4 * hard).astype(float) for i in (4, 5)}
            folders.append(make_run(tmp_path / str(trial) / name, results))
        (pair,) = compare(folders, draws=1_999, movers=0, slices=[]).pairs
        alarms[trial] = [metric.verdict in ("better", "worse") for metric in pair.metrics.values()]
    print(f"\nfalse alarms by metric: {alarms.mean(axis=0)}, in any: {alarms.any(axis=1).mean():.3f}")
    assert alarms.mean(axis=0).max() <= 0.06
    assert alarms.any(axis=1).mean() <= 0.05
