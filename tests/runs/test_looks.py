"""Which runs a baseline was compared with before."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from ragmeter import evaluate
from ragmeter.analysis.gating import gate
from ragmeter.errors import InputError, UsageError
from ragmeter.runs.looks import LOOKS, earlier_looks
from ragmeter.runs.run import Run


def keep(folder: Path, name: str, *, right: int) -> None:
    rows: list[dict[str, Any]] = [
        {"qid": str(row), "question": f"What is {row}?", "reference": "yes", "answer": "yes" if row < right else "no"}
        for row in range(40)
    ]
    evaluate(rows, metrics="exact_match,edit_distance", run=name, output_dir=folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for right, name in ((30, "main"), (29, "one"), (28, "two"), (27, "new")):
        keep(tmp_path, name, right=right)
    return tmp_path


def test_each_content_is_one_look(folder: Path) -> None:
    main = Run(folder / "main")
    assert earlier_looks(main, Run(folder / "one")) == []
    assert earlier_looks(main, Run(folder / "two")) == ["one"]
    assert earlier_looks(main, Run(folder / "one")) == [], "the second look at it is the same"
    keep(folder, "again", right=28)
    assert earlier_looks(main, Run(folder / "again")) == ["one"], "as two"
    shutil.rmtree(folder / "two")
    assert earlier_looks(main, Run(folder / "new")) == ["one", "two"], "what was removed was looked at"
    keep(folder, "main", right=31)
    assert earlier_looks(Run(folder / "main"), Run(folder / "new")) == [], "another baseline"


def test_a_run_that_is_replaced_each_night(folder: Path) -> None:
    levels = []
    for right in (29, 28, 27):
        keep(folder, "nightly", right=right)
        verdict = gate("nightly", no_worse_than="main:exact_match:0.3", sequential=True, output_dir=folder)
        levels.append(verdict.checks[0].level)
    assert levels == [0.975, 0.9917, 0.9959]
    assert any("this is look 3 at the baseline main, after nightly, nightly" in said for said in verdict.sentences)


def test_looks_that_can_not_be_counted(folder: Path) -> None:
    alone = evaluate([{"reference": "a", "answer": "a"}], metrics="exact_match").run
    assert earlier_looks(alone, Run(folder / "new")) == []
    with pytest.raises(UsageError, match="can't be counted: it is in no folder"):
        earlier_looks(alone, Run(folder / "new"), must_count=True)
    (folder / LOOKS).write_text('{"a": ["b"]}')
    with pytest.raises(InputError, match="an object with names by content"):
        earlier_looks(Run(folder / "main"), Run(folder / "new"))


def test_the_gate_says_so_and_has_an_interval_for_many_looks(folder: Path) -> None:
    for name in ("one", "two"):
        first = gate(name, no_worse_than="main:exact_match:0.3", output_dir=folder)
        assert any("look" in sentence for sentence in first.sentences) == (name == "two")
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


def test_how_many_questions_a_sequential_gate_would_take(folder: Path) -> None:
    keep(folder, "a", right=26)
    keep(folder, "b", right=28)
    reason = gate("b", no_worse_than="a:exact_match:0.12", sequential=True, output_dir=folder).checks[0].reason
    assert "does not rule out a loss of more than 0.12; if they are alike, about" in reason
    assert gate("b", no_worse_than="a:exact_match:0.12", output_dir=folder).passed


def test_what_sequential_needs(folder: Path) -> None:
    with pytest.raises(UsageError, match="is for"):
        gate("new", fail_under="exact_match=0.3", sequential=True, output_dir=folder)
    with pytest.raises(UsageError, match="edit_distance has no upper bound"):
        gate("new", no_worse_than="main:edit_distance:2", sequential=True, output_dir=folder)
