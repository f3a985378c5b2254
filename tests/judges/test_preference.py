"""Preference between two answers: asked in both orders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragmeter import FakeProvider, evaluate
from ragmeter.stats.intervals import wilson_interval
from tests.judge_rows import judge

ROW: dict[str, Any] = {"qid": "1", "question": "Where?", "answer": "In Paris.", "other_answer": "No idea, really."}


def longer(first: str, second: str) -> str:
    return "First" if len(first) > len(second) else "Second"


def shorter(first: str, second: str) -> str:
    return "Second" if len(first) > len(second) else "First"


def always_first(first: str, second: str) -> str:
    return "First"


def neither(first: str, second: str) -> str:
    return "Tie"


@pytest.mark.parametrize(
    ("replies", "value", "expected"),
    [(shorter, "this", 1.0), (longer, "other", 0.0), (always_first, "inconsistent", 0.5), (neither, "tie", 0.5)],
)
def test_both_orders(tmp_path: Path, replies: Callable[[str, str], str], value: str, expected: float) -> None:
    provider = FakeProvider(replies)
    result = evaluate([ROW], metrics="preference", judge=judge(provider), output_dir=tmp_path)
    assert result["preference"].mean == expected
    assert result.rows["preferred"].to_pylist() == [f'"{value}"']
    assert len(provider.prompts) == 2


def test_equal_answers_are_a_tie_without_asking(tmp_path: Path) -> None:
    provider = FakeProvider("First")
    row = {**ROW, "other_answer": "In  Paris."}
    result = evaluate([row], metrics="preference", judge=judge(provider), output_dir=tmp_path)
    assert result["preference"].mean == 0.5
    assert provider.prompts == []


def test_an_empty_answer_is_worse_than_any_other_without_asking(tmp_path: Path) -> None:
    texts = [("", "x"), ("x", " "), ("", " ")]
    rows = [{"qid": str(n), "question": "q", "answer": a, "other_answer": b} for n, (a, b) in enumerate(texts)]
    provider = FakeProvider("First")
    result = evaluate(rows, metrics="preference", judge=judge(provider), output_dir=tmp_path)
    assert result.rows["preference"].to_pylist() == [0.0, 1.0, 0.5]
    assert provider.prompts == []


def test_ten_wins_of_ten_are_no_certainty(tmp_path: Path) -> None:
    """The interval was 1.0000 to 1.0000; a tie among them makes it no surer."""
    rows = [{"qid": str(n), "question": "q", "answer": "x", "other_answer": ""} for n in range(10)]
    all_won = evaluate(rows, metrics="preference", judge=judge(FakeProvider("First")), output_dir=tmp_path)[
        "preference"
    ]
    assert all_won.interval == wilson_interval(10, 10)
    rows[0]["answer"] = " "
    tied = evaluate(rows, metrics="preference", judge=judge(FakeProvider("First")), output_dir=tmp_path)["preference"]
    assert (tied.mean, tied.interval_method) == (0.95, "student_t_with_pseudo_rows")
    assert tied.interval is not None
    assert tied.interval[0] < 0.8
