"""The tutorials, done step by step: every command and snippet is run, and the output has what the page shows."""

from __future__ import annotations

import csv
import html
import json
import re
import runpy
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval

from ragmeter.judges.asking.probes import PROBES
from tests.browser import served
from tests.command import call
from tests.judge_server import Action, JudgeServer, completion, texts
from tests.pages import BLOCK, ROOT, run_command, run_python, shell_lines
from tests.testsets.writer import plain_reply

TUTORIALS = ROOT / "docs" / "tutorials"
#: Snippets of other tools, on the page for those who come from them.
_THEIRS = ("bash", "py")

Follow = Callable[..., int]


@pytest.fixture
def follow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Follow:
    """Does what a page says, in a folder that has the examples, and counts the blocks that it runs.

    `replaced` are addresses of servers.
    """
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)

    def run(document: Path, **replaced: str) -> int:
        shown, n_run = "", 0
        for kind, title, text in BLOCK.findall(document.read_text(encoding="utf-8")):
            n_run += kind in ("sh", "python") and not title
            for address, real in replaced.items():
                text = text.replace(_ADDRESSES[address], real)
            if kind == "py":
                compile(text, document.name, "exec")  # of other tools: tests/test_other_tools.py runs them, slowly
            if title:
                (tmp_path / title).write_text(text, encoding="utf-8")
            elif kind == "sh":
                shown = "".join(run_command(line, tmp_path) for line in shell_lines(text))
            elif kind == "python":
                shown = run_python(text)
            elif kind == "text":
                _has(shown, text)
            elif kind not in _THEIRS:
                pytest.fail(f"{document.name}: a block of {kind} that nobody runs")
        return n_run

    return run


_ADDRESSES = {"judge": "http://localhost:8080/v1", "page": "http://localhost:8000/"}


def _has(shown: str, expected: str) -> None:
    """Each line is there, however it is aligned and wrapped."""
    plain = " ".join(shown.split())
    for line in filter(None, map(str.strip, expected.splitlines())):
        assert " ".join(line.split()) in plain, shown


@pytest.mark.parametrize("name", ["score-a-file", "did-my-change-help", "ci"])
def test_a_tutorial_of_files(follow: Follow, name: str) -> None:
    assert follow(TUTORIALS / f"{name}.md") > 0


def test_the_tour(follow: Follow) -> None:
    assert follow(ROOT / "docs" / "tour.md") > 0


def test_the_page_for_those_who_come_from_other_tools(follow: Follow, tmp_path: Path) -> None:
    assert follow(ROOT / "docs" / "coming-from.md") > 0
    run, qrels = (
        [line.split() for line in (tmp_path / name).read_text().splitlines()] for name in ("my.run", "qrels.txt")
    )
    scores: dict[str, dict[str, float]] = {}
    grades: dict[str, dict[str, int]] = {}
    for query, _, document, _, score, _ in run:
        scores.setdefault(query, {})[document] = float(score)
    for query, _, document, grade in qrels:
        grades.setdefault(query, {})[document] = int(grade)
    theirs = pytrec_eval.RelevanceEvaluator(grades, {"ndcg_cut.10", "map", "recall.2"}).evaluate(scores)
    ours = json.loads((tmp_path / "runs" / "ranking" / "summary.json").read_text())["metrics"]
    for name, measure in {"ndcg@10": "ndcg_cut_10", "map": "map", "recall@2": "recall_2"}.items():
        mean = sum(query[measure] for query in theirs.values()) / len(theirs)
        assert ours[name]["mean"] == pytest.approx(mean, abs=1e-9)


def test_the_first_screen_of_the_readme(follow: Follow, tmp_path: Path) -> None:
    """One command, with the result that it has, before the first picture."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    screen, picture, _ = text.partition("![")
    assert picture
    assert screen.count("\n") < 45
    example = re.search(r"```\n\$ (.*?)\n\n(.*?)```", screen, re.DOTALL)
    assert example is not None
    _has(run_command(example[1].replace("\\\n", " "), tmp_path), example[2])


def test_the_picture_of_the_terminal_shows_what_is_printed(tmp_path: Path) -> None:
    """Word for word; the drawing may be another rich's."""
    pictures = runpy.run_path(str(ROOT / "docs" / "make_pictures.py"))
    drawn = (ROOT / "docs" / "pictures" / "terminal.svg").read_text(encoding="utf-8")
    assert "@font-face" not in drawn, "a browser would fetch it"
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    printed = ""
    for command in (pictures["HIDDEN"][0], *pictures["SHOWN"]):
        shown = call(shlex.split(command)[1:], tmp_path, {"COLUMNS": str(pictures["WIDTH"])}).stdout
        printed += shown if command in pictures["SHOWN"] else ""
    words = html.unescape(re.sub(r"<[^>]+>", " ", drawn.partition('-matrix">')[2]))
    assert set(printed.split()) <= set(words.split()), "run `make pictures`"


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


def test_the_tutorial_of_a_test_set(follow: Follow) -> None:
    def behave(request: dict[str, Any], number: int) -> Action:
        return Action(body=completion(plain_reply(request["messages"][-1]["content"])))

    with JudgeServer(behave) as server:
        assert follow(TUTORIALS / "test-set.md", judge=server.url) == 5


@pytest.mark.usefixtures("shared_browser")
def test_the_tutorial_of_the_chat_page(follow: Follow, tmp_path: Path) -> None:
    with served(str(ROOT / "examples" / "rag_app.py"), "--port", "0") as address:
        follow(TUTORIALS / "a-chat-page.md", page=f"{address}/")
        assert (tmp_path / "web-try.png").is_file()
        with (tmp_path / "results.csv").open(encoding="utf-8", newline="") as file:
            assert len(list(csv.DictReader(file))) == 2
        page = (ROOT / "docs" / "web.md").read_text(encoding="utf-8")  # with the same page and questions
        for kind, _, text in BLOCK.findall(page.replace(_ADDRESSES["page"], f"{address}/")):
            if kind == "sh":
                for line in shell_lines(text):
                    run_command(line, tmp_path)
            elif kind == "python":
                assert run_python(text).strip()
