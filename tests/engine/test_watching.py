"""Judging is watched from outside while it is under way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ragmeter
from ragmeter import FakeProvider, Judge
from ragmeter.cli.main import main
from ragmeter.compat.crag.evaluator import CRAGEvaluator
from ragmeter.runs import status
from ragmeter.runs.status import under_way

ROWS = [{"qid": str(i), "question": f"Q{i}", "reference": "Paris", "answer": f"Answer {i}"} for i in range(4)]


class Onlooker:
    """Replies as a judge, and looks at the folder of the runs each time that it is asked."""

    def __init__(self, folder: Path, monkeypatch: Any) -> None:
        monkeypatch.setattr(status, "_PAUSE", 0.0)
        self.folder, self.states = folder, list[dict[str, Any]]()

    def __call__(self, prompt: str) -> str:
        self.states += under_way(self.folder)
        return "Hm" if "Answer 1" in prompt else "Yes"

    def judge(self) -> Judge:
        return Judge(provider=FakeProvider(self), check=False, workers=1, tries=1)


def test_an_evaluation_with_a_judge(tmp_path: Path, monkeypatch: Any) -> None:
    looks = Onlooker(tmp_path, monkeypatch)
    ragmeter.evaluate(ROWS, metrics="llm_correct", judge=looks.judge(), run="r", output_dir=tmp_path)
    last = looks.states[-1]
    assert (last["run"], last["what"], last["total"]) == ("r", "judging", 4)
    assert 1 <= last["done"] < 4
    assert {"question": "Q0", "answer": "verdict: CORRECT"} in last["latest"]
    assert last["failures"] == {"unparsable": 1}
    assert under_way(tmp_path) == []


def test_a_run_that_gets_a_judged_metric(tmp_path: Path, monkeypatch: Any) -> None:
    looks = Onlooker(tmp_path, monkeypatch)
    ragmeter.evaluate(ROWS, metrics="token_f1", run="r", output_dir=tmp_path)
    ragmeter.add_metrics("r", "llm_correct", judge=looks.judge(), output_dir=tmp_path)
    assert {state["what"] for state in looks.states} == {"judging"}


def test_asked_answers_are_judged(tmp_path: Path, monkeypatch: Any) -> None:
    looks = Onlooker(tmp_path, monkeypatch)
    ragmeter.ask(ROWS, lambda question: "x", metrics="llm_correct", judge=looks.judge(), run="r", output_dir=tmp_path)
    assert {state["what"] for state in looks.states} == {"judging"}


def test_conversations(tmp_path: Path, monkeypatch: Any) -> None:
    looks = Onlooker(tmp_path, monkeypatch)
    turns = tmp_path / "turns.jsonl"
    turns.write_text(
        "".join(
            f'{{"session_id": "s{i}", "turn_idx": 0, "query": "Q{i}", "ground_truth": "x", "agent_response": "y{i}"}}\n'
            for i in range(4)
        )
    )
    made: list[CRAGEvaluator] = []
    init = CRAGEvaluator.__init__

    def with_our_judge(self: CRAGEvaluator, *positional: Any, **settings: Any) -> None:
        init(self, *positional, **{**settings, "judge": looks.judge()})
        made.append(self)

    monkeypatch.setattr(CRAGEvaluator, "__init__", with_our_judge)
    main(["crag", "evaluate", "--turns", str(turns), "--output-dir", str(tmp_path / "r"), "--judge-model", "fake",
          "--judge-base-url", "http://127.0.0.1:9/v1", "--workers", "1"])  # fmt: skip
    assert made
    assert {(state["run"], state["what"], state["total"]) for state in looks.states} == {("r", "judging", 4)}


def test_what_is_not_kept_is_not_watched(tmp_path: Path, monkeypatch: Any) -> None:
    looks = Onlooker(tmp_path, monkeypatch)
    ragmeter.evaluate(ROWS, metrics="llm_correct", judge=looks.judge(), output_dir=tmp_path)
    assert looks.states == []
