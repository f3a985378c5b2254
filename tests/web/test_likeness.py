"""Pages with the structure of real chat applications: the input box is all that they are told of."""

from __future__ import annotations

import pytest

from ragmeter.effects.limits.caller import Failure
from tests.browser import missing
from tests.web.helpers import ask_all, target, texts
from tests.web.likeness import ANSWERS, ERROR, FAILS, NAMELESS, PAGES

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=missing() or "there is one"),
    pytest.mark.usefixtures("shared_browser"),
]
#: The pages of the usual tests; the slow ones have all.
USUAL = {"like_chainlit", "like_open_webui", "like_panel", "like_unknown"}


#: Its greeting stands in the same kind of element as the answers: it stops with a doubt, and is to be read.
NOT_YET = pytest.mark.xfail(reason="a greeting in the same kind of element as the answers is a doubt")


def _marks(kind: str) -> list[pytest.MarkDecorator]:
    usual = [] if kind in USUAL else [pytest.mark.slow]
    return [*usual, NOT_YET] if kind == "like_unknown" else usual


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=_marks(kind)) for kind in PAGES])
def test_messages_are_read_without_what_stands_around_them(site: str, kind: str) -> None:
    web = target(site, kind, input_selector="#box", submit_selector=None)
    *replies, failure = ask_all(web, *ANSWERS, FAILS, workers=4)
    assert texts(replies) == list(ANSWERS.values())
    assert isinstance(failure, Failure)
    assert failure.outcome == "target_error"
    assert ERROR in failure.cause


@pytest.mark.parametrize(
    "kind",
    [
        "like_nicegui",
        pytest.param("like_gradio", marks=pytest.mark.slow),
        pytest.param("like_unknown", marks=pytest.mark.slow),
    ],
)
def test_one_question_after_another_on_the_same_page(site: str, kind: str) -> None:
    web = target(site, kind, input_selector="#box", submit_selector=None, same_page=True)
    questions = [question for question in ANSWERS if "wait" not in question] * 2
    assert texts(ask_all(web, *questions, workers=1)) == [ANSWERS[question] for question in questions]


@pytest.mark.parametrize("same_page", [pytest.param(False, marks=pytest.mark.slow), True])
def test_what_the_messages_of_two_answers_have_in_common_is_no_part_of_them(site: str, same_page: bool) -> None:
    web = target(site, NAMELESS, input_selector="#box", submit_selector=None, same_page=same_page)
    code, wait, time = ANSWERS
    questions = [time, code, time, time, wait]
    answers = texts(ask_all(web, *questions, workers=1))
    assert [answer.removeprefix("Mira\n\n") for answer in answers] == [ANSWERS[question] for question in questions]
    assert sum(answer.startswith("Mira") for answer in answers) <= 1  # the first has none to be compared with
