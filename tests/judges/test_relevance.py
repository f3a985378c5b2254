"""Passages that help and answers that address the question, by a judge that goes by a rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragmeter import FakeProvider, evaluate, get_metric
from ragmeter.errors import ColumnError, UsageError
from tests.judge_rows import judge

ROW: dict[str, Any] = {"qid": "1", "question": "Which city?", "reference": "Paris", "answer": "It is Rome."}


def helps(reference: str, passage: str) -> str:
    return "Yes" if reference in passage else "No"


@pytest.mark.parametrize(
    ("contexts", "expected"),
    [
        (["Paris", "Rome", "Paris again"], (1 / 1 + 2 / 3) / 2),
        (["Rome", "Paris"], 1 / 2),
        (["Rome"], 0.0),
        (["Rome", None, " ", "Paris"], 1 / 2),
    ],
)
def test_average_precision_of_the_passages_that_help(tmp_path: Path, contexts: list[Any], expected: float) -> None:
    provider = FakeProvider(helps)
    rows = [{**ROW, "contexts": contexts}]
    result = evaluate(rows, metrics="llm_context_precision", judge=judge(provider), output_dir=tmp_path)
    assert result["llm_context_precision"].mean == pytest.approx(expected)
    assert len(provider.prompts) == len([text for text in contexts if text and text.strip()])


def test_no_passages_have_no_precision() -> None:
    assert np.isnan(get_metric("llm_context_precision")([[]])).all()


@pytest.mark.parametrize(("reply", "expected"), [("Fully", 1.0), ("Partly.", 0.5), ("Not", 0.0)])
def test_an_answer_is_relevant_or_not(tmp_path: Path, reply: str, expected: float) -> None:
    result = evaluate([ROW], metrics="answer_relevance", judge=judge(FakeProvider(reply)), output_dir=tmp_path)
    assert result["answer_relevance"].mean == expected


def test_an_answer_that_declines_is_not_asked_about(tmp_path: Path) -> None:
    provider = FakeProvider("Fully")
    row = {**ROW, "answer": "I don't know."}
    result = evaluate([row], metrics="answer_relevance", judge=judge(provider), output_dir=tmp_path)
    assert result.rows["answer_relevance.outcome"].to_pylist() == ["abstained"]
    assert provider.prompts == []


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("answer_relevancy", "answer_relevance"),
        ("contextual_recall", "context_claim_recall"),
        ("LLMContextRecall", "context_claim_recall"),
        ("ContextPrecision", "llm_context_precision"),
        ("FaithfulnessMetric", "faithfulness"),
        ("GEval", "criteria"),
    ],
)
def test_names_of_other_tools_lead_to_ours(theirs: str, ours: str) -> None:
    with pytest.raises(UsageError, match=f"what other tools call {theirs} is {ours} here") as caught:
        get_metric(theirs)
    assert "did you mean" not in str(caught.value)


def test_a_metric_of_ids_names_the_one_that_judges_passages(tmp_path: Path) -> None:
    row = {**ROW, "contexts": ["Paris"]}
    with pytest.raises(ColumnError, match="context_precision compares ids, and llm_context_precision judges"):
        evaluate([row], metrics="context_precision", output_dir=tmp_path)
