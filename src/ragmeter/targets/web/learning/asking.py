"""Puts a few questions to a page, learns from them how it is read, and reads their answers by that."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from ragmeter.effects.limits.caller import GiveUp, TryAgain
from ragmeter.effects.process.loop import Stoppable, run
from ragmeter.hints import for_command_line
from ragmeter.io.addresses import public
from ragmeter.targets.port import Answer, Question
from ragmeter.targets.web.learning.doubts import IN_COMMON, common_lines, common_words, doubts_of
from ragmeter.targets.web.learning.reading import ENOUGH
from ragmeter.targets.web.looks import links_column
from ragmeter.targets.web.profile import ENTER, Profile
from ragmeter.targets.web.target import WebTarget, used_by
from ragmeter.targets.web.visit import Visit

#: So many questions are tried at most until enough of them have an answer.
_TRIES = 6
#: How often a question is put to a page that has too many, and the seconds between where nobody says how many.
_AGAIN, _PAUSE = 4, 5.0
#: What a page is asked where nobody names questions.
QUESTIONS = ("What can you help me with?", "Who are you?", "Where can I find more information?")


@dataclass
class Lesson:
    """A question that the page was asked to learn from, and what was read, or why nothing was."""

    question: Question
    answer: Answer | None = None
    failure: str = ""
    visit: Visit | None = None


@dataclass
class Lessons:
    """What was learnt: the profile if there is one, the answers as it reads them, and what is doubtful."""

    profile: Profile | None = None
    lessons: list[Lesson] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    has_picture: bool = False

    @property
    def read(self) -> list[Lesson]:
        """Those with an answer."""
        return [lesson for lesson in self.lessons if lesson.answer is not None]


def learn_page(target: WebTarget, questions: Sequence[Question], picture: Path, *, twice: bool = False) -> Lessons:
    """Ask up to three of these questions that have an answer, each on a page of its own; one of them `twice`."""

    async def work(stop: Stoppable) -> Lessons:
        async with target:
            return await _learn(target, list(questions)[:_TRIES], picture, stop, twice=twice)

    return run(work)


async def _learn(
    target: WebTarget, questions: list[Question], picture: Path, stop: Stoppable, *, twice: bool
) -> Lessons:
    lessons = Lessons()
    first, rest = questions[:1], questions[1:]
    lessons.lessons += [await _ask(target, question) for question in first]  # it shows whether the page can be asked
    while rest and len(lessons.read) < ENOUGH and not stop.stopped:
        if len(lessons.lessons) > 1 and not lessons.read:
            break  # three have failed: so would the others
        more, rest = rest[: ENOUGH - len(lessons.read)], rest[ENOUGH - len(lessons.read) :]
        lessons.lessons += await asyncio.gather(*(_ask(target, question) for question in more))
    if twice and lessons.read and not stop.stopped:
        again = lessons.read[0].question
        repeated = await _ask(target, Question(f"{again.qid}-again", again.text))
        if repeated.visit is not None:
            await target.leave(repeated.visit, repeated.question)
    target.reading.final = target.reading.profile is not None
    try:
        learnt = target.reading.doubts
        await _read_again(target, lessons, learnt)
        if rest and lessons.doubts and all(doubt.startswith(IN_COMMON) for doubt in lessons.doubts):
            lessons.lessons += await asyncio.gather(*(_ask(target, question) for question in rest))  # it may be chance
            await _read_again(target, lessons, learnt)
        if last := [lesson.visit for lesson in lessons.read if lesson.visit is not None]:
            lessons.has_picture = await last[-1].picture(picture)
    finally:
        for lesson in lessons.lessons:
            if lesson.visit is not None:
                await target.leave(lesson.visit, lesson.question)
    return lessons


async def _ask(target: WebTarget, question: Question) -> Lesson:
    """Ask a question on a page of its own; again after a pause if the page has too many."""
    lesson = Lesson(question)
    for attempt in range(_AGAIN):
        try:
            lesson.visit = await target.visit_of(question)
            lesson.visit.is_lesson = True
            lesson.answer, lesson.failure = await lesson.visit.ask(question.text), ""
            break
        except (GiveUp, TryAgain) as problem:
            if getattr(problem, "fatal", None) is not None:
                raise
            lesson.failure = f"{problem.outcome}: {for_command_line(problem.cause)}"
            if not (isinstance(problem, TryAgain) and problem.overloaded) or attempt + 1 == _AGAIN:
                break
            if lesson.visit is not None:
                await target.leave(lesson.visit, question)
            await asyncio.sleep(_PAUSE * (attempt + 1) if problem.after is None else problem.after)
    return lesson


async def _read_again(target: WebTarget, lessons: Lessons, learnt: list[str]) -> None:
    """Read the answers by what is known now, and see whether they agree; `learnt` are doubts about the page."""
    reading = target.reading
    if reading.profile is None or not lessons.read:
        failures = [lesson.failure for lesson in lessons.lessons if lesson.failure]
        lessons.doubts = [*reading.doubts, *failures] or ["nothing could be read"]
        return
    left = [part for lesson in lessons.read if lesson.visit for part in lesson.visit.left]
    folds = {part["selector"] for part in left if part["what"] == "fold"}
    if folds and not reading.profile.answer.more:
        unfolded = msgspec.structs.replace(reading.profile.answer, more=tuple(sorted(folds)))
        reading.profile = msgspec.structs.replace(reading.profile, answer=unfolded)
    texts = await _texts(lessons)
    reading.profile = _named(with_common_words(reading.profile, texts), target, lessons)
    texts = await _texts(lessons)
    for lesson, text in zip(lessons.read, texts, strict=True):
        if lesson.answer is not None:
            links = lesson.visit.last["links"] if lesson.visit is not None else []
            lesson.answer = replace(lesson.answer, answer=text, columns=links_column(links))
    lessons.profile = reading.profile
    target.page = used_by(reading.profile, target.page)
    last = lessons.read[-1].visit
    if last is not None:
        target.found_box = last.box
    read = [(lesson.question.text, text) for lesson, text in zip(lessons.read, texts, strict=True)]
    left = [part for lesson in lessons.read if lesson.visit for part in lesson.visit.left]
    lessons.doubts = list(dict.fromkeys([*learnt, *doubts_of(read), *reading.left_over(left)]))
    reading.doubts = lessons.doubts
    for question, text in read:
        if not lessons.doubts:
            reading.doubt(question, text, (), None)  # its lines are compared with those of later answers


async def _texts(lessons: Lessons) -> list[str]:
    return [await lesson.visit.read_again() if lesson.visit else "" for lesson in lessons.read]


def with_common_words(profile: Profile, texts: Sequence[str]) -> Profile:
    """The profile with what begins or ends all answers: a name with a colon, and lines."""
    texts = [text for text in texts if text]
    first, last = common_lines(texts)
    words, _ = common_words(texts)
    rule = profile.answer
    name = (words,) if words.endswith(":") and len(words.split()) <= 3 and not first else ()
    rule = msgspec.structs.replace(rule, prefixes=(*rule.prefixes, *first, *name), suffixes=(*rule.suffixes, *last))
    return msgspec.structs.replace(profile, answer=rule)


def _named(profile: Profile, target: WebTarget, lessons: Lessons) -> Profile:
    """The profile with the page's address, its box, and how a question is sent."""
    visit = next(lesson.visit for lesson in lessons.read if lesson.visit is not None)
    page = target.page
    return msgspec.structs.replace(
        profile,
        page=public(page.url),
        before=page.clicks or tuple(visit.steps),
        box=page.input_selector or visit.box or "",
        send=page.submit_selector or visit.sent_by or ENTER,
    )
