"""When a text on a page counts as finished, without a browser: looks at a page and a clock that are made up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

import pytest

from ragmeter.targets.web.finish import Finish, Traffic, is_answer
from ragmeter.targets.web.looks import Look

#: A look at a page that shows nothing at all.
QUIET: Look = {
    "text": "", "guess": "", "extra": "", "facts": [], "problem": "", "lost": False, "echoed": False, "selector": None,
    "sources": None, "signs": 0, "waiting": 0, "busy": None, "worked": False, "idle": False, "off": False,
    "timers": False, "ticking": False, "ready": False, "newly": False,
}  # fmt: skip


@dataclass(frozen=True)
class Request:
    resource_type: str


def steady(text: str, **signals: Any) -> Iterator[Look]:
    while True:
        yield cast("Look", {**QUIET, "text": text, **signals})


def finished_at(
    looks: Iterable[Look], *, named: bool = False, traffic: Traffic | None = None, step: float = 0.05
) -> float:
    """The seconds until the answer is taken for finished, with a look every `step` of them; at most 40."""
    finish, now = Finish(0.0, named=named), 0.0
    for look in looks:
        now += step
        if finish.see(look, traffic or Traffic(), now) or now > 40:
            break
    return now


def over() -> Traffic:
    """A request that the question caused, and that has come to its end."""
    traffic, request = Traffic(), Request("fetch")
    traffic.question(0.0)
    traffic.begin(request, 0.0)
    traffic.end(request, 0.0)
    return traffic


def asked() -> tuple[Traffic, Request]:
    """A request with the question in it that is under way."""
    traffic, request = Traffic(), Request("fetch")
    traffic.question(0.0, "Is it so?")
    traffic.begin(request, 0.0)
    traffic.sent('{"question": "Is it so?"}', request)
    return traffic, request


def line_open() -> Traffic:
    """The same, and a stream of events that was open before."""
    traffic = over()
    traffic.lines.add(Request("eventsource"))
    return traffic


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
    ("looks", "traffic", "seconds"),
    [
        (steady("It is so."), over(), 1.0),
        (steady("It is so."), Traffic(), 4.0),
        (steady("It is so.", timers=True), over(), 4.0),
        (steady("It is so."), line_open(), 4.0),
        (steady("It is so.", off=True), over(), 20.0),
        (steady("It is so.", busy="#stop"), over(), 40.0),
        (steady("It is so."), Traffic(under_way={object()}), 20.0),
        (steady("It is"), Traffic(), 8.0),  # the rest may still come
        (steady("It is so.", signs=1), Traffic(), 6.0),
        (steady("It is so.", worked=True), Traffic(), 1.0),  # a stop button came and went
        (steady("It is", worked=True), Traffic(), 4.0),
        (steady("It is", idle=True), Traffic(), 0.3),  # a known application
        (steady("It is", idle=True, signs=1), Traffic(), 4.0),  # which still loads a part of it
    ],
)
def test_how_long_a_text_must_be_still(looks: Iterator[Look], traffic: Traffic, seconds: float) -> None:
    assert finished_at(looks, traffic=traffic) == pytest.approx(seconds, abs=0.2)


def test_what_the_user_named() -> None:
    def looks(before: bool, after: bool, **more: Any) -> Iterator[Look]:
        for _ in range(20):
            yield {**QUIET, "text": "It is so.", "ready": before}
        yield from steady("It is so.", ready=after, **more)

    assert finished_at(looks(False, True), named=True) == pytest.approx(1.05, abs=0.1)
    assert finished_at(looks(True, False), named=True) > 30
    assert finished_at(looks(True, True), named=True) == pytest.approx(4.0, abs=0.2)  # it was there all the time
    assert finished_at(looks(True, True, newly=True), named=True) == pytest.approx(1.05, abs=0.1)


def test_a_stop_button_that_goes_is_the_end_unless_the_text_goes_on() -> None:
    def looks(*texts: str) -> Iterator[Look]:
        for _ in range(10):
            yield {**QUIET, "text": "some", "busy": "#stop"}
        for text in texts:
            yield {**QUIET, "text": text}
        yield from steady(texts[-1])

    assert finished_at(looks("some words")) == pytest.approx(1.0, abs=0.2)  # the last words came with its end
    assert finished_at(looks("some", "some words", "some words more")) > 4.0


def test_a_signal_that_ends_before_the_text_begins_says_nothing() -> None:
    def looks() -> Iterator[Look]:
        for _ in range(10):
            yield {**QUIET, "text": "", "busy": "#spinner"}
        yield from steady("some")

    assert finished_at(looks()) > 4.0


def test_time_in_which_nobody_looked_does_not_count() -> None:
    assert finished_at(steady("It is so."), traffic=over(), step=2.5) > 10.0  # four looks, not one second


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


def first_shown(sign: dict[str, Any], **after: Any) -> Iterator[Look]:
    """An answer with a sign of work for half a second, and without it from then on."""
    for _ in range(10):
        yield cast("Look", {**QUIET, "text": "It is so.", **sign})
    yield from steady("It is so.", **after)


@pytest.mark.parametrize("sign", [{"off": True}, {"signs": 2}, {"waiting": 1}, {"busy": "#stop"}])
def test_other_signs_of_work_that_go_are_the_end_as_well(sign: dict[str, Any]) -> None:
    assert finished_at(first_shown(sign)) == pytest.approx(0.8, abs=0.1)  # the last words may come after the sign went


@pytest.mark.parametrize(
    ("sign", "seconds"), [({"off": True}, 20.0), ({"signs": 2}, 20.0), ({"waiting": 1}, 20.0), ({"busy": "#stop"}, 1.0)]
)
def test_a_weak_sign_that_goes_is_not_the_end_while_the_answer_is_requested(
    sign: dict[str, Any], seconds: float
) -> None:
    assert finished_at(first_shown(sign), traffic=asked()[0]) == pytest.approx(seconds, abs=0.2)


def test_the_end_of_the_request_that_an_answer_came_with_is_its_end() -> None:
    traffic, request = asked()

    def looks() -> Iterator[Look]:
        for text in ("It", "It is", "It is so."):
            yield {**QUIET, "text": text}
        traffic.end(request, 0.15)
        yield from steady("It is so.")

    assert finished_at(looks(), traffic=traffic) == pytest.approx(0.65, abs=0.1)


@pytest.mark.parametrize(("sign", "seconds"), [({"signs": 2}, 4.0), ({"busy": "#stop"}, 0.8)])
def test_a_page_that_types_has_timers_after_its_weak_signs_went(sign: dict[str, Any], seconds: float) -> None:
    assert finished_at(first_shown(sign, timers=True, ticking=True), traffic=over()) == pytest.approx(seconds, abs=0.2)


def test_a_stop_button_goes_before_the_box_can_be_used_again() -> None:
    def looks() -> Iterator[Look]:
        for busy in ("#stop", None):
            for _ in range(10):
                yield {**QUIET, "text": "It is so.", "busy": busy, "off": True, "ticking": True}
        yield from steady("It is so.", ticking=True)

    assert finished_at(looks()) == pytest.approx(1.3, abs=0.1)


def test_signs_that_blink_do_not_keep_an_answer_open() -> None:
    def looks() -> Iterator[Look]:
        while True:
            for signs in (1, 0):
                yield {**QUIET, "text": "It is so.", "signs": signs}

    assert finished_at(looks()) == pytest.approx(10.0, abs=0.2)


def test_the_first_word_is_that_of_the_answer_and_not_of_a_placeholder() -> None:
    finish, now = Finish(0.0, named=False), 0.0
    for text in ("processing 0.1/2.2s", "processing 0.3/2.2s", "", "The", "The end", "The end."):
        now += 1.0
        finish.see({**QUIET, "text": text}, Traffic(), now)
    assert finish.first == 4.0
