"""Turns of pages: those that answer have slots, and pages open one after another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Self

#: The most seconds that a page waits until the one before it has opened, and until a question has been sent.
_OPENS, _SENDS = 15.0, 2.0


class Slot:
    """One of the slots for pages that answer; it may be given back before the end, and `more` with it."""

    def __init__(self, slots: asyncio.Semaphore | None, more: Callable[[], None] = lambda: None) -> None:
        self._slots = slots
        self._more = more

    async def __aenter__(self) -> Self:
        if self._slots is not None:
            await self._slots.acquire()
        return self

    def release(self) -> None:
        """Give the slot back, if that has not been done."""
        if self._slots is not None:
            self._slots.release()
            self._slots = None
        self._more()

    async def __aexit__(self, *failure: object) -> None:
        self.release()


class Turns:
    """Heavy pages open one after another: side by side, none would be ready in time.

    Nor do they open while a question is being sent on another page: the time until its answer begins is measured, and
    the next page can be opened while the answer comes.
    """

    def __init__(self) -> None:
        self._last_opening = asyncio.Event()
        self._last_opening.set()
        self._nothing_sent = asyncio.Event()
        self._nothing_sent.set()
        self._sending = 0

    @asynccontextmanager
    async def opening(self) -> AsyncIterator[None]:
        """The time in which a page opens."""
        free = asyncio.Event()
        before, self._last_opening = self._last_opening, free
        try:
            await _passed(before, _OPENS)
            await _passed(self._nothing_sent, _SENDS)
            yield
        finally:
            free.set()

    @contextmanager
    def sending(self) -> Iterator[None]:
        """The time in which a question is sent. It waits for nothing."""
        self._sending += 1
        self._nothing_sent.clear()
        try:
            yield
        finally:
            self._sending -= 1
            if not self._sending:
                self._nothing_sent.set()


async def _passed(event: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
