"""Who computes: threads of this process, processes of this machine, or a Dask cluster.

An executor has two methods. `run` calls a function with each of some arguments: the parts of a table in files, which
workers read and write themselves. `map` scores batches that this process has read: to another process a batch goes as
Arrow, and so do its scores on their way back; what is pickled is the names of the metrics.
"""

from __future__ import annotations

import pickle
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from itertools import chain
from typing import Any, Protocol, TypeVar

import numpy as np

from ragmeter.effects.process.cores import available_cores
from ragmeter.errors import RagmeterError, UsageError
from ragmeter.hints import by_caller, parameter
from ragmeter.io.arrow import from_arrow, scores_from_arrow, scores_to_arrow, to_arrow
from ragmeter.table import Batch, ScoreColumns

Result = TypeVar("Result")
Item = TypeVar("Item")
#: The place of a call among others, and its result or error.
Outcome = tuple[int, Any]

#: A batch is cut for other processes into so many pieces for each of them, of so many rows at least.
_PIECES, _ROWS = 4, 64
#: From so many rows on, processes are worth their start. A whole batch, so that no second one has to be waited for.
_MANY = 16_384
#: Metrics in native code gain from processes where there are so many cores: threads keep two busy.
_CORES = 3
_CLUSTER = re.compile(r"(tcp|tls|ws|wss|ucx|inproc)://")


class Scoring(Protocol):
    """What an executor calls with each batch. `by_row`: each row is scored by itself, so a batch may be cut."""

    @property
    def by_row(self) -> bool:
        """Whether the scores are the same in whatever pieces a batch comes."""

    @property
    def holds_lock(self) -> bool:
        """Whether our own Python code takes most of the time, so that threads would take turns."""

    def __call__(self, batch: Batch) -> ScoreColumns:
        """The batch's scores."""


class Executor(Protocol):
    """Workers. `reads_files`: they read what is in files, and batches are not sent to them."""

    @property
    def reads_files(self) -> bool:
        """Whether only parts of files can be given to them."""

    @property
    def dashboard(self) -> str:
        """The address that shows what they do, if there is one."""

    def check(self, job: bytes) -> None:
        """Refuse workers that can't do the work."""

    def run(self, function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> Iterator[Outcome]:
        """The place of each tuple of arguments, with the function's result or its error, as they come.

        Arguments that come late are waited for; work on the others has begun by then.
        """

    def map(self, scoring: Scoring, batches: Iterable[Batch]) -> Iterator[ScoreColumns]:
        """The scores, in the order of the batches."""


class Threads:
    """Threads of this process, while the next batches are read and the last ones written.

    For metrics in native code, which does not hold Python's lock.
    """

    dashboard = ""
    reads_files = False

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or available_cores()

    def check(self, job: bytes) -> None:
        """Do nothing: the workers are threads of this process."""

    def run(self, function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> Iterator[Outcome]:
        """Yield the outcomes in the order in which the calls end."""
        pool = ThreadPoolExecutor(self.workers, thread_name_prefix="ragmeter")
        try:
            futures = {pool.submit(function, *given): place for place, given in enumerate(arguments)}
            for future in as_completed(futures):
                error = future.exception()
                if error is not None and not isinstance(error, RagmeterError):
                    raise error
                yield futures[future], error or future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def map(self, function: Callable[[Batch], Result], batches: Iterable[Batch]) -> Iterator[Result]:
        """The function's results, in the order of the batches."""
        pool = ThreadPoolExecutor(self.workers, thread_name_prefix="ragmeter")
        try:
            yield from in_order(lambda batch: pool.submit(function, batch), batches, self.workers)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # whoever interrupts does not want to wait for a slow scorer


class Auto(Threads):
    """Threads, or for many rows and metrics that hold Python's lock, processes."""

    def map(self, function: Callable[[Batch], Any], batches: Iterable[Batch]) -> Iterator[Any]:
        """The scores, in the order of the batches."""
        rest, first, count = iter(batches), list[Batch](), 0
        holds_lock = getattr(function, "holds_lock", False)
        while holds_lock and count < _MANY and (batch := next(rest, None)) is not None:
            first.append(batch)
            count += len(batch)
        executor = self.for_many(holds_lock=True) if count >= _MANY else Threads()
        return executor.map(function, chain(first, rest))  # type: ignore[arg-type]

    def for_many(self, *, holds_lock: bool) -> Executor:
        """Who computes much that can be sent to other processes."""
        if available_cores() < (2 if holds_lock else _CORES):
            return Threads()
        from ragmeter.engine.processes import Processes, can_start

        return Processes() if can_start() else Threads()


class Inline(Threads):
    """The thread that calls: for a worker, beside which others work on the other cores."""

    def map(self, function: Callable[[Batch], Result], batches: Iterable[Batch]) -> Iterator[Result]:
        """The function's results, in the order of the batches."""
        return map(function, batches)


def executor_of(engine: Any) -> Executor:
    """An executor by its name: auto, threads, local, local:3, an address of Dask's scheduler; or a Dask client's."""
    if callable(getattr(engine, "scheduler_info", None)) or (isinstance(engine, str) and _CLUSTER.match(engine)):
        from ragmeter.engine.cluster import Cluster

        return Cluster(engine)
    if engine == "auto":
        return Auto()
    if engine == "threads":
        return Threads()
    if isinstance(engine, str) and (local := re.fullmatch(r"local(?::([1-9]\d{0,3}))?", engine)):
        from ragmeter.engine.processes import Processes

        return Processes(int(local[1]) if local[1] else None)
    raise UsageError(
        f"{parameter('engine')} can't be "
        + (repr(engine) if isinstance(engine, str) else f"a {type(engine).__name__}"),
        hint="it is auto, threads, local (a worker process for each core), local:3 (three of them), tcp://HOST:8786 (a "
        "Dask scheduler)" + by_caller("", ", or a Dask client"),
    )


def opened(executor: Executor) -> AbstractContextManager[Any]:
    """The executor, whose workers are there until the end of the block."""
    return executor if isinstance(executor, AbstractContextManager) else nullcontext(executor)


def in_order(start: Callable[[Item], Future[Result]], batches: Iterable[Item], at_once: int) -> Iterator[Result]:
    """The results in the order of the batches; one more is started than are at work, so that nobody waits."""
    pending: deque[Future[Result]] = deque()
    try:
        for batch in batches:
            pending.append(start(batch))
            while len(pending) > at_once:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        for future in pending:
            future.cancel()


def map_pieces(
    run: Callable[..., Iterator[Outcome]], workers: int, scoring: Scoring, batches: Iterable[Batch]
) -> Iterator[ScoreColumns]:
    """The scores, in the order of the batches, which are sent to other processes: in pieces, where they may be cut."""
    by_name = pickle.dumps(scoring)
    pieces_of_batches: deque[int] = deque()

    def pieces() -> Iterator[tuple[bytes, bytes]]:
        for batch in batches:
            cut = _cut(batch, _PIECES * workers if scoring.by_row else 1)
            pieces_of_batches.append(len(cut))
            yield from ((by_name, to_arrow(piece)) for piece in cut)

    early: dict[int, Any] = {}
    scored: list[ScoreColumns] = []
    place = 0
    for number, outcome in run(_score, pieces(), ahead=4 * workers):
        early[number] = outcome
        while place in early:
            data = early.pop(place)
            if isinstance(data, RagmeterError):
                raise data
            place += 1
            scored.append(scores_from_arrow(data))
            if len(scored) == pieces_of_batches[0]:
                yield _join(scored)
                pieces_of_batches.popleft()
                scored = []


def _score(scoring: bytes, batch: bytes) -> bytes:
    """What a worker does: a piece of a batch to its scores."""
    return scores_to_arrow(_unpickled(scoring)(from_arrow(batch)))


@lru_cache(maxsize=4)
def _unpickled(scoring: bytes) -> Scoring:
    """Once for each worker: a scorer of the user's may take long to make."""
    read: Scoring = pickle.loads(scoring)  # noqa: S301 - names of metrics, and the user's own scorers
    return read


def _cut(batch: Batch, pieces: int) -> list[Batch]:
    """A batch in pieces of consecutive rows, at most so many."""
    rows = len(batch)
    size = max(_ROWS, -(-rows // pieces))
    if pieces == 1 or rows <= size:
        return [batch]
    return [batch.part(begin, begin + size) for begin in range(0, rows, size)]


def _join(pieces: list[ScoreColumns]) -> ScoreColumns:
    """The scores of a batch from those of its pieces. Metrics that share their outcomes go on sharing them."""
    if len(pieces) == 1:
        return pieces[0]
    shared: dict[tuple[int, ...], list[str]] = {}
    scores: ScoreColumns = {}
    for name in pieces[0]:
        key = tuple(id(piece[name][1]) for piece in pieces)
        if key not in shared:
            shared[key] = [outcome for piece in pieces for outcome in piece[name][1]]
        scores[name] = np.concatenate([piece[name][0] for piece in pieces]), shared[key]
    return scores
