"""One open page: types and sends a question, and reads the answer when it is finished."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from ragmeter.effects.limits.caller import GiveUp, TryAgain
from ragmeter.hints import option, parameter
from ragmeter.io.cells import whole
from ragmeter.table import SELECTOR_NOT_FOUND, TARGET_ERROR, TIMEOUT, UNSURE
from ragmeter.targets.port import Answer
from ragmeter.targets.web.finish import LEARNS, Finish, is_answer, without_cursor
from ragmeter.targets.web.learning.learn import Sample, learn
from ragmeter.targets.web.learning.signs import REQUEST, Course, Moment
from ragmeter.targets.web.looks import FrameLook, LeftOver, is_left_over, is_look, links_column, read_sources
from ragmeter.targets.web.page import TAMPERED, Page
from ragmeter.targets.web.sender import SendingPage
from ragmeter.targets.web.trouble import LOST, Trouble
from ragmeter.targets.web.turns import Turns

__all__ = ["Page", "Visit"]
#: Seconds between two looks at a page; while a text that seems complete is only watched, there are more of them.
_POLL, _POLL_AT_REST = 0.05, 0.2
#: The most parts of an answer that are unfolded, seconds for that, and looks for which the text must not change then.
_MORE, _UNFOLDS, _STILL_LOOKS = 20, 10.0, 3
#: Seconds for a picture of the page.
_PICTURE = 30.0
#: What a page or its server says that has had too many questions: it is asked again after a pause.
_OVERLOADED = re.compile(r"too many (requests|questions|messages)|rate.?limit|HTTP 429\b", re.IGNORECASE)
_PAUSE = re.compile(
    r"\b(\d{1,4}) ?(s|sec|seconds?|segundos?|sekunden|secondes?|m|min|minutes?|minutos?|minuten)\b", re.I
)
#: Characters of a placeholder in a message.
_SHOWN = 60


def _still_part(look: FrameLook) -> tuple[str, str]:
    """What is new on a page, but for numbers, which may run."""
    return re.sub(r"\d+", "0", look["guess"]), look["text"]


def _seconds(problem: str) -> float | None:
    """The seconds that a page asks to wait."""
    named = _PAUSE.search(problem)
    return None if named is None else float(named[1]) * (60 if named[2].casefold().startswith("m") else 1)


class Visit(SendingPage):
    """A page that is asked. `rests` is called once an answer seems to be complete, and is only watched from then on.

    `turns` are shared with other pages: none is opened while a question is sent.
    """

    rests: Callable[[], None] = staticmethod(lambda: None)
    turns: Turns
    is_lesson = False  # it is asked to learn from it: what is read is looked at later
    question: str
    course: Course
    last: FrameLook
    left: list[LeftOver]

    async def ask(self, question: str) -> Answer:
        """Type the question, send it, and wait until the answer is finished."""
        self.asked += 1
        self.question, self._labels = question, ("", "")
        with self.turns.sending():
            frame, begun = await self.send(question)
        return await self._wait(frame, begun)

    async def _wait(self, frame: Any, begun: float) -> Answer:
        """Look at the page until the answer is there and finished."""
        end = self.reading.end
        if not (self.reading.final or end.gone or end.back):
            end = msgspec.structs.replace(end, still=LEARNS)
        finish = Finish(begun, end)
        trouble, look, self.course = Trouble(), None, Course(self._signs_before(frame))
        while (left := begun + self.how.timeout - (started := time.perf_counter())) > 0:
            self._check_alive()
            what = "the answer was not finished" if finish.text else "no answer"
            async with self._limited(max(left, self.grace), f"{what} within {self.how.timeout:g} s"):
                look = await self._look(frame)
                if look is not None and self._ended(look, finish, trouble):
                    answer = await self._read(look, finish)
                    if answer is not None:
                        return answer
            poll = _POLL_AT_REST if look is not None and finish.seems_complete(look, self.events.traffic) else _POLL
            await asyncio.sleep(max(poll, time.perf_counter() - started))  # a look at a big page takes its time
        async with self._limited(self.grace, f"no answer within {self.how.timeout:g} s"):
            problem = await self._too_late(finish.text if await self._has_text(look) else "", look)
        raise problem

    def begin(self, question: str, frame: Any, before: dict[str, Any]) -> None:
        """A question that a person has sent, and what our script remembers from before it."""
        self._marks = {frame: before}
        self.events.traffic.question(time.perf_counter(), question)
        self.course = Course(self._signs_before(frame))

    async def watch(self, frame: Any) -> None:
        """Look at the page after such a question, and note its signs."""
        look = await self._look(frame)
        if look is not None:
            self.last, now, traffic = look, time.perf_counter(), self.events.traffic
            self._note(look, now)
            if traffic.carried and traffic.settled(now):
                self.course.requested = traffic.heard_at

    def _note(self, look: FrameLook, now: float) -> None:
        signs = {*look["facts"], *([REQUEST] if self.events.traffic.has_asked else [])}
        self.course.moments.append(Moment(now, hash(look["text"] or look["guess"]), frozenset(signs)))

    def _signs_before(self, frame: Any) -> frozenset[str]:
        mark = self._marks.get(frame) or {}
        facts = mark.get("facts")
        return frozenset(fact for fact in facts if isinstance(fact, str)) if isinstance(facts, list) else frozenset()

    def _ended(self, look: FrameLook, finish: Finish, trouble: Trouble) -> bool:
        """Whether the answer is finished; an error that the page shows in its place is one."""
        now, traffic = time.perf_counter(), self.events.traffic
        if self.how.answer_selector is not None:
            look["guess"] = ""  # what is elsewhere is no answer
        if not self.reading.final:
            self._note(look, now)
        ended = finish.see(look, traffic, now)
        if ended and traffic.carried and traffic.settled(now):
            self.course.requested = traffic.heard_at
        if problem := trouble.see(look, finish, traffic, now, ended=ended):
            if _OVERLOADED.search(problem):
                after = _seconds(problem) if traffic.pause is None else traffic.pause
                raise TryAgain(TARGET_ERROR, whole(problem), overloaded=True, after=after)
            kind = TryAgain if problem == LOST else GiveUp  # on another page
            raise kind(TARGET_ERROR, whole(problem))
        if finish.seems_complete(look, traffic):
            self.rests()
        return ended

    async def _read(self, look: FrameLook, finish: Finish) -> Answer | None:
        """The answer that is finished, read by the profile, which may be learnt from it; None if there is none yet."""
        reading = self.reading
        if not reading.final:
            if self._labels == _still_part(look):
                return None
            self._labels = _still_part(look)
            tree = await self._run(look["frame"], "tree", kind=list)
            learnt = reading.add(Sample(self.question, tree or [], self.course))
            if not learnt.has_text:
                is_same_again = not tree and bool(look["text"]) and reading.profile is not None
                if not is_same_again:
                    return None  # only labels so far
            elif learnt.profile is None and not self.is_lesson:
                raise GiveUp(UNSURE, whole(learnt.doubts[0]))
        if not look["text"] or not reading.final:
            look = await self._look(look["frame"], reading.rule()) or look
        look = await self._with_more(look)
        text = without_cursor(look["text"])
        if not text and reading.profile is not None:
            return None
        self.selector = look["selector"]
        self.last = look
        self.left = await self._left_over(look["frame"])
        if (
            reading.final
            and not self.is_lesson
            and (doubt := reading.doubt(self.question, text, self.left, look["busy"]))
        ):
            raise GiveUp(UNSURE, whole(f"{doubt}; read: {text[:_SHOWN]!r}"))
        return Answer(
            whole(text),
            *read_sources(look["sources"]),
            latency_ms=(finish.changed - finish.begun) * 1000,
            time_to_first_token_ms=None if finish.first is None else (finish.first - finish.begun) * 1000,
            columns=links_column(look["links"]),
        )

    async def _left_over(self, frame: Any) -> list[LeftOver]:
        """What is new on the page and neither the question, nor the answer, nor named in the profile."""
        parts = await self._run(frame, "leftOver", kind=list) or []
        if not is_left_over(parts):
            raise GiveUp(TARGET_ERROR, TAMPERED)
        return parts

    async def _has_text(self, look: FrameLook | None) -> bool:
        """Whether there is more than labels, as far as that is known."""
        if look is None or look["text"] or not look["guess"] or self.reading.final:
            return True
        tree = await self._run(look["frame"], "tree", kind=list)
        return learn([*self.reading.samples, Sample(self.question, tree or [])], self.reading.base).has_text

    async def _with_more(self, look: FrameLook) -> FrameLook:
        """The answer with what is shown on the clicks that the profile names."""
        for selector in self.reading.profile.answer.more if self.reading.profile is not None else ():
            buttons, before = look["frame"].locator(selector), look["text"]
            for place in reversed(range(min(await buttons.count(), _MORE))):
                with suppress(self._error):
                    if await buttons.nth(place).is_visible():
                        await buttons.nth(place).click(timeout=5000)
            until, still = time.perf_counter() + _UNFOLDS, 0
            while time.perf_counter() < until and still < _STILL_LOOKS:
                await asyncio.sleep(_POLL_AT_REST)
                look = await self._look(look["frame"]) or look
                still, before = (still + 1 if look["text"] == before else 0), look["text"]
        return look

    async def read_again(self) -> str:
        """The text of the last answer as the profile reads it that is known by now."""
        look = await self._look(self.last["frame"], self.reading.rule())
        self.last = await self._with_more(look or self.last)
        self.left = await self._left_over(self.last["frame"])
        return whole(without_cursor(self.last["text"]))

    async def picture(self, path: Path) -> bool:
        """Outline the box, the button and the answer, and write a picture of the page; False if it can't be."""
        try:
            async with asyncio.timeout(_PICTURE):
                for frame in self._frames():
                    await self._run(frame, "outline", self.sent_by)
                await self.page.screenshot(path=str(path), full_page=True, timeout=_PICTURE * 1000)
        except (TimeoutError, GiveUp, TryAgain, self._error):
            return False
        return True

    async def _look(self, frame: Any, rule: dict[str, Any] | None = None) -> FrameLook | None:
        """What our script sees in the box's frame, or in another if that has no text; None if no frame answers."""
        first: FrameLook | None = None
        for candidate in sorted(self._marks, key=lambda other: other is not frame):
            if candidate in self._stuck:
                continue
            look = await self._run(candidate, "look", rule, kind=dict)
            if look is None and self._marks[candidate] is not None:  # the page was replaced, for example by a form
                await self._run(candidate, "restore", self._marks[candidate])
                look = await self._run(candidate, "look", rule, kind=dict)
            if look is None:
                continue
            if not is_look(look):
                raise GiveUp(TARGET_ERROR, TAMPERED)
            first = first or {**look, "frame": candidate}
            first["problem"] = first["problem"] or look["problem"]
            first["lost"] = first["lost"] and not (look["echoed"] or look["text"])
            if look["text"] or (look["guess"] and not first["guess"]):
                first |= {"text": look["text"], "guess": look["guess"]}
                first |= {"selector": look["selector"], "links": look["links"], "frame": candidate}
            if look["text"]:
                return first
        return first

    async def _too_late(self, text: str, look: FrameLook | None) -> Exception:
        """The error for a page that gave no answer within the timeout, or no complete one."""
        within, how = f"within {self.how.timeout:g} s", self.how
        if is_answer(text) and look is not None:
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
        place = f"{option('answer_selector')} says where the answer is"
        notes = self._notes()
        if await self.page.locator("canvas").count():
            notes = f"; the page draws on a canvas, and no text in it can be read{notes}"
        if text:
            notes = f"; the page still shows {whole(text)[:_SHOWN]!r}{notes}"
        elif look is not None and look["guess"]:
            labels = whole(" ".join(look["guess"].split())[:_SHOWN])
            notes = f"; what is new on the page are only labels: {labels}; {place}{notes}"
        elif not notes:
            notes = "; nothing new on the page looks like an answer: a longer timeout or an answer selector may help"
        return TryAgain(TIMEOUT, f"no answer {within}{notes}")

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
