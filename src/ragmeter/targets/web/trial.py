"""One question to a page, to see whether it can be asked: what was read, and a picture of where."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ragmeter.effects.limits.caller import GiveUp, TryAgain
from ragmeter.effects.process.loop import Stoppable, run
from ragmeter.hints import for_command_line
from ragmeter.targets.port import Answer, Question
from ragmeter.targets.web.target import WebTarget
from ragmeter.targets.web.visit import Visit


@dataclass
class Trial:
    """What came of a question: an answer or a failure, and where the box, the button and the answer are."""

    answer: Answer | None = None
    failure: str | None = None
    box: str | None = None
    button: str | None = None
    selector: str | None = None
    attempts: int = 0
    has_picture: bool = False


def try_question(target: WebTarget, text: str, screenshot: Path) -> Trial:
    """Ask one question on a new page. What is wrong with the page is in the result."""

    async def work(stop: Stoppable) -> Trial:
        async with target:
            trial = Trial()
            try:
                visit = await target.visit_of(Question("try", text))
            except (GiveUp, TryAgain) as problem:
                trial.failure = f"{problem.outcome}: {for_command_line(problem.cause)}"
                return trial
            try:
                trial.answer = await visit.ask(text)
            except (GiveUp, TryAgain) as problem:
                trial.failure = f"{problem.outcome}: {for_command_line(problem.cause)}"
            await _describe(trial, visit, screenshot)
            return trial

    return run(work)


async def _describe(trial: Trial, visit: Visit, screenshot: Path) -> None:
    trial.attempts, trial.button = visit.attempts, visit.sent_by
    trial.selector = visit.selector
    trial.box = visit.how.input_selector or visit.box
    trial.has_picture = await visit.picture(screenshot)
