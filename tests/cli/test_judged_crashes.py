"""A judge at work on rows is interrupted, or has company: what was recorded is not asked again, or lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

from ragmeter import Run
from ragmeter.effects.replies.journal import Journal
from ragmeter.engine.judging.setup import JUDGE_JOURNAL
from tests.cli.test_ask import reached
from tests.command import PATIENCE, interrupt, wait_for
from tests.judge_server import Action, JudgeServer

#: So many calls at once; twice as many rows are in work.
WORKERS = 4


def write(folder: Path, count: int) -> None:
    rows = (
        {"qid": str(number), "question": f"q{number}", "reference": "gold", "answer": f"it is {number} of gold"}
        for number in range(count)
    )
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def start(folder: Path, server: JudgeServer, *more: str, run: str = "r") -> subprocess.Popen[str]:
    command = [
        sys.executable, "-m", "ragmeter", "evaluate", "--results", "rows.jsonl", "--metrics", "llm_correct",
        "--judge-model", "m", "--base-url", server.url, "--no-judge-check", "--judge-timeout", "3600", "--run", run,
        *more,
    ]  # fmt: skip
    return subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "OPENAI_API_KEY": "k"},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def finish(process: subprocess.Popen[str], code: int = 0) -> tuple[str, str]:
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == code, err
    assert "Traceback" not in err
    return out, err


def recorded(folder: Path) -> int:
    path = folder / "runs" / JUDGE_JOURNAL
    if not path.exists():
        return 0
    with Journal(path) as journal:
        return len(journal)


def test_ctrl_c_lets_calls_under_way_end(tmp_path: Path) -> None:
    write(tmp_path, 60)
    with JudgeServer() as server:
        server.answers = 10
        process = start(tmp_path, server, "--judge-workers", "2")
        wait_for(partial(reached, server, 12), process)
        said = interrupt(process)
        server.release()
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130
        assert "finishing the calls under way" in said
        assert "Traceback" not in said + err
        assert server.count == recorded(tmp_path) == 12  # nothing was begun after it, nothing lost
        assert not (tmp_path / "runs" / "r").exists()
        finish(start(tmp_path, server))
        assert server.count == 60


def test_two_processes_on_one_journal(tmp_path: Path) -> None:
    write(tmp_path, 20)
    with JudgeServer() as server:
        server.answers = 5
        first = start(tmp_path, server)
        wait_for(partial(reached, server, 6), first)
        _, err = finish(start(tmp_path, server, run="other"), 2)
        assert f"another process is using the journal runs/{JUDGE_JOURNAL}" in err
        assert "wait until it has finished" in err
        assert not (tmp_path / "runs" / "other").exists()
        server.release()
        finish(first)
        assert server.count == 20
        finish(start(tmp_path, server, run="other"))
        assert server.count == 20
    first_run, other_run = (Run.at(tmp_path / "runs" / name) for name in ("r", "other"))
    assert first_run.rows().equals(other_run.rows())


def test_a_server_that_dies_and_comes_back(tmp_path: Path) -> None:
    write(tmp_path, 100)
    down = {"on": False}

    def behave(request: dict[str, object], number: int) -> Action | None:
        down["on"] = down["on"] or number == 50
        return Action(body=b"", cut=0, reset=True) if down["on"] else None

    with JudgeServer(behave) as server:
        out, _ = finish(start(tmp_path, server, "--judge-workers", "4", "--judge-retries", "0"), code=3)
        assert "judge_error" in out
        assert server.count < 100  # it stops asking somebody who is not there
        assert Run.at(tmp_path / "runs" / "r").metrics()["llm_correct"].n_scored == 49
        down["on"] = False
        server.behave = lambda request, number: None
        before = server.count
        command = [sys.executable, "-m", "ragmeter", "evaluate", "--run", "r", "--metrics", "llm_correct"]
        command += ["--judge-model", "m", "--base-url", server.url, "--no-judge-check", "--retry-failed"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=True)
        assert server.count - before == 51
        assert "judge_error" not in done.stdout
    assert Run.at(tmp_path / "runs" / "r").metrics()["llm_correct"].n_scored == 100
