"""The errors that ragmeter raises.

    RagmeterError
    ├── InputError            a file or a data frame can't be read
    │   └── ColumnError       a column is missing or ambiguous
    ├── UsageError            a wrong call or option, not wrong data
    │   ├── UnknownNameError  no such metric, evaluator or language (suggests similar names)
    │   └── RunExistsError    a run of this name has replies that were paid for, and would be replaced
    ├── OutputError           a file or a folder can't be written
    ├── BusyError             another process works on the same run
    ├── EndpointError         a server refuses the key, the model or the address, or nothing works for too long
    ├── AllFailedError        no question was answered, or no row has a score
    ├── WorkerError           a worker process was killed or crashed; nothing was written
    ├── Interrupted           Ctrl-C, SIGTERM or SIGHUP; answers so far are in the journal
    └── MissingExtraError     an optional dependency is not installed (names the command that installs it)

    RagmeterWarning           a call that works, but probably not as intended

Each error says where it happened, what is wrong, and what to do. The command line prints it and exits with `exit_code`.
Parameters are named for the caller: keywords in Python, flags on the command line (`ragmeter.hints`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any, Self

from ragmeter.hints import by_caller, for_command_line, for_python, install_command


class RagmeterError(Exception):
    """The base class of all errors. `hint` says what to do."""

    exit_code = 2

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(for_python(message))
        self._written = f"{message}\n  {hint}" if hint else message
        self.message = for_python(message)
        self.hint = for_python(hint)

    def __str__(self) -> str:
        return for_python(self._written)

    def for_command_line(self) -> str:
        """The message with flags in place of keywords."""
        return for_command_line(self._written)

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors of worker processes can be unpickled, whatever the arguments of their class are."""
        return _arrived, (type(self), self.args, vars(self))


def _arrived(error_class: type[RagmeterError], args: tuple[Any, ...], state: dict[str, object]) -> RagmeterError:
    error = error_class.__new__(error_class, *args)
    vars(error).update(state)
    return error


class InputError(RagmeterError):
    """A file or a data frame can't be read. `row` counts rows from 1, where rows are no lines of a text."""

    def __init__(
        self, message: str, *, file: str = "", line: int | None = None, row: int | None = None, hint: str = ""
    ) -> None:
        place = _place(file, line, row)
        super().__init__(f"{place}: {message}" if place else message, hint=hint)
        self.place = place
        self.file = file
        self.line = line
        self.row = row

    def at(self, file: str, *, line: int | None = None, row: int | None = None) -> Self:
        """The same error, with another place."""
        moved, place = copy(self), _place(file, line, row)
        for name in ("message", "_written"):
            setattr(moved, name, place + getattr(self, name).removeprefix(self.place))
        moved.args = (moved.message,)
        moved.place, moved.file, moved.line, moved.row = place, file, line, row
        return moved


def _place(file: str, line: int | None, row: int | None) -> str:
    numbers = [f"{unit} {number}" for unit, number in (("line", line), ("row", row)) if number is not None]
    return ", ".join([file, *numbers]) if file else ""


class ColumnError(InputError):
    """A column is missing or ambiguous."""


class UsageError(RagmeterError):
    """A wrong call or option, not wrong data."""


class RunExistsError(UsageError):
    """A run of this name has replies that were paid for, or more answers, and would be replaced."""


class UnknownNameError(UsageError):
    """A metric, evaluator or language was named that does not exist."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *, hint: str = "") -> None:
        close = did_you_mean(name, known)
        super().__init__(f"unknown {kind} {name!r}{close}", hint=hint)
        self.name = name


class OutputError(RagmeterError):
    """A file or a folder can't be written."""


class BusyError(RagmeterError):
    """Another process works on the same run."""


class EndpointError(RagmeterError):
    """A server refuses the key, the model or the address, or no call succeeds for too long."""


class AllFailedError(RagmeterError):
    """Nothing succeeded: no question was answered, or no row has a score."""

    exit_code = 3


class WorkerError(RagmeterError):
    """A worker process was killed or crashed."""


class Interrupted(RagmeterError):
    """Ctrl-C, SIGTERM or SIGHUP. Answers so far are in the journal."""

    exit_code = 130

    def __init__(self, number: int = 2, what_stays: str = "answers so far are kept") -> None:
        """`number` is that of the signal; `what_stays` says what need not be done again."""
        self.exit_code = 128 + number
        repeat = by_caller("run the same command again", "make the same call again")
        super().__init__("stopped", hint=f"{what_stays}: {repeat} to continue")


class MissingExtraError(RagmeterError):
    """An optional dependency is not installed."""

    def __init__(self, feature: str, extra: str = "", *, package: str = "") -> None:
        """`extra` is one of ragmeter's extras; `package` is a package outside of them."""
        command = f"pip install {package}" if package else install_command(extra)
        super().__init__(f"{feature} needs an optional package", hint=f"install it: {command}")


class RagmeterWarning(UserWarning):
    """A call that works, but probably not as intended. The command line prints it on standard error."""

    def __init__(self, message: str = "") -> None:
        super().__init__(for_python(message))
        self._written = message

    def for_command_line(self) -> str:
        """The message with flags in place of keywords."""
        return for_command_line(self._written)


#: A name is not suggested if its similarity is lower than the best one's by more than this.
_FARTHER = 0.15


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """The most similar of `names` as the end of a sentence, or an empty text."""
    import difflib  # as traceback below: not for a command that goes well

    by_fold = {candidate.casefold(): candidate for candidate in names}
    folded = name.casefold()
    close = difflib.get_close_matches(folded, by_fold, n=3, cutoff=0.6)
    likeness = [difflib.SequenceMatcher(None, candidate, folded).ratio() for candidate in close]
    near = [by_fold[name] for name, ratio in zip(close, likeness, strict=True) if ratio > likeness[0] - _FARTHER]
    return f": did you mean {', '.join(near)}?" if near else ""


@contextmanager
def errors_of(caller: str) -> Iterator[None]:
    """Turn an exception of the user's code into a UsageError of one line: what failed, how and where."""
    try:
        yield
    except RagmeterError:
        raise
    except (Exception, SystemExit) as error:
        raise UsageError(f"{caller} failed with {describe(error)}") from error


def describe(error: BaseException) -> str:
    """An exception of the user's code in one line: its class, its message, and the user's line that led to it."""
    try:
        message = str(error)
    except Exception:  # its __str__ may fail
        message = "?"
    line = " ".join(f"{type(error).__name__}: {message}".split())[:300]
    places = [(file, number) for file, number in _places(error) if not _is_below(file, _OWN_FOLDER)]
    own = [place for place in places if not _is_library(place[0])]
    if not places:
        return line
    file, number = (own or places)[-1]
    return f"{line} ({os.path.basename(file)}, line {number})"  # noqa: PTH119 - it may be <stdin>


def is_refused_call(error: BaseException) -> bool:
    """Whether a function of the user's can't be called as it was: a TypeError, and none of its own lines ran."""
    places = _places(error)
    return isinstance(error, TypeError) and bool(places) and _is_below(places[-1][0], _OWN_FOLDER)


def refused_call(function: Any, name: str, given: str, error: BaseException) -> UsageError:
    """The error for a function that does not take what it is given: it names the function, and where that is."""
    import inspect

    code = getattr(inspect.unwrap(getattr(function, "__func__", function)), "__code__", None)
    where = f" ({os.path.basename(code.co_filename)}, line {code.co_firstlineno})" if code else ""  # noqa: PTH119
    return UsageError(f"{name}{where} can't be called with {given}: {error}")


def _places(error: BaseException) -> list[tuple[str, int]]:
    """The files and lines that an exception passed, the innermost last."""
    import traceback  # as difflib above: not for a command that goes well

    return [(frame.filename, frame.lineno or 0) for frame in traceback.extract_tb(error.__traceback__)]


_OWN_FOLDER = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - for comparing texts


def _is_library(file: str) -> bool:
    """Whether a file is of Python itself or of an installed package."""
    import sysconfig

    folders = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return file.startswith("<frozen ") or any(_is_below(file, folder) for folder in folders)


def _is_below(file: str, folder: str) -> bool:
    return file.startswith(folder + os.sep)


def not_importable(kind: str, name: str, module: str, error: Exception | None = None) -> UsageError:
    """The error for a metric or a scorer that the receiving process can't import."""
    place = "a script or a notebook (__main__)" if module in ("__main__", "__mp_main__") else f"the module {module}"
    reason = f" ({type(error).__name__}: {error})" if error else ""
    return UsageError(
        f"the {kind} {name} was declared in {place}, and another process can't import it from there{reason}",
        hint="declare it at the top level of a module, a .py file of its own, and import it from there",
    )
