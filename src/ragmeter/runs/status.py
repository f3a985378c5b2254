"""What a run under way has done so far, for those who look on: a small file beside the runs, written once in a while.

A process that is killed leaves its file; whoever reads it sees that the process is gone.
"""

from __future__ import annotations

import json
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

from ragmeter.effects.caller import Failure
from ragmeter.io.write import dumps

_PREFIX, _SUFFIX = ".", ".status"
#: Seconds between two writes: looking on must not slow a run down.
_PAUSE = 0.5
_LATEST, _LONGEST = 5, 300
#: A status that was being written, and by which process.
_UNFINISHED = re.compile(r"\..+\.status\.(\d{1,9})\.tmp", re.DOTALL)
#: More characters has no status file of ours, and no number in it is as large.
_LONGEST_FILE, _TOO_LARGE = 1 << 16, 1e15


class Status:
    """The progress of one run. `what` is being done, for `total` rows; `cost` says how many dollars were spent."""

    def __init__(self, run: Path, what: str, total: int | None, cost: Callable[[], float] = lambda: 0.0) -> None:
        self._path = run.with_name(f"{_PREFIX}{run.name}{_SUFFIX}")
        self._cost = cost
        self._lock = Lock()
        self._failures: Counter[str] = Counter()
        self._latest: deque[dict[str, str]] = deque(maxlen=_LATEST)
        self._done = 0
        self._about = {"run": run.name, "what": what, "total": total, "begun": time.time(), "pid": os.getpid()}
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
        self._latest.append({"question": question[:_LONGEST], "answer": answer[:_LONGEST]})

    def failed(self, cause: str) -> None:
        """The system has no answer to a question."""
        self._failures[cause] += 1

    def _write(self) -> None:
        """A status that can't be written is no reason to stop the run."""
        self._written = time.monotonic()
        state = {
            **self._about,
            "done": self._done,
            "failures": dict(self._failures),
            "latest": list(self._latest),
            "cost_usd": self._cost(),
            "host": socket.gethostname(),
        }
        temporary = self._path.with_name(f"{self._path.name}.{os.getpid()}.tmp")
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(dumps(state))
            temporary.replace(self._path)
        except (OSError, UnicodeEncodeError):
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def under_way(folder: Path) -> list[dict[str, Any]]:
    """The runs of a folder that a process of this machine is at work on."""
    states = (_read(path) for path in sorted(folder.glob(f"{_PREFIX}*{_SUFFIX}")))
    return [
        {name: state[name] for name in _FIELDS} for state in states if state is not None and _is_alive(state["pid"])
    ]


def _read(path: Path) -> dict[str, Any] | None:
    """What a process of this machine has written; None for a file that is gone, broken, or no status of ours."""
    try:
        with path.open(encoding="utf-8") as file:
            state = json.loads(file.read(_LONGEST_FILE))
        read = {name: kind(state[name]) for name, kind in _FIELDS.items()}
        numbers = (read["begun"], read["cost_usd"], read["done"], read["total"] or 0, *read["failures"].values())
        are_good = all(abs(number) < _TOO_LARGE for number in numbers)  # NaN is not less than anything
        if state["host"] != socket.gethostname() or not are_good:
            return None
        return {**read, "pid": int(state["pid"])}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError):
        return None


def _failures(value: Any) -> dict[str, int]:
    return {str(cause): int(count) for cause, count in value.items()}


def _latest(value: Any) -> list[dict[str, str]]:
    return [{name: str(pair[name]) for name in ("question", "answer")} for pair in value]


#: The fields of a status, and what makes a value of the right kind of each.
_FIELDS: dict[str, Callable[[Any], Any]] = {
    "run": str,
    "what": str,
    "total": lambda value: None if value is None else int(value),
    "done": int,
    "begun": float,
    "failures": _failures,
    "latest": _latest,
    "cost_usd": float,
}


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
    return state is not None and not _is_alive(state["pid"])


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
