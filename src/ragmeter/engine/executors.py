"""Who scores batches: threads of this process, other processes, or an executor of the user's.

An executor has one method: `map(scoring, batches)` gives the scores in the order of the batches, while a few are under
way, so memory stays flat. To another process a batch goes as Arrow, and so do its scores on their way back; what is
pickled is the names of the metrics.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from functools import lru_cache
from itertools import chain
from typing import Any, Protocol, TypeVar

import numpy as np

from ragmeter.effects.process.cores import available_cores
from ragmeter.errors import UnknownNameError, UsageError, WorkerError
from ragmeter.hints import option, parameter
from ragmeter.io.arrow import from_arrow, scores_from_arrow, scores_to_arrow, to_arrow
from ragmeter.table import Batch, ScoreColumns

Result = TypeVar("Result")
Item = TypeVar("Item")

#: A batch is cut for other processes into so many pieces for each of them, of so many rows at least.
_PIECES, _ROWS = 4, 64
#: From so many rows on, processes are worth their start. A whole batch, so that no second one has to be waited for.
_MANY = 16_384
_MOST = 8  # processes that are started unasked: each takes memory, and a container may have fewer cores than it shows


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
    """Scores batches."""

    def map(self, scoring: Scoring, batches: Iterable[Batch]) -> Iterator[ScoreColumns]:
        """The scores, in the order of the batches."""


ExecutorLike = Any


class Threads:
    """Threads of this process, while the next batches are read and the last ones written.

    For metrics in native code, which does not hold Python's lock.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or available_cores()

    def map(self, function: Callable[[Batch], Result], batches: Iterable[Batch]) -> Iterator[Result]:
        """The function's results, in the order of the batches."""
        pool = ThreadPoolExecutor(self.workers, thread_name_prefix="ragmeter")
        try:
            yield from in_order(lambda batch: pool.submit(function, batch), batches, self.workers)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # whoever interrupts does not want to wait for a slow scorer


class Inline:
    """The thread that calls: for a worker, beside which others work on the other cores."""

    def map(self, scoring: Scoring, batches: Iterable[Batch]) -> Iterator[ScoreColumns]:
        """The scores, in the order of the batches."""
        return map(scoring, batches)


class Submitting:
    """An executor of the user's: anything with `submit(function, *arguments)` that returns a future.

    `cancels`: work that is not needed any more is cancelled here; otherwise the executor does that itself.
    """

    def __init__(self, submit: Callable[..., Any], workers: int | None = None, *, cancels: bool = True) -> None:
        self.submit, self.cancels = submit, cancels
        self.workers = workers or available_cores()

    def map(self, scoring: Scoring, batches: Iterable[Batch]) -> Iterator[ScoreColumns]:
        """The scores, in the order of the batches. A batch may be scored in pieces."""
        by_name = pickle.dumps(scoring)
        pieces_of_batches: deque[int] = deque()

        def pieces() -> Iterator[Batch]:
            for batch in batches:
                cut = _cut(batch, _PIECES * self.workers if scoring.by_row else 1)
                pieces_of_batches.append(len(cut))
                yield from cut

        def start(piece: Batch) -> Any:
            return self.submit(_score, by_name, to_arrow(piece))

        scored: list[ScoreColumns] = []
        try:
            at_once = self.workers * (2 if scoring.by_row else 1)
            for data in in_order(start, pieces(), at_once, cancels=self.cancels):
                scored.append(scores_from_arrow(data))
                if len(scored) == pieces_of_batches[0]:
                    yield _join(scored)
                    pieces_of_batches.popleft()
                    scored = []
        except BrokenExecutor as error:
            raise WorkerError(
                "a worker process ended in the middle of its work: it was killed, ran out of memory or crashed",
                hint=f"{option('executor', 'threads')} scores in this process; a script that starts processes has its "
                'calls under `if __name__ == "__main__":`',
            ) from error


class Auto:
    """Processes for many rows and metrics that hold Python's lock, where they can be started; threads for all else."""

    def map(self, scoring: Scoring, batches: Iterable[Batch]) -> Iterator[ScoreColumns]:
        """The scores, in the order of the batches."""
        rest, first, count = iter(batches), list[Batch](), 0
        while scoring.holds_lock and count < _MANY and (batch := next(rest, None)) is not None:
            first.append(batch)
            count += len(batch)
        executor = _processes_unasked() if count >= _MANY else Threads()
        return executor.map(scoring, chain(first, rest))


def executor_of(given: ExecutorLike) -> Executor:
    """An executor by its name, or what has `submit`."""
    if isinstance(given, str):
        if given not in EXECUTORS:
            raise UnknownNameError("executor", given, EXECUTORS, hint=f"there are {', '.join(EXECUTORS)}")
        return EXECUTORS[given]()
    if callable(getattr(given, "submit", None)):  # those of concurrent.futures have a map, of another kind
        return Submitting(given.submit)
    if callable(getattr(given, "map", None)):
        executor: Executor = given
        return executor
    raise UsageError(
        f"{parameter('executor')} is a {type(given).__name__}, which has no submit()",
        hint=f"give {', '.join(map(repr, EXECUTORS))}, or an executor as those of concurrent.futures",
    )


def _processes() -> Executor:
    from ragmeter.engine.processes import Processes

    return Processes()


def _processes_unasked() -> Executor:
    from ragmeter.engine.processes import Processes, can_start

    workers = min(available_cores(), _MOST)
    return Processes(workers) if workers > 1 and can_start() else Threads()


#: Executors by their names.
EXECUTORS: dict[str, Callable[[], Executor]] = {"threads": Threads, "processes": _processes, "auto": Auto}


def in_order(
    start: Callable[[Item], Future[Result]], batches: Iterable[Item], at_once: int, *, cancels: bool = True
) -> Iterator[Result]:
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
        for future in pending if cancels else ():
            future.cancel()


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
