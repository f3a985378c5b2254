"""The seeds' evaluators: their names, columns, formulas and files."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragmeter import (
    ContextRecall,
    EditDistanceEvaluator,
    EvaluationResult,
    QAPair,
    RAGResult,
    ResponseEvaluator,
    compat,
)
from ragmeter.errors import RagmeterWarning, UnknownNameError, UsageError

A, B, C = (f"<urn:uuid:{name}>" for name in ("aaa", "bbb", "ccc"))


def test_edit_distance() -> None:
    results = [RAGResult(qid="1", answer="kitten"), RAGResult(qid="2", answer="same"), RAGResult(qid="3", answer="")]
    references = [QAPair(qid="3", answer="four"), QAPair(qid="2", answer="same"), QAPair(qid="1", answer="sitting")]
    result = EditDistanceEvaluator().evaluate(results, references)
    assert [(row["qid"], row["edit_distance"]) for row in result.rows] == [("1", 3), ("2", 0), ("3", 4)]
    assert [row["normalized_distance"] for row in result.rows] == [3 / 7, 0, 1]
    assert result.sample_count == 3
    elapsed = result.metrics.pop("processing_time_ms")
    assert elapsed > 0
    assert result.metrics == {
        "avg_edit_distance": 7 / 3,
        "min_edit_distance": 0,
        "max_edit_distance": 4,
        "median_edit_distance": 3,
        "avg_normalized_distance": pytest.approx((3 / 7 + 1) / 3),
        "min_normalized_distance": 0,
        "max_normalized_distance": 1,
        "median_normalized_distance": 3 / 7,
    }


def test_edit_distance_without_normalisation() -> None:
    result = EditDistanceEvaluator(normalize=False).evaluate([RAGResult(answer="a")], [QAPair(answer="b")])
    assert list(result.rows[0]) == ["qid", "evaluator_name", "is_aggregated", "edit_distance"]
    assert not any("normalized" in name for name in result.metrics)


def test_context_recall_as_the_seed_s_example_has_it() -> None:
    rag_results = [
        RAGResult(qid="1", doc_ids=[f"doc-{C}::chunk-0", f"doc-{A}::chunk-2", f"doc-{A}::chunk-0"]),
        RAGResult(qid="2", doc_ids=[f"doc-{B}::chunk-0"]),
    ]
    references = [QAPair(qid="1", document_ids=[A, B]), QAPair(qid="2", document_ids=[B])]
    evaluator = ContextRecall()
    evaluation_result = evaluator.evaluate(rag_results, references)
    assert evaluation_result.metrics["avg_context_recall"] == (1 / 2 + 1) / 2
    assert evaluation_result.metrics["avg_context_precision"] == (1 / 2 + 1) / 2
    assert evaluation_result.metrics["avg_context_f1"] == (1 / 2 + 1) / 2
    assert evaluation_result.metrics["ndcg_10"] == pytest.approx((0.6309297535714575 / 1.6309297535714575 + 1) / 2)
    assert evaluation_result.rows[0]["retrieved_docs_count"] == 2
    assert evaluation_result.rows[0]["gold_docs_count"] == 2
    assert evaluation_result.rows[0]["correct_docs_count"] == 1
    assert list(evaluation_result.rows[0]) == [
        "qid", "evaluator_name", "is_aggregated", "context_recall", "context_precision", "context_f1", "ndcg_10",
        "retrieved_docs_count", "gold_docs_count", "correct_docs_count",
    ]  # fmt: skip


def test_context_recall_says_in_how_many_rows_documents_were_found() -> None:
    results = [RAGResult(qid=qid, doc_ids=["a"]) for qid in "1234"] + [RAGResult(qid="5", doc_ids=None)]
    gold = {"1": ["a"], "2": ["a", "b"], "3": ["b"], "4": ["b", "c"], "5": ["a"]}
    references = [QAPair(qid=qid, document_ids=documents) for qid, documents in gold.items()]
    metrics = ContextRecall().evaluate(results, references).metrics
    assert metrics["pct_records_with_at_least_one_ref"] == 50  # of the four that were scored
    assert metrics["pct_records_with_all_refs"] == 25
    assert list(metrics) == [
        "avg_context_recall", "avg_context_precision", "avg_context_f1", "ndcg_10", "avg_retrieved_docs_count",
        "avg_gold_docs_count", "avg_correct_docs_count", "pct_records_with_at_least_one_ref",
        "pct_records_with_all_refs", "processing_time_ms",
    ]  # fmt: skip
    with pytest.warns(RagmeterWarning, match="scored none of 1 rows: 1 no_retrieved"):
        nothing = ContextRecall().evaluate([RAGResult(doc_ids=None)], [QAPair(document_ids=["a"])]).metrics
    assert nothing["pct_records_with_all_refs"] is None


def test_context_recall_by_another_pattern() -> None:
    results, references = [RAGResult(doc_ids=["a#1", "b#2"])], [QAPair(document_ids=["b"])]
    assert ContextRecall().evaluate(results, references).metrics["avg_context_recall"] == 0
    assert ContextRecall(doc_id_pattern=r"(.+)#").evaluate(results, references).metrics["avg_context_recall"] == 1


def test_response_evaluator_has_the_seed_s_columns_and_speaks_spanish() -> None:
    results = [RAGResult(question="¿?", answer="él hablaba")]
    references = [QAPair(question="¿?", answer="ellos hablaban")]
    (row,) = ResponseEvaluator().evaluate(results, references).rows
    assert list(row) == [
        "query", "ground_truth", "actual_response", "cosine_similarity", "rouge_l_score", "exact_match", "token_f1",
        "meteor_score", "average_score",
    ]  # fmt: skip
    assert row["rouge_l_score"] == 1 / 2
    (english,) = ResponseEvaluator(language="en").evaluate(results, references).rows
    assert english["rouge_l_score"] == 0
    five = ["cosine_similarity", "rouge_l_score", "exact_match", "token_f1", "meteor_score"]
    assert row["average_score"] == pytest.approx(sum(row[name] for name in five) / 5)


def test_what_failed_is_counted_and_in_no_average() -> None:
    results = [
        RAGResult(qid="1", answer="a"),
        RAGResult(qid="2", answer=None),
        RAGResult(qid="4", answer="x"),
        RAGResult(qid="5", answer="x", error="timeout"),
    ]
    references = [QAPair(qid=qid, answer="a") for qid in ("1", "2", "3", "5")]
    result = EditDistanceEvaluator().evaluate(results, references)
    assert result.not_scored == {"no_answer": 1, "no_reference": 1, "target_error": 1, "no_result": 1}
    assert result.sample_count == 1
    assert result.metrics["avg_edit_distance"] == 0
    assert [row["edit_distance"] for row in result.rows] == [0, None, None, None, None]


def test_nothing_scored_is_no_zero() -> None:
    with pytest.warns(RagmeterWarning, match="1 no_answer"):
        result = EditDistanceEvaluator().evaluate([RAGResult(answer=None)], [QAPair(answer="a")])
    assert result.metrics["avg_edit_distance"] is None
    assert result.metrics["median_edit_distance"] is None


def test_lists_that_cannot_be_paired() -> None:
    with pytest.raises(UsageError, match="no qid to pair them by"):
        EditDistanceEvaluator().evaluate([RAGResult(answer="a")], [QAPair(answer="a"), QAPair(answer="b")])
    with pytest.raises(UsageError, match="nothing to evaluate"):
        EditDistanceEvaluator().evaluate([], [])


def test_several_references() -> None:
    result = EditDistanceEvaluator().evaluate([RAGResult(answer="b")], [QAPair(answer=["a", "b"])])
    assert result.rows[0]["edit_distance"] == 0


@pytest.mark.parametrize(
    "path",
    [
        "EditDistanceEvaluator",
        "evaluators.basic_evaluator.edit_distance_evaluator.EditDistanceEvaluator",
        "ragmeter.EditDistanceEvaluator",
    ],
)
def test_found_by_name_or_by_the_seed_s_own_path(path: str) -> None:
    assert compat.find(path) is EditDistanceEvaluator


def test_an_unknown_evaluator() -> None:
    with pytest.raises(UnknownNameError, match="did you mean ContextRecall"):
        compat.find("ContextRecal")
    with pytest.raises(UsageError, match="there is no module 'nowhere'"):
        compat.find("nowhere.MyEvaluator")


def test_the_aggregated_row() -> None:
    row = EvaluationResult("Mine", {"m": 1.0}, rows=[{"qid": "1"}], system_name="S", timestamp="t").aggregated()
    assert list(row) == ["evaluator_name", "sample_count", "system_name", "timestamp", "is_aggregated", "m"]
    assert list(row.values()) == ["Mine", 1, "S", "t", True, 1.0]


def test_a_qa_pair_by_position_has_the_order_that_the_documents_say() -> None:
    pair = QAPair("q", "a", [], [{"c": 1}], [{"u": 1}], ["d"], "7")
    assert (pair.document_ids, pair.qid, pair.question_categories) == (["d"], "7", [{"c": 1}])
    page = Path(__file__).parents[2].joinpath("docs/migrating.md").read_text(encoding="utf-8")
    assert "`question, answer, context, question_categories, user_categories, document_ids, qid`" in page
    with pytest.warns(RagmeterWarning, match="ContextRecall has scored none of 1 rows: 1 no_relevant .the row has no"):
        ContextRecall().evaluate([RAGResult(doc_ids=["u"])], [QAPair("q", "a", [], ["u"])])


def test_dicts_are_no_objects() -> None:
    with pytest.raises(
        UsageError, match=r"ContextRecall.evaluate.. takes RAGResults and QAPairs, and got dict for a RAGR"
    ):
        ContextRecall().evaluate([{"qid": "1", "doc_ids": ["a"]}], [{"qid": "1", "document_ids": ["a"]}])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="for a QAPair"):
        ContextRecall().evaluate([RAGResult(doc_ids=["u"])], [{"qid": "1"}])  # type: ignore[list-item]
