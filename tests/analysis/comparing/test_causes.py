"""What moved by cause between two runs."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from ragmeter import compare, evaluate
from ragmeter.errors import InputError

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
    return [{**same, **made[cause]} for cause in causes]


def changes(a: list[dict[str, Any]], b: list[dict[str, Any]]) -> Any:
    a, b = ([{"qid": str(place), **row} for place, row in enumerate(run)] for run in (a, b))
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
    assert found.sentence == "", "six rows show no difference, and nobody's work is to be seen in it"
    many = changes(before * 8, after * 8)
    assert many.sentence == (
        "of 24 more right answers on all 48 rows, failed ones included, "
        "8 by retrieval, 8 by generation, 8 by other causes"
    )
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
        "question": "Who was mayor of Paris in 3000?",
        "reference": "I don't know",
        "retrieved": ["fr"],
    }
    told, declined = ([{**asked, "answer": answer, "contexts": [PASSAGE]}] for answer in ("Bob Stone", "I don't know"))
    moved = changes((rows("right") + told) * 10, (rows("right") + declined) * 10)
    assert moved.a == {"right": 10, "not_known": 10}
    assert moved.b == {"right": 10, "rightly_declined": 10}
    assert moved.sentence == "of 10 more right or rightly declined answers, 10 by other causes"


def test_causes_by_other_evidence_are_not_compared() -> None:
    with_ids = rows("right", "not_retrieved")
    texts = [{name: cell for name, cell in row.items() if name not in ("retrieved", "relevant")} for row in with_ids]
    runs = {"a": evaluate(with_ids, metrics="offline_correct"), "b": evaluate(texts, metrics="offline_correct")}
    pair = compare(runs)[0]
    assert pair.causes is None
    assert (
        pair.left_out["causes"] == "told by ids of gold documents in a and by the texts of the passages, offline in b"
    )


def test_what_rightly_declines_and_counts_as_wrong_is_in_the_verdict() -> None:
    marked = {"question": "Who was mayor of Paris in 3000?", "reference": "unanswerable", "unanswerable": True}
    runs = {
        name: evaluate([*rows("right"), {**marked, "answer": answer}] * 5, metrics="offline_correct,abstention_correct")
        for name, answer in (("a", "I don't know."), ("b", "Bob Stone"))
    }
    assert runs["a"].summary.rightly_declined == 5
    assert "50% right" in repr(runs["a"])
    assert "5 more rightly declined" in repr(runs["a"])
    assert compare(runs)[0].sentence.endswith("; rightly declined besides: 0 instead of 5.")


def test_a_cause_that_there_is_not_is_damage(tmp_path: Path) -> None:
    for name in "ab":
        evaluate(rows("right", "failed"), metrics="offline_correct", run=name, output_dir=tmp_path)
    table = pq.read_table(tmp_path / "b" / "rows.parquet")
    causes = table["cause"].cast("string").to_pylist()
    place = table.schema.get_field_index("cause")
    pq.write_table(table.set_column(place, "cause", [["zzz", *causes[1:]]]), tmp_path / "b" / "rows.parquet")
    with pytest.raises(InputError, match="there is no cause 'zzz'"):
        compare(["a", "b"], output_dir=tmp_path)
