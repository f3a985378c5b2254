"""Two commands that write to the same run at the same time: one waits for its turn, or says who is at work."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from ragmeter import Run, evaluate
from tests.cli.test_crag import evaluate as crag_evaluate
from tests.cli.test_crag import many, start, write
from tests.command import PATIENCE, call, wait_for
from tests.judge_server import JudgeServer, texts
from tests.show.report.helpers import rows


@pytest.mark.parametrize("writers", [5, pytest.param(60, marks=pytest.mark.slow)])
def test_metrics_that_are_added_at_once(writers: int, tmp_path: Path) -> None:
    evaluate(rows(), metrics="token_f1", run="r", output_dir=tmp_path / "runs")
    names = [f"recall@{n}" for n in range(1, writers + 1)]
    command = [sys.executable, "-m", "ragmeter", "evaluate", "--run", "r", "--metrics"]
    processes = [
        subprocess.Popen([*command, name], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for name in names
    ]
    errors = [process.communicate(timeout=4 * PATIENCE)[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * writers, errors
    run = Run(tmp_path / "runs" / "r")
    assert sorted(run.metrics()) == sorted([*names, "token_f1"])
    assert {*names, "token_f1"} <= {*run.columns}
    assert {entry.name for entry in run.manifest().metrics} == {*names, "token_f1"}
    assert [file.name for file in (tmp_path / "runs").iterdir()] == ["r"]


def test_metrics_that_are_added_while_conversations_are_judged(tmp_path: Path) -> None:
    write(tmp_path / "turns.jsonl", many(12))
    add = ["evaluate", "--output-dir", ".", "--run", "out", "--metrics", "token_f1"]
    with JudgeServer() as server:
        assert call(["crag", *map(str, crag_evaluate(server))], tmp_path, {}).returncode == 0
        write(tmp_path / "turns.jsonl", many(24))
        server.answers = server.count + 6
        process = start(tmp_path, *crag_evaluate(server, "--workers", "2", "--timeout", "3600"))
        wait_for(lambda: server.count >= 12 + 6, process)
        done = call(add, tmp_path, {})
        assert done.returncode == 2
        assert f"another process is working on this run, out: process {process.pid} on" in done.stderr
        assert "(judges conversations)" in done.stderr
        server.release()
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        asked = Counter(texts(request)["question"] for request in server.requests)
        assert set(asked.values()) == {1}
        assert len(asked) == 24
        assert call(add, tmp_path, {}).returncode == 0
        assert call(["crag", *map(str, crag_evaluate(server))], tmp_path, {}).returncode == 0
        assert server.count == 24  # the journal is there


def test_a_killed_writer_stops_nobody(tmp_path: Path) -> None:
    write(tmp_path / "turns.jsonl", many(6))
    with JudgeServer() as server:
        server.answers = 2
        process = start(tmp_path, *crag_evaluate(server, "--workers", "1", "--timeout", "3600"))
        wait_for(lambda: server.count >= 3, process)
        assert (tmp_path / ".out.lock").exists()
        process.kill()
        process.communicate(timeout=PATIENCE)
        server.release()
        last = start(tmp_path, *crag_evaluate(server))
        last.communicate(timeout=PATIENCE)
    assert last.returncode == 0
    assert not [file for file in tmp_path.iterdir() if file.name.startswith(".")]


@pytest.mark.parametrize("name", [["--run", "night-{n}"], []])
def test_runs_that_begin_at_once_have_names_of_their_own(name: list[str], tmp_path: Path) -> None:
    """All wait until the last one has imported everything, so that they look for a free name at the same time."""
    writers = 8
    write(tmp_path / "qa.jsonl", [{"qid": "1", "answer": "a", "reference": "a"}])
    code = (
        "import sys, ragmeter.cli.evaluate, ragmeter.engine.evaluation, ragmeter.engine.judging.rows\n"
        "from ragmeter.cli.main import main\n"
        "print('ready', flush=True); input(); sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", code, "evaluate", "--results", "qa.jsonl", "--metrics", "token_f1", *name]
    pipe = subprocess.PIPE
    processes = [
        subprocess.Popen(command, cwd=tmp_path, text=True, stdin=pipe, stdout=pipe, stderr=pipe) for _ in range(writers)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    errors = [process.communicate(timeout=4 * PATIENCE)[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * writers, errors
    names = [path.name for path in (tmp_path / "runs").iterdir()]
    assert len(names) == writers
    assert not any(name.startswith(".") for name in names)
