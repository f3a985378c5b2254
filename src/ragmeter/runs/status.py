"""What a run under way has done so far, for those who look on: a small file beside the runs, written once in a while.

A process that is killed leaves its file; whoever reads it sees that the process is gone.
"""

from __future__ import annotations

import os
import re
import socket
import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any, Self

import msgspec
from msgspec import structs

from ragmeter.documents.status import Exchange, RunUnderWay
from ragmeter.effects.limits.caller import Failure
from ragmeter.io.write import dumps

_PREFIX, _SUFFIX = ".", ".status"
#: Seconds between two writes: looking on must not slow a run down.
_PAUSE = 0.5
_LATEST, _LONGEST = 5, 300
#: A status that was being written, and by which process.
_UNFINISHED = re.compile(r"\..+\.status\.(\d{1,9})\.tmp", re.DOTALL)
#: More bytes has no status file of ours.
_LONGEST_FILE = 1 << 16


class Status:
    """The progress of one run. `what` is being done, for `total` rows; `cost` says how many dollars were spent."""

    def __init__(self, run: Path, what: str, total: int | None, cost: Callable[[], float] = lambda: 0.0) -> None:
        self._path = run.with_name(f"{_PREFIX}{run.name}{_SUFFIX}")
        self._cost = cost
        self._lock = Lock()
        self._failures: Counter[str] = Counter()
        self._latest: deque[Exchange] = deque(maxlen=_LATEST)
        self._done = self._right = self._judged = 0
        self._about = RunUnderWay(run.name, what, total, time.time(), os.getpid(), 0, {}, [], 0.0, socket.gethostname())
        self._written = 0.0

    def __enter__(self) -> Self:
        self._write()
        return self

    def __exit__(self, *failure: object) -> None:
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def advance(self, rows: int) -> None:
        """Count rows that are done, and write the file now and then."""
        with self._lock:
            self._done += rows
        if time.monotonic() - self._written >= _PAUSE:
            self._write()

    def heard(self, question: str, reply: str | Failure) -> None:
        """A question has its answer, or why there is none."""
        if isinstance(reply, Failure):
            self.failed(reply.outcome)
        else:
            self.answered(question, reply)

    def answered(self, question: str, answer: str) -> None:
        """The system has answered a question."""
        self._latest.append(Exchange(question[:_LONGEST], answer[:_LONGEST]))

    def judged(self, *, is_right: bool) -> None:
        """A judge has a verdict on an answer."""
        self._right += is_right
        self._judged += 1

    def failed(self, cause: str) -> None:
        """The system has no answer to a question."""
        self._failures[cause] += 1

    def _write(self) -> None:
        """A status that can't be written is no reason to stop the run."""
        self._written = time.monotonic()
        state = structs.replace(
            self._about,
            done=self._done,
            failures=dict(self._failures),
            latest=list(self._latest),
            cost_usd=self._cost(),
            right=self._right / self._judged if self._judged else None,
        )
        temporary = self._path.with_name(f"{self._path.name}.{os.getpid()}.tmp")
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(dumps(state))
            temporary.replace(self._path)
        except (OSError, UnicodeEncodeError):
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def under_way(folder: Path) -> list[RunUnderWay]:
    """The runs of a folder that a process of this machine is at work on."""
    states = (_read(path) for path in sorted(folder.glob(f"{_PREFIX}*{_SUFFIX}")))
    return [state for state in states if state is not None and _is_alive(state.pid)]


def _read(path: Path) -> RunUnderWay | None:
    """What a process of this machine has written; None for a file that is gone, broken, or no status of ours."""
    try:
        with path.open("rb") as file:
            state = msgspec.json.decode(file.read(_LONGEST_FILE), type=RunUnderWay)
    except (OSError, ValueError, RecursionError):
        return None
    return state if state.host == socket.gethostname() else None


def clear_statuses(folder: Path) -> None:
    """Remove what killed processes of this machine have left in a folder of runs."""
    for path in folder.glob(f"{_PREFIX}*{_SUFFIX}*"):
        if _is_left(path):
            with suppress(OSError):
                path.unlink()


def _is_left(path: Path) -> bool:
    if unfinished := _UNFINISHED.fullmatch(path.name):
        return path.is_file() and not _is_alive(int(unfinished[1]))
    state = _read(path) if path.suffix == _SUFFIX else None
    return state is not None and not _is_alive(state.pid)


def _is_alive(pid: int) -> bool:
    if os.name == "nt":
        return _is_alive_on_windows(pid)
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True


def _is_alive_on_windows(pid: int) -> bool:
    """Ask for a handle and its state: there os.kill(pid, 0) does not ask, it sends Ctrl-C."""
    import ctypes

    synchronize, timed_out, denied = 0x00100000, 0x102, 5
    kernel: Any = getattr(ctypes, "windll").kernel32  # noqa: B009 - mypy knows it on Windows alone
    handle = kernel.OpenProcess(synchronize, False, pid)
    if not handle:
        return bool(kernel.GetLastError() == denied)  # it is there, and another user's
    try:
        return bool(kernel.WaitForSingleObject(handle, 0) == timed_out)  # a process that has ended is signalled
    finally:
        kernel.CloseHandle(handle)
