"""A web page that stays open while synchronous code asks it one question after another.

Its event loop runs in a thread, so that it works in scripts and notebooks. `effects.calls.run_calls` does not fit: it
runs one coroutine to its end, and here the loop and the page live on between calls.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Coroutine
from concurrent.futures import TimeoutError as NotYet
from dataclasses import replace
from typing import Any, TypeVar

from ragmeter.effects.limits.caller import Caller, Failure
from ragmeter.effects.limits.pace import Pace, Retries
from ragmeter.effects.replies.journal import Journal, Reply
from ragmeter.errors import EndpointError
from ragmeter.targets.port import Answer, Question
from ragmeter.targets.web.open_page import OpenPage
from ragmeter.targets.web.target import WebTarget

Result = TypeVar("Result")
#: The session id of the one conversation; a session keeps its page.
_SESSION = "page"


class PageSession:
    """Asks a web page in one tab, from `start()` to `close()`."""

    def __init__(self, target: WebTarget, retries: int = 1) -> None:
        self.target = target
        self._retries = retries
        self._asked = 0
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def started(self) -> bool:
        """Whether the browser is open."""
        return self._loop is not None

    @property
    def page(self) -> OpenPage | None:
        """The open page, for what scripts do on it by themselves; None before `start()` and after `close()`."""
        visit = self.target.open_visit(_SESSION) if self.started else None
        return None if visit is None else OpenPage(visit.page, self._wait)

    def start(self) -> None:
        """Open the browser and the page."""
        if self.started:
            return
        self._journal = Journal(None)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="ragmeter-page", daemon=True)
        self._thread.start()
        try:
            self._wait(self._open())
        except BaseException:
            self._stop()
            raise
        atexit.register(self.close)

    def ask(self, text: str, input_selector: str | None = None, submit_selector: str | None = None) -> Answer | Failure:
        """The page's answer, or the failure. Selectors apply from this question on."""
        self.start()
        page = self.target.page
        if input_selector is not None or submit_selector is not None:
            box, button = input_selector or page.input_selector, submit_selector or page.submit_selector
            self.target.use(replace(page, input_selector=box, submit_selector=button))
        self._asked += 1
        reply = self._wait(self._caller.attempt(lambda: self.target.answer(self._question(text))))
        return reply if isinstance(reply, Failure) else Answer.from_reply(reply)

    def close(self) -> None:
        """Close the page and the browser."""
        if not self.started:
            return
        atexit.unregister(self.close)
        try:
            self._wait(self.target.__aexit__())
        finally:
            self._stop()

    def _question(self, text: str) -> Question:
        return Question(str(self._asked), text, _SESSION)

    async def _open(self) -> None:
        await self.target.__aenter__()
        try:
            opened = await self._new_caller().attempt(self._first_page)
            if isinstance(opened, Failure):
                raise EndpointError(opened.cause, hint="is this the address of the page?")
        except BaseException:
            await self.target.__aexit__()
            raise
        self._caller = self._new_caller()  # new: the page has opened but not answered, so its first error still ends it

    def _new_caller(self) -> Caller:
        return Caller(self._journal, Pace(1), retries=Retries.of(self._retries))

    async def _first_page(self) -> Reply:
        await self.target.open(self._question(""))
        return Reply("")

    def _wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Wait for work in the loop, in short steps, so that Ctrl-C is noticed on every system."""
        assert self._loop is not None  # noqa: S101 - it was started
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        while True:
            try:
                return future.result(0.2)
            except NotYet:
                if future.done():  # the work itself has timed out
                    raise
            except KeyboardInterrupt:
                future.cancel()
                raise

    def _stop(self) -> None:
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)
            self._thread.join()
            loop.close()
            self._journal.close()
