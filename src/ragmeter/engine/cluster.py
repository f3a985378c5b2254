"""The workers of a Dask cluster."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Self

import ragmeter
from ragmeter.engine.executors import Outcome, Scoring
from ragmeter.errors import MissingExtraError, RagmeterError, UsageError, WorkerError
from ragmeter.hints import by_caller, option
from ragmeter.table import Batch, ScoreColumns

#: So often a part may end its worker before it is blamed for it.
_DEATHS = 10
#: Seconds to wait for a scheduler, and for its first worker.
_PATIENCE, _WORKERS = 20, 120
_AGAIN = by_caller("run the same command again", "make the same call again") + ": parts that are done are kept"


class Cluster:
    """The workers of a Dask client, or of the scheduler at an address."""

    reads_files = True

    def __init__(self, engine: Any) -> None:
        self._client = engine
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        if isinstance(self._client, str):
            self._client = _connected(self._client)
            self._stack.enter_context(_quiet())
            self._stack.enter_context(self._client)
        return self

    def __exit__(self, *failure: object) -> None:
        self._stack.close()

    @property
    def dashboard(self) -> str:
        """The address of Dask's page, where the scheduler has one."""
        services = self._client.scheduler_info().get("services") or {}
        return str(self._client.dashboard_link or "") if services.get("dashboard") else ""

    def map(self, scoring: Scoring, batches: Iterable[Batch]) -> Iterator[ScoreColumns]:
        """Refuse."""
        raise UsageError("a cluster reads files", hint=f"leave {option('engine')} out, or score files")

    def check(self, job: bytes) -> None:
        """Refuse workers without this package, with another version of it, or that can't import a metric."""
        self._await_worker()
        replies = self._client.run(_try, job, on_error="return")
        for worker, reply in sorted(replies.items()):
            if isinstance(reply, WorkerError):
                raise WorkerError(f"{worker}: {reply.message}", hint=reply.hint)
            if isinstance(reply, RagmeterError):
                raise _sent(reply)
            if isinstance(reply, BaseException) and not isinstance(reply, OSError):  # it may end right now
                raise WorkerError(
                    f"the worker {worker} can't do the work: {type(reply).__name__}: {reply}",
                    hint=f"install ragmeter=={ragmeter.__version__} there",
                )

    def _await_worker(self) -> None:
        """Wait for a worker: a cluster that adapts starts some when there is work, be it as little as this."""
        future = self._client.submit(len, "", pure=False)
        try:
            future.exception(timeout=_WORKERS)
        except TimeoutError:
            hint = "start some, and " + by_caller("run the same command again", "make the same call again")
            raise WorkerError(f"the cluster has no workers, and none came in {_WORKERS} seconds", hint=hint) from None

    def run(self, function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> Iterator[Outcome]:
        """Yield outcomes in the order in which calls end. The parts of a worker that ends are given to others."""
        import distributed
        from distributed.comm import CommClosedError

        places: dict[str, int] = {}
        given: list[tuple[Any, ...]] = []
        deaths: Counter[int] = Counter()

        def submit(place: int) -> Any:
            future = self._client.submit(function, *given[place], pure=False)
            places[future.key] = place
            return future

        started = []
        for own in arguments:
            given.append(own)
            started.append(submit(len(given) - 1))
        waiting = distributed.as_completed(started, loop=self._client.loop)
        futures = waiting.futures
        try:
            for future in waiting:
                place = places[future.key]
                if future.status in ("lost", "pending"):  # the worker has ended that had the result: it is done again
                    waiting.add(future)
                    continue
                if future.status == "cancelled":
                    raise _lost()
                error = future.exception() if future.status == "error" else None
                if isinstance(error, distributed.KilledWorker):
                    deaths[place] += 1
                    if deaths[place] >= _DEATHS:
                        yield place, _blamed(error)
                    else:
                        waiting.add(submit(place))
                elif error is not None and not isinstance(error, RagmeterError):
                    yield place, WorkerError(f"a worker failed with {type(error).__name__}: {error}", hint=_AGAIN)
                else:
                    yield place, error or future.result()
                future.release()
        except CommClosedError as error:  # it was lost while a result was on its way
            raise _lost() from error
        finally:
            self._client.cancel(list(futures), force=True)


def _lost() -> WorkerError:
    return WorkerError("the connection to the cluster's scheduler is lost", hint=_AGAIN)


def _blamed(error: BaseException) -> WorkerError:
    return WorkerError(
        f"every worker that was given this part has ended: {error}",
        hint="it may need more memory than a worker has; smaller files, or larger workers, help",
    )


def _sent(error: RagmeterError) -> RagmeterError:
    """An error of a metric that workers can't import also says how to send it."""
    if "can't import it" not in error.message:
        return error
    return UsageError(
        error.message,
        hint="install the package that declares it on all workers, or send its file: client.upload_file('metrics.py')",
    )


def _try(job: bytes) -> None:
    """Unpickle the job, which imports this package and the metrics."""
    from ragmeter.engine.parts.work import unpickled

    unpickled.cache_clear()  # a file that was sent may be new
    unpickled(job)


@contextmanager
def _quiet() -> Iterator[None]:
    """Dask's own log speaks of workers that end and connections that close: all of it is told in our words."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in ("distributed", "tornado")]
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


def _connected(address: str) -> Any:
    try:
        import distributed
    except ImportError as error:
        raise MissingExtraError("a cluster", "cluster") from error
    try:
        return distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except OSError as error:
        raise WorkerError(f"there is no Dask scheduler at {address}: {error}") from error
