"""Playwright's driver for tests: started once for all of them, since that takes longer than most pages."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, TypeVar

from ragmeter.targets.web.browser import start_playwright

Result = TypeVar("Result")


class Driver:
    """Playwright's driver and the event loop that it belongs to, for as many web targets as need one."""

    def __init__(self, loop: asyncio.AbstractEventLoop, playwright: Any) -> None:
        self._loop, self._playwright = loop, playwright

    @classmethod
    @contextmanager
    def started(cls) -> Iterator[Driver]:
        """A driver, with its loop in a thread of its own."""
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        driver = cls(loop, asyncio.run_coroutine_threadsafe(start_playwright(), loop).result())
        try:
            yield driver
        finally:
            driver.run(driver._playwright.stop())
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """What `asyncio.run` does, in the driver's loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def playwright(self) -> Any:
        """Playwright as a target gets it, which stops it at its end; in another loop, a driver of its own."""
        if asyncio.get_running_loop() is not self._loop:
            return await start_playwright()

        async def stop() -> None:
            return

        return SimpleNamespace(chromium=self._playwright.chromium, stop=stop)
