"""Chat applications that nobody here wrote, each in an environment of its own, which `make test-slow` makes.

They stream over their own protocols, render Markdown, and know nothing of ragmeter. Each is asked the questions of
`apps/answers.py`, with the selector of its box alone.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ragmeter.effects.limits.caller import Failure
from ragmeter.effects.limits.calls import Limits
from ragmeter.targets.port import Answer, Question
from ragmeter.targets.replies import ask
from ragmeter.targets.web.page import Page
from ragmeter.targets.web.target import WebTarget
from tests.browser import missing
from tests.command import PATIENCE
from tests.web.apps.answers import FAILS, QUESTIONS, expected, plain
from tests.web.chat_apps import COMMANDS, ENVIRONMENTS, PRESENT, started

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not ENVIRONMENTS, reason="chat applications have no environments: make test-slow makes them"),
    pytest.mark.skipif(bool(missing()), reason=missing() or "there is one"),
]


@pytest.mark.parametrize("name", PRESENT)
def test_all_answers_by_the_box_alone(name: str, tmp_path: Path) -> None:
    with started(name, tmp_path) as url:
        target = WebTarget(Page(url, COMMANDS[name][2] or None, timeout=PATIENCE))
        questions = [Question(str(place), text) for place, text in enumerate(QUESTIONS)]
        replies = dict(
            zip(QUESTIONS, ask(target, questions, Limits(2, 1), None, lambda count: None).in_order, strict=True)
        )
    failure = replies.pop(FAILS)
    assert isinstance(failure, Failure)
    assert failure.outcome == "target_error"
    read = {text: plain(reply.answer) if isinstance(reply, Answer) else str(reply) for text, reply in replies.items()}
    assert read == {text: expected(text) for text in replies}


@pytest.mark.parametrize("name", PRESENT)
def test_a_conversation_and_the_box_found_by_itself(name: str, tmp_path: Path) -> None:
    turns = [QUESTIONS[0], QUESTIONS[2], QUESTIONS[8], QUESTIONS[9], QUESTIONS[10]]
    with started(name, tmp_path) as url:
        target = WebTarget(Page(url, timeout=PATIENCE))
        questions = [Question(str(turn), text, "s", turn=turn) for turn, text in enumerate(turns)]
        replies = ask(target, questions, Limits(1, 1), None, lambda count: None).in_order
    read = [plain(reply.answer) if isinstance(reply, Answer) else str(reply) for reply in replies]
    assert read == [expected(text) for text in turns]
