"""The command in this process: what a process of its own would print, write and return, without the start of one.

And, where a process is what is tested, ways to wait for what it does.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import io
import os
import select
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from subprocess import CompletedProcess, Popen
from typing import Any, NoReturn, TextIO
from unittest import mock

#: Seconds that a test waits for what must come: no measure of speed, but an end where it never does.
PATIENCE = 300.0


def call(arguments: Sequence[str], folder: Path, environment: dict[str, str]) -> CompletedProcess[str]:
    """Call the command's main() in a folder, and put everything back that it may have changed."""
    from ragmeter.cli.main import main
    from ragmeter.definition import METRICS

    _prepare()
    with _streams() as (out, err), _place(folder, environment), _python_defaults(folder), mock.patch.dict(METRICS):
        try:
            code: object = main(list(arguments))
        except SystemExit as end:  # argparse ends so, with --help for one
            code = end.code
        except BaseException:  # as Python itself would end
            traceback.print_exc(file=sys.stderr)
            code = 1
        returncode = code if isinstance(code, int) else int(code is not None)
        return CompletedProcess(arguments, returncode, _read(out), _read(err))


@functools.cache
def _prepare() -> None:
    """Load once what stays for all calls: the built-in metrics, and pandas, which Arrow looks for only once."""
    import pyarrow

    from ragmeter.registry import known

    known()
    pyarrow.array([0])


@contextlib.contextmanager
def _streams() -> Iterator[tuple[TextIO, TextIO]]:
    """Files in the place of the standard streams: they are no terminal, and have a number that can be redirected."""
    with contextlib.ExitStack() as stack:
        out, err = (stack.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n")) for _ in range(2))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        stdin = stack.enter_context(Path(os.devnull).open(encoding="utf-8"))
        stack.enter_context(mock.patch.object(sys, "stdin", stdin))
        yield out, err


def _read(stream: TextIO) -> str:
    stream.flush()
    with contextlib.suppress(io.UnsupportedOperation, OSError):  # the command may have sent it to nowhere
        stream.seek(0)
    return stream.read()


@contextlib.contextmanager
def _place(folder: Path, environment: dict[str, str]) -> Iterator[None]:
    """The folder and the environment; an interruption that would end this process ends the command only."""

    def leave(code: int) -> NoReturn:
        raise SystemExit(code)

    handler = signal.getsignal(signal.SIGINT)
    with mock.patch.dict(os.environ, environment), contextlib.chdir(folder), mock.patch.object(os, "_exit", leave):
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, handler)


@contextlib.contextmanager
def _python_defaults(folder: Path) -> Iterator[None]:
    """Imports and warnings as in a new interpreter: nothing of the user's is imported yet, or stays."""

    def show(message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: object) -> None:
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno))

    path, finders = sys.path[:], sys.meta_path[:]
    with warnings.catch_warnings(), mock.patch.object(sys, "dont_write_bytecode", True), own_modules(folder):
        warnings.resetwarnings()
        for category in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)
        warnings.showwarning = show  # type: ignore[assignment]
        given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        sys.path[:0] = [str(folder), *filter(None, given)]
        importlib.invalidate_caches()
        try:
            yield
        finally:
            sys.path[:], sys.meta_path[:] = path, finders


@contextlib.contextmanager
def own_modules(folder: Path) -> Iterator[None]:
    """Modules of the user's that are imported meanwhile are forgotten: another test may have some of the same name."""
    known = set(sys.modules)
    try:
        yield
    finally:
        for name in set(sys.modules) - known:
            if _is_of(sys.modules[name], folder):
                del sys.modules[name]


def _is_of(module: object, folder: Path) -> bool:
    """Whether a module is the user's: a file in the folder, or a package without one that is."""
    places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
    return any(place is not None and Path(place).is_relative_to(folder) for place in places)


def wait_for(condition: Callable[[], object], process: Popen[Any]) -> None:
    """Until it holds; the process must live so long."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def interrupt(process: Popen[Any]) -> str:
    """Ctrl-C, until the command says that it has heard it; gives back what it said."""
    assert process.stderr is not None
    process.send_signal(signal.SIGINT)
    said = b""
    while b"press Ctrl-C again" not in said:
        assert select.select([process.stderr], [], [], PATIENCE)[0], said
        part = os.read(process.stderr.fileno(), 65536)
        assert part, said
        said += part
    return said.decode()
