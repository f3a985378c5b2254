"""Sessions of many turns: the time grows with their number, and an interrupted one goes on where it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragmeter.effects.limits.caller import Failure, GiveUp
from ragmeter.effects.limits.calls import Limits
from ragmeter.effects.replies.journal import Reply
from ragmeter.targets.http import HttpTarget
from ragmeter.targets.port import Answer, Question, Target
from ragmeter.targets.python import PythonTarget
from ragmeter.targets.replies import Answers, ask

LIMITS = Limits(2, 0, None, None)


def session(turns: int) -> list[Question]:
    return [Question(f"q{turn}", f"what about {turn}?", "s", turn) for turn in range(turns)]


async def echo(question: str) -> str:
    return f"you asked {question}"


@pytest.fixture
def messages_made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many messages each call of Question.messages() makes."""
    made: list[int] = []
    messages = Question.messages

    def counted(question: Question) -> list[dict[str, str]]:
        result = messages(question)
        made.append(len(result))
        return result

    monkeypatch.setattr(Question, "messages", counted)
    return made


def test_the_work_for_a_turn_does_not_grow_with_the_session(messages_made: list[int]) -> None:
    ask(PythonTarget.of(echo), session(400), LIMITS, None, lambda count: None)
    assert not messages_made


def test_a_request_without_history_does_not_make_one(messages_made: list[int]) -> None:
    history = (("a", "b"),)
    target = HttpTarget("http://127.0.0.1:1/")
    target._address_and_body(Question("1", "q", history=history))
    assert not messages_made
    target = HttpTarget("http://127.0.0.1:1/", request={"q": "{question}", "before": ["{history}"]})
    body = target._address_and_body(Question("1", "q", history=history))[1]
    assert body == (
        b'{"q": "q", "before": [[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]]}'
    )


class Remembering(Target):
    """Answers, unless the question is among the broken ones, and remembers what it was asked."""

    name = "remembering"

    def __init__(self, broken: str = "") -> None:
        self.broken = broken
        self.asked: list[str] = []

    def signature(self) -> dict[str, Any]:
        return {}

    async def answer(self, question: Question) -> Reply:
        self.asked.append(question.text)
        if question.text == self.broken:
            raise GiveUp("target_error", "gone")
        return Answer(f"you asked {question.text}").as_reply()


def ask_journalled(path: Path, target: Target, questions: list[Question]) -> list[Answer | Failure]:
    with Answers(path, "r", target, questions) as answers:
        return ask(target, questions, LIMITS, answers, lambda count: None).in_order


@pytest.mark.parametrize("stopped_at", [3, 50, 51, 52, 90])
def test_a_long_session_goes_on_where_it_stopped(tmp_path: Path, stopped_at: int) -> None:
    target = Remembering(broken=f"what about {stopped_at}?")
    replies = ask_journalled(tmp_path / "j.sqlite", target, session(100))
    assert [isinstance(reply, Answer) for reply in replies] == [turn < stopped_at for turn in range(100)]
    target.broken = ""
    replies = ask_journalled(tmp_path / "j.sqlite", target, session(100))
    assert all(isinstance(reply, Answer) for reply in replies)
    assert len(target.asked) == 101


def test_another_turn_long_ago_is_another_history(tmp_path: Path) -> None:
    """A turn is not taken from the journal if what was said before has changed, however long ago."""
    target = Remembering()
    ask_journalled(tmp_path / "j.sqlite", target, session(80))
    ask_journalled(tmp_path / "j.sqlite", target, session(80))
    assert len(target.asked) == 80
    ask_journalled(tmp_path / "j.sqlite", target, [Question("q0", "another beginning", "s", 0), *session(80)[1:]])
    assert len(target.asked) == 160
