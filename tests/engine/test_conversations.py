"""Conversations as an ordinary table: the same verdicts and scores as `crag evaluate`, and no call after an end."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from ragmeter import CRAGEvaluator, Evaluation, add_metrics, evaluate
from ragmeter.engine.tables import score_table
from ragmeter.errors import UsageError
from ragmeter.judges.asking.cascade import Cascade
from tests.compat.crag.helpers import turn
from tests.judge_rows import asked, fake, judge

METRICS = [
    "accuracy", "exact_answer", "missing", "hallucination_rate", "truthfulness_score", "multi_turn_conversation_score",
]  # fmt: skip
ANSWERS: dict[str, list[str | None]] = {
    "a": ["wrong 1", "wrong 2", "gold after the end", None],
    "b": ["gold", "it is gold", "I don't know", "wrong 3", "more gold after the end"],
    "c": ["it is gold, I think", "hm"],
    "d": [None, "wrong 4", "gold, at last"],
    "e": ["Gold."],
}


def reply(reference: str, answer: str) -> str:
    return "what?" if answer == "hm" else "Yes" if "gold" in answer else "No"


def turns() -> list[dict[str, Any]]:
    return [
        turn(session, index, ["gold", "silver"], answer, **({"error": "broke"} if answer is None else {}))
        for session, answers in ANSWERS.items()
        for index, answer in enumerate(answers)
    ]


def scores_of(evaluation: Evaluation, name: str) -> list[float | None]:
    return [None if score is None or math.isnan(score) else score for score in evaluation.rows[name].to_pylist()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "turns.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in turns()))
    return file


@pytest.mark.parametrize("cascade", [None, Cascade(llm_share=0.5, audit=0.5)])
def test_the_same_as_crag_evaluate_to_the_bit(path: Path, tmp_path: Path, cascade: Cascade | None) -> None:
    """The file of `crag generate` as it is, in the table's order: rows, verdicts, means and intervals."""
    suffix = "" if cascade is None else "[judge=cascade]"
    theirs, ours = fake(reply), fake(reply)
    evaluator = CRAGEvaluator(judge=judge(theirs), cascade=cascade, journal=None)
    rows, scores = evaluator.evaluate_agent_responses(path)
    names = [name + suffix for name in METRICS]
    evaluation = evaluate(path, metrics=names, judge=judge(ours, cascade=cascade), output_dir=tmp_path)
    assert asked(ours) == asked(theirs)
    for flag, name in (("is_correct", "accuracy"), ("is_exact_match", "exact_answer"), ("is_miss", "missing")):
        assert [None if row[flag] is None else float(row[flag]) for row in rows["all"]] == scores_of(
            evaluation, name + suffix
        )
    report = evaluator.report
    assert report is not None
    for name in METRICS:
        assert to_builtins(evaluation.summary.metrics[name + suffix]) == report.summary["metrics"][name]
    judged = to_builtins(next(iter(evaluation.summary.judges.values())))
    assert judged["judged_by"] == report.summary["judged_by"]
    assert judged.get("cascade") == report.summary.get("cascade")
    means = {name: evaluation[name + suffix].mean for name in METRICS}
    assert means["accuracy"] == scores["all"]["accuracy"]
    assert means["exact_answer"] == scores["all"]["exact_match"]
    assert means["missing"] == scores["all"]["missing"]
    assert means["hallucination_rate"] == scores["all"]["hallucination_rate"]
    assert means["truthfulness_score"] == pytest.approx(scores["all"]["truthfulness_score"], abs=1e-15)
    assert means["multi_turn_conversation_score"] == scores["all"]["mean_multi_turn_conversation_score"]


def test_nobody_is_asked_about_what_can_not_count(path: Path, tmp_path: Path) -> None:
    provider = fake(reply)
    evaluation = evaluate(path, metrics=METRICS, judge=judge(provider), output_dir=tmp_path)
    assert sorted(set(asked(provider))) == sorted(
        ["wrong 1", "wrong 2", "it is gold", "wrong 3", "it is gold, I think", "hm", "wrong 4", "gold, at last"]
    )
    outcomes = evaluation.rows["verdict.outcome"].to_pylist()
    assert outcomes[:4] == ["scored", "scored", "ended", "ended"]
    assert evaluation["accuracy"].n_not_scored == {"target_error": 1, "unparsable": 1}
    conversations = evaluation["multi_turn_conversation_score"]
    assert (conversations.n_total, conversations.n_scored) == (5, 3)
    assert conversations.n_not_scored == {"turn_not_scored": 2}


def test_rows_are_counted_and_not_conversations(path: Path, tmp_path: Path) -> None:
    evaluation = evaluate(path, metrics=METRICS[::-1], judge=judge(fake(reply)), output_dir=tmp_path)
    assert (evaluation["multi_turn_conversation_score"].n_total, evaluation.summary.n_rows) == (5, 15)


def test_a_metric_of_single_rows_asks_about_all(path: Path, tmp_path: Path) -> None:
    provider = fake(reply)
    evaluation = evaluate(path, metrics=[*METRICS, "llm_correct"], judge=judge(provider), output_dir=tmp_path)
    assert "gold after the end" in asked(provider)
    assert evaluation.rows["accuracy"].to_pylist()[2] == 0.0
    assert evaluation.rows["llm_correct"].to_pylist()[2] == 1.0
    alone = evaluate(path, metrics=METRICS, judge=judge(fake(reply)), output_dir=tmp_path)
    assert all(alone[name] == evaluation[name] for name in METRICS)


def test_turns_in_any_order_and_across_batches(path: Path, tmp_path: Path) -> None:
    lines = path.read_text().splitlines(keepends=True)
    (tmp_path / "other.jsonl").write_text("".join(sorted(lines, key=hash)))
    first = evaluate(path, metrics="accuracy", judge=judge(fake(reply)), output_dir=tmp_path)
    other = evaluate(tmp_path / "other.jsonl", metrics="accuracy", judge=judge(fake(reply)), output_dir=tmp_path)
    by_qid = [dict(zip(run.rows["qid"].to_pylist(), scores_of(run, "accuracy"), strict=True))
              for run in (first, other)]  # fmt: skip
    assert by_qid[0] == by_qid[1]


def test_verdicts_that_the_table_brings(tmp_path: Path) -> None:
    rows = [
        {"qid": str(number), "question": "q", "reference": "gold", "answer": f"answer {number}", "session_id": "s",
         "turn_idx": number, "verdict": verdict}
        for number, verdict in enumerate(["WRONG", "WRONG", "CORRECT"])
    ]  # fmt: skip
    assert evaluate(rows, metrics="accuracy").rows["accuracy"].to_pylist() == [0.0, 0.0, 0.0]
    alone = [{name: value for name, value in row.items() if name != "session_id"} for row in rows]
    assert evaluate(alone, metrics="accuracy").rows["accuracy"].to_pylist() == [0.0, 0.0, 1.0]
    evaluate(rows, metrics="exact_match", run="r", output_dir=tmp_path)
    added = add_metrics("r", "accuracy,multi_turn_conversation_score", output_dir=tmp_path)
    assert added["multi_turn_conversation_score"].mean == -2 / 3


def test_what_needs_whole_conversations_is_not_scored_in_parts(path: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="accuracy is scored over whole conversations"):
        evaluate(path, metrics="accuracy", run="r", output_dir=tmp_path, skip_bad_parts=True, judge=judge(fake(reply)))


def test_a_frame_of_verdicts() -> None:
    import pyarrow as pa

    table = pa.table({"answer": ["a", "b", "c"], "reference": ["x"] * 3, "verdict": ["WRONG", "WRONG", "CORRECT"],
                      "session_id": ["s"] * 3, "turn_idx": [0, 1, 2]})  # fmt: skip
    assert score_table(table, "accuracy")["accuracy"].to_pylist() == [0.0, 0.0, 0.0]
