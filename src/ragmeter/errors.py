"""Everything that ragmeter raises on purpose.

    RagmeterError
    ├── InputError            a file or a frame that can't be read as it stands
    │   └── ColumnError       a column is missing, or two could be meant
    ├── UsageError            the call is at fault, not the data
    │   └── UnknownNameError  no such metric, evaluator or language (says what was perhaps meant)
    ├── OutputError           a file or a folder can't be written
    ├── BusyError             another process is at work on the same run
    ├── EndpointError         a server can't be used as it was named: a wrong key, model or address
    ├── WorkerError           a worker process was killed or crashed; nothing was written
    ├── Interrupted           Ctrl-C; what was paid for is kept
    └── MissingExtraError     an optional dependency is not installed (names the command that installs it)

    RagmeterWarning           a call that works, and is probably not what was meant

Each one carries what a person needs to mend it: where it happened, what was found, and what to do.
The command line prints it in one piece and leaves with `exit_code`. What it says of parameters it says to the caller:
keywords in Python, flags on the command line (`ragmeter.hints`).
"""

from __future__ import annotations

import difflib
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ragmeter.hints import by_caller, for_command_line, for_python


class RagmeterError(Exception):
    """The root of the tree. `hint` says what to do about it."""

    exit_code = 2

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(for_python(message))
        self._written = f"{message}\n  {hint}" if hint else message
        self.message = for_python(message)
        self.hint = for_python(hint)

    def __str__(self) -> str:
        return for_python(self._written)

    def for_command_line(self) -> str:
        """The same, with flags in place of keywords."""
        return for_command_line(self._written)

    def __reduce__(self) -> tuple[Any, ...]:
        """An error of a worker process arrives as it was raised, whatever its class is made from."""
        return _arrived, (type(self), self.args, vars(self))


def _arrived(kind: type[RagmeterError], args: tuple[Any, ...], state: dict[str, Any]) -> RagmeterError:
    error = kind.__new__(kind, *args)
    vars(error).update(state)
    return error


class InputError(RagmeterError):
    """A file or a frame that can't be read as it stands."""

    def __init__(self, message: str, *, file: str = "", line: int | None = None, hint: str = "") -> None:
        place = f"{file}, line {line}" if file and line is not None else file
        super().__init__(f"{place}: {message}" if place else message, hint=hint)
        self.file = file
        self.line = line


class ColumnError(InputError):
    """A column is missing, or two could be meant."""


class UsageError(RagmeterError):
    """The call is at fault, not the data."""


class UnknownNameError(UsageError):
    """No such metric, evaluator or language."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *, hint: str = "") -> None:
        close = did_you_mean(name, known)
        super().__init__(f"unknown {kind} {name!r}{close}", hint=hint)
        self.name = name


class OutputError(RagmeterError):
    """A file or a folder can't be written."""


class BusyError(RagmeterError):
    """Another process is at work on the same run."""


class EndpointError(RagmeterError):
    """A server can't be used as it was named."""


class WorkerError(RagmeterError):
    """A worker process was killed or crashed."""


class Interrupted(RagmeterError):
    """Ctrl-C. What was paid for is kept."""

    exit_code = 130

    def __init__(self) -> None:
        again = by_caller("run the same command again", "make the same call again")
        super().__init__("stopped", hint=f"what was answered is kept: {again} to go on from there")


class MissingExtraError(RagmeterError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str = "", *, package: str = "") -> None:
        """`extra` is one of ragmeter's own; `package` is a package that no extra brings."""
        command = f"pip install {package}" if package else f"pip install 'ragmeter[{extra}]'"
        super().__init__(f"{what} needs an optional package", hint=f"install it: {command}")


class RagmeterWarning(UserWarning):
    """A call that works, and is probably not what was meant. The command line prints it on standard error."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The nearest known names as the end of a sentence, or nothing."""
    by_fold = {candidate.casefold(): candidate for candidate in known}
    close = difflib.get_close_matches(name.casefold(), by_fold, n=3, cutoff=0.6)
    return f": did you mean {', '.join(by_fold[c] for c in close)}?" if close else ""


@contextmanager
def errors_of(what: str) -> Iterator[None]:
    """Turn an exception of the user's own code into one line that says what failed, how and where."""
    try:
        yield
    except RagmeterError:
        raise
    except Exception as error:
        raise UsageError(f"{what} failed with {describe(error)}") from error


def describe(error: BaseException) -> str:
    """An exception of the user's own code in one line: what it is, what it says, and where it was raised."""
    try:
        words = str(error)
    except Exception:  # an exception whose own words fail
        words = "?"
    said = " ".join(f"{type(error).__name__}: {words}".split())[:300]
    frames = traceback.extract_tb(error.__traceback__)
    return f"{said} ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else said
