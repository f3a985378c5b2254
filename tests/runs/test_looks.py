"""Which runs a baseline can have been compared with before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragmeter import compare, evaluate
from ragmeter.analysis.gating import gate
from ragmeter.errors import UsageError
from ragmeter.runs.layout import MANIFEST
from ragmeter.runs.looks import earlier_looks
from ragmeter.runs.run import Run


def keep(folder: Path, name: str, day: int, *, right: int = 30, of: int = 40) -> None:
    rows: list[dict[str, Any]] = [
        {"qid": str(row), "question": f"What is {row}?", "reference": "yes", "answer": "yes" if row < right else "no"}
        for row in range(of)
    ]
    evaluate(rows, metrics="exact_match,edit_distance", run=name, output_dir=folder)
    file = folder / name / MANIFEST
    file.write_text(json.dumps({**json.loads(file.read_text()), "created": f"2026-11-{day:02}T03:00:00+00:00"}))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for day, name in enumerate(("old", "main", "one", "two", "new", "later"), 1):
        keep(tmp_path, name, day)
    keep(tmp_path, "other", 4, of=20)
    return tmp_path


def test_runs_between_the_two_on_the_same_questions(folder: Path) -> None:
    assert earlier_looks(Run(folder / "main"), Run(folder / "new")) == ["one", "two"]
    assert earlier_looks(Run(folder / "main"), Run(folder / "one")) == []
    compare(["main", "later"], keep=True, output_dir=folder)
    assert earlier_looks(Run(folder / "main"), Run(folder / "new")) == ["one", "two", "later"], "one is kept"
    alone = evaluate([{"reference": "a", "answer": "a"}], metrics="exact_match").run
    assert earlier_looks(alone, Run(folder / "new")) == []
    assert earlier_looks(Run(folder / "main"), alone) == ["later"]


def test_the_gate_says_so_and_has_an_interval_for_many_looks(folder: Path) -> None:
    verdict = gate("new", no_worse_than="main:exact_match:0.3", output_dir=folder)
    (said,) = [sentence for sentence in verdict.sentences if "look 3 at the baseline main" in sentence]
    assert "after one, two: some false alarm among so many has a chance of up to 15%" in said
    sequential = gate("new", no_worse_than="main:exact_match:0.3", sequential=True, output_dir=folder)
    (said,) = [sentence for sentence in sequential.sentences if "look 3" in sentence]
    assert "its interval has 99.59%, so that all looks together have 95%" in said
    usual, wide = verdict.checks[0], sequential.checks[0]
    assert (usual.level, wide.level) == (0.95, 0.9959)
    assert wide.interval is not None
    assert usual.interval is not None
    assert wide.interval[0] < usual.interval[0] < 0 < usual.interval[1] < wide.interval[1]
    first = gate("one", no_worse_than="main:exact_match:0.3", output_dir=folder)
    assert not any("look" in sentence for sentence in first.sentences)


def test_how_many_questions_a_sequential_gate_would_take(folder: Path) -> None:
    keep(folder, "a", 10, right=26)
    keep(folder, "b", 11, right=28)
    reason = gate("b", no_worse_than="a:exact_match:0.12", sequential=True, output_dir=folder).checks[0].reason
    assert "does not rule out a loss of more than 0.12; if they are alike, about" in reason
    assert gate("b", no_worse_than="a:exact_match:0.12", output_dir=folder).passed


def test_what_sequential_needs(folder: Path) -> None:
    with pytest.raises(UsageError, match="is for"):
        gate("new", fail_under="exact_match=0.3", sequential=True, output_dir=folder)
    with pytest.raises(UsageError, match="edit_distance has no upper bound"):
        gate("new", no_worse_than="main:edit_distance:2", sequential=True, output_dir=folder)
