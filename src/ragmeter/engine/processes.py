"""Worker processes on this machine. On Linux they are forked from one that has imported what they need.

They hear nothing of Ctrl-C, which is this process's to answer, and end when it does. The work of one that ends before
is given to others.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import connection, resource_tracker
from types import ModuleType
from typing import Any, NamedTuple, Self

from ragmeter.effects.process.cores import available_cores, share_cores
from ragmeter.effects.process.own_process import set_up_own_process
from ragmeter.engine.executors import Outcome, Scoring, map_pieces
from ragmeter.errors import RagmeterError, WorkerError
from ragmeter.hints import by_caller, option
from ragmeter.table import Batch, ScoreColumns

_log = logging.getLogger("ragmeter")
_MOST = 61  # as many as Windows can wait for
#: Seconds between two tries to start a worker.
_MOMENT = 0.1
#: So often a task may end its worker before it is blamed for it.
_DEATHS = 10
#: What the process imports that workers are forked from.
_PRELOADED = "ragmeter.engine.forked_workers"


class _Task(NamedTuple):
    place: int
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


class Processes:
    """Processes of this machine, started when there is work, and ended by `with` or with the call of `map`."""

    dashboard = ""
    reads_files = False

    def __init__(self, workers: int | None = None) -> None:
        self.workers = min(workers or available_cores(), _MOST)
        self._idle: list[_Worker] = []
        self._busy: dict[Any, tuple[_Worker, _Task]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        for worker in (*self._idle, *(worker for worker, _ in self._busy.values())):
            worker.end()
        self._idle, self._busy = [], {}

    def check(self, job: bytes) -> None:
        """Refuse metrics that a worker can't import."""
        from ragmeter.engine.parts.work import unpickled

        for _, outcome in self.run(unpickled, [(job,)]):
            if isinstance(outcome, RagmeterError):
                raise outcome

    def map(self, scoring: Scoring, batches: Iterable[Batch]) -> Iterator[ScoreColumns]:
        """The scores, in the order of the batches. A batch may be scored in pieces."""
        with self:
            yield from map_pieces(self.run, self.workers, scoring, batches)

    def run(
        self, function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]], ahead: int | None = None
    ) -> Iterator[Outcome]:
        """Yield the outcomes in the order in which the calls end; none begins that is so far `ahead` of another."""
        tasks = (_Task(place, function, given) for place, given in enumerate(arguments))
        again: deque[_Task] = deque()  # last of all, when others may need less memory
        deaths: Counter[int] = Counter()
        is_over = False
        while True:
            while len(self._busy) < self.workers and not self._is_far(ahead):
                task = None if is_over else next(tasks, None)
                is_over = task is None
                task = task or (again.popleft() if again else None)
                if task is None:
                    break
                self._give(task)
            if not self._busy:
                return
            for ready in connection.wait(list(self._busy)):
                worker, task = self._busy.pop(ready)
                try:
                    outcome = worker.connection.recv()
                except (EOFError, OSError):
                    worker.end()
                    deaths[task.place] += 1
                    _log.info("a worker ended in the middle of its work, which is given to another")
                    if deaths[task.place] < _DEATHS:
                        again.append(task)
                        continue
                    outcome = _blamed()
                else:
                    self._idle.append(worker)
                yield task.place, outcome

    def _is_far(self, ahead: int | None) -> bool:
        places = [task.place for _, task in self._busy.values()]
        return ahead is not None and bool(places) and max(places) - min(places) >= ahead

    def _give(self, task: _Task) -> None:
        """Have a worker begin a task: one that is idle, or a new one."""
        while self._idle:
            worker = self._idle.pop()
            try:
                worker.connection.send(task[1:])
            except OSError:  # it has ended
                worker.end()
                continue
            self._busy[worker.connection] = worker, task
            return
        worker = _Worker(max(1, available_cores() // self.workers))
        with suppress(OSError):  # one that has ended already is seen where its result is waited for
            worker.connection.send(task[1:])
        self._busy[worker.connection] = worker, task


class _Worker:
    """A process, and the connection to it."""

    def __init__(self, cores: int, tries: int = 20) -> None:
        context: Any = multiprocessing.get_context("forkserver" if sys.platform.startswith("linux") else "spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, dict(os.environ), cores), name="ragmeter worker")
        try:
            with without_interrupts(), _unseen_program():
                _prepare()
                self.process.start()
        except (OSError, EOFError) as error:  # the process that forks was killed, and is not yet known to have ended
            self.connection.close()
            time.sleep(_MOMENT)
            if tries == 1:
                again = by_caller("run the same command again", "make the same call again")
                raise WorkerError(f"workers can't be started on this machine: {error}", hint=again) from error
            _Worker.__init__(self, cores, tries - 1)
        finally:
            theirs.close()

    def end(self) -> None:
        """End it at once: whoever interrupts does not want to wait for a slow scorer."""
        self.connection.close()
        with suppress(ValueError, AttributeError):
            self.process.kill()
            self.process.join()


def _work(tasks: Any, environment: dict[str, str], cores: int) -> None:
    """What a worker does: call functions until nobody sends any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.clear()
    os.environ.update(environment)
    sys.stdout = sys.stderr  # for what the user's code prints: standard output is for the command's result
    set_up_own_process()
    share_cores(cores)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):
        while True:
            function, arguments = tasks.recv()
            tasks.send(_outcome(function, arguments))


def _outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    try:
        return function(*arguments)
    except RagmeterError as error:
        return error
    except Exception as error:
        return WorkerError(f"a worker failed with {type(error).__name__}: {error}")


def _blamed() -> WorkerError:
    return WorkerError(
        f"{_DEATHS} workers have ended in the middle of the same work: they were killed, ran out of memory or crashed",
        hint=f"{option('engine', 'threads')} works in this process; fewer workers have more memory each",
    )


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _prepare() -> None:
    """Start the process that workers are forked from. It begins with its imports at once."""
    if sys.platform.startswith("linux"):
        from multiprocessing import forkserver  # here, since `ragmeter evaluate` starts without it

        forkserver.set_forkserver_preload([_PRELOADED])
        forkserver.ensure_running()


@contextmanager
def _unseen_program() -> Iterator[None]:
    """Have a worker import nothing of the program that starts it: a script would begin again there."""
    program = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = program


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


def can_start() -> bool:
    """Whether workers can be started here: not on a system without semaphores, and not in a frozen program."""
    try:
        multiprocessing.get_context("spawn").Lock()
    except (ImportError, OSError):
        return False
    return not getattr(sys, "frozen", False)
