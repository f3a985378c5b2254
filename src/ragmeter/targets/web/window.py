"""A window for a person: they log in, or they show on the page itself how it is asked and read."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import msgspec

from ragmeter.effects.process.loop import Stoppable, run
from ragmeter.errors import UsageError
from ragmeter.io.addresses import public
from ragmeter.io.write import dumps, replacing
from ragmeter.targets.port import Answer, Question
from ragmeter.targets.web.learning.asking import Lesson, Lessons, with_common_words
from ragmeter.targets.web.learning.doubts import doubts_of
from ragmeter.targets.web.learning.learn import Sample
from ragmeter.targets.web.looks import links_column
from ragmeter.targets.web.target import WebTarget
from ragmeter.targets.web.visit import Visit

#: What is done in the window. Tests do it themselves, in a browser without a window.
Person = Callable[[Any], Awaitable[None]]
_SCRIPT = Path(__file__).with_name("record.js")
_POLL = 0.1


class _Event(msgspec.Struct, frozen=True):
    """What a person did on the page, as our script tells it."""

    what: Literal["click", "question", "answer"]
    selector: str = ""
    question: str = ""
    before: dict[str, Any] = {}
    box: str = ""
    send: str = ""
    tree: list[Any] = []


async def until_closed(page: Any) -> None:
    """Leave the window to a person until they close it."""
    await page.wait_for_event("close", timeout=0)


async def _left_to(person: Person, visit: Visit, stop: Stoppable) -> None:
    task = asyncio.ensure_future(person(visit.page))
    stop.calls(task.cancel)  # type: ignore[arg-type]
    await task


def log_in(target: WebTarget, path: Path, person: Person = until_closed) -> None:
    """Open the page for somebody to log in, and write what the browser then has, for its owner only."""

    async def work(stop: Stoppable) -> None:
        async with target:
            visit = await target.new_visit()
            await visit.page.goto(target.page.url)
            await _left_to(person, visit, stop)
            state = await visit.context.storage_state(indexed_db=True)
            with replacing(path, private=True) as (part,):
                part.write_text(dumps(state), encoding="utf-8")
            await visit.close()

    run(work)


def record(target: WebTarget, heard: Callable[[str], None], person: Person = until_closed) -> Lessons:
    """Learn from what a person does on the page: they ask some questions, and click each answer when it is whole.

    `heard` is told of each step.
    """

    async def work(stop: Stoppable) -> Lessons:
        async with target:
            visit = await target.new_visit()
            recorder = _Recorder(visit, heard)
            await visit.page.expose_binding("__ragmeter_done", recorder.done)
            await visit.context.add_init_script(path=_SCRIPT)
            await visit.page.goto(target.page.url)
            watching = asyncio.create_task(recorder.watch())
            try:
                await _left_to(person, visit, stop)
            finally:
                watching.cancel()
            await visit.close()
            return recorder.lessons(public(target.page.url))

    return run(work)


class _Recorder:
    """What a person has shown so far."""

    def __init__(self, visit: Visit, heard: Callable[[str], None]) -> None:
        self._visit, self._heard = visit, heard
        self._clicks: list[str] = []
        self._asked: tuple[Any, _Event] | None = None  # with its frame
        self._read: list[Lesson] = []

    async def done(self, source: dict[str, Any], told: object) -> None:
        """The person has done something."""
        event = msgspec.convert(told, _Event)
        if event.what == "click" and self._asked is None and event.selector:
            self._clicks.append(event.selector)
            self._heard(f"clicked: {event.selector}")
        elif event.what == "question":
            self._visit.begin(event.question, source["frame"], event.before)
            self._asked = source["frame"], event
            self._heard(f"asked in {event.box}, sent by {event.send}; now click its answer, when it is whole")
        elif event.what == "answer" and self._asked is not None:
            await self._answered(self._asked[1], event.tree)

    async def _answered(self, asked: _Event, tree: list[Any]) -> None:
        reading = self._visit.reading
        if self._asked is not None:
            await self._visit.watch(self._asked[0])
        reading.add(Sample(asked.question, tree, self._visit.course))
        if reading.profile is None:
            self._heard(f"no answer can be read there: {'; '.join(reading.doubts)}")
            return
        question = Question(f"record-{len(self._read) + 1}", asked.question)
        text = await self._visit.read_again()
        self._read.append(Lesson(question, Answer(text, columns=links_column(self._visit.last["links"]))))
        self._heard(f"the answer: {text[:200]}")

    async def watch(self) -> None:
        """Look at the page all the time, so that the sign of the end can be learnt."""
        while True:
            if self._asked is not None:
                with suppress(Exception):  # it is being replaced, or was closed
                    await self._visit.watch(self._asked[0])
            await asyncio.sleep(_POLL)

    def lessons(self, page: str) -> Lessons:
        """What was learnt."""
        reading = self._visit.reading
        if reading.profile is None or self._asked is None or not self._read:
            raise UsageError(
                "nothing was recorded",
                hint="in the window, ask a question, click its answer, then close the window",
            )
        texts = [lesson.answer.answer for lesson in self._read if lesson.answer is not None]
        profile = with_common_words(reading.profile, texts) if len(texts) > 1 else reading.profile
        event = self._asked[1]
        profile = msgspec.structs.replace(
            profile, page=page, before=tuple(self._clicks), box=event.box, send=event.send
        )
        read = [(lesson.question.text, text) for lesson, text in zip(self._read, texts, strict=True)]
        return Lessons(profile, self._read, list(dict.fromkeys([*reading.doubts, *doubts_of(read)])))
