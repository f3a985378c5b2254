"""What moved by cause between two runs."""

from pathlib import Path
from typing import Any

from ragmeter import compare, evaluate

PASSAGE = "Paris is the capital of France."


def rows(*causes: str) -> list[dict[str, Any]]:
    """A row for each wanted cause."""
    made: dict[str, dict[str, Any]] = {
        "right": {"answer": "Paris", "retrieved": ["fr"]},
        "not_retrieved": {"answer": "Berlin", "retrieved": ["it"]},
        "retrieved_not_used": {"answer": "Berlin", "retrieved": ["fr"]},
        "failed": {"answer": None, "retrieved": ["fr"], "error": "HTTP 500"},
    }
    same: dict[str, Any] = {
        "question": "What is the capital of France?",
        "reference": "Paris",
        "relevant": ["fr"],
        "contexts": [PASSAGE],
    }
    return [{"qid": str(place), **same, **made[cause]} for place, cause in enumerate(causes)]


def changes(a: list[dict[str, Any]], b: list[dict[str, Any]]) -> Any:
    runs = {"a": evaluate(a, metrics="offline_correct"), "b": evaluate(b, metrics="offline_correct")}
    return compare(runs)[0].causes


def test_whose_work_it_is_that_more_answers_are_right() -> None:
    before = rows("not_retrieved", "not_retrieved", "retrieved_not_used", "right", "failed", "not_retrieved")
    after = rows("right", "right", "right", "not_retrieved", "right", "retrieved_not_used")
    found = changes(before, after)
    assert (found.by_retrieval, found.by_generation, found.otherwise, found.net) == (1, 1, 1, 3)
    assert found.a == {"right": 1, "not_retrieved": 3, "retrieved_not_used": 1, "failed": 1}
    assert found.b == {"right": 4, "not_retrieved": 1, "retrieved_not_used": 1}
    assert found.moved["not_retrieved"] == {"right": 2, "retrieved_not_used": 1}
    assert found.sentence == "of 3 more right answers, 1 by retrieval, 1 by generation, 1 otherwise"
    back = changes(after, before)
    assert (back.by_retrieval, back.by_generation, back.otherwise, back.net) == (-1, -1, -1, -3)


def test_runs_without_causes_have_none(tmp_path: Path) -> None:
    plain = evaluate(rows("right"), metrics="token_f1")
    told = evaluate(rows("right"), metrics="token_f1,offline_correct")
    assert compare([plain, told])[0].causes is None
    comparison = compare({"a": told, "b": told})
    assert comparison[0].causes is not None
    assert comparison[0].causes.sentence == ""
    assert comparison.as_dict()["pairs"][0]["causes"]["a"] == {"right": 1}


def test_causes_by_other_metrics_are_not_compared() -> None:
    judged = evaluate(rows("right", "not_retrieved"), metrics="token_f1,offline_correct")
    exact = evaluate(rows("right", "right"), metrics="token_f1,exact_match")
    pair = compare({"a": judged, "b": exact})[0]
    assert pair.causes is None
    assert pair.left_out["causes"] == "told by offline_correct in a and by exact_match in b"
    probable = evaluate(rows("right", "right"), metrics="token_f1,offline_correct_probability")
    pair = compare({"a": judged, "b": probable})[0]  # the same judge
    assert pair.causes is not None
    assert "causes" not in pair.left_out


def test_answers_that_rightly_decline_are_named() -> None:
    asked = {
        "qid": "m",
        "question": "Who was mayor of Paris in 3000?",
        "reference": "I don't know",
        "retrieved": ["fr"],
    }
    told, declined = ([{**asked, "answer": answer, "contexts": [PASSAGE]}] for answer in ("Bob Stone", "I don't know"))
    moved = changes(rows("right") + told, rows("right") + declined)
    assert moved.a == {"right": 1, "not_known": 1}
    assert moved.b == {"right": 1, "rightly_declined": 1}
    assert moved.sentence == "of 1 more right or rightly declined answer, 1 otherwise"
