"""When a page has lost a question or given up on it, without a browser: looks and a clock that are made up."""

from __future__ import annotations

import pytest

from ragmeter.targets.web.finish import Finish
from ragmeter.targets.web.looks import Look
from ragmeter.targets.web.profile import End
from ragmeter.targets.web.traffic import Traffic
from ragmeter.targets.web.trouble import LOST, Trouble
from tests.web.test_finish import QUIET, Request


def sent_by(kind: str) -> Traffic:
    """The question was sent by a request of this kind, which has ended; by a web socket without one."""
    traffic = Traffic()
    traffic.question(0.0, "Is it so?")
    request = Request(kind) if kind else None
    if request:
        traffic.begin(request, 0.0)
        traffic.end(request, 0.0)
    traffic.sent("Is it so?", request)
    return traffic


@pytest.mark.parametrize(
    ("look", "traffic", "polls", "expected"),
    [
        ({"lost": True}, sent_by(""), False, (10.0, LOST)),
        ({"lost": True}, sent_by("fetch"), False, (10.0, LOST)),
        ({"lost": True}, sent_by("document"), False, None),  # a form loads a page, and the answer may come late
        ({"lost": True}, sent_by(""), True, None),  # it asks for something all the time
        ({"lost": True, "busy": "#stop"}, sent_by(""), False, None),
        ({"lost": True, "moves": True}, sent_by(""), False, None),
        ({}, sent_by(""), False, None),
    ],
)
def test_what_becomes_of_a_question_that_the_page_shows_nothing_of(
    look: Look, traffic: Traffic, polls: bool, expected: tuple[float, str] | None
) -> None:
    trouble, finish, results = Trouble(), Finish(0.0, End()), None
    for second in range(1, 60):
        if polls:
            traffic.heard_at = float(second)
        if cause := trouble.see(QUIET | look, finish, traffic, float(second), ended=False):
            results = second - 1.0, cause
            break
    assert results == expected


def test_a_page_that_stops_working_and_shows_nothing() -> None:
    trouble, finish = Trouble(), Finish(0.0, End())
    looks = [QUIET | {"busy": "#stop"}, *[QUIET] * 20]
    causes = [trouble.see(look, finish, Traffic(), float(second), ended=False) for second, look in enumerate(looks)]
    assert causes.index("the page has stopped working on the question and shows no answer") == 11
