"""What is measured where rows have hops, and nobody names metrics."""

from __future__ import annotations

from pathlib import Path

from ragmeter import evaluate

DATA = Path(__file__).parent.parent / "data" / "spans" / "langgraph.jsonl"


def gold(**columns: object) -> list[dict[str, object]]:
    """The gold row of the trace in the file."""
    trace = DATA.read_text(encoding="utf-8").partition('"trace_id": "')[2].partition('"')[0]
    return [{"qid": trace, "reference": "Paris", **columns}]


def test_hops_and_gold_documents() -> None:
    calls = ["search", {"name": "search", "args": {"query": "capital of France"}}, "multiply"]
    evaluation = evaluate(DATA, gold(relevant=["fr"], expected_tool_calls=calls))
    means = {name: evaluation[name].mean for name in evaluation.summary.metrics}
    hops = {"hop_recall": 1, "first_hit_hop": 2, "tool_calls_match": 1, "step_count": 6}
    assert {name: means.get(name) for name in hops} == hops
    assert evaluation.rows["cause"].to_pylist() == ["right"]


def test_hops_alone() -> None:
    evaluation = evaluate(DATA, gold())
    assert evaluation["step_count"].mean == 6
    assert not {"hop_recall", "first_hit_hop", "tool_calls_match"} & set(evaluation.summary.metrics)


def test_rows_without_hops_are_measured_as_before() -> None:
    evaluation = evaluate([{"question": "q?", "answer": "Paris", "reference": "Paris"}])
    assert not {"step_count", "hop_recall"} & set(evaluation.summary.metrics)
    assert "hop" not in " ".join(evaluation.summary.notes), "nobody misses them"
