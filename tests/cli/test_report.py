"""`ragmeter report` as a person runs it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.show.report.helpers import keep, rows


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    keep(tmp_path / "runs")
    keep(tmp_path / "runs", "other", [{**row, "answer": "gold answer"} for row in rows()])
    return tmp_path / "runs"


def test_a_page_and_what_papers_need(ragmeter: Run, runs: Path, tmp_path: Path) -> None:
    done = ragmeter(
        "report", "small", "runs/other", "--output", "out/page.html", "--markdown", "out/summary.md", "--latex",
        "out/table.tex", "--figures", "out/figures", "--title", "Two runs",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "written: out/page.html",
        "written: out/summary.md",
        "written: out/table.tex",
        "written: 12 figures in out/figures/",
    ]
    page = (tmp_path / "out" / "page.html").read_text(encoding="utf-8")
    assert "<title>Two runs – ragmeter report</title>" in page
    assert "between B and A on token_f1:</span>" in page  # what Compare says comes first
    assert page.index("between B and A") < page.index('id="by-how-much"') < page.index('id="scores"')
    assert (tmp_path / "out" / "summary.md").read_text(encoding="utf-8").startswith("# small · other")
    if os.name == "posix":  # questions and answers are their owner's
        assert all((tmp_path / "out" / name).stat().st_mode & 0o077 == 0 for name in ("page.html", "summary.md"))
    assert "\\toprule" in (tmp_path / "out" / "table.tex").read_text(encoding="utf-8")


def test_rows_that_have_no_room_are_said(ragmeter: Run, runs: Path) -> None:
    done = ragmeter("report", "small", "--max-rows", "3")
    assert done.returncode == 0
    assert done.stdout.startswith("the page has 3 of 8 rows, those that failed and the worst first")
    report = json.loads(ragmeter("report", "small", "--max-rows", "3", "--json").stdout)
    assert report == {"page": "report.html", "files": [], "rows": 8, "rows_shown": 3}


def test_runs_without_a_common_question_are_shown_and_not_compared(ragmeter: Run, runs: Path, tmp_path: Path) -> None:
    keep(runs, "apart", [{**row, "qid": f"other {row['qid']}"} for row in rows()])
    done = ragmeter("report", "small", "apart", "--output-dir", runs)
    assert done.returncode == 0, done.stderr
    assert "small and apart have no qid in common" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["report"], "the following arguments are required: RUN"),
        (["report", "smal"], "did you mean small?"),
        (["report", "small", "--max-rows", "0"], "--max-rows must be at least 1"),
        (["report", "small", "--output", "runs"], "runs is a folder"),
        (["report", "small", "--output", "a.md", "--markdown", "a.md"], "two files can't both be a.md"),
        (["report", "small", "--output", "a.MD"], "name it report.html; --markdown writes Markdown, --latex a LaTeX"),
        (["report", "small", "--output", "a.tex"], "a.tex: the page is HTML, and .tex is not"),
        (["report", "small", "--output", "runs/small/summary.json"], "is a file of the run"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(
    ragmeter: Run, runs: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    before = (runs / "small" / "summary.json").read_bytes()
    done = ragmeter(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["runs"]
    assert (runs / "small" / "summary.json").read_bytes() == before


def test_a_run_that_was_moved_is_still_shown(ragmeter: Run, runs: Path, tmp_path: Path) -> None:
    shutil.move(str(runs / "small"), str(tmp_path / "elsewhere"))
    assert ragmeter("report", "elsewhere").returncode == 0
    assert "<title>elsewhere – ragmeter report</title>" in (tmp_path / "report.html").read_text(encoding="utf-8")
