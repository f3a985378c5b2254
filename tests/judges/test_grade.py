"""Grades on a scale."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from ragmeter import add_metrics, evaluate, get_metric
from ragmeter.errors import UsageError
from ragmeter.models.fake import fenced_texts
from tests.judge_rows import ROWS, fake, judge, rows, scripted


@pytest.mark.parametrize(
    ("name", "grades", "scores"),
    [
        ("llm_grade", ["1", "2", "5"], [0.0, 0.25, 1.0]),
        ("llm_grade[scale=0-1]", ["0", "1"], [0.0, 1.0]),
        ("llm_grade[scale=0-100]", ["0", "37", "100"], [0.0, 0.37, 1.0]),
    ],
)
def test_a_grade_is_a_share_of_its_scale(name: str, grades: list[str], scores: list[float]) -> None:
    assert get_metric(name)(grades).tolist() == scores


def test_what_is_no_grade_is_no_number() -> None:
    scores = get_metric("llm_grade")(["6", "0", "-1", "good", "3.5", None, "NaN", "inf"])
    assert all(map(math.isnan, scores.tolist()))


@pytest.mark.parametrize("scale", ["5-1", "1-1", "1-101", "1", "a-b", "-5-5", "1.5-5", ""])
def test_a_scale_that_is_none(scale: str) -> None:
    with pytest.raises(UsageError):
        get_metric(f"llm_grade[scale={scale}]")


def test_grades_by_a_model(tmp_path: Path) -> None:
    provider = scripted(a="4", b="**5**", c="6", d="4 of 5", e='{"grade": 2, "reason": "x"}')
    evaluation = evaluate(rows(*"abcde"), metrics="llm_grade", judge=judge(provider, tries=1), output_dir=tmp_path)
    assert evaluation.rows["grade"].to_pylist() == ["4", "5", None, None, "2"]
    assert evaluation.rows["grade.outcome"].to_pylist() == ["scored", "scored", "unparsable", "unparsable", "scored"]
    assert evaluation["llm_grade"].n_not_scored == {"unparsable": 2}
    assert evaluation["llm_grade"].mean == pytest.approx((0.75 + 1 + 0.25) / 3)
    assert "a whole number from 1 (worst) to 5 (best)" in provider.prompts[0]


def test_an_exact_match_is_graded_too(tmp_path: Path) -> None:
    provider = fake("3")
    evaluate(ROWS, metrics="llm_grade", judge=judge(provider), output_dir=tmp_path)
    assert len(provider.prompts) == 3


def test_two_scales_in_one_run(tmp_path: Path) -> None:
    provider = fake(lambda prompt: "9" if "to 10 (best)" in prompt else "2")
    names = ["llm_grade", "llm_grade[scale=1-10]", "llm_correct"]
    evaluation = evaluate(ROWS[:1], metrics=names[:2], judge=judge(provider), output_dir=tmp_path, run="r")
    assert evaluation.rows["grade"].to_pylist() == ["2"]
    assert evaluation.rows["grade[scale=1-10]"].to_pylist() == ["9"]
    assert evaluation["llm_grade[scale=1-10]"].mean == pytest.approx(8 / 9)
    assert list(evaluation.manifest.judged_columns) == ["grade", "grade[scale=1-10]"]
    again = add_metrics("r", names[:2], judge=judge(provider), output_dir=tmp_path)
    assert list(again.metrics) == names[:2]
    assert len(provider.prompts) == 2


def test_own_words_for_a_grade(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("How polite is {answer}?", encoding="utf-8")
    provider = fake('{"grade": 5, "reason": "very"}')
    settings: dict[str, Any] = {"prompt": prompt, "reasons": True}
    evaluation = evaluate(
        [{"qid": "1", "answer": "Good evening"}],
        metrics="llm_grade",
        judge=judge(provider, **settings),
        output_dir=tmp_path,
    )
    assert (evaluation["llm_grade"].mean, evaluation.rows["grade_reason"].to_pylist()) == (1.0, ["very"])
    assert fenced_texts(provider.prompts[0])["answer"] == "Good evening"
