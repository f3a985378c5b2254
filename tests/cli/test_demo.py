"""`ragmeter demo`: the examples that come with ragmeter, evaluated, compared and reported."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import Run


def test_two_runs_a_comparison_and_a_report(ragmeter: Run, tmp_path: Path) -> None:
    done = ragmeter("demo")
    assert done.returncode == 0, done.stderr
    shown = done.stdout.splitlines()
    commands = [line for line in shown if line.startswith("$ ")]
    assert commands == [
        "$ cd ragmeter-demo",
        "$ ragmeter evaluate search.jsonl reference.jsonl --run search",
        "$ ragmeter evaluate reader.jsonl reference.jsonl --run reader",
        "$ ragmeter compare reader search",
        "$ ragmeter report reader search",
    ]
    assert any(line.startswith("search is better: ") for line in shown)
    folder = tmp_path / "ragmeter-demo"
    assert "LICENSE-Apache-2.0.txt" in {path.name for path in folder.iterdir()}
    for name in ("search", "reader"):
        assert json.loads((folder / "runs" / name / "summary.json").read_text())["n_rows"] == 200
    assert (folder / "report.html").stat().st_size > 10_000
    assert shown[-2] == "open ragmeter-demo/report.html in a browser"


def test_nothing_is_written_into_a_folder_that_has_something(ragmeter: Run, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "search.jsonl").write_text("mine", encoding="utf-8")
    done = ragmeter("demo", "mine")
    assert done.returncode == 2
    assert "mine is there already" in done.stderr
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["search.jsonl"]
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert ragmeter("demo", "file").returncode == 2


def test_a_folder_that_can_not_be_made(ragmeter: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = ragmeter("demo", "file/inside")
    assert done.returncode == 2
    assert "can't write file/inside" in done.stderr
