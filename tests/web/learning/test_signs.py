"""Which sign ends an answer: looks at a page that are made up."""

from __future__ import annotations

from collections.abc import Callable

from ragmeter.targets.web.learning.signs import REQUEST, SURE, UNSURE, WHOLE, Course, Moment, learn_end
from ragmeter.targets.web.profile import End

ALWAYS = "#send"


def course(
    signs: Callable[[int], set[str]], *, words: range = range(5, 25), before: frozenset[str] = frozenset()
) -> Course:
    """Looks at a page every tenth of a second for four seconds, with a text that grows by a word at some of them."""
    text, moments = 0, []
    for place in range(40):
        text += place in words
        moments.append(Moment(place / 10, text, frozenset({ALWAYS, *signs(place)})))
    return Course(frozenset({ALWAYS, *before}), moments)


def test_a_stop_button_that_lasts_until_the_last_word() -> None:
    end = learn_end([course(lambda place: {"#stop"} if 2 <= place < 26 else set())] * 3)
    assert end == End(("#stop",), still=SURE)


def test_a_button_that_is_gone_while_the_page_works() -> None:
    free = "#send:not(:disabled)"
    end = learn_end([course(lambda place: set() if 2 <= place < 26 else {free}, before=frozenset({free}))])
    assert end == End(back=(free,), still=SURE)


def test_dots_that_go_with_the_first_word_are_no_sign_of_the_end() -> None:
    assert learn_end([course(lambda place: {".dots"} if place < 6 else set())]) == End(still=UNSURE)


def test_a_sign_that_one_answer_disproves() -> None:
    good = course(lambda place: {"#stop"} if 2 <= place < 26 else set())
    bad = course(lambda place: {"#stop"} if 2 <= place < 9 else set())
    assert learn_end([good, good, bad]) == End(still=UNSURE)


def test_a_sign_beside_an_answer_that_comes_at_once_proves_little() -> None:
    end = learn_end([course(lambda place: {".dots"} if place < 6 else set(), words=range(6, 7))])
    assert end == End((".dots",), still=UNSURE)


def test_the_request_with_the_question() -> None:
    streamed = course(lambda place: {REQUEST} if place < 25 else set())
    assert learn_end([streamed]) == End(request=True, still=SURE)
    at_once = course(lambda place: {REQUEST} if place < 6 else set(), words=range(6, 7))
    assert learn_end([at_once]) == End(request=True, still=WHOLE)
    quick = course(lambda place: set(), words=range(2, 3))
    quick.requested = 0.1
    assert learn_end([quick]) == End(request=True, still=WHOLE)


def test_nothing_to_go_by() -> None:
    assert learn_end([]) == End()
    assert learn_end([Course()]) == End()
