"""A bar where somebody sees it: in a notebook, in a terminal, and nowhere else."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import ragmeter
from ragmeter import ask, evaluate
from ragmeter.errors import UsageError
from ragmeter.io.progress import parts_bar, progress_bar, show_notice

ROWS = [{"qid": str(n), "question": "?", "answer": "a", "reference": "a"} for n in range(5)]
CALL = (
    "from ragmeter import evaluate; evaluate([{'answer': 'a', 'reference': 'a'}], metrics='exact_match', progress=True)"
)


class Notebook:
    """A kernel's side of a notebook: what was shown, and how it was updated."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.states: list[dict[str, str]] = []
        shell = types.SimpleNamespace(kernel=object())
        ipython, display = types.ModuleType("IPython"), types.ModuleType("IPython.display")
        vars(ipython).update(get_ipython=lambda: shell)
        vars(display).update(display=self.display)
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        monkeypatch.setitem(sys.modules, "IPython.display", display)

    def display(self, content: dict[str, str], *, raw: bool, display_id: bool) -> Notebook:
        assert raw
        assert display_id
        assert not self.states
        self.states.append(content)
        return self

    def update(self, content: dict[str, str], *, raw: bool) -> None:
        assert raw
        self.states.append(content)


def test_a_function_is_called_and_nothing_is_shown(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    counts: list[int] = []
    evaluate(ROWS, metrics="exact_match", progress=counts.append)
    assert sum(counts) == 5
    ask(ROWS, lambda question: "a", metrics="exact_match", run="r", output_dir=tmp_path, progress=counts.append)
    assert sum(counts) == 10
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("progress", [None, False, True])
def test_without_a_terminal_there_is_no_bar(progress: bool | None, capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar(progress, "scoring", total=5) as advance:
        advance(5)
    evaluate(ROWS, metrics="exact_match", progress=progress)
    assert capsys.readouterr() == ("", "")


def test_without_any_standard_error_there_is_none_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    with progress_bar(True, "scoring") as advance:
        assert advance(1) is None


@pytest.mark.parametrize("wrong", ["yes", 1, 0.5])
def test_anything_else_is_refused(wrong: Any) -> None:
    with pytest.raises(UsageError, match="progress can't be"):
        evaluate(ROWS, metrics="exact_match", progress=wrong)


def test_a_notice_does_not_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    show_notice("waiting for \x1b[2J\u202eRUN")
    assert capsys.readouterr().err == "waiting for \\x1b[2J\\u202eRUN\n"


def test_notices_are_printed_in_one_place() -> None:
    """Others would have to remember to show control characters as text; loop.py's own words have none."""
    package = Path(ragmeter.__file__).parent
    printing = {file.name for file in package.rglob("*.py") if "file=sys.stderr" in file.read_text(encoding="utf-8")}
    assert printing == {"progress.py", "loop.py"}


def test_a_terminal_has_a_bar() -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        process = subprocess.Popen([sys.executable, "-c", CALL], stdout=subprocess.PIPE, stderr=theirs)
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = terminal.read(4096)
            except OSError:  # so does a terminal end whose other side is gone
                break
            if not part:
                break
            shown += part
        assert process.stdout is not None
        printed = process.stdout.read()
        process.stdout.close()
        assert process.wait(timeout=300) == 0
    assert b"scoring" in shown
    assert b"of 1 rows" in shown
    assert printed == b""


def test_a_pipe_has_none() -> None:
    done = subprocess.run([sys.executable, "-c", CALL], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_notebook_has_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = Notebook(monkeypatch)
    monkeypatch.setattr("ragmeter.io.progress._PAUSE", 0)
    with progress_bar(True, "<asking>", "questions", total=4) as advance:
        advance(1)
        advance(3)
    first, *_, last = notebook.states
    assert "<progress value='0' max='4'" in first["text/html"]
    assert "&lt;asking&gt;: 0 of 4 questions" in first["text/html"]
    assert "<progress value='1' max='4'" in notebook.states[1]["text/html"]
    assert last["text/plain"].startswith("<asking> done: 4 of 4 questions, ")
    assert "<progress" not in last["text/html"]


def test_a_notebook_is_not_flooded(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = Notebook(monkeypatch)
    monkeypatch.setattr("ragmeter.io.progress._PAUSE", 3600)
    with progress_bar(True, "scoring") as advance:
        for _ in range(1000):
            advance(1)
    assert len(notebook.states) == 2
    assert "<progress style" in notebook.states[0]["text/html"]  # without a total it has no end
    assert notebook.states[1]["text/plain"].startswith("scoring done: 1,000 rows")


def test_a_notebook_says_what_was_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = Notebook(monkeypatch)

    def work() -> None:
        with progress_bar(True, "scoring", total=9) as advance:
            advance(2)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert notebook.states[-1]["text/plain"].startswith("scoring stopped: 2 of 9 rows")


def test_more_than_was_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    """References that no result answers are rows as well."""
    notebook = Notebook(monkeypatch)
    reference = [{"qid": str(n), "reference": "a"} for n in range(7)]
    results = [{"qid": row["qid"], "answer": "a"} for row in ROWS]
    evaluate(results, reference, metrics="exact_match", progress=True)
    assert notebook.states[-1]["text/plain"].startswith("scoring done: 7 of 7 rows")


def test_ipython_in_a_terminal_is_no_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    ipython = types.ModuleType("IPython")
    vars(ipython).update(get_ipython=object)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    evaluate(ROWS, metrics="exact_match", progress=True)
    assert stream.getvalue() == ""


def test_a_bar_over_parts_shows_rows_rate_and_the_dashboard(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("TERM", "xterm")
    with parts_bar(True, 3, "http://127.0.0.1:8787/status") as advance:
        advance(1000)
        advance(500)
    shown = terminal.getvalue()
    assert "2 of 3 parts, 1,500 rows, " in shown
    assert " a second" in shown
    assert "http://127.0.0.1:8787/status" in shown
    counts: list[int] = []
    with parts_bar(counts.append, 3) as advance:
        advance(7)
    assert counts == [7]
