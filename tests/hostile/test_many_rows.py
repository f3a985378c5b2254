"""The default way of many rows, by worker processes: Ctrl-C, kills, a full disk. Nothing is lost, and nobody stays."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.command import PATIENCE, wait_for

ROWS = 6_000
#: The command, to which few rows are many, and two cores too.
COMMAND = """
import sys
from ragmeter.engine import executors
from ragmeter.engine.parts import sources

executors._CORES = 1
sources.MANY_BYTES, sources.PART_BYTES = 1, 4_000
if {limit}:
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
from ragmeter.cli.main import main
sys.exit(main(sys.argv[1:]))
"""

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="signals and limits of Linux")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """One file, which is cut into some hundred parts."""
    path = tmp_path / "answers.jsonl"
    rows = ({"qid": str(n), "answer": f"It is {n % 7} of {n}", "reference": f"It is {n}"} for n in range(ROWS))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def start(data: Path, *options: str, limit: int = 0) -> subprocess.Popen[str]:
    """The command, in a session of its own."""
    arguments = [
        "evaluate",
        str(data),
        "--metrics",
        "token_f1",
        "exact_match",
        "--output-dir",
        str(data.parent / "runs"),
    ]
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND.format(limit=limit), *arguments, *options],
        cwd=data.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def finished(process: subprocess.Popen[str]) -> str:
    """What the command has said on standard error."""
    _, said = process.communicate(timeout=PATIENCE)
    return said


def parts(folder: Path) -> list[Path]:
    """The parts that are in place, of a run that is not complete."""
    return list(folder.glob("runs/.*/rows/part-*.parquet"))


def workers(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """The processes that the command has started, and those that these have."""
    with suppress(psutil.Error):
        return list(psutil.Process(process.pid).children(recursive=True))
    return []


def wait_until_gone(processes: Sequence[psutil.Process]) -> None:
    _, alive = psutil.wait_procs(processes, timeout=PATIENCE)
    assert not alive


def content(folder: Path) -> dict[str, Any]:
    """The files of a run that say what was computed."""
    names = [path.relative_to(folder) for path in folder.rglob("*.parquet")]
    summary = json.loads((folder / "summary.json").read_text()) | {"run": ""}
    return {"summary": summary, **{str(name): (folder / name).read_bytes() for name in names}}


@pytest.fixture
def expected(data: Path) -> dict[str, Any]:
    """What threads make of the rows."""
    process = start(data, "--run", "threads", "--engine", "threads")
    assert finished(process) == ""
    run = content(data.parent / "runs" / "threads")
    assert len(run) > 100
    return run


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_without_a_name_leaves_nothing(data: Path, number: int) -> None:
    process = start(data)
    wait_for(lambda: parts(data.parent), process)
    started = workers(process)
    assert started
    os.killpg(process.pid, signal.SIGINT) if number == signal.SIGINT else process.send_signal(number)
    assert finished(process) == "ragmeter: interrupted; nothing was written\n"
    assert process.returncode == 128 + number
    wait_until_gone(started)
    assert not list((data.parent / "runs").glob("*answers*/*"))
    assert not list((data.parent / "runs").glob(".*/*"))


def test_a_run_with_a_name_goes_on(data: Path, expected: dict[str, Any]) -> None:
    process = start(data, "--run", "mine")
    wait_for(lambda: parts(data.parent), process)
    started = workers(process)
    os.killpg(process.pid, signal.SIGINT)
    assert "parts that are done are kept" in finished(process)
    wait_until_gone(started)
    done = len(parts(data.parent))
    assert done

    process = start(data, "--run", "mine")
    wait_for(lambda: len(parts(data.parent)) > done, process)
    started = workers(process)
    process.kill()
    finished(process)
    wait_until_gone(started)

    assert finished(start(data, "--run", "mine")) == ""
    assert content(data.parent / "runs" / "mine") == expected
    log = [json.loads(line) for line in (data.parent / "runs" / "mine" / "parts.jsonl").read_text().splitlines()]
    assert sum("was_there" in entry for entry in log) > done
    assert sum(entry["rows"] for entry in log) == ROWS


def test_workers_that_are_killed(data: Path, expected: dict[str, Any]) -> None:
    process = start(data, "--run", "mine")
    for killed in range(1, 4):
        wait_for(lambda: len(parts(data.parent)) > 10 * killed, process)  # noqa: B023 - it is called here
        for worker in workers(process):
            with suppress(psutil.Error):
                if "forkserver" in " ".join(worker.cmdline()) and worker.parent() != psutil.Process(process.pid):
                    worker.kill()
    started = workers(process)
    assert finished(process) == ""
    wait_until_gone(started)
    assert content(data.parent / "runs" / "mine") == expected


def test_a_full_disk(data: Path) -> None:
    process = start(data, "--run", "mine", limit=2_000)
    said = finished(process)
    assert process.returncode == 2, said
    assert "Traceback" not in said
    assert "part-" in said or "mine" in said
    assert not (data.parent / "runs" / "mine").exists()
    assert not parts(data.parent)
