"""The cascade: who decides what, what is saved, and an accuracy that stays unbiased."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from ragmeter import CRAGEvaluator
from ragmeter.errors import InputError, UsageError
from ragmeter.judges.asking.cascade import Cascade
from ragmeter.judges.verdict import verdict
from tests.compat.crag.helpers import turn
from tests.judge_server import Action, JudgeServer

#: In these tests an answer says itself how sure the offline judge is: "97% sure: red".
CHANCES = "ragmeter.engine.judging.cascade_run.offline_chances"


@pytest.fixture(autouse=True)
def _chances(monkeypatch: pytest.MonkeyPatch) -> None:
    def offline_chances(columns: Mapping[str, Sequence[str]], calibration: str | None) -> Any:
        return np.array([float(answer.split("%")[0]) / 100 for answer in columns["answer"]])

    monkeypatch.setattr(CHANCES, offline_chances)


def shown(row: dict[str, Any]) -> dict[str, str]:
    return {"question": row["query"], "reference": row["ground_truth"], "answer": row["agent_response"]}


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
    assert found["cascade"]["basis"] == "the offline judge's own probabilities"
    assert "not guaranteed" in found["cascade"]["warnings"][0]
    assert found["metrics"]["accuracy"]["mean"] == pytest.approx((1 + 20 + 5) / 37)


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
    assert found["metrics"]["accuracy"]["mean"] > 0.8  # which is why the other is told


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
        texts = [shown(row) for row in turns]
        column_judge = judge.on(verdict)
        budget = sum(column_judge.cost(each) for each in texts) * 0.4
        found = CRAGEvaluator(judge=judge, journal=None, cascade=Cascade(audit=0.0), budget=budget)
        found.evaluate_agent_responses(turns)
        last = max(column_judge.most(each) for each in texts)  # which the last call needs to begin
        affordable = 100 * (budget - last) / sum(column_judge.cost(each) for each in texts)
        assert server.count == pytest.approx(affordable, abs=1)
        assert 25 < server.count < 40
        twice = LLMJudge("sk-no-key", "m", server.url, prices=tmp_path / "prices.json", repeats=2)
        found.llm_judge, server.count = twice, 0
        found.evaluate_agent_responses(turns)
        assert server.count == pytest.approx(affordable, abs=2)  # half as many turns, each twice
    assert summary(found)["cascade"]["basis"].startswith("a budget of $")
    assert summary(found)["metrics"]["accuracy"]["n_not_scored"] == {}


def test_the_audit_takes_no_more_than_half_of_a_budget(tmp_path: Any) -> None:
    (tmp_path / "prices.json").write_text('{"m": {"input": 10, "output": 10}}', encoding="utf-8")
    from ragmeter import LLMJudge

    turns = [single(number, 60 + number / 8) for number in range(300)]
    with JudgeServer() as server:
        judge = LLMJudge("sk-no-key", "m", server.url, prices=tmp_path / "prices.json")
        texts = [shown(row) for row in turns]
        column_judge = judge.on(verdict)
        budget = max(column_judge.most(each) for each in texts) + sum(column_judge.cost(each) for each in texts) * 0.1
        found = CRAGEvaluator(judge=judge, journal=None, cascade=Cascade(), budget=budget)
        found.evaluate_agent_responses(turns)
    held = summary(found)
    assert held["cascade"]["audited"]["n"] == pytest.approx(15, abs=1)  # 30 would be all of it
    assert held["judged_by"]["llm"] == pytest.approx(30, abs=2)


def test_without_a_model_everything_is_decided() -> None:
    found = CRAGEvaluator(journal=None, cascade=Cascade())
    found.evaluate_agent_responses([single(0, 70), single(1, 20)])
    assert summary(found)["judged_by"] == {"offline": 2}
    assert summary(found)["metrics"]["accuracy"]["mean"] == 0.5
    assert summary(found)["cascade"]["calls_saved"] == 0


def test_an_audited_turn_that_the_model_fails_on_keeps_its_verdict() -> None:
    turns = [single(number, 99) for number in range(40)]
    with JudgeServer(lambda request, number: Action(status=400, body={"error": {"message": "no"}})) as server:
        found = summary(evaluated(server, turns, Cascade(0.95), retries=0))
    assert found["judged_by"] == {"offline": 40}
    assert found["metrics"]["accuracy"]["n_not_scored"] == {}
    assert found["cascade"]["audited"] == {"n": 0, "agreement": None, "interval": None}


def test_turns_after_the_end_of_a_conversation_are_nobodys() -> None:
    turns = [turn("s", index, "red", f"{1 if index < 2 else 99}% sure: {'blue' if index < 2 else 'red'}")
             for index in range(5)]  # fmt: skip
    with JudgeServer() as server:
        found = summary(evaluated(server, turns, Cascade(0.9, audit=0.0)))
    assert found["judged_by"] == {"ended": 3, "offline": 2}
    assert found["cascade"]["calls_saved"] == 2
    assert found["cascade"]["accuracy"]["mean"] is None  # nothing was checked, so nothing is known of it


def test_an_audited_conversation_is_asked_about_to_its_end() -> None:
    """The offline judge ends every conversation after two turns, and is wrong: the audit finds all four right."""
    turns = [turn(f"s{number}", index, "red", f"1% sure: red {index} {number}")
             for number in range(40) for index in range(4)]  # fmt: skip
    with JudgeServer() as server:
        found = summary(evaluated(server, turns, Cascade(0.9, audit=0.5)))
        assert server.count == 30 * 4  # 30 conversations at the least
        assert len({str(request["messages"]) for request in server.requests}) == 120
    assert found["judged_by"] == {"ended": 20, "llm": 120, "offline": 20}
    assert found["cascade"]["calls_saved"] == 20
    assert found["cascade"]["audited"]["n"] == 120
    assert found["cascade"]["audited"]["agreement"] == 0.0
    assert found["cascade"]["accuracy"]["mean"] == 1.0
    assert found["metrics"]["accuracy"]["mean"] == 0.75


def test_calls_that_failed_were_not_saved() -> None:
    turns = [single(number, 99) for number in range(60)]
    refuse = Action(status=400, body={"error": {"message": "no"}})
    with JudgeServer(lambda request, number: None if number <= 1 else refuse) as server:
        found = summary(evaluated(server, turns, Cascade(0.95), retries=0))
    assert found["cascade"]["calls_saved"] == 30
    assert found["judged_by"] == {"llm": 1, "offline": 59}
    assert found["cascade"]["audited"]["n"] == 1


def test_a_turn_that_nobody_could_judge_is_nobodys() -> None:
    turns = [single(number, 60) for number in range(4)]
    refuse = Action(status=400, body={"error": {"message": "no"}})
    with JudgeServer(lambda request, number: None if number <= 1 else refuse) as server:
        found = summary(evaluated(server, turns, Cascade(0.95), retries=0))
    assert found["judged_by"] == {"llm": 1}
    assert "3 doubtful turns have no score" in found["cascade"]["warnings"][-1]
    assert found["metrics"]["accuracy"]["n_not_scored"] == {"judge_error": 3}


def test_what_people_say_of_misses_and_exact_matches_is_part_of_the_promise() -> None:
    """A tenth of the turns are taken for misses which people call right: no threshold keeps 0.98 then."""
    turns = [
        turn(f"s{number}", 0, "red", "I don't know" if number % 10 == 0 else "99% sure: red") for number in range(300)
    ]
    labels = {f"s{number}-0": 1.0 for number in range(300)}
    with JudgeServer() as server:
        found = summary(evaluated(server, turns, Cascade(0.98, labels=labels, audit=0.0)))
    assert found["cascade"]["threshold"] is None
    assert "too often wrong" in found["cascade"]["warnings"][0]
    with JudgeServer() as server, pytest.raises(UsageError, match="no such row"):
        evaluated(server, turns, Cascade(0.98, labels={"elsewhere": 1.0}))


def test_a_list_of_accepted_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # with the real offline judge
    turns = [
        turn("a", 0, ["red", "crimson"], "Crimson."),
        turn("b", 0, ["red", "crimson"], "The colour was crimson, not blue."),
        turn("c", 0, ["red"], "The colour was red."),
        turn("d", 0, [], "red"),
    ]
    with JudgeServer() as server:
        found = evaluated(server, turns, Cascade(llm_share=1.0))
        assert server.count == 2
        assert "red\nor: crimson" in str(server.requests[0]["messages"][-1]["content"])
    assert summary(found)["judged_by"] == {"exact": 1, "llm": 2}
    assert summary(found)["metrics"]["accuracy"]["n_not_scored"] == {"no_reference": 1}
    offline = CRAGEvaluator(journal=None, cascade=Cascade())
    rows, _ = offline.evaluate_agent_responses(turns[:3])
    assert [row["is_correct"] for row in rows["all"]] == [True, True, True]
    with pytest.raises(InputError, match="a list of texts"):
        offline.evaluate_agent_responses([turn("a", 0, ["red", 3], "red")])  # type: ignore[list-item]


@pytest.mark.parametrize(
    "keywords",
    [
        {"target_agreement": 0.9, "llm_share": 0.1}, {"target_agreement": 1.0}, {"target_agreement": 0.0},
        {"llm_share": 2.0}, {"audit": -1.0}, {"seed": -1}, {"llm_share": 0.2, "labels": {"a": 1.0}},
    ],
)  # fmt: skip
def test_what_makes_no_sense(keywords: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Cascade(**keywords)
