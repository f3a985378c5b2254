"""Worker processes on this machine, for metrics in Python code: threads would take turns at Python's lock.

They are started anew, not forked, which is safe beside threads. They hear nothing of Ctrl-C, which is this process's to
answer, and end when it does.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from ragmeter.effects.process.cores import available_cores
from ragmeter.effects.process.own_process import set_up_own_process
from ragmeter.engine.executors import Scoring, Submitting
from ragmeter.table import Batch, ScoreColumns

_MOST = 61  # as many as Windows can wait for


class Processes:
    """Processes that are started for one call of `map`, and ended with it."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = min(workers or available_cores(), _MOST)

    def map(self, scoring: Scoring, batches: Iterable[Batch]) -> Iterator[ScoreColumns]:
        """The scores, in the order of the batches. A batch may be scored in pieces."""
        pool = ProcessPoolExecutor(self.workers, multiprocessing.get_context("spawn"), _begin)

        def submit(*work: Any) -> Future[Any]:
            with without_interrupts():  # a worker may be started here
                return pool.submit(*work)

        try:
            # The pool of Python 3.11 prints an error if its workers are killed when their work was cancelled before.
            yield from Submitting(submit, self.workers, cancels=False).map(scoring, batches)
        except BaseException:
            _kill(pool)  # whoever interrupts does not want to wait for a slow scorer
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def can_start() -> bool:
    """Whether this process is the command, which can start others. A script that calls it may not be made for that.

    A worker begins by running the script again, unless that is a `__main__.py` or has a guard, as the command has.
    """
    try:
        multiprocessing.get_context("spawn").Lock()
    except (ImportError, OSError):  # a system without semaphores
        return False
    script = getattr(sys.modules["__main__"], "__file__", None) or ""
    return Path(script).stem in {"ragmeter", "__main__"} and not getattr(sys, "frozen", False)


def _begin() -> None:
    """The first thing that a worker does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout = sys.stderr  # for what the user's code prints: standard output is for the command's result
    set_up_own_process()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Have a process that is started now hear no Ctrl-C from its first moment: it inherits what is blocked.

    Here a Ctrl-C waits until the end of the block.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # starting it later would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _kill(pool: ProcessPoolExecutor) -> None:
    """End the workers at once. Before Python 3.14 a pool does not do that by itself."""
    if hasattr(pool, "kill_workers"):
        pool.kill_workers()
        return
    for process in list((pool._processes or {}).values()):
        with suppress(ValueError):  # it has ended and was cleared away
            process.kill()
