"""What a run under way says of itself."""

from __future__ import annotations

import ctypes
import json
import os
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from ragmeter import ask, evaluate
from ragmeter.app.watching import live
from ragmeter.cli.commands import COMMANDS
from ragmeter.documents.status import Exchange, RunUnderWay
from ragmeter.runs import status as status_module
from ragmeter.runs.status import Status, under_way


def test_only_while_it_is_under_way(tmp_path: Path) -> None:
    with Status(tmp_path / "r", "asking questions", 10, lambda: 0.25) as status:
        status.answered("Q?", "A" * 1_000)
        status.failed("timeout")
        status.failed("timeout")
        for is_right in (True, True, False, True):
            status.judged(is_right=is_right)
        status.advance(3)
        status._write()
        (state,) = under_way(tmp_path)
        assert (state.run, state.done, state.total, state.cost_usd) == ("r", 3, 10, 0.25)
        assert (state.failures, state.right) == ({"timeout": 2}, 0.75)
        assert state.latest == [Exchange("Q?", "A" * 300)]
        assert stat.S_IMODE((tmp_path / ".r.status").stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_was_killed_is_not_under_way(tmp_path: Path) -> None:
    with Status(tmp_path / "r", "asking questions", 10):
        path = tmp_path / ".r.status"
        state = json.loads(path.read_text())
        ended = subprocess.Popen([sys.executable, "-S", "-c", ""])
        ended.wait()
        path.write_text(json.dumps({**state, "pid": ended.pid}))
        assert under_way(tmp_path) == []


def test_files_that_are_no_status(tmp_path: Path) -> None:
    for number, content in enumerate(["", "{}", "[1]", '{"host": 1, "pid": "x"}', "[" * 5_000]):
        (tmp_path / f".{number}.status").write_text(content)
    assert under_way(tmp_path) == []


GOOD = {
    "run": "r", "what": "asking questions", "total": 3, "done": 1, "begun": 1.7e9, "failures": {"timeout": 1},
    "latest": [{"question": "q", "answer": "a"}], "cost_usd": 0.5, "host": socket.gethostname(), "pid": os.getpid(),
}  # fmt: skip


@pytest.mark.parametrize(
    "broken",
    [
        {"done": "many"}, {"done": None}, {"done": 10**400}, {"done": float("inf")}, {"total": "x"}, {"total": [1]},
        {"begun": None}, {"begun": float("nan")}, {"failures": [1]}, {"failures": {"a": "b"}}, {"failures": None},
        {"latest": 5}, {"latest": [{}]}, {"latest": ["x"]}, {"cost_usd": "a"}, {"cost_usd": 10**400}, {"pid": None},
        {"failures": {"a": 10**30}}, {"right": 2.0}, {"right": "x"},
    ],
    ids=repr,
)  # fmt: skip
def test_a_broken_status_is_none(broken: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / ".a.status").write_text(json.dumps({**GOOD, **broken}))
    (tmp_path / ".b.status").write_text(json.dumps({**GOOD, "run": "b"}))
    (state,) = under_way(tmp_path)
    assert '<bdi dir="auto">b</bdi>' in live([state])


def test_what_killed_processes_left_is_removed(tmp_path: Path) -> None:
    """By the next run of the folder; files of processes that are there, or of another machine, stay."""
    ended = subprocess.Popen([sys.executable, "-S", "-c", ""])
    ended.wait()
    states: dict[str, dict[str, Any]] = {
        "dead": {"pid": ended.pid},
        "alive": {},
        "elsewhere": {"pid": ended.pid, "host": "another"},
    }
    for name, changes in states.items():
        (tmp_path / f".{name}.status").write_text(json.dumps({**GOOD, **changes}))
    for name in (f".r.status.{ended.pid}.tmp", f".a.b.status.{ended.pid}.tmp", f".r.status.{os.getpid()}.tmp"):
        (tmp_path / name).write_text("{")
    (tmp_path / ".x.status.notes.tmp").write_text("mine")
    evaluate([{"answer": "a", "reference": "a"}], metrics="exact_match", run="new", output_dir=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [".alive.status", ".elsewhere.status", f".r.status.{os.getpid()}.tmp", ".x.status.notes.tmp", "new"]
    )


def test_what_could_not_be_written_whole_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(state: Any) -> str:
        raise OSError("no space left on device")

    monkeypatch.setattr(status_module, "dumps", full)
    with Status(tmp_path / "r", "asking questions", 1):
        assert list(tmp_path.iterdir()) == []


def test_a_folder_that_can_not_be_written_stops_nothing(tmp_path: Path) -> None:
    with Status(tmp_path / "nowhere" / "r", "asking questions", 1) as status:
        status.advance(1)
    assert list(tmp_path.iterdir()) == []


def test_ask_says_how_far_it_is(tmp_path: Path) -> None:
    states: list[RunUnderWay] = []
    first = threading.Event()

    def system(question: str) -> str:
        if question == "q5":
            first.wait(60)
            states.extend(under_way(tmp_path))
            raise ValueError("no idea")
        first.set()
        return f"answer to {question}"

    data = [{"qid": str(i), "question": f"q{i}", "reference": "x"} for i in range(6)]
    ask(data, system, metrics="token_f1", run="live", output_dir=tmp_path, workers=1, retries=0, allow_failures=True)
    assert [state.run for state in states] == ["live"]
    assert (states[0].what, states[0].total) == ("asking questions", 6)
    assert under_way(tmp_path) == []


class WatchedAgent:
    """Answers the first two turns of each conversation, and looks at what is said of it meanwhile."""

    folder = Path()
    states: ClassVar[list[RunUnderWay]] = []

    def get_batch_size(self) -> int:
        return 1

    def batch_generate_response(self, queries: list[str], images: list[Any], histories: list[Any]) -> list[str]:
        self.states.extend(under_way(self.folder))
        if len(histories[0]) == 4:
            raise ValueError("no idea")
        return [f"answer to {query}" for query in queries]


def test_an_agent_that_is_asked_is_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status_module, "_PAUSE", 0)
    monkeypatch.setattr(WatchedAgent, "folder", tmp_path)
    agent, output = f"{__name__}:{WatchedAgent.__name__}", str(tmp_path / "turns.jsonl")
    dataset = str(Path(__file__).parents[2] / "examples" / "conversations.jsonl")
    arguments = ["--dataset", dataset, "--agent", agent, "--output", output, "--retries", "0", "--no-images"]
    COMMANDS["crag generate"].call(arguments)
    state = WatchedAgent.states[-1]
    assert (state.run, state.what, state.done) == ("turns.jsonl", "asking an agent", 5)
    assert state.failures == {"target_error": 1}
    assert state.latest[0].answer == "answer to Who painted the Mona Lisa?"
    assert under_way(tmp_path) == []


@pytest.mark.parametrize(
    ("handle", "state", "error", "alive"), [(7, 0x102, 0, True), (7, 0, 0, False), (0, 0, 5, True), (0, 0, 87, False)]
)
def test_on_windows_a_process_is_asked_for_and_never_signalled(
    monkeypatch: pytest.MonkeyPatch, handle: int, state: int, error: int, alive: bool
) -> None:
    """Signal 0 is Ctrl-C there."""
    closed: list[int] = []
    kernel = SimpleNamespace(
        OpenProcess=lambda access, inherit, pid: handle,
        WaitForSingleObject=lambda handle, milliseconds: state,
        GetLastError=lambda: error,
        CloseHandle=closed.append,
    )
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=kernel), raising=False)
    refused = SimpleNamespace(name="nt", kill=lambda pid, number: pytest.fail("a signal was sent"))
    monkeypatch.setattr(status_module, "os", refused)
    assert status_module._is_alive(4711) is alive
    assert closed == ([7] if handle else [])
