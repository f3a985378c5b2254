"""How often does a comparison see a difference where there is none, and one that is there? By simulation.

`pytest -m slow -s tests/analysis/comparing/test_false_alarms.py` prints the figures that docs/statistics.md has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ragmeter import compare
from ragmeter.analysis.comparing.significance import verdict
from ragmeter.table import Scores
from tests.make_runs import make_run

pytestmark = pytest.mark.slow
#: A verdict that says that the systems differ.
CLAIMS = {"better", "worse", "different", "significant, but small"}
#: 5%, and what 1,000 trials stray from it.
MOST = 0.07
Pairs = tuple[Scores, Scores]
Draw = Callable[[np.random.Generator, int], Pairs]


def normal(random: np.random.Generator, n: int) -> Pairs:
    """Small differences of all sizes."""
    base = random.uniform(0.3, 0.7, n)
    return base, base + random.normal(0, 0.05, n)


def token_f1(random: np.random.Generator, n: int) -> Pairs:
    """Many zeros, some ones, the rest in between; half of the rows have the same answer from both."""

    def scores() -> Scores:
        return np.where(random.random(n) < 0.3, 0.0, np.where(random.random(n) < 1 / 7, 1.0, random.beta(2, 2.2, n)))

    a = scores()
    return a, np.where(random.random(n) < 0.5, a, scores())


def few_move(random: np.random.Generator, n: int) -> Pairs:
    """One row in ten moves, by more or less."""
    a = random.uniform(0.3, 0.7, n)
    return a, np.where(random.random(n) < 0.1, a + random.uniform(-0.3, 0.3, n), a)


def rates(random: np.random.Generator, n: int) -> Pairs:
    """Right or wrong, mostly on the same questions."""
    a = (random.random(n) < 0.6).astype(float)
    return a, np.where(random.random(n) < 0.4, random.random(n) < 0.6, a).astype(float)


DRAWS: dict[str, Draw] = {draw.__name__: draw for draw in (normal, token_f1, few_move, rates)}


#: So many metrics of one run are as many trials; each is judged as if it were the only one.
TRIALS = 50


def claims(folder: Path, draw: Draw, trials: list[Pairs], columns: Mapping[str, Any] | None, test: str) -> list[bool]:
    """Whether two systems are said to differ, by trial; `make_run` takes a metric that starts with right for a rate."""
    prefix = "right" if draw is rates else "score"
    for place, name in enumerate("ab"):
        scores = {f"{prefix}{trial}": pairs[place] for trial, pairs in enumerate(trials)}
        make_run(folder / name, scores, columns)
    (pair,) = compare([folder / "a", folder / "b"], test=test, draws=999, movers=0, slices=[]).pairs
    return [verdict(replace(result, p_holm=result.p), 0.05) in CLAIMS for result in pair.metrics.values()]


def sessions_of(random: np.random.Generator, number: int) -> npt.NDArray[np.int64]:
    """The conversation of each row, with 1 to 6 turns each."""
    return np.repeat(np.arange(number), random.integers(1, 7, number))


def in_conversations(
    random: np.random.Generator, draw: Draw, sessions: npt.NDArray[np.int64], alike: float = 0.5
) -> Pairs:
    """Half of the turns of a conversation have the scores of its first."""
    a, b = draw(random, len(sessions))
    first = np.searchsorted(sessions, sessions)
    same = random.random(len(a)) < alike
    return np.where(same, a[first], a), np.where(same, b[first], b)


@pytest.mark.parametrize("test", ["randomisation", "bootstrap", "t"])
@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_of_equal_systems(tmp_path: Path, draw: Draw, test: str) -> None:
    shares = {}
    for n in (2, 3, 5, 10, 30, 100):
        random, alarms = np.random.default_rng(n), []
        for batch in range(20):
            trials = [draw(random, n) for _ in range(TRIALS)]
            alarms += claims(tmp_path / f"{n} {batch}", draw, trials, None, test)
        shares[n] = float(np.mean(alarms))
    print(f"\n{draw.__name__}, {test}: false alarms by n: {shares}")
    assert max(shares.values()) <= MOST


@pytest.mark.parametrize("test", ["randomisation", "bootstrap", "t"])
@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_of_equal_systems_in_conversations(tmp_path: Path, draw: Draw, test: str) -> None:
    shares = {}
    for number in (30,) if test == "t" else (3, 10, 30):  # Student's is for many conversations of unequal length
        random, alarms = np.random.default_rng(number), []
        for batch in range(20):
            sessions = sessions_of(random, number)
            trials = [in_conversations(random, draw, sessions) for _ in range(TRIALS)]
            columns = {"session_id": [f"s{session}" for session in sessions]}
            alarms += claims(tmp_path / f"{number} {batch}", draw, trials, columns, test)
        shares[number] = float(np.mean(alarms))
    print(f"\n{draw.__name__} in conversations, {test}: false alarms by conversations: {shares}")
    assert max(shares.values()) <= MOST


@pytest.mark.parametrize("clustered", [False, True], ids=["rows", "conversations"])
@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_no_slice_turns_or_differs(tmp_path: Path, draw: Draw, clustered: bool) -> None:
    """Twelve slices of about 15 rows, or thirty of two conversations of six turns that are alike."""
    random, alarms = np.random.default_rng(8), []
    for trial in range(500):
        sessions = np.repeat(np.arange(60), 6) if clustered else np.arange(180)
        pairs = in_conversations(random, draw, sessions, alike=1.0) if clustered else draw(random, 180)
        kinds = np.arange(60) % 30 if clustered else random.integers(12, size=180)
        columns = {"kind": [f"k{kind}" for kind in kinds[sessions]]}
        if clustered:
            columns["session_id"] = [f"s{session}" for session in sessions]
        runs = [tmp_path / f"{trial}{name}" for name in "ab"]
        for run, scores in zip(runs, pairs, strict=True):
            make_run(run, {"right" if draw is rates else "score": scores}, columns)
        (pair,) = compare(runs, draws=1_999, movers=0, slices=["kind"]).pairs
        alarms.append(any(part.turns or part.differs for part in pair.slices))
    print(f"\n{draw.__name__}, clustered: {clustered}: some slice turns or differs: {np.mean(alarms):.3f}")
    assert np.mean(alarms) <= MOST


@pytest.mark.parametrize(("clustered", "slices"), [(False, 4), (False, 12), (True, 4)])
@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_no_slice_differs_where_all_gain_alike(tmp_path: Path, draw: Draw, clustered: bool, slices: int) -> None:
    """One row in five gets right in each slice: of 30 rows, or of 12 conversations of five turns that are alike."""
    random, alarms = np.random.default_rng(9), []
    for trial in range(500):
        number = 12 * slices if clustered else 30 * slices
        sessions = np.repeat(np.arange(number), 5) if clustered else np.arange(number)
        a, b = in_conversations(random, draw, sessions, alike=1.0) if clustered else draw(random, number)
        gains = random.random(number)[sessions] < 0.2
        columns = {"kind": [f"k{session % slices}" for session in sessions]}
        if clustered:
            columns["session_id"] = [f"s{session}" for session in sessions]
        name = "right" if draw is rates else "score"
        for run, scores in (("a", a), ("b", np.where(gains, 1.0, b))):
            make_run(tmp_path / f"{trial}{run}", {name: scores}, columns)
        (pair,) = compare([tmp_path / f"{trial}{run}" for run in "ab"], draws=999, movers=0, slices=["kind"]).pairs
        alarms.append(any(part.differs for part in pair.slices))
    print(f"\n{draw.__name__}, {slices} slices, clustered: {clustered}: some slice differs: {np.mean(alarms):.3f}")
    assert np.mean(alarms) <= MOST


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_of_equal_systems_by_six_metrics(tmp_path: Path, draw: Draw) -> None:
    """The headline metric raises a false alarm in 5% of the pairs of runs, and any of the five others together."""
    random, prefix = np.random.default_rng(6), "right" if draw is rates else "score"
    headline, others = [], []
    for trial in range(500):
        metrics = [draw(random, 100) for _ in range(6)]
        runs = [tmp_path / f"{trial}{name}" for name in "ab"]
        for place, run in enumerate(runs):
            make_run(run, {f"{prefix}{number}": pairs[place] for number, pairs in enumerate(metrics)})
        (pair,) = compare(runs, draws=999, movers=0, slices=[]).pairs
        first, *more = (result.verdict in CLAIMS for result in pair.metrics.values())
        headline.append(first)
        others.append(any(more))
    print(f"\n{draw.__name__}, six metrics: headline {np.mean(headline):.3f}, any other {np.mean(others):.3f}")
    assert max(np.mean(headline), np.mean(others)) <= MOST


@pytest.mark.parametrize(
    ("metrics", "place", "alpha"), [(1, 0, 0.05), (6, 0, 0.05), (7, 6, 0.05), (13, 12, 0.05), (1, 0, 0.005)]
)
def test_what_could_be_seen_is_seen_in_80_of_100(tmp_path: Path, metrics: int, place: int, alpha: float) -> None:
    """A metric of several, the headline or another one, differs by the `smallest` of a pilot of as many questions."""
    random, n = np.random.default_rng(metrics), 200

    def run(name: str, shift: float) -> Path:
        scores = {f"m{number}": random.normal(0.5, 0.1, n) + shift * (number == place) for number in range(metrics)}
        make_run(tmp_path / name, scores)
        return tmp_path / name

    pilot = [compare([run(f"p{k}", 0), run(f"q{k}", 0)], alpha=alpha, slices=[]).pairs[0] for k in range(10)]
    smallest = float(np.mean([pair.metrics[f"m{place}"].smallest for pair in pilot]))
    seen = []
    for trial in range(400):
        runs = [run(f"a{trial}", 0), run(f"b{trial}", smallest)]
        (pair,) = compare(runs, alpha=alpha, draws=1_999, movers=0, slices=[], test="t").pairs
        seen.append(pair.metrics[f"m{place}"].verdict == "better")
    print(f"\n{metrics} metrics, place {place}, alpha {alpha}: power at the smallest difference: {np.mean(seen):.3f}")
    assert 0.74 <= np.mean(seen) <= 0.87
