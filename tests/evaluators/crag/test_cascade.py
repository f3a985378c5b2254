"""The cascade: who decides what, what is saved, and an accuracy that stays unbiased."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from ragmeter import CRAGEvaluator
from ragmeter.errors import UsageError
from ragmeter.evaluators.crag.cascade import Cascade
from tests.evaluators.crag.helpers import turn
from tests.judge_server import Action, JudgeServer

#: In these tests an answer says itself how sure the offline judge is: "97% sure: red".
CHANCES = "ragmeter.evaluators.crag.cascade.chances_of"


@pytest.fixture(autouse=True)
def _chances(monkeypatch: pytest.MonkeyPatch) -> None:
    def chances_of(rows: Sequence[Mapping[str, Any]], calibration: str | None) -> Any:
        return np.array([float(row["agent_response"].split("%")[0]) / 100 for row in rows])

    monkeypatch.setattr(CHANCES, chances_of)


def evaluated(server: JudgeServer, turns: list[dict[str, Any]], cascade: Cascade, **keywords: Any) -> CRAGEvaluator:
    found = CRAGEvaluator(
        None, None, "m", "sk-no-key", num_workers=4, base_url=server.url, journal=None, cascade=cascade, **keywords
    )
    rows, _ = found.evaluate_agent_responses(turns)
    assert len(rows["all"]) == len(turns)
    return found


def summary(evaluator: CRAGEvaluator) -> dict[str, Any]:
    assert evaluator.report is not None
    return evaluator.report.summary


def single(number: int, percent: float, word: str = "red") -> dict[str, Any]:
    return turn(f"s{number}", 0, "red", f"{percent}% sure: {word}")


def test_who_decides_what() -> None:
    turns = [
        turn("a", 0, "red", "I don't know"),
        turn("b", 0, "red", "Red."),
        *(single(number, 99) for number in range(20)),
        *(single(number, 1, "blue") for number in range(20, 30)),
        *(single(number, 60) for number in range(30, 35)),
    ]
    with JudgeServer() as server:
        found = summary(evaluated(server, turns, Cascade(target_agreement=0.95, audit=0.0)))
        assert server.count == 5
    assert found["judged_by"] == {"exact": 1, "llm": 5, "miss": 1, "offline": 30}
    assert found["cascade"]["calls_saved"] == 30
    assert found["cascade"]["basis"] == "the offline judge's own figures"
    assert "no promise" in found["cascade"]["warnings"][0]
    assert found["metrics"]["is_correct"]["mean"] == pytest.approx((1 + 20 + 5) / 37)


def test_a_share_for_the_model() -> None:
    turns = [single(number, 50 + number / 2.5) for number in range(100)]
    with JudgeServer() as server:
        found = summary(evaluated(server, turns, Cascade(llm_share=0.3, audit=0.0)))
        assert server.count == 30
    assert found["cascade"]["threshold"] == pytest.approx(0.5 + 30 / 250)


def test_the_audit_corrects_the_offline_judge() -> None:
    """It is sure that 100 wrong answers are right; the audit finds out, and the accuracy is that of the model."""
    turns = [single(number, 99, "red" if number % 2 else "blue") for number in range(400)]
    with JudgeServer() as server:
        found = summary(evaluated(server, turns, Cascade(target_agreement=0.95, audit=0.25)))
        assert server.count == 100
    cascade = found["cascade"]
    assert cascade["audited"]["n"] == 100
    assert cascade["audited"]["agreement"] == pytest.approx(0.5, abs=0.15)
    low, high = cascade["accuracy"]["interval"]
    assert low < 0.5 < high
    assert found["metrics"]["is_correct"]["mean"] > 0.8  # which is why the other is told


def test_labels_make_a_promise_or_say_that_they_can_not() -> None:
    turns = [single(number, 99 if number < 180 else 70) for number in range(200)]
    few = {f"s{number}-0": 1.0 for number in range(50)}
    with JudgeServer() as server:
        found = summary(evaluated(server, turns, Cascade(0.98, labels=few)))
        assert server.count == 200
        assert "takes 149 at the least" in found["cascade"]["warnings"][0]
        many = {f"s{number}-0": 1.0 if number < 180 else 0.0 for number in range(200)}
        found = summary(evaluated(server, turns, Cascade(0.98, labels=many, audit=0.0)))
    assert found["cascade"]["n_labels"] == 200
    assert found["cascade"]["warnings"] == []
    assert found["judged_by"] == {"llm": 20, "offline": 180}


def test_a_budget_is_spent_on_the_least_sure(tmp_path: Any) -> None:
    (tmp_path / "prices.json").write_text('{"m": {"input": 10, "output": 10}}', encoding="utf-8")
    from ragmeter import LLMJudge

    turns = [single(number, 60 + number / 3) for number in range(100)]
    with JudgeServer() as server:
        judge = LLMJudge("sk-no-key", "m", server.url, prices=tmp_path / "prices.json")
        texts = [(row["query"], row["ground_truth"], row["agent_response"]) for row in turns]
        budget = sum(judge.cost(*each) for each in texts) * 0.4
        found = CRAGEvaluator(judge=judge, journal=None, cascade=Cascade(audit=0.0), budget=budget)
        found.evaluate_agent_responses(turns)
        assert server.count == pytest.approx(40, abs=1)
    assert summary(found)["cascade"]["basis"].startswith("a budget of $")


def test_without_a_model_everything_is_decided() -> None:
    found = CRAGEvaluator(journal=None, cascade=Cascade())
    found.evaluate_agent_responses([single(0, 70), single(1, 20)])
    assert summary(found)["judged_by"] == {"offline": 2}
    assert summary(found)["metrics"]["is_correct"]["mean"] == 0.5
    assert summary(found)["cascade"]["calls_saved"] == 0


def test_an_audited_turn_that_the_model_fails_on_keeps_its_verdict() -> None:
    turns = [single(number, 99) for number in range(40)]
    with JudgeServer(lambda request, number: Action(status=400, body={"error": {"message": "no"}})) as server:
        found = summary(evaluated(server, turns, Cascade(0.95), retries=0))
    assert found["judged_by"] == {"offline": 40}
    assert found["metrics"]["is_correct"]["n_not_scored"] == {}
    assert found["cascade"]["audited"] == {"n": 0, "agreement": None, "interval": None}


def test_turns_after_the_end_of_a_conversation_are_nobodys() -> None:
    turns = [turn("s", index, "red", f"{1 if index < 2 else 99}% sure: {'blue' if index < 2 else 'red'}")
             for index in range(5)]  # fmt: skip
    with JudgeServer() as server:
        found = summary(evaluated(server, turns, Cascade(0.9, audit=0.0)))
    assert found["judged_by"] == {"ended": 3, "offline": 2}
    assert found["cascade"]["calls_saved"] == 2
    assert found["cascade"]["accuracy"]["mean"] == 0.0


@pytest.mark.parametrize(
    "keywords",
    [{"target_agreement": 0.9, "llm_share": 0.1}, {"target_agreement": 1.0}, {"llm_share": 2.0}, {"audit": -1.0}],
)
def test_what_makes_no_sense(keywords: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        Cascade(**keywords)  # type: ignore[arg-type]
