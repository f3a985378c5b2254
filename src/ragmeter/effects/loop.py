"""Runs asynchronous work for those who are not, and hears Ctrl-C: once to finish what is under way, twice to stop."""

from __future__ import annotations

import asyncio
import gc
import queue
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from ragmeter.errors import Interrupted

Item = TypeVar("Item")
Result = TypeVar("Result")


@contextmanager
def rare_collections() -> Iterator[None]:
    """Look for garbage in cycles less often: many small lists and calls hold none, and each look costs."""
    before = gc.get_threshold()
    gc.set_threshold(200_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


class Stoppable:
    """What the work is given so that it can be asked to stop."""

    def __init__(self) -> None:
        self._calls: Callable[[], None] = lambda: None
        self.stopped = False

    def calls(self, stop: Callable[[], None]) -> None:
        """Say how the work is stopped. It may have been asked to before it had begun."""
        self._calls = stop
        if self.stopped:
            stop()

    def stop(self) -> None:
        """Ask the work to begin nothing more."""
        self.stopped = True
        self._calls()


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Count Ctrl-C, so that a second one breaks off nothing while the first is answered.

    Only where that is ours to do: in the main thread, and if nobody else has a handler.
    """
    heard: list[int] = []
    main = threading.current_thread() is threading.main_thread()
    ours = main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        yield heard
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def run(work: Callable[[Stoppable], Coroutine[Any, Any, Result]]) -> Result:
    """Run the work to its end, in a thread with a loop of its own: a notebook has a loop already, and a thread that
    waits in short steps can hear Ctrl-C on every system. The first one asks the work to stop, the second cancels it.
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
            with suppress(RuntimeError):  # the loop has just come to its end
                loop.call_soon_threadsafe(handle.stop if number == 1 else task.cancel)
        if number == 1:
            print("\nfinishing the calls under way; press Ctrl-C again to stop at once", file=sys.stderr)

    presses, patience = 0, 0.0
    with _interrupts() as heard:
        threading.Thread(target=thread, name="ragmeter-loop", daemon=True).start()
        while not done.is_set():
            try:
                done.wait(0.2)
            except KeyboardInterrupt:  # by a handler of somebody else's
                heard.append(signal.SIGINT)
            while presses < len(heard):
                presses, patience = presses + 1, time.monotonic() + 5
                press(presses)
            if presses >= 2 and time.monotonic() > patience:
                break  # code of the user's that hangs in a thread can't hold us
    if presses and (presses >= 2 or handle.stopped):
        raise Interrupted from None
    if errors:
        raise errors[0]
    return results[0]


class Threads:
    """Some threads that make all calls: with one of them, code that is not made for more is called from it alone.

    They are daemons, so that a call that hangs keeps nobody from leaving.
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
        """Let the threads go when they have nothing more to do."""
        for _ in range(self._number):
            self._calls.put(None)

    async def call(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Call a function in one of the threads."""
        return await _called(self._calls.put, function, *arguments)


async def in_thread(function: Callable[..., Result], *arguments: Any, **keywords: Any) -> Result:
    """Call a function in a thread of its own, which nobody waits for if it hangs."""

    def start(call: Callable[[], None]) -> None:
        threading.Thread(target=call, name="ragmeter-call", daemon=True).start()

    return await _called(start, function, *arguments, **keywords)


async def _called(
    start: Callable[[Callable[[], None]], None], function: Callable[..., Result], *arguments: Any, **keywords: Any
) -> Result:
    """Hand a call to `start`, which has it made in a thread, and wait for what comes of it."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Result] = loop.create_future()

    def settle(result: Result | None, error: BaseException | None) -> None:
        if done.done():  # whoever waited has given up
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
        except StopIteration as stopped:  # a future does not take these
            error = RuntimeError(f"StopIteration: {stopped}")
        except BaseException as caught:
            error = caught
        with suppress(RuntimeError):  # the loop has come to its end
            loop.call_soon_threadsafe(settle, result, error)

    start(work)
    return await done


async def each(items: Iterable[Item], work: Callable[[Item], Awaitable[None]], at_once: int) -> None:
    """Do the work for every item, no more than `at_once` at a time. The first error ends it all."""
    remaining = iter(items)

    async def one() -> None:
        for item in remaining:
            await work(item)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(one())
    except BaseExceptionGroup as several:
        first: BaseException = several
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from None
