"""When a text on a page counts as finished, without a browser: looks at a page and a clock that are made up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

import pytest

from ragmeter.targets.web.finish import Finish, is_answer
from ragmeter.targets.web.looks import Look
from ragmeter.targets.web.profile import End
from ragmeter.targets.web.traffic import Traffic

#: A look at a page that shows nothing at all.
QUIET: Look = {
    "text": "", "guess": "", "facts": [], "problem": "", "lost": False, "echoed": False, "selector": None,
    "sources": None, "busy": None, "moves": False, "ready": True, "newly": False,
    "links": [],
}  # fmt: skip
NO_SIGN = End()
SIGN = End(gone=("#stop",), still=0.3)
NAMED = End(back=("#done",), still=0.1)


@dataclass(frozen=True)
class Request:
    resource_type: str


def steady(text: str, **signals: Any) -> Iterator[Look]:
    while True:
        yield cast("Look", {**QUIET, "text": text, **signals})


def finished_at(looks: Iterable[Look], end: End = NO_SIGN, traffic: Traffic | None = None, step: float = 0.05) -> float:
    """The seconds until the answer is taken for finished, with a look every `step` of them; at most 40."""
    finish, now = Finish(0.0, end), 0.0
    for look in looks:
        now += step
        if finish.see(look, traffic or Traffic(), now) or now > 40:
            break
    return now


def asked() -> tuple[Traffic, Request]:
    """A request with the question in it that is under way."""
    traffic, request = Traffic(), Request("fetch")
    traffic.question(0.0, "Is it so?")
    traffic.begin(request, 0.0)
    traffic.sent('{"question": "Is it so?"}', request)
    return traffic, request


def test_what_is_open_when_a_question_is_sent_is_a_line() -> None:
    traffic, stream = Traffic(), Request("eventsource")
    traffic.begin(stream, 0.0)
    traffic.question(1.0)
    assert (traffic.under_way, traffic.lines) == (set(), {stream})
    traffic.end(stream, 2.0)
    assert not traffic.lines


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", False), ("...", False), ("Thinking", False), ("Loading...", False), ("The assistant is typing", False),
        ("Reading the documents…", False), ("Pensando...", False), ("Un momento, por favor...", False),
        ("Paris", True), ("Reading", True), ("42", True), ("It depends...", True),
        ("Thinking is what people do when they are awake, and they do it all the time...", True),
    ],
)  # fmt: skip
def test_what_is_an_answer(text: str, expected: bool) -> None:
    assert is_answer(text) == expected


@pytest.mark.parametrize(
    ("looks", "end", "seconds"),
    [
        (steady("It is so."), End(), 4.0),
        (steady("It is"), End(), 8.0),  # the rest may still come
        (steady("It is so.", moves=True), End(), 20.0),
        (steady("It is so.", busy="#stop"), End(), 40.0),
        (steady("Thinking...\nIt is so."), End(), 15.0),
        (steady("It is so."), SIGN, 1.0),  # its sign was never seen
        (steady("It is so.", ready=False), SIGN, 40.0),
        (steady("It is so.", moves=True), SIGN, 1.0),  # with a sign, nothing else counts
        (steady("It is so."), NAMED, 4.0),  # it was there all the time
    ],
)
def test_how_long_a_text_must_be_still(looks: Iterator[Look], end: End, seconds: float) -> None:
    assert finished_at(looks, end) == pytest.approx(seconds, abs=0.2)


def shown_for(seconds: float, text: str, **after: Any) -> Iterator[Look]:
    """A page that works for so many seconds, and does not from then on."""
    for _ in range(round(seconds / 0.05)):
        yield cast("Look", {**QUIET, "text": text, "ready": False})
    yield from steady(text, **after)


@pytest.mark.parametrize(("end", "seconds"), [(SIGN, 1.3), (NAMED, 1.1)])
def test_a_sign_that_goes_is_the_end(end: End, seconds: float) -> None:
    assert finished_at(shown_for(1.0, "It is"), end) == pytest.approx(seconds, abs=0.1)
    assert finished_at(shown_for(0.0, "It is", newly=True), end) == pytest.approx(seconds - 1, abs=0.1)


def test_the_end_of_the_request_with_the_question() -> None:
    end, (traffic, request) = End(request=True, still=0.3), asked()

    def looks() -> Iterator[Look]:
        for _ in range(40):
            yield {**QUIET, "text": "It is"}
        traffic.end(request, 2.0)
        yield from steady("It is")

    assert finished_at(looks(), end, traffic) == pytest.approx(2.3, abs=0.1)
    assert finished_at(steady("It is so."), End(), asked()[0]) == pytest.approx(20.0, abs=0.2)


def test_time_in_which_nobody_looked_does_not_count() -> None:
    assert finished_at(steady("It is so."), SIGN, step=2.5) >= 10.0  # four looks, not one second


def test_what_blinks_does_not_keep_an_answer_open() -> None:
    def looks() -> Iterator[Look]:
        while True:
            for text in ("It is so. \u25cf", "It is so.", "Live: it is so.", "It is so."):
                yield {**QUIET, "text": text}

    assert finished_at(looks()) == pytest.approx(4.0, abs=0.5)


def test_pauses_that_were_seen_make_the_wait_longer_up_to_a_limit() -> None:
    def looks(pause: float) -> Iterator[Look]:
        for _ in range(round(pause / 0.05)):
            yield {**QUIET, "text": "Some"}
        yield from steady("Some more.")

    def after(pause: float) -> float:
        return finished_at(looks(pause)) - pause

    assert after(0.5) == pytest.approx(4.0, abs=0.3)
    assert after(3.0) == pytest.approx(6.0, abs=0.3)
    assert after(7.0) == pytest.approx(10.0, abs=0.3)


def test_the_first_word_is_that_of_the_answer_and_not_of_a_placeholder() -> None:
    finish, now = Finish(0.0, End()), 0.0
    for text in ("processing 0.1/2.2s", "processing 0.3/2.2s", "", "The", "The end", "The end."):
        now += 1.0
        finish.see({**QUIET, "text": text}, Traffic(), now)
    assert finish.first == 4.0
