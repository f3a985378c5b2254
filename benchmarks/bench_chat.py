"""Five chat applications that other people wrote: right answers, and the time that a question takes over its streaming.

`make test-slow` makes their environments; RAGMETER_CHAT_ENVIRONMENTS and the name of an application is its folder.
"""

from __future__ import annotations

import os
import sys
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from unittest import mock

from common import BenchmarkError, progress, table

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.web.apps.answers import FAILS, QUESTIONS, expected, plain
from tests.web.chat_apps import COMMANDS, ENVIRONMENTS, started

#: Where the time of a question goes beside the streaming, which is the application's own: from taking the question to
#: its last word. `open` is a page of the browser and its address, `settle` the wait until its box can be used.
_PHASES = ("open", "settle", "send", "end", "leave")
_STEPS = ("open", "settle", "asked", "stream", "leave")
_TARGET = 2.0
#: When a phase of a question began and ended, in seconds; by question and phase.
Spans = dict[str, dict[str, tuple[float, float]]]


def chat(folder: Path, *, quick: bool) -> None:
    """Ask each application twelve questions, one worker, with the selector of its box alone."""
    if not ENVIRONMENTS:
        raise BenchmarkError("RAGMETER_CHAT_ENVIRONMENTS is not set; see benchmarks/bench_chat.py")
    questions = [*QUESTIONS[:2], FAILS] if quick else QUESTIONS
    load, lines = os.getloadavg()[0], []
    for name in COMMANDS:
        progress(f"chat, {name}")
        right, spans = _asked(name, folder / f"chat-{name}", questions)
        lines.append((name, f"{right} of {len(questions)}", *_seconds(spans)))
    table(
        f"CHAT  seconds a question, one worker; load before: {load:.1f}; target of the third column: {_TARGET:g}",
        ("application", "right", "not streaming", "over its stream", "(most)", *_PHASES),
        lines,
    )


def _seconds(spans: Spans) -> list[str]:
    """The columns of a line: the time of the run in which no answer streamed; medians and the most of the questions."""
    begin = min(span[0] for phases in spans.values() for span in phases.values())
    end = max(span[1] for phases in spans.values() for span in phases.values())
    silent = (end - begin - _union(phases["stream"] for phases in spans.values())) / len(spans)
    lengths = {name: [phases[name][1] - phases[name][0] for phases in spans.values()] for name in _PHASES}
    over = [sum(parts) for parts in zip(*lengths.values(), strict=True)]
    return [f"{seconds:.2f}" for seconds in (silent, median(over), max(over), *map(median, lengths.values()))]


def _union(spans: Iterable[tuple[float, float]]) -> float:
    """The seconds that are within any of the spans."""
    total, until = 0.0, 0.0
    for begin, end in sorted(spans):
        total += max(0.0, end - max(begin, until))
        until = max(until, end)
    return total


def _asked(name: str, folder: Path, questions: list[str]) -> tuple[int, Spans]:
    """How many answers are right, and the spans of each question."""
    from ragmeter.effects.limits.calls import Limits
    from ragmeter.targets.port import Answer, Question
    from ragmeter.targets.replies import ask
    from ragmeter.targets.web.page import Page
    from ragmeter.targets.web.target import WebTarget

    times = folder / "times.tsv"
    with started(name, folder, ANSWER_TIMES=str(times)) as url, _watched() as spans:
        target = WebTarget(Page(url, COMMANDS[name][2]))
        asked = [Question(str(place), text) for place, text in enumerate(questions)]
        replies = ask(target, asked, Limits(1, 0), None, lambda count: None).in_order
    right = 0
    for text, reply in zip(questions, replies, strict=True):
        is_right = isinstance(reply, Answer) and plain(reply.answer) == expected(text)
        if text == FAILS:
            is_right = getattr(reply, "outcome", "") == "target_error"
        right += is_right
        if not is_right:
            progress(f"{name}, {text!r}: {reply}")
    for text, begin, end in (line.split("\t") for line in times.read_text(encoding="utf-8").splitlines()):
        spans[text]["stream"] = float(begin), float(end)
    spans = {text: phases for text, phases in spans.items() if {*_STEPS} <= {*phases}}  # the others were not answered
    for phases in spans.values():  # sent when the application has the question; at its end when it is read
        phases["send"] = phases["asked"][0], phases["stream"][0]
        phases["end"] = phases["stream"][1], phases.pop("asked")[1]
    return right, spans


@contextmanager
def _watched() -> Iterator[Spans]:
    """Note when each step of a question begins and ends."""
    from ragmeter.targets.web.target import WebTarget
    from ragmeter.targets.web.visit import Visit

    spans: Spans = defaultdict(dict)
    questions: dict[Any, str] = {}  # by the page that it is asked on

    def timed(owner: type, name: str, phase: str, note: Callable[[tuple[Any, ...], Any], str]) -> Any:
        step: Callable[..., Awaitable[Any]] = getattr(owner, name)

        async def watched(*given: Any, **more: Any) -> Any:
            begin, result = time.time(), None
            try:
                result = await step(*given, **more)
                return result
            finally:
                text = note(given, result)
                earlier = spans[text].get(phase, (begin, begin))
                spans[text][phase] = earlier[0], earlier[1] + time.time() - begin

        return mock.patch.object(owner, name, watched)

    def of_visit(given: tuple[Any, ...], result: Any) -> str:
        return questions[given[0]]

    def new_visit(given: tuple[Any, ...], visit: Any) -> str:
        text: str = given[1].text
        questions[visit] = text
        return text

    with ExitStack() as patches:
        for owner, name, phase, note in (
            (WebTarget, "_visit", "open", new_visit),
            (Visit, "open", "open", of_visit),
            (Visit, "arrive", "settle", of_visit),
            (Visit, "ask", "asked", of_visit),
            (WebTarget, "_leave", "leave", lambda given, result: given[2].text),
        ):
            patches.enter_context(timed(owner, name, phase, note))
        yield spans
