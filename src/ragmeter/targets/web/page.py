"""One open page in the browser: opened, called and closed within limits, whatever the page does."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ragmeter.effects.limits.caller import GiveUp, TryAgain
from ragmeter.effects.limits.pace import retry_after
from ragmeter.errors import EndpointError
from ragmeter.hints import by_caller, parameter
from ragmeter.io.addresses import public
from ragmeter.table import BLOCKED, NAVIGATION_ERROR, PAGE_CRASHED, SELECTOR_NOT_FOUND, TARGET_ERROR, TIMEOUT
from ragmeter.targets.web.learning.reading import Reading, of_selectors
from ragmeter.targets.web.origin import Gate, block_navigation, is_elsewhere
from ragmeter.targets.web.page_events import TOO_MANY, Events
from ragmeter.targets.web.profile import Profile, css_of

TAMPERED = "the page has replaced functions of the browser that are needed to read it"
#: Seconds that a page has to show that it responds at all, and that closing it may take, also on a busy machine.
_RESPONDS, _CLOSES, _CLOSES_BUSY = 2.0, 10.0, 30.0
#: The most frames of a page that are read, windows that it may open, and loads and dialogs that are not worth a word.
_FRAMES, _WINDOWS, _OFTEN = 100, 20, 10
_UNREACHABLE = re.compile(
    r"ERR_(CONNECTION_REFUSED|NAME_NOT_RESOLVED|ADDRESS_UNREACHABLE|INTERNET_DISCONNECTED|SOCKS_)"
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
    same_origin_only: bool = False
    clicks: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def given(self) -> Profile:
        """What the user's own selectors say of how the page is read."""
        return of_selectors(self.answer_selector, self.ready_selector, self.sources_selector, self.ignore, self.clicks)


class OpenPage:
    """A page from its opening to its closing, and the calls into it.

    A page whose own script never ends responds to nothing: all calls into it have a limit.
    """

    #: Seconds that calls may take where the user's timeout is over, or is that of something else.
    grace = 10.0

    def __init__(
        self,
        page: Page,
        context: Any,
        tab: Any,
        error: type[Exception],
        *,
        password: bool = False,
        gate: Gate | None = None,
    ) -> None:
        self.how = page
        self._password = password  # the browser can't intercept requests and send a password at the same time
        self.context, self.page, self.gate = context, tab, gate
        self.opened = False
        self.asked = 0
        self.selector: str | None = None
        self.box: str | None = None
        self.steps: list[str] = []  # what was clicked before the box could be seen
        self.attempts = 0  # to send the last question
        self.sent_by: str | None = None  # the button's selector, or nothing if it was Enter
        self.frozen = False  # it has not responded to a call
        self.has_other_origins = False  # a frame of it was at another origin, and may have stored something there
        self.events = Events(context, tab, error, framenavigated=self._navigated, requestfailed=self._failed_to_load)
        self._guard: Any = None  # asks before a document is opened
        self.reading: Reading  # shared with other pages
        self._error = error
        self._marks: dict[Any, Any] = {}
        self._stuck: set[Any] = set()  # frames inside the page that do not respond
        self._problem = ""  # why our script could not read the page
        self._other_host: str | None = None

    async def open(self) -> None:
        """Go to the page, and check that the selectors are valid."""
        cause = f"can't open {public(self.how.url)}"
        async with self._limited(self.how.timeout + self.grace, f"{cause} within {self.how.timeout:g} s"):
            if not self._password:
                self._guard = await block_navigation(self.context, self.page, self._is_elsewhere, self._error)
            await self._go(cause)
            await self._check_selectors()
        self.opened = True

    async def _go(self, cause: str) -> None:
        try:
            response = await self.page.goto(
                self.how.url, timeout=self.how.timeout * 1000, wait_until="domcontentloaded"
            )
        except self._error as problem:
            self._check_alive()
            if "Timeout" in str(problem):
                raise TryAgain(TIMEOUT, f"{cause} within {self.how.timeout:g} s{await self._state()}") from None
            reason = first_line(problem).split(" at http")[0]
            if self.gate is not None and self.gate.failure:
                reason = self.gate.failure
            unreachable = EndpointError(f"{cause}: {reason}", hint="is the server running, and is this its address?")
            fatal = unreachable if _UNREACHABLE.search(str(problem)) else None
            raise TryAgain(NAVIGATION_ERROR, f"{cause}: {reason}", fatal=fatal) from None
        if response is not None and response.status >= 400:
            outcome = BLOCKED if response.status in (401, 403, 407, 429) else NAVIGATION_ERROR
            if response.status == TOO_MANY:
                pause = retry_after(response.headers.get("retry-after"))
                cause = f"{public(self.how.url)} answered HTTP {response.status}"
                raise TryAgain(outcome, cause, overloaded=True, after=pause)
            kind = TryAgain if response.status in (500, 502, 503, 504) else GiveUp
            raise kind(outcome, f"{public(self.how.url)} answered HTTP {response.status}")
        self._check_alive()

    async def _check_selectors(self) -> None:
        options = ("answer_selector", "ready_selector", "sources_selector")
        given = [(parameter(name), value) for name in options if (value := getattr(self.how, name))]
        given += [(parameter("ignore_selector"), selector) for selector in self.how.ignore]
        if self.reading.final and self.reading.profile is not None:
            given += css_of(self.reading.profile)
        wrong = await self._run(self.page.main_frame, "wrong", [selector for _, selector in given], kind=int)
        if wrong is not None and 0 <= wrong < len(given):
            name, selector = given[wrong]
            raise GiveUp(SELECTOR_NOT_FOUND, f"{name} {selector!r} is not a CSS selector")

    async def detach(self) -> None:
        """Leave the tab to another page."""
        self.events.detach()
        if self._guard is not None:
            await self._guard.detach()

    async def close(self) -> bool:
        """Close the page, whatever its state; False if the browser does not manage it in time."""
        try:
            async with asyncio.timeout(_CLOSES if self.frozen else _CLOSES_BUSY):
                await self.context.close()
        except self._error:
            pass
        except TimeoutError:
            return False
        finally:
            if self.gate is not None:
                await self.gate.close()
        return True

    @asynccontextmanager
    async def _limited(self, seconds: float, cause: str) -> AsyncIterator[None]:
        """Calls into the page within a limit. Most of them have none of their own, and a page may block them all."""
        try:
            async with asyncio.timeout(seconds) as limit:
                yield
        except TimeoutError:
            if not limit.expired():
                raise
            raise TryAgain(TIMEOUT, cause + await self._state()) from None

    async def _state(self) -> str:
        """What is wrong with a page that took too long, for the end of a message."""
        try:
            async with asyncio.timeout(_RESPONDS):
                await self.page.evaluate("0")
        except TimeoutError:
            self.frozen = True
        except self._error:  # it has gone, or is being replaced
            pass
        self._check_alive()
        if self.events.loads > _OFTEN:
            return ": the page loads again and again"
        if self.frozen and self.events.dialogs > _OFTEN:
            return ": the page shows one dialog after another"
        return ": the page does not respond, a script of its own keeps it busy" if self.frozen else ""

    @asynccontextmanager
    async def _aside(self, frame: Any) -> AsyncIterator[None]:
        """Calls into a frame. One inside the page that does not respond is left out from then on."""
        if frame == self.page.main_frame:
            yield
            return
        try:
            async with asyncio.timeout(self.grace) as limit:
                yield
        except TimeoutError:
            if not limit.expired():
                raise
            self._stuck.add(frame)

    def _frames(self) -> list[Any]:
        return [frame for frame in self.page.frames[:_FRAMES] if frame not in self._stuck]

    async def _run(self, frame: Any, name: str, argument: Any = None, kind: type = object) -> Any:
        """Call a function of our script in a frame; None where a frame is being replaced or lacks the script."""
        result: Any = None
        try:
            async with self._aside(frame):
                code = f"argument => window.__ragmeter ? window.__ragmeter.{name}(argument) : null"
                result = await frame.evaluate(code, argument)
        except self._error as problem:
            self._check_alive()
            if not re.search("navigat|destroyed|detached", str(problem)):
                self._problem = first_line(problem)
        return self._value(result, kind)

    def _value(self, result: Any, kind: type) -> Any:
        """The value that a function of our script returned; None if it failed. The page may have tampered with it."""
        match result:
            case None | {"value": None}:
                return None
            case {"limit": str(limit)}:
                raise GiveUp(TARGET_ERROR, limit)
            case {"problem": str(problem)}:
                self._problem = problem
                return None
            case {"value": value} if isinstance(value, kind):
                return value
        raise GiveUp(TARGET_ERROR, TAMPERED)

    @property
    def gone(self) -> bool:
        """Whether the page has crashed or was closed."""
        return self.events.crashed or bool(self.page.is_closed())

    def end(self) -> str:
        """The reason why the page is gone."""
        if self.events.crashed:
            return "the page has crashed"
        browser = self.context.browser
        return "the page has closed itself" if browser and browser.is_connected() else "the browser has ended"

    def _check_alive(self) -> None:
        if self.gone:
            raise TryAgain(PAGE_CRASHED, self.end())
        if self.events.windows > _WINDOWS:
            raise GiveUp(TARGET_ERROR, f"the page has opened more than {_WINDOWS} windows")
        if self._other_host is not None:
            where, allowed = "another host", by_caller("--any-host", "any_host=True")
            advice = f"{allowed} allows it"
            if self.how.same_origin_only:
                where, advice = "another origin", f"{parameter('same_origin_only')} blocks it"
            raise GiveUp(BLOCKED, f"the page leads to {where}, {self._other_host} ({advice})")

    def _navigated(self, frame: Any) -> None:
        address, own = urlsplit(frame.url), urlsplit(self.how.url)
        if address.scheme in ("http", "https") and (address.scheme, address.netloc) != (own.scheme, own.netloc):
            self.has_other_origins = True
        if frame == self.page.main_frame:
            self.events.loads += 1
            self._is_elsewhere(frame.url)

    def _failed_to_load(self, request: Any) -> None:
        """A failed request: with a password, a page that leads elsewhere fails at the gate, before anyone asks."""
        if self.gate is not None and request.is_navigation_request() and request.frame == self.page.main_frame:
            self._is_elsewhere(request.url)

    def _is_elsewhere(self, url: str) -> bool:
        how = self.how
        if how.any_host or not is_elsewhere(url, how.url, same_origin_only=how.same_origin_only):
            return False
        parts = urlsplit(url)
        self._other_host = f"{parts.scheme}://{parts.netloc}" if how.same_origin_only else parts.netloc
        return True


def first_line(problem: Exception) -> str:
    """The first line of the browser's error, without the name of the call."""
    return re.sub(r"^\w+\.\w+: ", "", str(problem).partition("\n")[0])[:200]
