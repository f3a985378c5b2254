"""How tests ask a page: with all the time that a busy machine may need, and little of it where no answer can come."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from ragmeter.effects.limits.caller import Failure
from ragmeter.effects.limits.calls import Limits
from ragmeter.targets.port import Answer, Question
from ragmeter.targets.replies import ask
from ragmeter.targets.web.page import Page
from ragmeter.targets.web.target import Login, WebTarget
from ragmeter.targets.web.visit import Visit
from tests.command import PATIENCE


def target(site: str, kind: str, **more: Any) -> WebTarget:
    """A page of the test site, with its usual selectors."""
    usual: dict[str, Any] = {
        "input_selector": "#query-input",
        "submit_selector": "#submit-button",
        "timeout": PATIENCE,
    }
    own = {name: more.pop(name) for name in ("login", "evidence", "evidence_when") if name in more}
    return WebTarget(Page(f"{site}/{kind}", **{**usual, **more}), own.pop("login", Login()), **own)


def ask_all(
    target: WebTarget, *questions: str | Question, workers: int = 2, retries: int = 0
) -> list[Answer | Failure]:
    """Put questions to a page."""
    asked = [q if isinstance(q, Question) else Question(str(i), q) for i, q in enumerate(questions)]
    return ask(target, asked, Limits(workers, retries), None, lambda count: None).in_order


def texts(replies: list[Answer | Failure]) -> list[str]:
    """The answers; for failures, their outcomes and causes."""
    return [reply.answer if isinstance(reply, Answer) else f"{reply.outcome}: {reply.cause}" for reply in replies]


def give_up_soon(
    monkeypatch: pytest.MonkeyPatch,
    question: str,
    seconds: float = 3.0,
    once: Callable[[Visit], Awaitable[object]] | None = None,
) -> None:
    """Wait only so long for the answer to this question, which never comes; opening the page has all its time.

    The wait begins with what `once` waits for, if that is given.
    """
    ask, wait = Visit.ask, Visit._wait
    asked: dict[Visit, str] = {}

    async def note(visit: Visit, text: str) -> Answer:
        asked[visit] = text
        return await ask(visit, text)

    async def wait_less(visit: Visit, frame: Any, begun: float) -> Answer:
        if asked[visit] == question:
            visit.how = replace(visit.how, timeout=seconds)
            if once is not None:
                await once(visit)
                begun = time.perf_counter()
        return await wait(visit, frame, begun)

    monkeypatch.setattr(Visit, "ask", note)
    monkeypatch.setattr(Visit, "_wait", wait_less)
