"""The objects that evaluators take and return, as the tools had them whose names they bear."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import ragmeter
from ragmeter import (
    ContextRecall,
    EditDistanceEvaluator,
    EvaluationResult,
    EvaluationResultRow,
    EvaluatorInterface,
    QAPair,
    RAGResult,
    ResponseEvaluator,
)
from ragmeter.compat.base import read_objects
from ragmeter.compat.files import run_evaluators
from ragmeter.errors import InputError, UsageError
from ragmeter.io.data import Data

CATEGORIES = [{"categorization_name": "factuality", "category_name": "factoid"}]


def test_other_keywords_go_into_the_metadata_and_are_attributes() -> None:
    pair = QAPair(
        question="q", answer="a", context=["c"], question_categories=CATEGORIES, user_categories=[], document_ids=["d"],
        qid="1", split="dev", metadata={"source": "x"},
    )  # fmt: skip
    assert pair.metadata == {
        "source": "x",
        "question_categories": CATEGORIES,
        "user_categories": [],
        "split": "dev",
    }
    assert pair.question_categories == CATEGORIES
    assert pair.user_categories == []
    assert getattr(pair, "split") == "dev"  # noqa: B009 - no type checker knows of it
    with pytest.raises(AttributeError, match="'QAPair' object has no attribute 'question_category'"):
        getattr(pair, "question_category")  # noqa: B009
    result = RAGResult("q", "a b c", generated_queries=["x"], timestamp="2025-04-20T23:37:01")
    assert result.generated_queries == ["x"]
    assert result.timestamp == datetime(2025, 4, 20, 23, 37, 1)
    assert (result.question_words_count, result.answer_words_count) == (1, 3)
    assert result.rewritten_docs is None
    assert (QAPair().question_categories, RAGResult().timestamp, RAGResult().answer_words_count) == ([], None, 0)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (QAPair, {"question": "q", "answer": "a", "context": ["c"], "question_categories": CATEGORIES,
                  "user_categories": [], "document_ids": ["d"], "qid": "1"}),
        (RAGResult, {"question": "q", "answer": "a", "context": [], "doc_ids": ["d"], "question_words_count": 1,
                     "answer_words_count": 1, "total_time_ms": 12.5, "timestamp": "2025-04-20T23:37:01",
                     "generated_queries": None, "rewritten_docs": None, "qid": "1"}),
    ],
)  # fmt: skip
def test_from_a_dict_and_back(kind: type[QAPair] | type[RAGResult], given: dict[str, Any]) -> None:
    made = kind.from_dict(given)
    back = made.to_dict()
    assert {key: value for key, value in given.items() if value is not None}.items() <= back.items()
    assert kind.from_dict(json.loads(json.dumps(back))) == made
    assert replace(made, qid="2").to_dict() == {**back, "qid": "2"}
    for twin in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):  # noqa: S301 - our own
        assert twin == made


def test_a_dict_with_odd_keys_and_missing_values() -> None:
    result = RAGResult.from_dict({"query": "q", "answer": float("nan"), "self": 1, "cls": 2, "metadata": {"m": 3}})
    assert (result.question, result.answer) == ("q", None)
    assert result.metadata == {"m": 3, "self": 1, "cls": 2}
    assert QAPair.from_dict({}).to_dict() == {
        "question": None, "answer": None, "context": [], "document_ids": None, "qid": None,
    }  # fmt: skip


def test_categories_from_the_columns_of_a_reference_file() -> None:
    columns = {"question_factuality": "factoid", "question_length": "5", "user_expertise": "novice", "user_x": ""}
    pair = QAPair(metadata=columns)
    assert pair.question_categories == CATEGORIES
    assert pair.user_categories == [{"categorization_name": "expertise", "category_name": "novice"}]
    written = QAPair(question_categories=json.dumps(CATEGORIES), user_categories="no list", user_x="y")
    assert written.question_categories == CATEGORIES
    assert written.user_categories == [{"categorization_name": "x", "category_name": "y"}]


def test_categories_and_contexts_from_json_lines(tmp_path: Path) -> None:
    given = {"qid": 1, "answer": "b", "context": ["one", "two"], "question_categories": CATEGORIES}
    (tmp_path / "r.jsonl").write_text(
        json.dumps({"qid": 1, "answer": "a", "context": ["c"], "generated_queries": ["x"]})
    )
    (tmp_path / "g.jsonl").write_text(json.dumps(given))
    data = Data.open(tmp_path / "r.jsonl", tmp_path / "g.jsonl", repeated=True)
    (result,), (pair,) = read_objects(data, [])
    assert (pair.question_categories, pair.context, pair.qid) == (CATEGORIES, ["one", "two"], "1")
    assert (result.context, result.generated_queries, result.doc_ids) == (["c"], ["x"], [])


@dataclass
class OldRow:
    qid: str
    metrics: dict[str, Any]
    evaluator_name: str


@dataclass
class OldAnalysis:
    analysis: str

    def to_dict(self) -> dict[str, Any]:
        return {"analysis": self.analysis}


@dataclass
class OldResult:
    metrics: dict[str, Any]
    evaluator_name: str
    sample_count: int
    system_name: str | None = None
    timestamp: datetime = datetime(2025, 4, 20)
    rows: list[OldRow] | None = None
    total_time_ms: float | None = None
    total_cost: float | None = None
    system_analysis: OldAnalysis | None = None


def test_a_result_of_another_class_with_the_same_fields() -> None:
    old = OldResult({"avg_m": 0.5}, "Old", 1, rows=[OldRow("1", {"m": 0.5}, "Old")], total_time_ms=3.0,
                    system_analysis=OldAnalysis("fine"))  # fmt: skip
    result = EvaluationResult.of(old, "Old")
    assert result.rows == [{"qid": "1", "evaluator_name": "Old", "is_aggregated": False, "m": 0.5}]
    assert list(result.aggregated().items()) == [
        ("evaluator_name", "Old"), ("sample_count", 1), ("system_name", ""), ("timestamp", "2025-04-20T00:00:00"),
        ("is_aggregated", True), ("total_time_ms", 3.0), ("system_analysis", "fine"), ("avg_m", 0.5),
    ]  # fmt: skip
    assert result.to_dict()["system_analysis"] == {"analysis": "fine"}
    assert EvaluationResult.of(OldResult({}, "", 0), "Nameless").evaluator_name == "Nameless"
    assert EvaluationResult.of(result, "Old") is result


@pytest.mark.parametrize("returned", [None, {"metrics": {}}, OldResult(None, "x", 1), object()])  # type: ignore[arg-type]
def test_what_is_no_result(returned: Any) -> None:
    with pytest.raises(UsageError, match=r"Mine\.evaluate\(\) returned .*, not EvaluationResult"):
        EvaluationResult.of(returned, "Mine")


def test_rows_that_are_none() -> None:
    with pytest.raises(UsageError, match="a row of an EvaluationResult must be a dict"):
        EvaluationResult("Mine", {}, rows=[3])  # type: ignore[list-item]


@pytest.mark.parametrize("evaluator", [EditDistanceEvaluator(), ResponseEvaluator()])
def test_a_result_to_a_dict_and_back(evaluator: Any) -> None:
    result = evaluator.evaluate([RAGResult("q", "a", qid="7"), RAGResult(qid="8")], [QAPair(answer="b", qid="7")])
    document = json.loads(json.dumps(result.to_dict()))
    assert list(document)[:5] == ["metrics", "evaluator_name", "sample_count", "system_name", "timestamp"]
    assert document["sample_count"] == 1
    again = EvaluationResult.from_dict(document)
    assert again.rows == result.rows
    assert again == result
    if isinstance(evaluator, EditDistanceEvaluator):
        scores = {"edit_distance": 1, "normalized_distance": 1.0}
        assert document["rows"][0] == {"qid": "7", "metrics": scores, "evaluator_name": "EditDistanceEvaluator"}


@dataclass
class OldRAGResult:
    """As another tool has it: without `error` and `system_name`."""

    question: str
    answer: str
    context: list[str]
    doc_ids: list[str]
    total_time_ms: float
    qid: str | None = None


def test_objects_of_another_tool_s_classes() -> None:
    old: Any = OldRAGResult("q", "a", [], ["d"], 1.0, "1")
    result = ContextRecall().evaluate([old], [QAPair(document_ids=["d"], qid="1")])
    assert result.metrics["avg_context_recall"] == 1


def test_several_results_of_one_question() -> None:
    results = [RAGResult(answer="a", qid="1"), RAGResult(answer="bc", qid="2"), RAGResult(answer="xyz", qid="1")]
    result = EditDistanceEvaluator().evaluate(results, [QAPair(answer="bb", qid="2"), QAPair(answer="a", qid="1")])
    assert [(row["qid"], row["edit_distance"]) for row in result.rows] == [("1", 0), ("2", 1), ("1", 3)]
    assert result.sample_count == 3


def test_several_results_of_one_question_in_files(tmp_path: Path) -> None:
    (tmp_path / "r.tsv").write_text("qid\tanswer\n1\ta\n2\tbc\n1\txyz\n")
    (tmp_path / "g.tsv").write_text("qid\tanswer\n2\tbb\n1\ta\n3\tc\n")
    (written,) = run_evaluators([EditDistanceEvaluator()], tmp_path / "r.tsv", tmp_path / "g.tsv", output_dir=tmp_path)
    assert [row["edit_distance"] for row in written.result.rows] == [0, 1, 3, None]
    (tmp_path / "both.tsv").write_text("qid\tanswer\tground_truth\n1\ta\ta\n1\txyz\ta\n")
    (written,) = run_evaluators([EditDistanceEvaluator()], tmp_path / "both.tsv", output_dir=tmp_path)
    assert [row["edit_distance"] for row in written.result.rows] == [0, 3]


def test_references_that_differ_for_one_question(tmp_path: Path) -> None:
    (tmp_path / "both.tsv").write_text("qid\tanswer\tground_truth\n1\ta\ta\n1\txyz\tb\n")
    with pytest.raises(InputError, match="the qid '1' has two different references"):
        run_evaluators([EditDistanceEvaluator()], tmp_path / "both.tsv", output_dir=tmp_path)
    (tmp_path / "g.tsv").write_text("qid\tanswer\n1\ta\n1\tb\n")
    with pytest.raises(InputError, match="the qid '1' appears here for the second time"):
        run_evaluators([EditDistanceEvaluator()], tmp_path / "both.tsv", tmp_path / "g.tsv", output_dir=tmp_path)


def test_a_pair_by_position_has_the_old_order() -> None:
    pair = QAPair("q", "a", ["c"], [{"categorization_name": "x", "category_name": "y"}], [], ["d"], "7")
    assert (pair.context, pair.document_ids, pair.qid, pair.user_categories) == (["c"], ["d"], "7", [])
    assert pair.question_categories == [{"categorization_name": "x", "category_name": "y"}]
    assert QAPair.from_dict(pair.to_dict()) == pair


def test_an_evaluator_of_the_old_form() -> None:
    class Mine(EvaluatorInterface):
        def evaluate(self, rag_results: list[RAGResult], references: list[QAPair]) -> EvaluationResult:
            rows: list[Any] = [EvaluationResultRow(str(result.qid), {"m": 1.0}, "Mine") for result in rag_results]
            return EvaluationResult(metrics={"avg_m": 1.0}, evaluator_name="Mine", sample_count=len(rows), rows=rows)

    result = Mine().evaluate([RAGResult(qid="1")], [])
    assert list(result.rows) == [{"qid": "1", "evaluator_name": "Mine", "is_aggregated": False, "m": 1.0}]
    row = EvaluationResultRow("1", {"m": 1.0}, "Mine")
    assert EvaluationResultRow.from_dict(row.to_dict()) == row
    with pytest.raises(TypeError, match="abstract"):
        EvaluatorInterface()  # type: ignore[abstract]


def test_a_scorer_describes_itself() -> None:
    assert ragmeter.F1Scorer().get_metadata() == {"name": "token_f1", "description": "F1 of the words in common."}
