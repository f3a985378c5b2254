"""Pages with the structure of real chat applications: the input box is all that they are told of."""

from __future__ import annotations

import pytest

from ragmeter.effects.caller import Failure
from tests.browser import missing
from tests.web.helpers import ask_all, target, texts
from tests.web.likeness import ANSWERS, ERROR, FAILS, PAGES

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=missing() or "there is one"),
    pytest.mark.usefixtures("shared_browser"),
]


@pytest.mark.parametrize("kind", PAGES)
def test_messages_are_read_without_what_stands_around_them(site: str, kind: str) -> None:
    web = target(site, kind, input_selector="#box", submit_selector=None)
    *replies, failure = ask_all(web, *ANSWERS, FAILS, workers=4)
    assert texts(replies) == list(ANSWERS.values())
    assert isinstance(failure, Failure)
    assert failure.outcome == "target_error"
    assert ERROR in failure.cause


@pytest.mark.parametrize("kind", PAGES)
def test_one_question_after_another_on_the_same_page(site: str, kind: str) -> None:
    web = target(site, kind, input_selector="#box", submit_selector=None, same_page=True)
    questions = [question for question in ANSWERS if "wait" not in question] * 2
    assert texts(ask_all(web, *questions, workers=1)) == [ANSWERS[question] for question in questions]
