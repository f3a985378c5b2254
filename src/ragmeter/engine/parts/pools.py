"""Who works on the parts of a run: threads of this process, workers on this machine, or a Dask cluster.

A pool has one method, `run`, which calls a function with each of some arguments and gives the results as they come.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from typing import Any, Protocol

import ragmeter
from ragmeter.effects.process import own_process
from ragmeter.effects.process.cores import available_cores
from ragmeter.errors import MissingExtraError, RagmeterError, UsageError, WorkerError
from ragmeter.hints import by_caller, parameter

_log = logging.getLogger("ragmeter")
#: So often a part may end its worker before it is blamed for it.
_DEATHS = 10
#: Seconds to wait for a scheduler, and for its first worker.
_PATIENCE, _WORKERS = 20, 120
_AGAIN = by_caller("run the same command again", "make the same call again") + ": parts that are done are kept"
#: Settings of workers on this machine, which are ours: they keep freed memory, nobody looks at their profiles, and once
#: a second is often enough to look at the clock and at memory (Dask's settings cost two workers 70 ms of CPU a second).
LOCAL = {
    "distributed.scheduler.allowed-failures": _DEATHS,
    "distributed.worker.daemon": True,
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "1s",
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.worker.preload": [own_process.__name__],
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None,
}
_PRELOADED = "ragmeter.engine.parts.forked_workers"
Outcome = tuple[int, Any]


class Pool(Protocol):
    """Workers. `dashboard` is an address that shows what they do, if there is one."""

    dashboard: str

    def check(self, job: bytes) -> None:
        """Refuse workers that can't do the work."""

    def run(self, function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> Iterator[Outcome]:
        """The place of each tuple of arguments, with the function's result or its error, as they come.

        Arguments that come late are waited for; work on the others has begun by then.
        """


class ThreadPool:
    """Threads of this process."""

    dashboard = ""

    def check(self, job: bytes) -> None:
        """Do nothing: the workers are threads of this process."""

    def run(self, function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> Iterator[Outcome]:
        """Yield the outcomes in the order in which the calls end."""
        pool = ThreadPoolExecutor(available_cores(), thread_name_prefix="ragmeter")
        try:
            futures = {pool.submit(function, *given): place for place, given in enumerate(arguments)}
            for future in as_completed(futures):
                error = future.exception()
                if error is not None and not isinstance(error, RagmeterError):
                    raise error
                yield futures[future], error or future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


class DaskPool:
    """The workers of a Dask client."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.dashboard = _dashboard(client)

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


def pool_of(engine: Any) -> AbstractContextManager[Pool]:
    """The pool for what the user names: `threads`, `local:3`, `tcp://scheduler:8786`, or a Dask client."""
    if not isinstance(engine, str):
        if callable(getattr(engine, "scheduler_info", None)):
            return _given(DaskPool(engine))
        raise _unknown(f"a {type(engine).__name__}")
    if engine == "threads":
        return _given(ThreadPool())
    if local := re.fullmatch(r"local:([1-9]\d{0,3})", engine):
        return _local(int(local[1]))
    if re.match(r"(tcp|tls|ws|wss|ucx|inproc)://", engine):
        return _remote(engine)
    raise _unknown(repr(engine))


def _unknown(given: str) -> UsageError:
    return UsageError(
        f"{parameter('engine')} can't be {given}",
        hint="it is threads, local:3 (three worker processes on this machine), tcp://HOST:8786 (a Dask scheduler)"
        + by_caller("", ", or a Dask client"),
    )


@contextmanager
def _given(pool: Pool) -> Iterator[Pool]:
    yield pool


def _import_distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise MissingExtraError("a cluster", "cluster") from error
    return distributed


@contextmanager
def _local(workers: int) -> Iterator[Pool]:
    """Worker processes on this machine, as long as the work takes. One that ends is started again."""
    from ragmeter.engine.processes import without_interrupts

    with without_interrupts():
        start_method = _start_method()
    distributed = _import_distributed()
    import dask

    distributed.utils._forkserver_preload_set = True  # Dask would have it import pandas, if that is installed
    with dask.config.set(LOCAL), dask.config.set(start_method), _quiet():
        with without_interrupts():  # the thread that starts workers, now and later, inherits this
            cluster = _cluster(distributed, workers)
        with cluster, distributed.Client(cluster, set_as_default=False) as client:
            cluster.adapt(minimum=workers, maximum=workers, interval="1s")  # also one that ends while it starts
            yield DaskPool(client)


def _cluster(distributed: Any, workers: int, tries: int = 3) -> Any:
    """Workers and their scheduler. If one is killed while they start, Dask gives all up: once more, then."""
    try:
        return distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
            env=dict(os.environ),  # of now: the process that workers are forked from may have another
        )
    except RuntimeError as error:
        if tries == 1:
            raise WorkerError(f"workers can't be started on this machine: {error}", hint=_AGAIN) from error
        return _cluster(distributed, workers, tries - 1)


def _start_method() -> dict[str, str]:
    """Where it is safe, fork workers from a process that has imported what they need; elsewhere each imports it.

    That process is started here, so that it imports while this one does.
    """
    if not sys.platform.startswith("linux") or find_spec("distributed") is None:
        return {}
    from multiprocessing import forkserver  # here, since `ragmeter evaluate` starts without it

    forkserver.set_forkserver_preload([_PRELOADED])
    forkserver.ensure_running()
    return {"distributed.worker.multiprocessing-method": "forkserver"}


@contextmanager
def _remote(address: str) -> Iterator[Pool]:
    distributed = _import_distributed()
    try:
        client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except OSError as error:
        raise WorkerError(f"there is no Dask scheduler at {address}: {error}") from error
    with _quiet(), client:
        yield DaskPool(client)


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


def _dashboard(client: Any) -> str:
    """Dask's page, where the scheduler has one. On this machine, that takes bokeh."""
    services = client.scheduler_info().get("services") or {}
    is_here = getattr(client, "cluster", None) is not None
    return str(client.dashboard_link or "") if services.get("dashboard") and (not is_here or find_spec("bokeh")) else ""
