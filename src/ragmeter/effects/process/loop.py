"""Runs coroutines for synchronous callers, and handles Ctrl-C: once to finish the calls under way, twice to cancel.

SIGTERM and SIGHUP are handled in the same way.
"""

from __future__ import annotations

import asyncio
import queue
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any, TypeVar

from ragmeter.effects.process.collector import rare_collections
from ragmeter.effects.process.signals import collecting
from ragmeter.errors import Interrupted

Item = TypeVar("Item")
Result = TypeVar("Result")


class Stoppable:
    """A handle for the work to register how it is stopped."""

    def __init__(self) -> None:
        self._calls: Callable[[], None] = lambda: None
        self.stopped = False

    def calls(self, stop: Callable[[], None]) -> None:
        """Register how the work is stopped; called at once if a stop was requested before."""
        self._calls = stop
        if self.stopped:
            stop()

    def stop(self) -> None:
        """Ask the work to begin no further calls."""
        self.stopped = True
        self._calls()


def run(work: Callable[[Stoppable], Coroutine[Any, Any, Result]]) -> Result:
    """Run the work to its end in a thread with its own event loop, since a notebook's thread has a loop already.

    This thread waits in short steps, so that it notices Ctrl-C on every system: the first asks the work to stop, the
    second cancels it. So do SIGTERM and SIGHUP.
    """
    handle = Stoppable()
    done = threading.Event()
    results: list[Result] = []
    errors: list[BaseException] = []
    ready: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Result]]] = []

    async def main() -> None:
        task = asyncio.ensure_future(work(handle))
        ready.append((asyncio.get_running_loop(), task))
        results.append(await task)

    def thread() -> None:
        try:
            with rare_collections():
                asyncio.run(main())
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    def press(number: int) -> None:
        handle.stopped = True
        if ready:
            loop, task = ready[0]
            with suppress(RuntimeError):  # the loop has just ended
                loop.call_soon_threadsafe(handle.stop if number == 1 else task.cancel)
        if number == 1:
            again = "press Ctrl-C again" if signals[0] == signal.SIGINT else "a second signal is needed"
            with suppress(OSError):  # who reads it may be gone, after SIGHUP for one
                print(f"\nfinishing the calls under way; {again} to stop at once", file=sys.stderr, flush=True)

    handled, deadline = 0, 0.0
    with collecting() as signals:
        threading.Thread(target=thread, name="ragmeter-loop", daemon=True).start()
        while not done.is_set():
            try:
                done.wait(0.2)
            except KeyboardInterrupt:  # raised by another handler
                signals.append(signal.SIGINT)
            while handled < len(signals):
                handled, deadline = handled + 1, time.monotonic() + 5
                press(handled)
            if handled >= 2 and time.monotonic() > deadline:
                break  # the user's code hangs in a thread: don't wait for it
    if signals:  # also one that came when all was done
        raise Interrupted(signals[0]) from None
    if errors:
        raise errors[0]
    return results[0]


class Threads:
    """A fixed number of threads that make all calls; with one, code that is not thread-safe stays in that thread.

    They are daemons, so that a call that hangs does not keep the process alive.
    """

    def __init__(self, number: int) -> None:
        self._calls: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._number = number
        for _ in range(number):
            threading.Thread(target=self._work, name="ragmeter-agent", daemon=True).start()

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call()

    def close(self) -> None:
        """End the threads after the calls that are queued."""
        for _ in range(self._number):
            self._calls.put(None)

    async def call(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Call a function in one of the threads."""
        return await _called(self._calls.put, function, *arguments)


async def in_thread(function: Callable[..., Result], *arguments: Any, **keywords: Any) -> Result:
    """Call a function in its own daemon thread: if it hangs, the process can still exit."""

    def start(call: Callable[[], None]) -> None:
        threading.Thread(target=call, name="ragmeter-call", daemon=True).start()

    return await _called(start, function, *arguments, **keywords)


async def _called(
    start: Callable[[Callable[[], None]], None], function: Callable[..., Result], *arguments: Any, **keywords: Any
) -> Result:
    """Pass a call to `start`, which runs it in a thread, and wait for its result."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Result] = loop.create_future()

    def settle(result: Result | None, error: BaseException | None) -> None:
        if done.done():  # the waiting task was cancelled
            return
        if error is None:
            done.set_result(result)  # type: ignore[arg-type]
        else:
            done.set_exception(error)

    def work() -> None:
        result: Result | None = None
        error: BaseException | None = None
        try:
            result = function(*arguments, **keywords)
        except StopIteration as stopped:  # not allowed in a future
            error = RuntimeError(f"StopIteration: {stopped}")
        except BaseException as caught:
            error = caught
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(settle, result, error)

    start(work)
    return await done


async def for_each(items: Iterable[Item], work: Callable[[Item], Awaitable[None]], at_once: int) -> None:
    """Do the work for every item, at most `at_once` at a time. The first error cancels the rest."""
    remaining = iter(items)

    async def worker() -> None:
        for item in remaining:
            await work(item)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(worker())
    except BaseExceptionGroup as several:
        first: BaseException = several
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from None
