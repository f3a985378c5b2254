"""Puts a question into a page: finds the box, types, sends, and checks that it was sent."""

from __future__ import annotations

import asyncio
import re
import time
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any

from ragmeter.effects.limits.caller import GiveUp, TryAgain
from ragmeter.hints import option, parameter
from ragmeter.io.addresses import public
from ragmeter.table import BLOCKED, SELECTOR_NOT_FOUND, TIMEOUT
from ragmeter.targets.web.growth import Growth
from ragmeter.targets.web.known import known_profiles
from ragmeter.targets.web.learning.reading import flat
from ragmeter.targets.web.looks import Signs
from ragmeter.targets.web.page import OpenPage

#: Seconds for a page to show that it took the question before it is sent again, more each time; how many more while a
#: request is under way that may have it; and after how many it is not sent again.
_TAKES, _UNDER_WAY, _GIVES_UP = 2.0, 8.0, 30.0
#: What our script says of a question that was not taken: the box is empty, but nothing new is on the page.
EMPTY = "empty"
#: Seconds for which a new page must not have grown, and the most that are waited for that.
_SETTLED, _ARRIVES = 0.3, 10.0
#: Seconds for a dialog to close, and for calls that it may hinder.
_CLOSES, _DIALOG = 1.0, 5.0
_POLL = 0.05
#: The most clicks before the box can be seen, and seconds in which a bubble may still come to a page with a search.
_STEPS, _COMES = 6, 4.0


class SendingPage(OpenPage):
    """A page that questions are sent to."""

    async def send(self, question: str) -> tuple[Any, float]:
        """Type the question and send it, again if the page did not take it; the box's frame, and when it was sent."""
        async with self._limited_sending(3 * self.how.timeout):
            frame, box = await self._box()
            await self._close_dialog(box)
            await self._type(box, question)
            await self._mark(question)
            begun, self.attempts = time.perf_counter(), 1
            await self._submit(box)
        async with self._limited_sending(self.how.timeout):
            begun = await self._ensure_sent(frame, box, question, begun)
        return frame, begun

    def _limited_sending(self, seconds: float) -> AbstractAsyncContextManager[None]:
        seconds += self.grace
        return self._limited(seconds, f"the question could not be sent within {seconds:g} s")

    async def arrive(self) -> None:
        """Wait until a new page is complete, and click what must be clicked before: a banner, a bubble, a box."""
        seconds, learns = self.how.timeout, not self.reading.final and self.how.input_selector is None
        async with self._limited(seconds + self.grace, f"the page was not ready within {seconds:g} s"):
            if self.how.clicks or learns:
                await self._settle(has_box=False)
            for selector in self.how.clicks:
                await self._press(selector)
            if learns and not self.how.clicks:
                await self._find_steps()
            await self._settle(has_box=True)
        if not (self.reading.final or self.reading.base.answer.selector):
            await self._recognise()

    async def _settle(self, *, has_box: bool) -> None:
        """Wait a little until the page is quiet, and has a box: what it adds later is no answer, it may lose a text."""
        watch, prepared = self._watch(), False
        while not await watch.is_quiet_for(_SETTLED, has_box=has_box):
            if watch.seconds >= min(_ARRIVES, self.how.timeout):
                break
            if watch.has_box and not prepared:
                prepared = True
                with suppress(self._error):  # the page is being replaced
                    await self.page.main_frame.locator("body").count()  # Playwright's script: sending needs it at once
            await asyncio.sleep(_POLL)

    async def _press(self, selector: str) -> None:
        _, element = await self._find(selector, parameter("click"))
        try:
            await element.click(timeout=min(_DIALOG, self.how.timeout) * 1000)
        except self._error as problem:
            why = str(problem).splitlines()[0]
            raise TryAgain(TIMEOUT, f"{parameter('click')} {selector!r} can't be clicked: {why[:200]}") from None

    async def _find_steps(self) -> None:
        """Click what a person would click to come to the box, and remember it for the profile."""
        watch = self._watch()
        while len(self.steps) < _STEPS:
            steps = [(frame, step) for frame in self._frames() if (step := await self._element_of(frame, "step"))]
            if not steps:
                await watch.is_quiet_for(0, has_box=True)
                if watch.has_chat or watch.seconds > _COMES:
                    return
                await asyncio.sleep(_POLL)
                continue
            for _, step in steps:
                path = await self._path(step)
                try:
                    await step.click(timeout=_DIALOG * 1000)
                except self._error:
                    self._check_alive()
                    continue
                if path is not None:
                    self.steps.append(path)
            await asyncio.sleep(_SETTLED)
            watch = self._watch()

    async def _element_of(self, frame: Any, name: str) -> Any:
        """The element that a function of our script finds in a frame, if there is one."""
        try:
            async with self._aside(frame):
                script = f"() => window.__ragmeter ? window.__ragmeter.{name}() : null"
                return (await frame.evaluate_handle(script)).as_element()
        except self._error:  # it is being replaced
            self._check_alive()
        return None

    async def _recognise(self) -> None:
        """See whether the page is that of a known application."""
        applications = known_profiles()
        for frame in self._frames():
            place = await self._run(frame, "which", [mark for mark, _ in applications.values()], kind=int)
            if place is not None and 0 <= place < len(applications):
                name = list(applications)[place]
                self.reading.recognise(name, applications[name][1])
                return

    async def _box(self) -> tuple[Any, Any]:
        """The input box: the one that the user gave, or the likeliest visible one."""
        if self.how.input_selector is not None:
            return await self._find(self.how.input_selector, parameter("input_selector"))
        watch = self._watch()
        while True:
            self._check_alive()
            boxes = [(frame, path) for frame in self._frames() if (path := await self._run(frame, "chatBox", kind=str))]
            if boxes:
                frame, self.box = boxes[-1]
                if login := await self._login():
                    raise GiveUp(BLOCKED, login)
                return frame, frame.locator(self.box).last
            if await watch.is_over(self.how.timeout):
                raise GiveUp(SELECTOR_NOT_FOUND, await self._not_found(None, option("input_selector")))
            await asyncio.sleep(0.1)

    def _watch(self) -> Growth:
        return Growth(self._signs, self.events.traffic)

    async def _signs(self) -> list[Signs]:
        """What each frame has, to see whether the page still grows."""
        signs = [await self._run(frame, "signs", kind=dict) for frame in self._frames()]
        return [sign for sign in signs if sign]

    async def _path(self, element: Any) -> str | None:
        """A selector for an element, for the user."""
        code = "element => window.__ragmeter ? window.__ragmeter.path(element) : null"
        path: str | None = self._value(await element.evaluate(code), str)
        return path

    async def _find(self, selector: str, name: str) -> tuple[Any, Any]:
        """The first visible element of a selector, in any frame; waits until it appears.

        A page that no longer changes will not show it any more.
        """
        watch = self._watch()
        while True:
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
            if await watch.is_over(self.how.timeout):
                raise GiveUp(SELECTOR_NOT_FOUND, await self._not_found(selector, name))
            await asyncio.sleep(0.1)

    async def _not_found(self, selector: str | None, name: str) -> str:
        elements: list[Any] = []
        for frame in self._frames():
            elements += await self._run(frame, "candidates", kind=list) or []
        on_page = ", ".join(str(element)[:200] for element in elements[:8]) if elements else "no box and no button"
        if login := await self._login():
            return f"{login}; it has {on_page}"
        if not elements and await self.page.locator("canvas").count():
            return "the page draws itself on a canvas: there is no box and no text in it that could be read"
        if selector is None:
            return f"there is no box to type a question into; the page has {on_page}; name it with {name}"
        return f"{name} {selector!r} matches nothing that can be seen; the page has {on_page}"

    async def _login(self) -> str:
        """What to do about a page that wants a password before anything else; nothing if it wants none."""
        if not any(sign.get("login") for sign in await self._signs()):
            return ""
        save = f"ragmeter web --login login.json --url {public(self.how.url)}"
        return f"the page asks for a password: log in once by `{save}`, and use {option('storage_state', 'login.json')}"

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

    async def _dialog(self, box: Any) -> str:
        """The first words of a dialog that lies over the box; nothing if there is none."""
        code = "box => window.__ragmeter ? window.__ragmeter.dialogText(box) : null"
        try:
            return self._value(await box.evaluate(code, timeout=_DIALOG * 1000), str) or ""
        except self._error:  # the box is being replaced
            self._check_alive()
            return ""

    async def _close_dialog(self, box: Any) -> None:
        """Close a dialog that lies over the box, as a person would: by Escape, or by its own button to close it."""
        for by_button in (False, True):
            if not await self._dialog(box):
                return
            with suppress(self._error):
                if not by_button:
                    await self.page.keyboard.press("Escape")
                elif (button := await self._element(box, "closer")) is not None:
                    await button.click(timeout=_DIALOG * 1000)
            until = time.perf_counter() + _CLOSES
            while time.perf_counter() < until and await self._dialog(box):
                await asyncio.sleep(_POLL)

    async def _mark(self, question: str) -> None:
        self.events.traffic.question(time.perf_counter(), question)
        reading = self.reading
        argument = {"question": question, "rule": reading.rule() or flat(reading.base), "learning": not reading.final}
        self._marks = {frame: await self._run(frame, "mark", argument, kind=dict) for frame in self._frames()}

    async def _submit(self, box: Any) -> None:
        self.sent_by = self.how.submit_selector
        if self.how.submit_selector is not None:
            _, button = await self._find(self.how.submit_selector, parameter("submit_selector"))
            await self._click(button, f"{parameter('submit_selector')} {self.how.submit_selector!r}", box)
            return
        button = await self._button(box) if self.how.input_selector is None else None
        if button is None:
            await box.press("Enter", timeout=self.how.timeout * 1000)
        else:
            self.sent_by = await self._path(button)
            await self._click(button, "the button beside the box", box)

    async def _button(self, box: Any) -> Any:
        """The button beside the box that sends, if there is one."""
        return await self._element(box, "sender")

    async def _element(self, box: Any, name: str) -> Any:
        """The element that a function of our script finds for the box, if there is one."""
        try:
            script = f"box => window.__ragmeter ? window.__ragmeter.{name}(box) : null"
            return (await box.evaluate_handle(script)).as_element()
        except self._error:  # the page has replaced functions that our script needs, or is being replaced
            self._check_alive()
            return None

    async def _click(self, button: Any, what: str, box: Any) -> None:
        try:
            await button.click(timeout=min(_DIALOG, self.how.timeout) * 1000, trial=True)  # only whether it could be
        except self._error:
            await self._close_dialog(box)  # it may have come after the question was typed
        try:
            await button.click(timeout=self.how.timeout * 1000)
        except self._error as problem:
            overlay = re.search(r"(<.*?>.*) intercepts pointer events", str(problem))
            if overlay is None and "Timeout" not in str(problem):
                raise
            why = await self._state() or ": it is disabled or hidden"
            if overlay:
                dialog = await self._dialog(box)
                why = f": a dialog lies over it: {dialog!r}" if dialog else f": {overlay[1][:100]} lies over it"
            raise TryAgain(TIMEOUT, f"{what} can't be clicked{why}") from None

    async def _ensure_sent(self, frame: Any, box: Any, question: str, begun: float) -> float:
        """Wait until the page has taken the question, and send it again if it has not; when it was last sent."""
        deadline, attempts = time.perf_counter() + min(self.how.timeout, _GIVES_UP), 1
        while state := await self._not_taken(frame, begun + _TAKES * attempts):
            if state == EMPTY and attempts > 1:  # it takes questions without a sign
                break
            if time.perf_counter() > deadline:
                raise TryAgain(TIMEOUT, self._not_sent(attempts))
            attempts += 1
            begun, self.attempts = time.perf_counter(), attempts
            await self._send_again(box, question, attempts)
        return begun

    async def _not_taken(self, frame: Any, until: float) -> str:
        """Where a question is that the page did not take in time: still in the box, or lost; empty if it was taken."""
        traffic = self.events.traffic
        while True:
            state = await self._run(frame, "unsent", kind=str)
            is_under_way = bool(traffic.requests or traffic.carried)
            if not state or traffic.broken or (state == EMPTY and is_under_way):  # nothing if it was replaced
                return ""
            may_be_under_way = traffic.under_way or traffic.carried
            if time.perf_counter() > until + (_UNDER_WAY if may_be_under_way else 0):
                return str(state)
            await asyncio.sleep(_POLL)

    async def _send_again(self, box: Any, question: str, attempt: int) -> None:
        """Enter and the button in turns; the box gets its text again, since Enter may have added a line to it."""
        seconds = min(5.0, self.how.timeout)
        await self._close_dialog(box)
        try:
            await box.fill(question, timeout=seconds * 1000)
            if self.how.submit_selector is not None:
                await self._submit(box)
                return
            button = await self._button(box) if attempt % 2 else None
            self.sent_by = await self._path(button) if button else None
            await (button.click(timeout=seconds * 1000) if button else box.press("Enter", timeout=seconds * 1000))
        except self._error:  # it is being replaced, or takes nothing now
            self._check_alive()

    def _not_sent(self, attempts: int) -> str:
        how = "a click on the button" if self.how.submit_selector else "Enter and the button beside the box"
        name = option("input_selector" if self.how.submit_selector else "submit_selector")
        where = f"its text is still in the box after {attempts} attempts with {how}"
        return f"the question was not sent: {where}; {name} may help"
