"""One open page: types and sends a question, and reads the answer when it is finished."""

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
#: Seconds that a box or a button may take to appear, and the fewest times that it is looked for.
_APPEARS, _LOOKS = 10.0, 5
_UNREACHABLE = re.compile(r"ERR_(CONNECTION_REFUSED|NAME_NOT_RESOLVED|ADDRESS_UNREACHABLE|INTERNET_DISCONNECTED)")
_DEFAULT_PORTS = {"http": 80, "https": 443}
#: Selectors of input boxes, for when the user gives none: the likeliest first.
_BOXES = (
    "textarea",
    "[contenteditable=true], [contenteditable='']",
    "[role=textbox]",
    "input[type=search]",
    "input[type=text], input:not([type])",
)


@dataclass(frozen=True)
class Page:
    """How a page is used: where the question goes, how it is sent, and where the answer appears.

    Without `input_selector` the input box is guessed; without both selectors, so is the button beside it.
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
    """One open page."""

    def __init__(self, page: Page, context: Any, tab: Any, error: type[Exception], *, password: bool = False) -> None:
        self.how = page
        self._password = password  # the browser can't intercept requests and send a password at the same time
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
        self._other_host: str | None = None
        tab.on("console", self._log)
        tab.on("pageerror", lambda problem: self.console.append(f"error: {str(problem)[:1000]}"))
        tab.on("dialog", self._dismiss)
        tab.on("crash", self._crash)
        tab.on("request", lambda request: self._traffic.begin(request, time.perf_counter()))
        tab.on("requestfinished", lambda request: self._traffic.end(request, time.perf_counter()))
        tab.on("requestfailed", lambda request: self._traffic.end(request, time.perf_counter()))
        tab.on("websocket", self._socket)
        tab.on("framenavigated", lambda frame: frame == tab.main_frame and self._is_elsewhere(frame.url))

    async def open(self) -> None:
        """Go to the page, and check that the selectors are valid."""
        if not self._password:
            await self._guard()
        try:
            response = await self.page.goto(
                self.how.url, timeout=self.how.timeout * 1000, wait_until="domcontentloaded"
            )
        except self._error as problem:
            self._check_alive()
            reason = first_line(problem).split(" at http")[0]
            cause = f"can't open {public(self.how.url)}: {reason}"
            unreachable = EndpointError(cause, hint="is the server running, and is this its address?")
            fatal = unreachable if _UNREACHABLE.search(reason) else None
            raise TryAgain(NAVIGATION_ERROR, cause, fatal=fatal) from None
        if response is not None and response.status >= 400:
            outcome = BLOCKED if response.status in (401, 403, 407, 429) else NAVIGATION_ERROR
            kind = TryAgain if response.status in (429, 500, 502, 503, 504) else GiveUp
            raise kind(outcome, f"{public(self.how.url)} answered HTTP {response.status}")
        self._check_alive()
        await self._check_selectors()
        self.opened = True

    async def close(self) -> None:
        """Close the page, whatever its state."""
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
        """The input box: the one that the user gave, or the likeliest visible one."""
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
        """The last of several boxes that is visible and editable: a chat has it at its end."""
        try:
            for place in reversed(range(min(await boxes.count(), 20))):
                box = boxes.nth(place)
                if await box.is_visible() and await box.is_editable(timeout=1000):
                    return box
        except self._error:
            self._check_alive()
        return None

    async def _find(self, selector: str, name: str) -> tuple[Any, Any]:
        """The first visible element of a selector, in any frame; waits until it appears."""
        deadline = time.monotonic() + min(_APPEARS, self.how.timeout)
        looks = 0
        while True:
            looks += 1
            self._check_alive()
            for frame in self.page.frames:
                try:
                    elements = frame.locator(selector)
                    for place in range(min(await elements.count(), 5)):
                        if await elements.nth(place).is_visible():
                            return frame, elements.nth(place)
                except self._error as problem:
                    if "selector" in str(problem).lower():
                        raise GiveUp(SELECTOR_NOT_FOUND, f"{name} {selector!r} is not a selector") from None
            if looks >= _LOOKS and time.monotonic() > deadline:  # on a busy machine the time may be over after one look
                raise GiveUp(SELECTOR_NOT_FOUND, await self._not_found(selector, name))
            await asyncio.sleep(0.1)

    async def _not_found(self, selector: str | None, name: str) -> str:
        elements: list[str] = []
        for frame in self.page.frames:
            elements += await self._run(frame, "window.__ragmeter.candidates", None) or []
        on_page = ", ".join(elements[:8]) if elements else "no box and no button"
        if selector is None:
            return f"there is no box to type a question into; the page has {on_page}; name it with {name}"
        return f"{name} {selector!r} matches nothing that can be seen; the page has {on_page}"

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
            overlay = re.search(r"(<.*?>.*) intercepts pointer events", str(problem))
            if overlay is None and "Timeout" not in str(problem):
                raise
            why = f"{overlay[1][:100]} lies over it" if overlay else "it is disabled or hidden"
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
        """Call our script in a frame; None where a frame is being replaced or does not have the script."""
        try:
            return await frame.evaluate(f"argument => window.__ragmeter ? ({code})(argument) : null", argument)
        except self._error:
            self._check_alive()
            return None

    async def _wait(self, frame: Any, begun: float) -> Answer:
        """Look at the page until the answer is there and finished."""
        finish = Finish(begun, named=self.how.ready_selector is not None)
        look: dict[str, Any] | None = None
        while (started := time.perf_counter()) - begun < self.how.timeout:
            self._check_alive()
            look = await self._look(frame)
            if look is not None and finish.see(look, self._traffic, time.perf_counter()):
                self.selector = look["selector"]
                await self._run(look["frame"], "window.__ragmeter.done", self.selector)
                return Answer(
                    whole(finish.text),
                    *_sources(look["sources"]),
                    latency_ms=(finish.changed - begun) * 1000,
                    time_to_first_token_ms=None if finish.first is None else (finish.first - begun) * 1000,
                )
            await asyncio.sleep(max(_POLL, time.perf_counter() - started))  # a look at a big page takes its time
        raise await self._too_late(finish.text, look)

    async def _look(self, frame: Any) -> dict[str, Any] | None:
        """What our script sees in the box's frame, or in another if that has no text; None if no frame answers."""
        first: dict[str, Any] | None = None
        for candidate in sorted(self._marks, key=lambda other: other is not frame):
            look = await self._run(candidate, "window.__ragmeter.look", None)
            if look is None and self._marks[candidate] is not None:  # the page was replaced, for example by a form
                await self._run(candidate, "window.__ragmeter.restore", self._marks[candidate])
                look = await self._run(candidate, "window.__ragmeter.look", None)
            if look is None:
                continue
            first = first or {**look, "frame": candidate}
            if look["text"]:
                return {**first, "text": look["text"], "selector": look["selector"], "frame": candidate}
        return first

    async def _too_late(self, text: str, look: dict[str, Any] | None) -> Exception:
        """The error for a page that gave no answer within the timeout, or no complete one."""
        within, how = f"within {self.how.timeout:g} s", self.how
        if text and look is not None:
            unready = f"{parameter('ready_selector')} {how.ready_selector!r} can't be seen"
            busy = f"{look['busy']} shows that it is still working ({parameter('ready_selector')} can override it)"
            why = unready if how.ready_selector and not look["ready"] else busy if look["busy"] else ""
            return TryAgain(TIMEOUT, f"the answer was not finished {within}" + (f": {why}" if why else ""))
        if how.answer_selector is not None:
            for frame in self._marks:
                guess = await self._run(frame, "window.__ragmeter.guess", None)
                if guess:
                    missed = f"{parameter('answer_selector')} {how.answer_selector!r} matches nothing {within}"
                    return GiveUp(SELECTOR_NOT_FOUND, f"{missed}; what is new on the page is in {guess}")
        logged = next((line for line in reversed(self.console) if line.startswith("error")), "")
        console = f"; the page's console says: {' '.join(logged.split())[:200]}" if logged else ""
        return TryAgain(TIMEOUT, f"no answer {within}{console}")

    def _log(self, message: Any) -> None:
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
        """Whether the page has crashed or was closed."""
        return self.crashed or bool(self.page.is_closed())

    def _check_alive(self) -> None:
        if self.gone:
            raise TryAgain(PAGE_CRASHED, "the page has crashed")
        if self._other_host is not None:
            allowed = by_caller("--any-host", "any_host=True")
            raise GiveUp(BLOCKED, f"the page leads to another host, {self._other_host} ({allowed} allows it)")

    def _is_elsewhere(self, url: str) -> bool:
        parts = urlsplit(url)
        if parts.scheme not in _DEFAULT_PORTS or self.how.any_host or _host(parts) == _host(urlsplit(self.how.url)):
            return False
        self._other_host = parts.netloc
        return True

    async def _guard(self) -> None:
        """Block navigation to other hosts: such a request is never sent."""
        session = await self.context.new_cdp_session(self.page)
        main = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]

        async def check_request(event: dict[str, Any]) -> None:
            action, more = "Fetch.continueRequest", {}
            if event["frameId"] == main and self._is_elsewhere(event["request"]["url"]):
                action, more = "Fetch.failRequest", {"errorReason": "BlockedByClient"}
            try:
                await session.send(action, {"requestId": event["requestId"], **more})
            except self._error:  # the page was closed meanwhile
                return

        session.on("Fetch.requestPaused", check_request)
        await session.send("Fetch.enable", {"patterns": [{"resourceType": "Document"}]})


def _host(parts: SplitResult) -> tuple[str | None, int | None]:
    """The host and its port; the default ports of http and https count as the same."""
    port = parts.port
    return parts.hostname, None if port == _DEFAULT_PORTS.get(parts.scheme) else port


def first_line(problem: Exception) -> str:
    """The first line of the browser's error, without the name of the call."""
    return re.sub(r"^\w+\.\w+: ", "", str(problem).splitlines()[0])[:200]


def _sources(links: list[dict[str, Any]] | None) -> tuple[list[str] | None, list[str] | None]:
    """The sources that the page shows: their addresses or names, and their texts."""
    if links is None:
        return None, None
    return [link["href"] or link["text"] for link in links], [link["text"] for link in links]
