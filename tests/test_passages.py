"""Passages and documents as objects: dicts, and the classes of frameworks."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from ragmeter import evaluate, get_metric
from ragmeter.errors import InputError
from ragmeter.passages import is_object, passage_details, passage_id, passage_text

TEXT = "Paris is the capital of France."


@dataclass
class Document:
    """As LangChain's: a text, metadata and perhaps an id."""

    page_content: str
    metadata: dict[str, Any] = field(default_factory=dict)
    id: str | None = None


@dataclass
class TextNode:
    """As LlamaIndex's."""

    text: str
    id_: str = "n1"
    metadata: dict[str, Any] = field(default_factory=lambda: {"page": 3})


@dataclass
class NodeWithScore:
    """As LlamaIndex's: a node, and the score that a retriever gave it."""

    node: TextNode
    score: float


FORMS = [
    # an object, and all of it but its text
    (TEXT, {}),
    ({"text": TEXT, "doc_id": "d1", "score": 0.5}, {"id": "d1", "score": 0.5}),
    ({"content": TEXT, "id": 7, "meta": {"page": 3}}, {"id": "7", "metadata": {"page": 3}}),
    (
        {"page_content": TEXT, "metadata": {"source": "a.pdf"}, "type": "Document"},
        {"metadata": {"source": "a.pdf", "type": "Document"}},
    ),
    (
        {"node": {"text": TEXT, "id_": "n1", "metadata": {"page": 3}}, "score": 0.9},
        {"id": "n1", "score": 0.9, "metadata": {"page": 3}},
    ),
    ({"document.content": TEXT, "document.id": "d1", "document.score": 1}, {"id": "d1", "score": 1}),
    (Document(TEXT, {"source": "a.pdf"}), {"metadata": {"source": "a.pdf"}}),
    (Document(TEXT, id="d1"), {"id": "d1"}),
    (NodeWithScore(TextNode(TEXT), 0.25), {"id": "n1", "score": 0.25, "metadata": {"page": 3}}),
]


@pytest.mark.parametrize(("item", "details"), FORMS)
def test_text_id_score_and_metadata_are_kept(item: Any, details: dict[str, Any]) -> None:
    assert passage_text(item) == TEXT
    assert passage_details(item) == details
    evaluation = evaluate([{"answer": "Paris [1].", "contexts": [item, "Another."]}], metrics="valid_citations")
    row = evaluation.rows.to_pylist()[0]
    assert row["contexts"] == [TEXT, "Another."]
    assert json.loads(row.get("context_details") or "[{}, {}]") == [details, {}]


@pytest.mark.parametrize(("item", "_details"), FORMS)
def test_metrics_that_are_called_with_columns_take_objects(item: Any, _details: dict[str, Any]) -> None:
    supported = get_metric("offline_supported")
    expected = supported(["The capital is Paris."], [[TEXT]])
    assert supported(["The capital is Paris."], [[item]]) == expected
    assert supported(["The capital is Paris."], [item]) == expected
    assert get_metric("valid_citations")(["Paris [1]."], [[item]]) == [1.0]


def test_what_is_no_passage() -> None:
    assert passage_text({"a": 1}) is None
    assert passage_text(3) is None
    assert passage_id({"id": True}) is None
    assert not is_object(3)
    assert not is_object([TEXT])
    assert not is_object(Mock())  # has any attribute, without end


def test_a_property_that_fails_is_no_text() -> None:
    class Node:
        content = TEXT

        @property
        def text(self) -> str:
            raise ValueError("no text")

    assert passage_text(Node()) == TEXT


def test_ids_of_passages_are_what_was_retrieved() -> None:
    row = {"answer": "Paris", "contexts": [{"text": "a", "id": "d2"}, {"text": "b", "id": "d1"}], "relevant": ["d1"]}
    evaluation = evaluate([row], metrics="mrr")
    assert evaluation["mrr"].mean == 0.5
    assert evaluation.summary.notes == ["results: retrieved = the ids in 'contexts'"]


def test_a_column_of_ids_comes_before_those_of_passages() -> None:
    row = {"contexts": [{"text": "a", "id": "d2"}], "retrieved": ["d1"], "relevant": ["d1"]}
    evaluation = evaluate([row], metrics="mrr")
    assert evaluation["mrr"].mean == 1
    assert not evaluation.summary.notes


def test_objects_written_as_json_in_a_csv(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["answer", "contexts", "relevant", "retrieved"])
        rows.writerow(["x", '[{"text": "a", "score": 2}]', '{"d1": 2, "d2": 1, "d3": 0}', '["d2", "d1"]'])
        rows.writerow(["x", '{"text": "b"}', '["d1"]', '["d1"]'])
    evaluation = evaluate(path, metrics="ndcg,valid_citations")
    row, other = evaluation.rows.to_pylist()
    assert (row["contexts"], row["context_details"]) == (["a"], '[{"score": 2}]')
    assert (other["contexts"], other["context_details"]) == (["b"], None)
    assert (row["relevant"], row["relevance_grades"]) == (["d1", "d2"], '{"d1": 2, "d2": 1, "d3": 0}')
    assert row["ndcg"] == get_metric("ndcg")([{"d1": 2, "d2": 1}], [["d2", "d1"]])[0] < 1
    assert other["ndcg"] == 1  # without grades, relevant is grade 1


def test_gold_documents_as_objects() -> None:
    row = {"relevant": [{"doc_uri": "d1"}, {"doc_uri": "d2"}], "retrieved": [{"id": "d2", "score": 3}]}
    assert evaluate([row], metrics="recall@1")["recall@1"].mean == 0.5
    with pytest.raises(InputError, match="has no id"):
        evaluate([{**row, "relevant": [{"a": 1}]}], metrics="recall@1")
    with pytest.raises(InputError, match="is not an object of documents and grades"):
        evaluate([{**row, "relevant": {"d1": "high"}}], metrics="recall@1")


def test_details_that_appear_late_are_kept_in_their_rows() -> None:
    rows: list[dict[str, Any]] = [{"answer": "a", "contexts": ["x"]}] * 3
    evaluation = evaluate([*rows, {"answer": "a", "contexts": [{"text": "y", "score": 1}]}], metrics="valid_citations")
    assert evaluation.rows["context_details"].to_pylist() == [None, None, None, '[{"score": 1}]']
