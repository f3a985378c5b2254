"""SIGTERM and SIGHUP end a command that pays as Ctrl-C does: what is under way is finished and recorded."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser import missing
from tests.command import PATIENCE, wait_for
from tests.hostile.paying import COMMANDS, CountingServer

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals as POSIX has them")
NO_BROWSER = pytest.mark.skipif(bool(missing()), reason=missing() or "there is one")
HEARD = b"finishing the calls under way"
ROWS = 24


@pytest.fixture(autouse=True)
def _hangups_are_heard() -> Iterator[None]:
    """Under nohup SIGHUP is ignored, and what is started inherits that."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


def hear(process: subprocess.Popen[str]) -> None:
    """Until the command says that it has heard a signal."""
    assert process.stderr is not None
    shown = b""
    while HEARD not in shown:
        assert select.select([process.stderr], [], [], PATIENCE)[0], shown
        part = os.read(process.stderr.fileno(), 65536)
        assert part, shown
        shown += part


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("evaluate", signal.SIGTERM),
        ("crag evaluate", signal.SIGHUP),
        ("crag generate", signal.SIGTERM),
        ("ask", signal.SIGHUP),
        pytest.param("web", signal.SIGTERM, marks=[NO_BROWSER, pytest.mark.slow]),
    ],
)
def test_calls_under_way_are_finished_and_recorded(tmp_path: Path, name: str, number: int) -> None:
    command = COMMANDS[name]
    command.prepare(tmp_path, ROWS)
    with CountingServer() as server:
        server.answers = 6
        process = command.start(tmp_path, server)
        wait_for(lambda: server.unanswered, process)
        os.killpg(process.pid, number)  # to all of its processes, as a terminal or a service manager does
        hear(process)
        server.release()
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 128 + number
        assert "run the same command again to continue" in err
        assert "Traceback" not in err
        assert len(server.asked) == len(command.recorded(tmp_path)) < ROWS  # nothing was lost
        assert command.numbers(tmp_path) is None
        process = command.start(tmp_path, server)
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, err
        assert sorted(server.asked) == sorted(f"q{row}" for row in range(ROWS))  # each of them once


def test_the_second_signal_ends_at_once(tmp_path: Path) -> None:
    command = COMMANDS["evaluate"]
    command.prepare(tmp_path, ROWS)
    with CountingServer() as server:
        server.answers = 6
        process = command.start(tmp_path, server)
        wait_for(lambda: server.unanswered, process)
        process.send_signal(signal.SIGTERM)
        hear(process)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)  # no call that is under way gets a reply
        assert process.returncode == 128 + signal.SIGTERM
        assert len(command.recorded(tmp_path)) == 6


def test_nothing_is_left_of_a_command_that_was_terminated_while_it_wrote(tmp_path: Path) -> None:
    """A pipe that nobody writes to keeps it reading."""
    os.mkfifo(tmp_path / "rows.jsonl")
    process = subprocess.Popen(
        [sys.executable, "-m", "ragmeter", "evaluate", "--results", "rows.jsonl", "--metrics", "exact_match"],
        cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    with (tmp_path / "rows.jsonl").open("w"):  # returns when it reads
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (143, "ragmeter: interrupted; nothing was written\n")
    assert [path.name for path in tmp_path.rglob("*")] == ["rows.jsonl"]


def test_a_terminal_that_is_closed(tmp_path: Path) -> None:
    """Its processes get SIGHUP, and can't write to it any more: the calls under way are finished all the same."""
    import pty

    command = COMMANDS["evaluate"]
    command.prepare(tmp_path, ROWS)
    with CountingServer() as server:
        server.answers = 6
        arguments = [sys.executable, "-m", "ragmeter", *command.arguments(server)]
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(tmp_path)
            os.environ["OPENAI_API_KEY"] = "k"
            os.execv(sys.executable, arguments)  # noqa: S606 - our own
        shown = b""
        while not server.unanswered:
            if select.select([terminal], [], [], 0.05)[0]:
                shown += os.read(terminal, 65536)
        os.close(terminal)
        server.loop.call_soon_threadsafe(server.loop.call_later, 1.0, server.release)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 128 + signal.SIGHUP, shown
        assert len(server.asked) == len(command.recorded(tmp_path)) < ROWS


_LATE = """
import os, signal, sys
from ragmeter.show import terminal

def interrupted(*arguments):
    os.kill(os.getpid(), signal.SIGINT)
    raise AssertionError("the signal is heard before")

terminal.asked = interrupted
from ragmeter.cli.main import main
main(sys.argv[1:])
"""


def ask_in_a_process(folder: Path, beginning: list[str], *more: str) -> subprocess.CompletedProcess[str]:
    """Ask one question of a system that counts its questions in a file."""
    (folder / "rag.py").write_text(
        "def answer(question):\n    with open('asked', 'a') as file:\n        file.write('x')\n    return 'Paris'\n"
    )
    (folder / "qa.csv").write_text("question,reference\nq,Paris\n")
    command = ["ask", "--dataset", "qa.csv", "--target", "rag:answer", "--metrics", "exact_match", "--run", "r", *more]
    arguments = [sys.executable, *beginning, *command]
    return subprocess.run(arguments, cwd=folder, text=True, capture_output=True, timeout=PATIENCE)


def test_an_interruption_after_the_run_is_complete_says_so(tmp_path: Path) -> None:
    process = ask_in_a_process(tmp_path, ["-c", _LATE], "--output", "results.json")
    end = "ragmeter: interrupted; already complete: runs/r, results.json\n  `ragmeter summary runs/r` shows it\n"
    assert (process.returncode, process.stderr) == (130, end)


_WRITING = """
import os, signal, sys
from ragmeter.runs import places

def moved_in(path, move=places._move_in):
    if (path / places.REPLACING).is_dir():
        os.kill(os.getpid(), signal.SIGINT)
    move(path)

places._move_in = moved_in
from ragmeter.cli.main import main
main(sys.argv[1:])
"""


def test_an_interruption_while_the_run_gets_its_place_leaves_it_finished(tmp_path: Path) -> None:
    """The next run of that name asks the system anew, as after any run that is complete."""
    beginnings = ["-m", "ragmeter"], ["-c", _WRITING], ["-m", "ragmeter"]
    assert [ask_in_a_process(tmp_path, beginning).returncode for beginning in beginnings] == [0, 130, 0]
    assert (tmp_path / "asked").read_text() == "xxx"
