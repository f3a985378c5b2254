"""The action for GitHub, the comment that it writes, and the hook that checks question files."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml

from ragmeter.cli.check_questions import main as check_questions

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "tools" / "pull_request_comment.py"
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
HOOK = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))[0]
BOT, TOKEN = "github-actions[bot]", "ghs_secret"
MARK = "<!-- ragmeter: ragmeter -->"


class GitHub(ThreadingHTTPServer):
    """As much of GitHub as comments take: the comments of pull request 7, and a status to refuse with."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Connection)
        self.comments: list[dict[str, Any]] = []
        self.refuses: tuple[str, int] | None = None
        self.calls: list[str] = []
        self.tokens: set[str | None] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def add(self, body: str, author: str = BOT) -> None:
        self.comments.append({"id": len(self.comments) + 1, "body": body, "user": {"login": author}})


class Connection(BaseHTTPRequestHandler):
    server: GitHub

    def do_GET(self) -> None:
        page = int(self.path.partition("&page=")[2])
        self.reply(self.server.comments[100 * (page - 1) : 100 * page])

    def do_POST(self) -> None:
        self.server.add(self.document()["body"])
        self.reply(self.server.comments[-1])

    def do_PATCH(self) -> None:
        comment = self.server.comments[int(self.path.rpartition("/")[2]) - 1]
        comment["body"] = self.document()["body"]
        self.reply(comment)

    def document(self) -> Any:
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def reply(self, document: Any) -> None:
        server = self.server
        server.calls.append(f"{self.command} {self.path}")
        server.tokens.add(self.headers["Authorization"])
        status = 200
        if server.refuses is not None and server.refuses[0] == self.command:
            status, document = server.refuses[1], {"message": f"Not for\n{TOKEN}"}
        content = json.dumps(document).encode() if status != 502 else b"<html>Bad gateway</html>"
        self.send_response(status)
        if status == 302:
            self.send_header("Location", f"{server.url}/elsewhere&page=1")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def github(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GitHub]:
    event = tmp_path / "event.json"
    event.write_text('{"pull_request": {"number": 7}}')
    with GitHub() as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        monkeypatch.chdir(tmp_path)
        for name, value in {
            "GITHUB_API_URL": server.url, "GITHUB_REPOSITORY": "owner/name", "GITHUB_TOKEN": TOKEN,
            "GITHUB_EVENT_PATH": str(event), "no_proxy": "*",
        }.items():  # fmt: skip
            monkeypatch.setenv(name, value)
        yield server
        server.shutdown()


def comment(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What the script prints, with the file r.md unless others are named; its exit code is 0 whatever happens."""
    main = runpy.run_path(str(SCRIPT))["main"]
    assert main(arguments or ("r.md",)) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert TOKEN not in printed.out
    return printed.out


def test_one_comment_is_made_and_then_updated(github: GitHub, capsys: pytest.CaptureFixture[str]) -> None:
    github.add("Nice!", "somebody")
    for text, done in (("## first", "written"), ("## second é", "updated")):
        Path("r.md").write_text(text, encoding="utf-8")
        assert comment(capsys) == f"the comment of pull request 7 was {done}\n"
        assert [comment["body"] for comment in github.comments] == ["Nice!", f"{MARK}\n{text}"]
    assert github.calls == [
        "GET /repos/owner/name/issues/7/comments?per_page=100&page=1",
        "POST /repos/owner/name/issues/7/comments",
        "GET /repos/owner/name/issues/7/comments?per_page=100&page=1",
        "PATCH /repos/owner/name/issues/comments/2",
    ]
    assert github.tokens == {f"Bearer {TOKEN}"}


@pytest.mark.parametrize("before", [99, 100, 250])
def test_the_comment_is_found_on_a_later_page(before: int, github: GitHub, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(before):
        github.add(f"{number}", "somebody")
    github.add(f"{MARK}\nold")
    Path("r.md").write_text("new")
    assert "was updated" in comment(capsys)
    assert len(github.comments) == before + 1
    assert github.comments[-1]["body"] == f"{MARK}\nnew"


def test_whose_comment_it_is(github: GitHub, capsys: pytest.CaptureFixture[str]) -> None:
    github.add(f"{MARK}\nall is good", "somebody")
    github.comments.append({"id": 2, "body": None, "user": None})
    github.add("<!-- ragmeter: other -->\nanother gate")
    Path("r.md").write_text("bad")
    assert "was written" in comment(capsys)
    assert [comment["body"] for comment in github.comments][-1] == f"{MARK}\nbad"
    assert "was updated" in comment(capsys, "r.md", "--name", "other")
    assert github.comments[2]["body"] == "<!-- ragmeter: other -->\nbad"
    comment(capsys, "r.md", "--name", "--> <b>x")
    assert github.comments[-1]["body"] == "<!-- ragmeter:  bx -->\nbad"


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    ("status", "part"),
    [
        (403, "pull-requests: write"), (404, "pull-requests: write"), (401, "not valid"), (410, "turned off"),
        (500, "again later"), (502, "again later"), (302, "answered 302"),
    ],
)  # fmt: skip
def test_a_refusal_is_one_line(
    method: str, status: int, part: str, github: GitHub, capsys: pytest.CaptureFixture[str]
) -> None:
    github.refuses = (method, status)
    Path("r.md").write_text("x")
    printed = comment(capsys)
    assert printed.count("\n") == 1
    assert printed.startswith(f"::warning title=ragmeter::no comment was written: GitHub answered {status}, ")
    assert part in printed
    assert github.comments == [] or method == "POST"
    assert len(github.calls) == (1 if method == "GET" else 2), "a token follows no redirect"


def test_nobody_answers(github: GitHub, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    Path("r.md").write_text("x")
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:1")
    assert "GitHub can't be reached: " in comment(capsys)
    monkeypatch.setenv("GITHUB_API_URL", "file:///etc/passwd")
    assert "no web address" in comment(capsys)
    monkeypatch.delenv("GITHUB_TOKEN")
    assert "GITHUB_TOKEN must be set" in comment(capsys)
    assert github.calls == []


def test_no_pull_request(github: GitHub, capsys: pytest.CaptureFixture[str]) -> None:
    Path("event.json").write_text('{"ref": "refs/heads/main"}')
    assert comment(capsys) == "no pull request, so no comment is written\n"
    Path("event.json").write_text('{"pull_request": {}}')
    assert "has no number" in comment(capsys)
    assert github.calls == []


def test_what_the_comment_says(github: GitHub, capsys: pytest.CaptureFixture[str]) -> None:
    comment(capsys, "none*.md", "--code", "2")
    assert "ended with exit code 2" in github.comments[0]["body"]
    Path("b.md").write_text("second\n")
    Path("a.md").write_text("first\n")
    comment(capsys, "?.md")
    assert github.comments[0]["body"] == f"{MARK}\nfirst\n\nsecond"
    Path("a.md").write_text("a line\n" * 20_000)
    comment(capsys, "a.md")
    assert 60_000 < len(github.comments[0]["body"]) < 65_536
    assert github.comments[0]["body"].endswith("a line\n\nThe rest is in the job's summary: a comment holds no more.")


def step(name: str) -> dict[str, Any]:
    return next(step for step in ACTION["runs"]["steps"] if step.get("name") == name)


def run_step(name: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A step of the action as GitHub runs it, in the current folder."""
    values = {**dict.fromkeys(step(name)["env"], ""), "GITHUB_ACTION_PATH": str(ROOT), **variables}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step(name)["run"]]
    return subprocess.run(command, env={**os.environ, "PATH": path, **values}, capture_output=True, text=True)


@pytest.mark.parametrize("refused", [False, True])
def test_the_action_from_a_failed_gate_to_the_verdict(refused: bool, github: GitHub, tmp_path: Path) -> None:
    github.refuses = ("GET", 403) if refused else None
    rows = [{"answer": "yes", "reference": "no" if number % 2 else "yes"} for number in range(40)]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = (
        "ragmeter evaluate rows.jsonl --metrics exact_match \\\n  --fail-under exact_match=0.9 --markdown ragmeter.md"
    )
    summary, output = tmp_path / "summary.md", tmp_path / "output"
    files = {"GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(output), "MARKDOWN": "ragmeter*.md"}
    done = run_step("Score and check", COMMAND=command, **files)
    assert done.returncode == 0, done.stderr
    assert output.read_text() == "code=1\n"
    assert summary.read_text(encoding="utf-8").startswith("## ❌ Gate failed")
    environment = {"NAME": "ragmeter", "AUTHOR": BOT, "CODE": "1", "GITHUB_TOKEN": TOKEN, **files}
    done = run_step("Write the comment", **environment)
    assert done.returncode == 0, done.stderr
    assert ("GitHub answered 403" in done.stdout) is refused
    if not refused:
        assert github.comments[0]["body"].startswith(f"{MARK}\n## ❌ Gate failed")
    assert run_step("The verdict", CODE="1").returncode == 1
    assert run_step("The verdict", CODE="0").returncode == 0


def test_what_the_action_installs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "python").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (tmp_path / "python").chmod(0o755)
    script = step("Install ragmeter")["run"]
    for package, extras, installed in (
        ("this repository", "", "/action"), ("this repository", "http,excel", "/action[http,excel]"),
        ("ragmeter-eval[http]==0.1.0; echo $(id)", "", "ragmeter-eval[http]==0.1.0; echo $(id)"),
    ):  # fmt: skip
        environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "PACKAGE": package, "EXTRAS": extras}
        environment["GITHUB_ACTION_PATH"] = "/action"
        done = subprocess.run(["bash", "-e", "-c", script], env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.splitlines() == ["-m", "pip", "install", "--quiet", installed]


def test_the_action_is_well_formed() -> None:
    assert ACTION["runs"]["using"] == "composite"
    scripts = [step for step in ACTION["runs"]["steps"] if "run" in step]
    assert len(scripts) == 4
    for script in scripts:
        assert script["shell"] == "bash"
        assert "${{" not in script["run"], "what somebody gives is a variable, and never a part of the script"
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(ACTION["inputs"])
    assert all(entry["description"] for entry in ACTION["inputs"].values())
    with_token = [step.get("name") for step in scripts if "token" in json.dumps(step)]
    assert with_token == ["Write the comment"], "the command that is run never sees it"


def test_question_files(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [
        "qid,question,reference,unanswerable",
        "1,a?,A,no",
        "2,,B,no",
        "1,c?,C,no",
        "4,d?, ,no",
        "5,e?,,yes",
        ",f?,F,no",
    ]
    Path("qa.csv").write_text("\n".join(lines) + "\n")
    Path("good.jsonl").write_text('{"question": "a?", "reference": "A"}\n')
    Path("bad.jsonl").write_text('{"question": oops}\n')
    assert check_questions(["good.jsonl"]) == 0
    assert capsys.readouterr() == ("", "")
    assert check_questions(["good.jsonl", "qa.csv", "bad.jsonl"]) == 1
    problems = capsys.readouterr().err.splitlines()
    assert problems[:4] == [
        "qa.csv, line 3: the question is empty",
        "qa.csv, line 4: the qid '1' is there already, in line 2",
        "qa.csv, line 5: the reference is empty",
        "qa.csv, line 7: the qid is missing",
    ]
    assert problems[4].startswith("bad.jsonl, line 1: ")
    Path("many.csv").write_text("qid,reference\n" + "1,a\n" * 30)
    assert check_questions(["many.csv"]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "many.csv: 9 more"


def test_the_hook_takes_question_files_alone() -> None:
    matches = re.compile(HOOK["files"]).search
    assert all(map(matches, ("eval/questions.jsonl", "qa.csv", "data/gold-2.parquet", "question_set.tsv")))
    assert not any(map(matches, ("answers.jsonl", "eval/qa.py", "package.json", "eval/my_qa.csv")))
    module = HOOK["entry"].removeprefix("python -m ")
    done = subprocess.run([sys.executable, "-m", module, "none.csv"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "none.csv: there is no such file" in done.stderr
