"""Workers and schedulers that are killed: nothing is lost, nothing is scored twice, and the bytes are the same."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from ragmeter import Evaluation, evaluate
from ragmeter.errors import WorkerError
from tests.command import PATIENCE, wait_for
from tests.in_parts import in_parts

PARTS, ROWS = 140, 30
#: A metric that takes its time, and writes down which block it has scored.
MODULE = """
import os, pathlib, time
from ragmeter import metric

@metric(bounds=(0, 1e9))
def slow_length(answer):
    time.sleep(0.1)
    with open(os.environ["SLOW_LOG"], "a") as log:
        log.write(answer[0] + "\\n")
    return [float(len(text)) for text in answer]
"""


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data set of many small files, and the module of the metric where workers find it."""
    (tmp_path / "slow_metric.py").write_text(MODULE)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("SLOW_LOG", str(tmp_path / "log"))
    monkeypatch.syspath_prepend(str(tmp_path))
    folder = tmp_path / "data"
    folder.mkdir()
    for part in range(PARTS):
        rows = [{"qid": f"{part}-{n}", "answer": f"a{part} " * (n % 7 + 1), "reference": "a"} for n in range(ROWS)]
        (folder / f"{part:03}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def committed(folder: Path) -> int:
    """How many parts are in place."""
    return len(list(folder.glob(".killed.parts-*/rows/part-*.parquet")))


def files(evaluation: Evaluation) -> dict[str, bytes]:
    assert evaluation.folder is not None
    folder = evaluation.folder.path
    summary = (folder / "summary.json").read_text().replace(f'"{folder.name}"', '""')
    return {"summary": summary.encode(), **{path.name: path.read_bytes() for path in (folder / "rows").iterdir()}}


def worker_processes(known: set[psutil.Process]) -> list[psutil.Process]:
    """The processes that work for this one, and the one that forks them; `known` ones may have lost that."""
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if re.search(r"spawn_main|multiprocessing\.forkserver", " ".join(process.cmdline())):
                known.add(process)
    return [process for process in known if process.is_running() and process.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.slow
def test_fifty_workers_are_killed(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    metrics = "slow_metric:slow_length,exact_match"
    expected = files(in_parts(data, metrics=metrics, run="threads", output_dir=tmp_path))
    (tmp_path / "log").unlink()
    kills = 0
    over = threading.Event()
    known: set[psutil.Process] = set()

    def kill() -> None:
        nonlocal kills
        draws = random.Random(0)
        while kills < 50 and not over.wait(draws.random() * 0.1):
            before = committed(tmp_path)
            with suppress(psutil.Error):
                if processes := worker_processes(known):
                    draws.choice(processes).kill()
                    kills += 1
            while committed(tmp_path) == before and not over.wait(0.02):  # one part at least between two kills
                pass

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        killed = in_parts(data, metrics=metrics, run="killed", output_dir=tmp_path, engine="local:3")
    finally:
        over.set()
        killer.join()
    twice = len((tmp_path / "log").read_text().splitlines()) - PARTS
    differ = sum(content != expected.get(name) for name, content in files(killed).items())
    lost = PARTS * ROWS - killed.rows.num_rows
    with capsys.disabled():
        print(f"\nkills {kills}, parts {PARTS}, done twice {twice}, rows lost {lost}, files that differ {differ}")
    assert (lost, differ, kills) == (0, 0, 50)


@contextmanager
def scheduler(folder: Path, name: str, path: str | None = None) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A scheduler with two workers, as somebody else has started them; `path` is where workers find modules."""
    python = [sys.executable, "-m", "distributed.cli."]
    log = folder / f"{name}.log"
    with log.open("w") as stream:
        start: dict[str, Any] = {"cwd": folder, "stderr": stream, "stdout": stream, "text": True}
        options = ["--port", "0", "--no-dashboard", "--host", "127.0.0.1"]
        main: Any = subprocess.Popen([*python[:-1], "distributed.cli.dask_scheduler", *options], **start)
        wait_for(lambda: re.search(r"Scheduler at: +(tcp://\S+)", log.read_text()), main)
        match = re.search(r"Scheduler at: +(tcp://\S+)", log.read_text())
        assert match is not None
        command = [*python[:-1], "distributed.cli.dask_worker", match[1], "--nthreads", "1", "--nworkers", "2"]
        start["env"] = os.environ if path is None else {**os.environ, "PYTHONPATH": path}
        workers: Any = subprocess.Popen([*command, "--no-dashboard"], **start)
        try:
            yield main, match[1]
        finally:
            for process in (workers, main):
                process.terminate()
                process.wait(PATIENCE)


@pytest.mark.slow
def test_the_scheduler_is_killed_and_the_command_started_again(data: Path, tmp_path: Path) -> None:
    def command(address: str) -> subprocess.Popen[str]:
        arguments = ["--results", str(data), "--metrics", "slow_metric:slow_length", "--run", "killed"]
        place = ["--output-dir", str(tmp_path), "--engine", address]
        return subprocess.Popen(
            [sys.executable, "-m", "ragmeter", "evaluate", *arguments, *place],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        )  # fmt: skip

    with scheduler(tmp_path, "first") as (process, address):
        first = command(address)
        wait_for(lambda: committed(tmp_path) >= 10, first)
        process.kill()
        _, said = first.communicate(timeout=PATIENCE)
    assert first.returncode == 2
    assert "scheduler is lost" in said
    assert "Traceback" not in said
    before = committed(tmp_path)
    assert 10 <= before < PARTS
    with scheduler(tmp_path, "second") as (_, address):
        second = command(address)
        _, said = second.communicate(timeout=PATIENCE)
    assert second.returncode == 0, said
    log = [json.loads(line) for line in (tmp_path / "killed" / "parts.jsonl").read_text().splitlines()]
    assert sum("was_there" in entry for entry in log) >= before
    assert sum(entry["rows"] for entry in log) == PARTS * ROWS
    scored = (tmp_path / "log").read_text().splitlines()
    assert len(scored) <= PARTS + 4, "only parts that were under way when the scheduler was killed are done twice"


@pytest.mark.slow
def test_one_two_and_three_workers(data: Path, tmp_path: Path) -> None:
    runs = [
        files(in_parts(data, metrics="token_f1,edit_distance", run=name, output_dir=tmp_path, engine=engine))
        for name, engine in (("a", "threads"), ("b", "local:1"), ("c", "local:2"), ("d", "local:3"))
    ]
    assert all(run == runs[0] for run in runs)


@pytest.mark.slow
def test_workers_without_the_package_are_refused(data: Path, tmp_path: Path) -> None:
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "ragmeter.py").write_text("raise ModuleNotFoundError(\"No module named 'ragmeter'\")\n")
    with (
        scheduler(tmp_path, "bare", str(tmp_path / "hidden")) as (_, address),
        pytest.raises(WorkerError, match=r"can't do the work: .*No module named 'ragmeter'"),
    ):
        evaluate(data, metrics="token_f1", run="killed", output_dir=tmp_path, engine=address)
    assert committed(tmp_path) == 0
