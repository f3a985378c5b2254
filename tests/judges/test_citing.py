"""Citations judged: a passage supports a sentence that is part of it."""

from __future__ import annotations

import json
from math import nan
from pathlib import Path
from typing import Any

import pytest

from ragmeter import FakeProvider, evaluate
from tests.judge_rows import judge

ROW: dict[str, Any] = {"qid": "1", "question": "What is it?", "contexts": ["It is red.", "It is old."]}


def by_rule(text: str, claims: str) -> str:
    return "Supported" if claims in text else "Neither"


@pytest.mark.parametrize(
    ("answer", "precision", "recall", "calls"),
    [
        ("It is red [1]. It is old [1][2].", 2 / 3, 1.0, 3),
        ("It is red [1]. It is old.", 1.0, 0.5, 1),
        ("It is red [2]. It is old [3].", 0.0, 0.0, 1),
        ("It is red.", nan, 0.0, 0),
        ("I don't know.", nan, nan, 0),
    ],
)
def test_precision_and_recall(tmp_path: Path, answer: str, precision: float, recall: float, calls: int) -> None:
    provider = FakeProvider(by_rule)
    metrics = ["citation_precision", "citation_recall"]
    result = evaluate([{**ROW, "answer": answer}], metrics=metrics, judge=judge(provider), output_dir=tmp_path)
    scores = [result.rows[metric].to_pylist()[0] for metric in metrics]
    assert scores == pytest.approx([precision, recall], nan_ok=True)
    assert len(provider.prompts) == calls


def test_the_column_says_what_each_sentence_cites(tmp_path: Path) -> None:
    row = {**ROW, "answer": "It is red [1][9]. It is old."}
    result = evaluate([row], metrics="citation_recall", judge=judge(FakeProvider(by_rule)), output_dir=tmp_path)
    support = json.loads(result.rows["citation_support"][0].as_py())
    assert support == [[[1, "supported"], [9, "no such passage"]], []]


@pytest.mark.parametrize("missing", [None, "", {"text": " "}])
@pytest.mark.parametrize(("cited", "expected"), [(2, 0.0), (3, 1.0)])
def test_a_passage_without_text_keeps_its_number(tmp_path: Path, missing: Any, cited: int, expected: float) -> None:
    provider = FakeProvider(by_rule)
    row = {**ROW, "answer": f"It is old [{cited}].", "contexts": ["It is red.", missing, "It is old."]}
    names = ["citation_precision", "citation_precision[judge=offline]", "valid_citations"]
    result = evaluate([row], metrics=names, judge=judge(provider), output_dir=tmp_path)
    assert [result[name].mean for name in names] == [expected] * 3
    assert len(provider.prompts) == expected


@pytest.mark.parametrize("contexts", [[], None, ["", " "], [None, None]])
def test_no_passages_are_no_zero(tmp_path: Path, contexts: Any) -> None:
    provider = FakeProvider("Supported")
    row = {**ROW, "answer": "It is red [1].", "contexts": contexts}
    names = ["citation_precision", "citation_recall", "valid_citations"]
    result = evaluate([row], metrics=names, judge=judge(provider), output_dir=tmp_path)
    assert [result[name].n_not_scored for name in names] == [{"no_contexts": 1}] * 3
    assert provider.prompts == []
