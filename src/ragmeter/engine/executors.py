"""Who does the work on batches: threads of this process, or other processes.

An executor has one method: `map(function, batches)` gives the function's results in the order of the batches, while a
few batches are under way. At most a few are alive at a time, so memory stays flat.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol, TypeVar

from ragmeter.effects.cores import available_cores
from ragmeter.table import Batch

Result = TypeVar("Result")


class Executor(Protocol):
    """Calls a function with batches."""

    def map(self, function: Callable[[Batch], Result], batches: Iterable[Batch]) -> Iterator[Result]:
        """The results, in the order of the batches."""


class Threads:
    """Threads of this process, while the next batches are read and the last ones written.

    Good for metrics in native code, which does not hold Python's lock.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or available_cores()

    def map(self, function: Callable[[Batch], Result], batches: Iterable[Batch]) -> Iterator[Result]:
        pending: deque[Future[Result]] = deque()
        pool = ThreadPoolExecutor(self.workers, thread_name_prefix="ragmeter")
        try:
            for batch in batches:
                pending.append(pool.submit(function, batch))
                while len(pending) > self.workers:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # whoever interrupts does not want to wait for a slow scorer
