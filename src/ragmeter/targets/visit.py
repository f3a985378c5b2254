"""One page that is open: a question typed and sent, and its answer read when it is finished."""

from __future__ import annotations

import asyncio
import re
import time
from collections import deque
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlsplit

from ragmeter.effects.caller import GiveUp, TryAgain
from ragmeter.effects.wire import public
from ragmeter.errors import EndpointError
from ragmeter.hints import by_caller, option, parameter
from ragmeter.io.cells import whole
from ragmeter.table import TIMEOUT
from ragmeter.targets.finish import Finish, Traffic
from ragmeter.targets.port import Answer

SELECTOR_NOT_FOUND, NAVIGATION_ERROR = "selector_not_found", "navigation_error"
PAGE_CRASHED, BLOCKED = "page_crashed", "blocked"
_POLL = 0.05
#: How long a box or a button may take to show, in seconds; it is looked for so many times all the same.
_APPEARS, _LOOKS = 10.0, 5
_NOBODY = re.compile(r"ERR_(CONNECTION_REFUSED|NAME_NOT_RESOLVED|ADDRESS_UNREACHABLE|INTERNET_DISCONNECTED)")
_DEFAULT_PORTS = {"http": 80, "https": 443}
#: Where a question may be typed where nobody says it: the likeliest first.
_BOXES = (
    "textarea",
    "[contenteditable=true], [contenteditable='']",
    "[role=textbox]",
    "input[type=search]",
    "input[type=text], input:not([type])",
)


@dataclass(frozen=True)
class Page:
    """How a page is used: where the question goes, how it is sent, and where the answer comes.

    Without `input_selector` the box is looked for, and so is the button beside it if that is not named either.
    """

    url: str
    input_selector: str | None = None
    submit_selector: str | None = None
    answer_selector: str | None = None
    ready_selector: str | None = None
    sources_selector: str | None = None
    timeout: float = 60.0
    same_page: bool = False
    any_host: bool = False


class Visit:
    """One page that is open."""

    def __init__(self, page: Page, context: Any, tab: Any, error: type[Exception], *, password: bool = False) -> None:
        self.how = page
        self._password = password  # the browser can't judge requests and give a password at the same time
        self.context, self.page = context, tab
        self.opened = False
        self.asked = 0
        self.selector: str | None = None
        self.box: str | None = None
        self.console: deque[str] = deque(maxlen=200)
        self.crashed = False
        self._error = error
        self._traffic = Traffic()
        self._marks: dict[Any, Any] = {}
        self._led_to: str | None = None
        tab.on("console", self._say)
        tab.on("pageerror", lambda problem: self.console.append(f"error: {str(problem)[:1000]}"))
        tab.on("dialog", self._dismiss)
        tab.on("crash", self._crash)
        tab.on("request", lambda request: self._traffic.begin(request, time.perf_counter()))
        tab.on("requestfinished", lambda request: self._traffic.end(request, time.perf_counter()))
        tab.on("requestfailed", lambda request: self._traffic.end(request, time.perf_counter()))
        tab.on("websocket", self._socket)
        tab.on("framenavigated", lambda frame: frame == tab.main_frame and self._is_elsewhere(frame.url))

    async def open(self) -> None:
        """Go to the page, and see that the selectors are some."""
        if not self._password:
            await self._guard()
        try:
            response = await self.page.goto(
                self.how.url, timeout=self.how.timeout * 1000, wait_until="domcontentloaded"
            )
        except self._error as problem:
            self._check_alive()
            said = first_line(problem).split(" at http")[0]
            cause = f"can't open {public(self.how.url)}: {said}"
            nobody = EndpointError(cause, hint="is the server running, and is this its address?")
            raise TryAgain(NAVIGATION_ERROR, cause, fatal=nobody if _NOBODY.search(said) else None) from None
        if response is not None and response.status >= 400:
            outcome = BLOCKED if response.status in (401, 403, 407, 429) else NAVIGATION_ERROR
            kind = TryAgain if response.status in (429, 500, 502, 503, 504) else GiveUp
            raise kind(outcome, f"{public(self.how.url)} answered HTTP {response.status}")
        self._check_alive()
        await self._check_selectors()
        self.opened = True

    async def close(self) -> None:
        """Close it, whatever state it is in."""
        try:
            await self.context.close()
        except self._error:
            return

    async def ask(self, question: str) -> Answer:
        """Type the question, send it, and wait until the answer is finished."""
        self.asked += 1
        frame, box = await self._box()
        await self._type(box, question)
        await self._mark(question)
        begun = time.perf_counter()
        await self._submit(box)
        return await self._wait(frame, begun)

    async def _check_selectors(self) -> None:
        given = {name: getattr(self.how, name) for name in ("answer_selector", "ready_selector", "sources_selector")}
        wrong = await self._run(self.page.main_frame, "window.__ragmeter.wrong", list(given.values()))
        if wrong is not None and wrong >= 0:
            name, selector = list(given.items())[wrong]
            raise GiveUp(SELECTOR_NOT_FOUND, f"{parameter(name)} {selector!r} is not a CSS selector")

    async def _box(self) -> tuple[Any, Any]:
        """The box that takes the question: the one that was named, or the likeliest that can be seen."""
        if self.how.input_selector is not None:
            return await self._find(self.how.input_selector, parameter("input_selector"))
        deadline = time.monotonic() + min(_APPEARS, self.how.timeout)
        looks = 0
        while True:
            looks += 1
            self._check_alive()
            for selector in _BOXES:
                for frame in self.page.frames:
                    box = await self._last_editable(frame.locator(selector))
                    if box is not None:
                        self.box = await box.evaluate("box => window.__ragmeter ? window.__ragmeter.path(box) : null")
                        return frame, box
            if looks >= _LOOKS and time.monotonic() > deadline:
                raise GiveUp(SELECTOR_NOT_FOUND, await self._not_found(None, option("input_selector")))
            await asyncio.sleep(0.1)

    async def _last_editable(self, boxes: Any) -> Any:
        """Of several boxes the last one that can be seen and written in: a chat has it at its end."""
        try:
            for place in reversed(range(min(await boxes.count(), 20))):
                box = boxes.nth(place)
                if await box.is_visible() and await box.is_editable(timeout=1000):
                    return box
        except self._error:
            self._check_alive()
        return None

    async def _find(self, selector: str, name: str) -> tuple[Any, Any]:
        """The first visible element by a selector, in whichever frame it is; a page may take its time to show it."""
        deadline = time.monotonic() + min(_APPEARS, self.how.timeout)
        looks = 0
        while True:
            looks += 1
            self._check_alive()
            for frame in self.page.frames:
                try:
                    found = frame.locator(selector)
                    for place in range(min(await found.count(), 5)):
                        if await found.nth(place).is_visible():
                            return frame, found.nth(place)
                except self._error as problem:
                    if "selector" in str(problem).lower():
                        raise GiveUp(SELECTOR_NOT_FOUND, f"{name} {selector!r} is not a selector") from None
            if looks >= _LOOKS and time.monotonic() > deadline:  # a busy machine may have looked only once
                raise GiveUp(SELECTOR_NOT_FOUND, await self._not_found(selector, name))
            await asyncio.sleep(0.1)

    async def _not_found(self, selector: str | None, name: str) -> str:
        found: list[str] = []
        for frame in self.page.frames:
            found += await self._run(frame, "window.__ragmeter.candidates", None) or []
        there = "; the page has " + ", ".join(found[:8]) if found else "; the page has no box and no button"
        if selector is None:
            return f"there is no box to type a question into{there}; name it with {name}"
        return f"{name} {selector!r} matches nothing that can be seen{there}"

    async def _type(self, box: Any, question: str) -> None:
        """Put the question into the box, whatever kind of box it is."""
        try:
            await box.fill(question, timeout=self.how.timeout * 1000)
        except self._error as problem:
            if "Timeout" in str(problem):
                raise TryAgain(TIMEOUT, "the box takes no text: it is disabled or covered") from None
            await box.click(timeout=5000)
            await box.press_sequentially(question, timeout=self.how.timeout * 1000)

    async def _submit(self, box: Any) -> None:
        if self.how.submit_selector is not None:
            _, button = await self._find(self.how.submit_selector, parameter("submit_selector"))
            await self._click(button, f"{parameter('submit_selector')} {self.how.submit_selector!r}")
            return
        button = None
        if self.how.input_selector is None:
            script = "box => window.__ragmeter ? window.__ragmeter.sender(box) : null"
            button = (await box.evaluate_handle(script)).as_element()
        if button is None:
            await box.press("Enter")
        else:
            await self._click(button, "the button beside the box")

    async def _click(self, button: Any, what: str) -> None:
        try:
            await button.click(timeout=self.how.timeout * 1000)
        except self._error as problem:
            over = re.search(r"(<.*?>.*) intercepts pointer events", str(problem))
            if over is None and "Timeout" not in str(problem):
                raise
            why = f"{over[1][:100]} lies over it" if over else "it is disabled or hidden"
            raise TryAgain(TIMEOUT, f"{what} can't be clicked: {why}") from None

    async def _mark(self, question: str) -> None:
        self._traffic.question(time.perf_counter())
        how = self.how
        given = {"answer": how.answer_selector, "ready": how.ready_selector, "sources": how.sources_selector}
        self._marks = {
            frame: await self._run(frame, "window.__ragmeter.mark", {"question": question, **given})
            for frame in self.page.frames
        }

    async def _run(self, frame: Any, code: str, argument: Any) -> Any:
        """Run our script in a frame. One that is just being replaced, or is none of ours, has nothing to say."""
        try:
            return await frame.evaluate(f"argument => window.__ragmeter ? ({code})(argument) : null", argument)
        except self._error:
            self._check_alive()
            return None

    async def _wait(self, frame: Any, begun: float) -> Answer:
        """Look again and again until the text is there and nothing says that more will come."""
        finish = Finish(begun, named=self.how.ready_selector is not None)
        found: dict[str, Any] | None = None
        while (started := time.perf_counter()) - begun < self.how.timeout:
            self._check_alive()
            found = await self._look(frame)
            if found is not None and finish.see(found, self._traffic, time.perf_counter()):
                self.selector = found["selector"]
                await self._run(found["frame"], "window.__ragmeter.done", self.selector)
                return Answer(
                    whole(finish.text),
                    *_sources(found["sources"]),
                    latency_ms=(finish.changed - begun) * 1000,
                    time_to_first_token_ms=None if finish.first is None else (finish.first - begun) * 1000,
                )
            await asyncio.sleep(max(_POLL, time.perf_counter() - started))  # a page with much on it needs its time
        raise await self._too_late(finish.text, found)

    async def _look(self, frame: Any) -> dict[str, Any] | None:
        """What our script finds in the frame of the box, or in another if there is nothing; None if nobody can say."""
        first: dict[str, Any] | None = None
        for each in sorted(self._marks, key=lambda other: other is not frame):
            found = await self._run(each, "window.__ragmeter.look", None)
            if found is None and self._marks[each] is not None:  # another page has come, by a form for one
                await self._run(each, "window.__ragmeter.restore", self._marks[each])
                found = await self._run(each, "window.__ragmeter.look", None)
            if found is None:
                continue
            first = first or {**found, "frame": each}
            if found["text"]:
                return {**first, "text": found["text"], "selector": found["selector"], "frame": each}
        return first

    async def _too_late(self, text: str, found: dict[str, Any] | None) -> Exception:
        """What to say of a page that had its time, and has given no answer, or not all of it."""
        within, how = f"within {self.how.timeout:g} s", self.how
        if text and found is not None:
            unready = f"{parameter('ready_selector')} {how.ready_selector!r} can't be seen"
            still = f"{found['busy']} shows that it is at work ({parameter('ready_selector')} can name what counts)"
            why = unready if how.ready_selector and not found["ready"] else still if found["busy"] else ""
            return TryAgain(TIMEOUT, f"the answer was not finished {within}" + (f": {why}" if why else ""))
        if how.answer_selector is not None:
            for frame in self._marks:
                guess = await self._run(frame, "window.__ragmeter.guess", None)
                if guess:
                    missed = f"{parameter('answer_selector')} {how.answer_selector!r} matches nothing {within}"
                    return GiveUp(SELECTOR_NOT_FOUND, f"{missed}; what is new on the page is in {guess}")
        said = next((line for line in reversed(self.console) if line.startswith("error")), "")
        cause = f"no answer {within}" + (f"; the page's console says: {' '.join(said.split())[:200]}" if said else "")
        return TryAgain(TIMEOUT, cause)

    def _say(self, message: Any) -> None:
        where = public(message.location.get("url") or "")
        if not where.endswith("/favicon.ico"):
            self.console.append(f"{message.type}: {message.text[:1000]}" + (f" ({where})" if where else ""))

    def _socket(self, socket: Any) -> None:
        self._traffic.lines.add(socket)
        socket.on("close", lambda closed: self._traffic.lines.discard(socket))

    async def _dismiss(self, dialog: Any) -> None:
        self.console.append(f"dialog: {dialog.message}")
        await dialog.dismiss()

    def _crash(self, page: Any) -> None:
        self.crashed = True

    @property
    def gone(self) -> bool:
        """Whether there is no page any more that could be asked."""
        return self.crashed or bool(self.page.is_closed())

    def _check_alive(self) -> None:
        if self.gone:
            raise TryAgain(PAGE_CRASHED, "the page has crashed")
        if self._led_to is not None:
            allowed = by_caller("--any-host", "any_host=True")
            raise GiveUp(BLOCKED, f"the page leads to another host, {self._led_to} ({allowed} allows it)")

    def _is_elsewhere(self, url: str) -> bool:
        there = urlsplit(url)
        if there.scheme not in _DEFAULT_PORTS or self.how.any_host or _host(there) == _host(urlsplit(self.how.url)):
            return False
        self._led_to = there.netloc
        return True

    async def _guard(self) -> None:
        """Let the page lead to no other host than the one that was named: such a request is never sent."""
        session = await self.context.new_cdp_session(self.page)
        main = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]

        async def judge(event: dict[str, Any]) -> None:
            action, more = "Fetch.continueRequest", {}
            if event["frameId"] == main and self._is_elsewhere(event["request"]["url"]):
                action, more = "Fetch.failRequest", {"errorReason": "BlockedByClient"}
            try:
                await session.send(action, {"requestId": event["requestId"], **more})
            except self._error:  # the page was closed meanwhile
                return

        session.on("Fetch.requestPaused", judge)
        await session.send("Fetch.enable", {"patterns": [{"resourceType": "Document"}]})


def _host(parts: SplitResult) -> tuple[str | None, int | None]:
    """The host and its port, which may go from http to https where neither names one."""
    port = parts.port
    return parts.hostname, None if port == _DEFAULT_PORTS.get(parts.scheme) else port


def first_line(problem: Exception) -> str:
    """What the browser says went wrong, without the call's name."""
    return re.sub(r"^\w+\.\w+: ", "", str(problem).splitlines()[0])[:200]


def _sources(found: list[dict[str, Any]] | None) -> tuple[list[str] | None, list[str] | None]:
    """What the page shows as its sources: their addresses or names, and their texts."""
    if found is None:
        return None, None
    return [each["href"] or each["text"] for each in found], [each["text"] for each in found]
