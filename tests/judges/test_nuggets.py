"""Nuggets: given or made by a judge, and how far an answer supports them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragmeter import FakeProvider, evaluate, get_metric
from ragmeter.models.fake import fenced_texts
from tests.judge_rows import judge

ROW: dict[str, Any] = {
    "qid": "1", "question": "What is it?", "reference": "It is red. It may be old.", "answer": "It is red, and new.",
}  # fmt: skip
NUGGETS = [{"text": "It is red", "importance": "vital"}, {"text": "It is old", "importance": "okay"}]


def by_rule(prompt: str) -> str:
    texts = fenced_texts(prompt)
    if "List the facts" in prompt:
        return "- vital: It is red\n- okay: It is old"
    words = ["Support" if line.split(". ", 1)[1] in texts["answer"] else "No" for line in texts["claims"].split("\n")]
    return "\n".join(f"{number}: {word}" for number, word in enumerate(words, 1))


def test_nuggets_are_made_from_the_reference(tmp_path: Path) -> None:
    provider = FakeProvider(by_rule)
    metrics = ["nugget_recall", "nugget_recall[count=all]", "nugget_recall[count=weighted]"]
    result = evaluate([ROW], metrics=metrics, judge=judge(provider), output_dir=tmp_path)
    assert [result[metric].mean for metric in metrics] == pytest.approx([1.0, 0.5, 1 / 1.5])
    assert len(provider.prompts) == 2
    assert json.loads(result.rows["nuggets"][0].as_py()) == NUGGETS


@pytest.mark.parametrize("nuggets", [NUGGETS, ["It is red", "It is old"]])
def test_nuggets_of_the_data_are_used(tmp_path: Path, nuggets: list[Any]) -> None:
    provider = FakeProvider(by_rule)
    row = {**ROW, "nuggets": nuggets}
    result = evaluate([row], metrics="nugget_recall[count=all]", judge=judge(provider), output_dir=tmp_path)
    assert result["nugget_recall[count=all]"].mean == 0.5
    assert len(provider.prompts) == 1
    assert json.loads(result.rows["nuggets"][0].as_py()) == nuggets


def test_a_nugget_without_its_importance_is_asked_for_again(tmp_path: Path) -> None:
    provider = FakeProvider("- It is red")
    result = evaluate([ROW], metrics="nugget_recall", judge=judge(provider, tries=2), output_dir=tmp_path)
    assert result.rows["nugget_recall.outcome"].to_pylist() == ["unparsable"]
    assert len(provider.prompts) == 2


@pytest.mark.parametrize(
    ("settings", "expected"),
    [({}, 0.5), ({"strict": False}, 0.75), ({"count": "all"}, 1 / 4), ({"count": "all", "strict": False}, 0.5)],
)
def test_by_hand(settings: dict[str, Any], expected: float) -> None:
    nuggets = [["a", "b", {"text": "c", "importance": "okay"}, {"text": "d", "vital": False}]]
    labels = [["support", "partial support", "partial support", "no support"]]
    metric = get_metric("nugget_recall").with_settings(**settings)
    assert metric(nuggets, labels)[0] == pytest.approx(expected)


def test_only_okay_nuggets_have_no_vital_score() -> None:
    assert np.isnan(get_metric("nugget_recall")([[{"text": "a", "importance": "okay"}]], [["support"]])).all()
