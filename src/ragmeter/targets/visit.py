"""One open page: types and sends a question, and reads the answer when it is finished."""

from __future__ import annotations

import asyncio
import re
import time
from typing import Any

from ragmeter.effects.caller import GiveUp, TryAgain
from ragmeter.hints import option, parameter
from ragmeter.io.cells import whole
from ragmeter.table import TARGET_ERROR, TIMEOUT
from ragmeter.targets.finish import Finish
from ragmeter.targets.looks import check_look, read_sources
from ragmeter.targets.page import SELECTOR_NOT_FOUND, TAMPERED, OpenPage, Page
from ragmeter.targets.port import Answer

__all__ = ["Page", "Visit"]
_POLL = 0.05
#: Seconds that a box or a button may take to appear, and the fewest times that it is looked for.
_APPEARS, _LOOKS = 10.0, 5
#: Selectors of input boxes, for when the user gives none: the likeliest first.
_BOXES = (
    "textarea",
    "[contenteditable=true], [contenteditable='']",
    "[role=textbox]",
    "input[type=search]",
    "input[type=text], input:not([type])",
)


class Visit(OpenPage):
    """A page that is asked."""

    async def ask(self, question: str) -> Answer:
        """Type the question, send it, and wait until the answer is finished."""
        self.asked += 1
        seconds = self.how.timeout + 2 * _APPEARS + self.grace
        async with self._limited(seconds, f"the question could not be sent within {seconds:g} s"):
            frame, box = await self._box()
            await self._type(box, question)
            await self._mark(question)
            begun = time.perf_counter()
            await self._submit(box)
        return await self._wait(frame, begun)

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
                for frame in self._frames():
                    async with self._aside(frame):
                        box = await self._last_editable(frame.locator(selector))
                        if box is not None:
                            path = await box.evaluate("box => window.__ragmeter ? window.__ragmeter.path(box) : null")
                            self.box = self._value(path, str)
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
            for frame in self._frames():
                try:
                    async with self._aside(frame):
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
        elements: list[Any] = []
        for frame in self._frames():
            elements += await self._run(frame, "candidates", kind=list) or []
        on_page = ", ".join(str(element)[:200] for element in elements[:8]) if elements else "no box and no button"
        if selector is None:
            return f"there is no box to type a question into; the page has {on_page}; name it with {name}"
        return f"{name} {selector!r} matches nothing that can be seen; the page has {on_page}"

    async def _type(self, box: Any, question: str) -> None:
        """Put the question into the box, whatever kind of box it is."""
        try:
            await box.fill(question, timeout=self.how.timeout * 1000)
        except self._error as problem:
            if "Timeout" in str(problem):
                why = await self._state() or ": it is disabled or covered"
                raise TryAgain(TIMEOUT, f"the box takes no text{why}") from None
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
            try:
                button = (await box.evaluate_handle(script)).as_element()
            except self._error:  # the page has replaced functions that our script needs
                self._check_alive()
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
            why = (
                f": {overlay[1][:100]} lies over it" if overlay else await self._state() or ": it is disabled or hidden"
            )
            raise TryAgain(TIMEOUT, f"{what} can't be clicked{why}") from None

    async def _mark(self, question: str) -> None:
        self.events.traffic.question(time.perf_counter())
        how = self.how
        given = {"answer": how.answer_selector, "ready": how.ready_selector, "sources": how.sources_selector}
        self._marks = {
            frame: await self._run(frame, "mark", {"question": question, **given}, kind=dict)
            for frame in self._frames()
        }

    async def _wait(self, frame: Any, begun: float) -> Answer:
        """Look at the page until the answer is there and finished."""
        finish = Finish(begun, named=self.how.ready_selector is not None)
        look: dict[str, Any] | None = None
        while (left := begun + self.how.timeout - (started := time.perf_counter())) > 0:
            self._check_alive()
            what = "the answer was not finished" if finish.text else "no answer"
            async with self._limited(max(left, self.grace), f"{what} within {self.how.timeout:g} s"):
                look = await self._look(frame)
            if look is not None and finish.see(look, self.events.traffic, time.perf_counter()):
                await self._done(look)
                return Answer(
                    whole(finish.text),
                    *read_sources(look["sources"]),
                    latency_ms=(finish.changed - begun) * 1000,
                    time_to_first_token_ms=None if finish.first is None else (finish.first - begun) * 1000,
                )
            await asyncio.sleep(max(_POLL, time.perf_counter() - started))  # a look at a big page takes its time
        async with self._limited(self.grace, f"no answer within {self.how.timeout:g} s"):
            problem = await self._too_late(finish.text, look)
        raise problem

    async def _done(self, look: dict[str, Any]) -> None:
        """The answer has been read, also if the page responds no more."""
        self.selector = look["selector"]
        try:
            async with asyncio.timeout(self.grace):
                await self._run(look["frame"], "done", self.selector)
        except (TimeoutError, TryAgain):
            self.frozen = True

    async def _look(self, frame: Any) -> dict[str, Any] | None:
        """What our script sees in the box's frame, or in another if that has no text; None if no frame answers."""
        first: dict[str, Any] | None = None
        for candidate in sorted(self._marks, key=lambda other: other is not frame):
            if candidate in self._stuck:
                continue
            look = await self._run(candidate, "look", kind=dict)
            if look is None and self._marks[candidate] is not None:  # the page was replaced, for example by a form
                await self._run(candidate, "restore", self._marks[candidate])
                look = await self._run(candidate, "look", kind=dict)
            if look is None:
                continue
            if not check_look(look):
                raise GiveUp(TARGET_ERROR, TAMPERED)
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
                guess = await self._run(frame, "guess", kind=str)
                if guess:
                    missed = f"{parameter('answer_selector')} {how.answer_selector!r} matches nothing {within}"
                    return GiveUp(SELECTOR_NOT_FOUND, f"{missed}; what is new on the page is in {guess}")
        return TryAgain(TIMEOUT, f"no answer {within}{self._notes()}")

    def _notes(self) -> str:
        """What may explain that there is no answer, for the end of a message."""
        notes = []
        if self.gate is not None and self.gate.refused:
            hosts = ", ".join(host for host, _ in self.gate.refused.most_common(3))
            notes.append(f"{parameter('same_origin_only')} has blocked connections to {hosts}")
        if self._problem:
            notes.append(f"the page could not be read: {' '.join(self._problem.split())[:200]}")
        if logged := self.events.last_error():
            notes.append(f"the page's console says: {logged}")
        return "".join(f"; {note}" for note in notes)
