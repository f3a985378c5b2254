"""Signals that ask a process to end: Ctrl-C, SIGTERM (`kill`, a service manager), SIGHUP (the terminal was closed)."""

from __future__ import annotations

import os
import signal
import stat
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

_HANGUP = getattr(signal, "SIGHUP", None)  # Windows has none


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP: raised where Ctrl-C would raise KeyboardInterrupt."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def exit_code(stop: KeyboardInterrupt) -> int:
    """128 and the number of the signal, as shells have it: 130 after Ctrl-C."""
    return 128 + signal_of(stop)


def signal_of(stop: KeyboardInterrupt) -> int:
    """The number of the signal."""
    return int(getattr(stop, "number", signal.SIGINT))


def _terminate(number: int, frame: FrameType | None) -> None:
    _leave_lost_terminal()
    raise Terminated(number)


#: By signal, the handlers that may be replaced. Any other is the user's; and what is ignored, as SIGHUP is under
#: nohup, stays ignored.
_REPLACEABLE: dict[int, tuple[Any, ...]] = {
    signal.SIGINT: (signal.default_int_handler,),
    signal.SIGTERM: (signal.SIG_DFL, _terminate),
    **({} if _HANGUP is None else {_HANGUP: (signal.SIG_DFL, _terminate)}),
}


@contextmanager
def raising_terminated() -> Iterator[None]:
    """Have SIGTERM and SIGHUP raise `Terminated`, as Ctrl-C raises KeyboardInterrupt."""
    with _replaced({number: _terminate for number in _REPLACEABLE if number != signal.SIGINT}):
        yield


@contextmanager
def collecting() -> Iterator[list[int]]:
    """Collect the signals that ask to end, so that a second one interrupts nothing while the first is handled."""
    numbers: list[int] = []

    def collect(number: int, frame: FrameType | None) -> None:
        _leave_lost_terminal()
        numbers.append(number)

    with _replaced(dict.fromkeys(_REPLACEABLE, collect)):
        yield numbers


@contextmanager
def held_back() -> Iterator[None]:
    """Let what is begun here come to its end: a signal that asks to end is heard afterwards."""
    with collecting() as numbers:
        yield
    if numbers:
        raise KeyboardInterrupt if numbers[0] == signal.SIGINT else Terminated(numbers[0])


@contextmanager
def _replaced(handlers: Mapping[int, Callable[[int, FrameType | None], None]]) -> Iterator[None]:
    """Replace handlers for a while: only in the main thread, and only those that are replaceable."""
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for number, handler in handlers.items():
            if signal.getsignal(number) in _REPLACEABLE[number]:
                before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _leave_lost_terminal() -> None:
    """Send output nowhere if its terminal was closed: writing there would fail, in the middle of ending well."""
    for stream in (1, 2):
        try:
            if stat.S_ISCHR(os.fstat(stream).st_mode) and not os.isatty(stream):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream)
                os.close(nowhere)
        except OSError:  # it was closed
            continue
