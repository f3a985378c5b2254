"""The tutorials, done step by step: every command and snippet is run, and the output has what the page shows."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragmeter.judges.probes import PROBES
from tests.browser import served
from tests.command import call
from tests.judge_server import Action, JudgeServer, completion, texts

ROOT = Path(__file__).parent.parent
TUTORIALS = ROOT / "docs" / "tutorials"
_BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_EXIT = re.compile(r"\s+# exit code (\d+)$")
#: Snippets of other tools, on the page for those who come from them.
_THEIRS = ("py", "yml", "bash")
#: What a reader does and the tests have done: setting up, and starting a server.
_DONE = ("export PATH=", "python examples/rag_app.py")

Follow = Callable[..., None]


@pytest.fixture
def follow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Follow:
    """Does what a page says, in a folder that has the examples; `replaced` are addresses of servers."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)

    def run(document: Path, **replaced: str) -> None:
        shown = ""
        for kind, title, text in _BLOCK.findall(document.read_text(encoding="utf-8")):
            for address, real in replaced.items():
                text = text.replace(_ADDRESSES[address], real)
            if title:
                (tmp_path / title).write_text(text, encoding="utf-8")
            elif kind == "sh":
                shown = "".join(_command(line, tmp_path) for line in text.replace("\\\n", " ").splitlines())
            elif kind == "python":
                shown = _python(text)
            elif kind == "text":
                _has(shown, text)
            elif kind not in _THEIRS:
                pytest.fail(f"{document.name}: a block of {kind} that nobody runs")

    return run


_ADDRESSES = {"judge": "http://localhost:8080/v1", "page": "http://localhost:8000/"}


def _command(line: str, folder: Path) -> str:
    """What a line of the shell prints."""
    if line.startswith(_DONE):
        return ""
    expected = _EXIT.search(line)
    program, *arguments = shlex.split(_EXIT.sub("", line))
    if program == "pytest":
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
        (folder / "pytest.ini").write_text("[pytest]", encoding="utf-8")
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False)
    else:
        assert program == "ragmeter", line
        done = call(arguments, folder, {"COLUMNS": "120", "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.returncode == int(expected[1] if expected else 0), done.stdout + done.stderr
    return done.stdout + done.stderr


def _python(text: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(text, {"__name__": "__main__"})  # noqa: S102 - our own document
    return out.getvalue()


def _has(shown: str, expected: str) -> None:
    """Each line is there, however it is aligned and wrapped."""
    plain = " ".join(shown.split())
    for line in filter(None, map(str.strip, expected.splitlines())):
        assert " ".join(line.split()) in plain, shown


@pytest.mark.parametrize("name", ["score-a-file", "did-my-change-help", "ci"])
def test_a_tutorial_of_files(follow: Follow, name: str) -> None:
    follow(TUTORIALS / f"{name}.md")


def test_coming_from_other_tools(follow: Follow) -> None:
    follow(ROOT / "docs" / "coming-from.md")


def test_the_tutorial_of_the_judge(follow: Follow) -> None:
    known = {(probe.reference, probe.answer): probe.verdict for probe in PROBES}

    def behave(request: dict[str, Any], number: int) -> Action | None:
        """The good judge knows the built-in cases; otherwise both go by the server's rule."""
        case = texts(request)
        verdict = known.get((case["reference"], case["answer"]))
        if request["model"] == "bad-judge" or verdict is None:
            return None
        return Action(body=completion(json.dumps({"reason": "known", "verdict": verdict})))

    with JudgeServer(behave) as server:
        follow(TUTORIALS / "a-judge-you-can-trust.md", judge=server.url)
        asked = [request["model"] for request in server.requests]
    assert asked.count("good-judge") == 24 + 14, "the second time nothing was asked"


@pytest.mark.usefixtures("shared_browser")
def test_the_tutorial_of_the_chat_page(follow: Follow, tmp_path: Path) -> None:
    with served(str(ROOT / "examples" / "rag_app.py"), "--port", "0") as address:
        follow(TUTORIALS / "a-chat-page.md", page=f"{address}/")
    assert (tmp_path / "web-try.png").is_file()
    with (tmp_path / "results.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 2
