"""How many questions to ask."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from ragmeter.analysis.power import plan, plan_from_pilot
from ragmeter.errors import UsageError
from ragmeter.stats.power import Variances
from tests.make_runs import make_run

RANDOM = np.random.default_rng(6)
A, B = RANDOM.random(400), RANDOM.random(400)


def test_from_two_runs(tmp_path: Path) -> None:
    make_run(tmp_path / "a", {"score": A})
    make_run(tmp_path / "b", {"score": B})
    plan = plan_from_pilot([tmp_path / "a", tmp_path / "b"], "score", differences=[0.03], numbers=[400])
    assert plan.variances == Variances((B - A).var(ddof=1))
    assert plan.n_pilot == 400
    assert plan.needed[0.03] == pytest.approx(7.8489 * plan.variances.between / 0.03**2, abs=1.5)
    assert plan.smallest[400] == pytest.approx((7.8489 * plan.variances.between / 400) ** 0.5, rel=1e-4)


def test_from_one_run_the_other_is_guessed(tmp_path: Path) -> None:
    make_run(tmp_path / "a", {"score": A})
    cautious, near = (plan_from_pilot([tmp_path / "a"], "score", correlation=r) for r in (0.0, 0.5))
    assert cautious.variances.between == pytest.approx(2 * A.var(ddof=1))
    assert near.variances.between == pytest.approx(A.var(ddof=1))
    assert "a correlation of 0 with" in cautious.basis
    assert list(cautious.needed) == [0.01, 0.02, 0.03, 0.05, 0.1]
    assert list(cautious.smallest) == [400]


def test_repeats_are_told_from_questions(tmp_path: Path) -> None:
    """200 questions of 5 repeats each: what varies within is found, and what varies between is not counted twice."""
    true_a, true_b = RANDOM.random(200), RANDOM.random(200)
    qids = np.repeat(np.arange(200), 5).astype(str).tolist()
    make_run(tmp_path / "a", {"score": np.repeat(true_a, 5) + RANDOM.normal(0, 0.3, 1_000)}, {"qid": qids})
    make_run(tmp_path / "b", {"score": np.repeat(true_b, 5) + RANDOM.normal(0, 0.1, 1_000)}, {"qid": qids})
    plan = plan_from_pilot([tmp_path / "a", tmp_path / "b"], "score", differences=[0.05], repeats=5)
    assert plan.n_pilot == 200
    assert plan.variances.within_a == pytest.approx(0.09, rel=0.1)
    assert plan.variances.within_b == pytest.approx(0.01, rel=0.1)
    assert plan.variances.between == pytest.approx((true_b - true_a).var(ddof=1), rel=0.1)
    assert plan.variances.design_effect == 1.0


def test_clusters_cost_questions(tmp_path: Path) -> None:
    sessions = np.repeat(np.arange(100), 4)
    shared = RANDOM.normal(0, 0.5, 100)[sessions]
    columns = {"session_id": sessions.astype(str).tolist()}
    make_run(tmp_path / "a", {"score": A}, columns)
    make_run(tmp_path / "b", {"score": A + shared}, columns)
    plan = plan_from_pilot([tmp_path / "a", tmp_path / "b"], "score")
    assert plan.variances.design_effect == pytest.approx(4.0, rel=0.05)  # four turns that go together are one
    assert "clustered by session_id" in plan.basis
    alone = plan_from_pilot([tmp_path / "a", tmp_path / "b"], "score", cluster=None)
    assert alone.variances.design_effect == 1.0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"alpha": 0.0}, "alpha must be between 0 and 1, got 0"),
        ({"power": 1.0}, "power must be between 0 and 1, got 1"),
        ({"repeats": 0}, "repeats must be"),
        ({"tests": 0}, "tests must be at least 1"),
        ({"differences": [0.0]}, "a difference must be above 0"),
        ({"numbers": [0]}, "at least 1"),
    ],
)
def test_what_makes_no_sense(settings: dict[str, float], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        plan(Variances(0.1), **settings)  # type: ignore[arg-type]


def test_a_pilot_without_variance(tmp_path: Path) -> None:
    make_run(tmp_path / "a", {"score": [0.5, 0.5]})
    with pytest.raises(UsageError, match="the scores do not vary"):
        plan_from_pilot([tmp_path / "a"], "score")


def test_of_other_scales_a_plan_is_for_shares_of_the_mean(tmp_path: Path) -> None:
    """A hundredth of a millisecond is nothing that anybody asks for."""
    values = list(np.linspace(100, 300, 50))
    make_run(tmp_path / "a", {"score": A[:50]}, {"latency_ms": values})
    plan = plan_from_pilot([tmp_path / "a"], "latency_ms")
    assert list(plan.needed) == [2, 4, 6, 10, 20]


def test_nothing_scored_is_said(tmp_path: Path) -> None:
    make_run(tmp_path / "a", {"score": [float("nan")] * 3})
    make_run(tmp_path / "b", {"score": [0.1, 0.2, 0.3]})
    with pytest.raises(UsageError, match=r"a: no question has a score of score$"):
        plan_from_pilot([tmp_path / "a"], "score")
    with pytest.raises(UsageError, match="a and b: no question has a score of score in both"):
        plan_from_pilot([tmp_path / "a", tmp_path / "b"], "score")


@pytest.mark.parametrize(
    ("variance", "difference"), [(float("inf"), 0.1), (float("nan"), 0.1), (1.0, float("inf")), (1.0, 1e-200)]
)
def test_numbers_without_an_end_are_refused(variance: float, difference: float) -> None:
    with pytest.raises(UsageError):
        plan(Variances(variance), differences=[difference])


def test_a_tiny_alpha() -> None:
    result = plan(Variances(1.0), differences=[0.1], alpha=1e-30)
    assert result.needed[0.1] == pytest.approx(((stats.norm.isf(5e-31) + stats.norm.ppf(0.8)) / 0.1) ** 2, abs=1)


def test_a_plan_for_several_tests_has_their_alpha() -> None:
    """Of six metrics, the power was 51 to 57% where 80% was said."""
    six = plan(Variances(1 / 9), differences=[0.03], tests=6)
    assert six.needed == plan(Variances(1 / 9), differences=[0.03], alpha=0.05 / 6).needed
    assert (six.alpha, six.tests) == (0.05, 6)


@pytest.mark.parametrize("column", ["session_id", "user"])
@pytest.mark.parametrize("runs", [["a", "b"], ["a"]])
def test_repeats_are_not_counted_as_clusters_too(tmp_path: Path, column: str, runs: list[str]) -> None:
    """Of the same questions, asked once, three and five times, 439, 1,320 and 2,196 were said to be needed."""
    random = np.random.default_rng(3)
    groups = np.repeat(np.arange(40), 5)
    scores = {name: random.random(40)[groups] * 0.5 + random.random(200) * 0.5 for name in "ab"}
    needed = []
    for times in (1, 3, 5):
        columns = {"qid": [str(row) for row in range(200)] * times, column: [f"g{group}" for group in groups] * times}
        made = [
            make_run(tmp_path / str(times) / name, {"score": np.tile(scores[name], times)}, columns) for name in runs
        ]
        plan = plan_from_pilot(made, "score", cluster=column, differences=[0.05])
        assert plan.n_pilot == 200
        assert plan.variances.design_effect > 1.1
        needed.append(plan.needed[0.05])
    assert needed[0] == needed[1] == needed[2]
