"""One page that is open: a question typed and sent, and its answer read when it is finished."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

from ragmeter.effects.caller import GiveUp, TryAgain
from ragmeter.endpoints import public
from ragmeter.io.cells import whole
from ragmeter.table import TIMEOUT
from ragmeter.targets.port import Answer

SELECTOR_NOT_FOUND, NAVIGATION_ERROR = "selector_not_found", "navigation_error"
PAGE_CRASHED, BLOCKED = "page_crashed", "blocked"
_POLL = 0.05
#: How long a text must have been still, in seconds: when the page says that it is ready, when its requests have come to
#: their end, when there is nothing to go by, and when a request is still under way.
_READY, _SETTLED, _STILL, _PENDING = 0.1, 1.0, 4.0, 20.0
#: What pages show while they are at work, besides what the user names.
_BUSY = "button[aria-label*='stop' i], [data-testid*='stop' i], [aria-busy='true']"
_WAITING = re.compile(
    r"\W*(thinking|loading|typing|generating|searching|pensando|cargando|escribiendo)?\W*", re.IGNORECASE
)
_REQUESTS = frozenset({"fetch", "xhr", "eventsource", "document"})


@dataclass(frozen=True)
class Page:
    """How a page is used: where the question goes, how it is sent, and where the answer comes."""

    url: str
    input_selector: str
    submit_selector: str | None = None
    answer_selector: str | None = None
    ready_selector: str | None = None
    sources_selector: str | None = None
    timeout: float = 60.0
    same_page: bool = False
    any_host: bool = False


class Visit:
    """One page that is open."""

    def __init__(self, page: Page, context: Any, tab: Any, error: type[Exception]) -> None:
        self.how = page
        self.context, self.page = context, tab
        self.selector: str | None = None
        self.console: list[str] = []
        self.crashed = False
        self._error = error
        self._under_way: set[Any] = set()
        self._requests = 0
        self._network_at = 0.0
        self._left = ""
        tab.on("console", lambda message: self.console.append(f"{message.type}: {message.text}"))
        tab.on("pageerror", lambda problem: self.console.append(f"error: {problem}"))
        tab.on("dialog", self._dismiss)
        tab.on("crash", self._crash)
        tab.on("request", self._request)
        tab.on("requestfinished", self._request_done)
        tab.on("requestfailed", self._request_done)
        tab.on("websocket", lambda socket: socket.on("framereceived", lambda frame: self._heard()))
        tab.on("framenavigated", self._navigated)

    @classmethod
    async def begin(cls, page: Page, context: Any, error: type[Exception]) -> Self:
        """Open the page, and see that the box is there."""
        visit = cls(page, context, await context.new_page(), error)
        try:
            response = await visit.page.goto(page.url, timeout=page.timeout * 1000, wait_until="domcontentloaded")
        except error as problem:
            await visit.close()
            said = re.sub(r"^Page\.goto: ", "", str(problem).splitlines()[0])[:200]
            raise TryAgain(NAVIGATION_ERROR, f"can't open {public(page.url)}: {said}") from None
        if response is not None and response.status >= 400:
            await visit.close()
            outcome = BLOCKED if response.status in (401, 403, 407, 429) else NAVIGATION_ERROR
            kind = TryAgain if response.status in (429, 500, 502, 503, 504) else GiveUp
            raise kind(outcome, f"{public(page.url)} answered HTTP {response.status}")
        try:
            visit._check_host()
        except GiveUp:
            await visit.close()
            raise
        return visit

    async def close(self) -> None:
        """Close it, whatever state it is in."""
        try:
            await self.context.close()
        except self._error:
            return

    async def ask(self, question: str) -> Answer:
        """Type the question, send it, and wait until the answer is finished."""
        frame, box = await self._find(self.how.input_selector, "--input-selector")
        await self._type(box, question)
        await self._mark(question)
        begun = time.perf_counter()
        await self._submit(box)
        return await self._wait(frame, begun)

    async def _find(self, selector: str, option: str) -> tuple[Any, Any]:
        """The first visible element by a selector, in whichever frame it is; a page may take its time to show it."""
        deadline = time.monotonic() + min(10.0, self.how.timeout)
        while True:
            self._check_alive()
            for frame in self.page.frames:
                try:
                    found = frame.locator(selector)
                    for place in range(min(await found.count(), 5)):
                        if await found.nth(place).is_visible():
                            return frame, found.nth(place)
                except self._error as problem:
                    if "selector" in str(problem).lower():
                        raise GiveUp(SELECTOR_NOT_FOUND, f"{option} {selector!r} is not a selector") from None
            if time.monotonic() > deadline:
                raise GiveUp(SELECTOR_NOT_FOUND, await self._not_found(selector, option))
            await asyncio.sleep(0.1)

    async def _not_found(self, selector: str, option: str) -> str:
        found: list[str] = []
        for frame in self.page.frames:
            try:
                found += await frame.evaluate("() => window.__ragmeter ? window.__ragmeter.candidates() : []")
            except self._error:
                continue
        there = "; the page has " + ", ".join(found[:8]) if found else "; the page has no box and no button"
        return f"{option} {selector!r} matches nothing that can be seen{there}"

    async def _type(self, box: Any, question: str) -> None:
        """Put the question into the box, whatever kind of box it is."""
        try:
            await box.fill(question, timeout=self.how.timeout * 1000)
        except self._error:
            await box.click(timeout=5000)
            await box.press_sequentially(question, timeout=self.how.timeout * 1000)

    async def _submit(self, box: Any) -> None:
        if self.how.submit_selector is None:
            await box.press("Enter")
            return
        _, button = await self._find(self.how.submit_selector, "--submit-selector")
        await button.click(timeout=self.how.timeout * 1000)

    async def _mark(self, question: str) -> None:
        self._under_way.clear()
        self._requests, self._network_at = 0, time.monotonic()
        for frame in self.page.frames:
            marked = [question, self.how.answer_selector, self.how.sources_selector]
            await self._run(frame, "given => window.__ragmeter.mark(...given)", marked)

    async def _run(self, frame: Any, code: str, argument: Any) -> Any:
        """Run our script in a frame. One that is just being replaced, or is none of ours, has nothing to say."""
        try:
            return await frame.evaluate(f"argument => window.__ragmeter ? ({code})(argument) : null", argument)
        except self._error:
            self._check_alive()
            return None

    async def _wait(self, frame: Any, begun: float) -> Answer:
        """Look again and again until the text is there and nothing says that more will come."""
        first: float | None = None
        text, changed = "", begun
        was_busy = False
        found: dict[str, Any] = {}
        while (elapsed := time.perf_counter() - begun) < self.how.timeout:
            self._check_alive()
            # The signals first: a page may add its last words and drop its stop button in one go, and a text that was
            # read before that would be taken for finished.
            busy, ready = await self._signals(frame)
            found = await self._read(frame)
            if found.get("text", "") != text:
                text, changed = found.get("text", ""), time.perf_counter()
                if text and first is None and not _WAITING.fullmatch(text):
                    first = (changed - begun) * 1000
            was_busy = was_busy or busy or not ready
            still = min(time.perf_counter() - changed, found.get("quiet", 0) / 1000 if text else 0.0)
            if text and not _WAITING.fullmatch(text) and not busy and still >= self._patience(ready, was_busy):
                self.selector = found.get("selector")
                return Answer(
                    whole(text),
                    *_sources(found.get("sources")),
                    latency_ms=(changed - begun) * 1000,
                    time_to_first_token_ms=first,
                )
            await asyncio.sleep(_POLL)
        cause = (
            f"the answer was not finished within {self.how.timeout:g} s"
            if text
            else f"no answer within {elapsed:.0f} s"
        )
        raise TryAgain(TIMEOUT, cause)

    async def _read(self, frame: Any) -> dict[str, Any]:
        """What our script finds: in the frame of the box, or in another."""
        frames = [frame, *(other for other in self.page.frames if other is not frame)]
        for each in frames:
            found = await self._run(each, "s => window.__ragmeter.read(s)", self.how.sources_selector)
            if found and found["text"]:
                return dict(found)
        return {}

    async def _signals(self, frame: Any) -> tuple[bool, bool]:
        """Whether the page shows that it is at work, and whether it shows what it shows when it is not.

        A frame that can't say, because it is just being replaced, is at work.
        """
        shown = await self._run(frame, "given => given.map(window.__ragmeter.shown)", [_BUSY, self.how.ready_selector])
        if shown is None:
            return True, False
        busy, ready = shown
        return busy, ready or self.how.ready_selector is None

    def _patience(self, ready: bool, was_busy: bool) -> float:
        """How long the text must have been still. Idle connections are a hint, and no proof."""
        if self.how.ready_selector is not None:
            return (_READY if was_busy else _SETTLED) if ready else float("inf")
        if self._under_way:
            return _PENDING
        if was_busy:
            return _READY * 2
        idle = time.monotonic() - self._network_at
        return _SETTLED if self._requests and idle >= _SETTLED / 2 else _STILL

    def _request(self, request: Any) -> None:
        if request.resource_type in _REQUESTS:
            self._under_way.add(request)
            self._requests += 1
            self._heard()

    def _request_done(self, request: Any) -> None:
        if request in self._under_way:
            self._under_way.discard(request)
            self._heard()

    def _heard(self) -> None:
        self._network_at = time.monotonic()

    def _navigated(self, frame: Any) -> None:
        if frame == self.page.main_frame:
            self._left = frame.url

    async def _dismiss(self, dialog: Any) -> None:
        self.console.append(f"dialog: {dialog.message}")
        await dialog.dismiss()

    def _crash(self, page: Any) -> None:
        self.crashed = True

    def _check_alive(self) -> None:
        if self.crashed or self.page.is_closed():
            raise TryAgain(PAGE_CRASHED, "the page has crashed")
        self._check_host()

    def _check_host(self) -> None:
        """Refuse to go on where the page has led us to another host than the one that was named."""
        here, named = urlsplit(self._left or self.page.url), urlsplit(self.how.url)
        if here.scheme in ("http", "https") and here.netloc != named.netloc and not self.how.any_host:
            raise GiveUp(BLOCKED, f"the page leads to another host, {here.netloc} (--any-host allows it)")


def _sources(found: list[dict[str, Any]] | None) -> tuple[list[str] | None, list[str] | None]:
    """What the page shows as its sources: their addresses or names, and their texts."""
    if found is None:
        return None, None
    return [each["href"] or each["text"] for each in found], [each["text"] for each in found]
