"""Real pages in a real browser: asked as a person would, and read when the answer is finished."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from ragmeter.effects.limits.caller import Failure, TryAgain
from ragmeter.errors import EndpointError, UsageError
from ragmeter.targets.port import Answer, Question
from ragmeter.targets.web.finish import Finish
from ragmeter.targets.web.page import Page
from ragmeter.targets.web.target import Login, WebTarget
from ragmeter.targets.web.visit import Visit
from tests.browser import missing
from tests.command import PATIENCE
from tests.usual import mostly_slow
from tests.web import hard
from tests.web.helpers import ask_all, give_up_soon, target, texts

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=missing() or "there is one"),
    pytest.mark.usefixtures("shared_browser"),
]
EASY = [
    "plain", "delayed", "stream", "drip", "rerender", "replace", "alert", "virtual", "stop", "iframe", "editable",
    "late",
]  # fmt: skip
SAME_PAGE = ["plain", "stream", "rerender", "replace", "virtual", "form"]
AGAIN = [("same", None), ("same_list", None), ("same", ".bot"), ("same_list", ".bot"), ("forgetful", ".bot")]
LIKE = "What is it like?"


@pytest.mark.parametrize("kind", mostly_slow(EASY))
def test_the_answer_is_found_and_whole(site: str, kind: str) -> None:
    answers = texts(ask_all(target(site, kind), "first?", "second one?"))
    end = {"stream": "word9 end.", "drip": "one two three"}.get(kind, "it is so.")
    assert [text.split(":")[0] for text in answers] == ["Answer to first?", "Answer to second one?"], answers
    assert all(text.endswith(end) for text in answers), answers


@pytest.mark.parametrize("kind", mostly_slow(hard.WHOLE))
def test_the_answer_of_a_page_that_is_hard_to_read(site: str, kind: str) -> None:
    assert texts(ask_all(target(site, kind), LIKE)) == [f"Answer to {LIKE}: it is so."]


@pytest.mark.parametrize("kind", mostly_slow(hard.SHORT))
def test_a_short_answer_among_longer_things_that_are_new(site: str, kind: str) -> None:
    assert texts(ask_all(target(site, kind), LIKE)) == ["Paris."]


def test_a_question_that_is_markup_is_no_answer(site: str) -> None:
    assert texts(ask_all(target(site, "named_echo"), "Is <b>it</b> so,\nand why?")) == ["Paris."]


def test_last_words_that_come_with_the_end_of_the_stop_button(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Visit._run

    async def on_a_busy_machine(visit: Visit, *given: Any, **more: Any) -> Any:
        await asyncio.sleep(0.25)
        return await run(visit, *given, **more)

    monkeypatch.setattr(Visit, "_run", on_a_busy_machine)
    questions = ["q" * length for length in range(1, 9)]  # the longer, the later the page adds its last words
    answers = texts(ask_all(target(site, "burst"), *questions, workers=4))
    assert answers == [f"Answer to {question}: it is so." for question in questions]


@pytest.mark.parametrize("kind", mostly_slow(SAME_PAGE))
def test_one_after_another_on_the_same_page(site: str, kind: str) -> None:
    answers = texts(ask_all(target(site, kind, same_page=True), "one?", "two?", "three?", workers=1))
    assert [text.split(":")[0] for text in answers] == ["Answer to one?", "Answer to two?", "Answer to three?"]
    assert all(text.rstrip().endswith(("it is so.", "end.")) for text in answers), answers


@pytest.mark.parametrize(("kind", "selector"), mostly_slow(AGAIN))
def test_the_same_answer_again_is_new(site: str, kind: str, selector: str | None) -> None:
    answers = texts(ask_all(target(site, kind, same_page=True, answer_selector=selector), "a", "b", workers=1))
    assert answers == ["Always the same answer."] * 2


def test_shadow_dom(site: str) -> None:
    replies = ask_all(target(site, "shadow", input_selector=".q", submit_selector=".go"), "deep?")
    assert texts(replies) == ["Answer to deep?: it is so."]


def test_enter_sends_it(site: str) -> None:
    assert texts(ask_all(target(site, "enter", submit_selector=None), "x")) == ["Answer to x: it is so."]


def test_a_selector_for_the_answer(site: str) -> None:
    web = target(site, "plain", answer_selector=".message.bot")
    assert texts(ask_all(web, "x", "y")) == ["Answer to x: it is so.", "Answer to y: it is so."]


def selector_of(web: WebTarget) -> str:
    """Where the page is read."""
    assert web.reading.profile is not None
    return web.reading.profile.answer.selector


def test_the_element_that_was_found_is_told(site: str) -> None:
    web = target(site, "plain")
    ask_all(web, "x")
    assert selector_of(web) == "div.bot"


def test_a_list_of_sources_beside_the_answer_is_no_part_of_it(site: str) -> None:
    plain, with_sources = (ask_all(target(site, "rich", sources_selector=css), "x")[0] for css in (None, "a.source"))
    assert isinstance(plain, Answer)
    assert isinstance(with_sources, Answer)
    assert plain.answer.endswith("See the doc [1].")
    assert with_sources.answer.endswith("See the doc [1].")
    assert with_sources.retrieved == ["https://example.org/one", "https://example.org/two"]


def test_rich_text_comes_back_readable(site: str) -> None:
    (answer,) = ask_all(target(site, "rich", answer_selector=".bot", sources_selector="a.source"), "x")
    assert isinstance(answer, Answer)
    assert answer.answer.split("\n\n") == [
        "Result", "Answer to x: it is so. bold", "- first\n- second", "| a | b |\n| 1 | 2 |",
        "```\nx = 1\ny = 2\n```", "See the doc [1].",
    ]  # fmt: skip
    assert answer.retrieved == ["https://example.org/one", "https://example.org/two"]
    assert answer.contexts == ["One", "Two"]
    assert answer.columns == {"links": '["https://example.org/doc"]'}


def test_formatted_text_keeps_its_lines(site: str) -> None:
    (answer,) = texts(ask_all(target(site, "formatted"), "x"))
    assert answer == (
        "One\ntwo\n\n- loose\n- tight\n  1. inner\n\n```\ndef f():\n    return 1\n```\n\na\n  b\n\n"
        "| x | 1 |\n| y | 2 |\n\nSee the doc[1] $x^2$"
    )


def test_times_are_measured(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    see = Finish.see

    def open_the_gate(finish: Finish, *given: Any) -> bool:
        ended = see(finish, *given)
        if finish.first is not None:  # the rest of the answer comes when its beginning was seen
            urlopen(f"{site}/open?gate=times").close()  # noqa: S310 - our own
        return ended

    monkeypatch.setattr(Finish, "see", open_the_gate)
    begun = time.perf_counter()
    (answer,) = ask_all(target(site, "stream?wait=0.5&gate=times"), "x")
    elapsed_ms = (time.perf_counter() - begun) * 1000
    assert isinstance(answer, Answer)
    assert answer.answer.endswith("word9 end.")
    assert answer.time_to_first_token_ms is not None
    assert 500 <= answer.time_to_first_token_ms < answer.latency_ms
    assert answer.latency_ms + 1000 <= elapsed_ms  # the silence after an answer is no part of its time


def test_a_conversation_stays_on_its_page(site: str) -> None:
    questions = [Question("1", "a", "s", turn=0), Question("2", "b", "s", turn=1), Question("3", "c", "t")]
    replies = ask_all(target(site, "memory"), *questions)
    assert [text.rsplit(" ", 1)[1] for text in texts(replies)] == ["1", "2", "1"]


def test_failures_are_typed_and_leave_evidence(site: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    give_up_soon(monkeypatch, "bad one")
    web = target(site, "error", evidence=tmp_path / "evidence")
    replies = ask_all(web, "good", "bad one", "fine", workers=1)
    assert [reply.outcome if isinstance(reply, Failure) else "scored" for reply in replies] == [
        "scored",
        "timeout",
        "scored",
    ]
    assert (tmp_path / "evidence" / "1.png").read_bytes().startswith(b"\x89PNG")
    assert "no luck with bad one" in (tmp_path / "evidence" / "1.txt").read_text()
    assert sorted(path.name for path in (tmp_path / "evidence").iterdir()) == ["1.png", "1.txt"]


def test_a_spinner_is_no_answer(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    give_up_soon(monkeypatch, "x", 6.0)
    (failure,) = ask_all(target(site, "spinner"), "x")
    assert isinstance(failure, Failure)
    assert failure.outcome == "timeout"


def test_a_selector_that_matches_nothing_stops_at_once(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragmeter.targets.web.growth._QUIET", 1.0)
    with pytest.raises(UsageError) as caught:
        ask_all(target(site, "plain", input_selector="#nothing"), "x")
    assert "input_selector '#nothing' matches nothing" in str(caught.value)
    assert "#query-input" in str(caught.value)
    with pytest.raises(UsageError, match="is not a selector"):
        ask_all(target(site, "plain", input_selector="##"), "x")


def test_a_box_is_looked_for_several_times_however_slow_the_machine(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragmeter.targets.web.growth._QUIET", 0.0)  # a page that waits for something is not quiet
    assert texts(ask_all(target(site, "late"), "x")) == ["Answer to x: it is so."]


@pytest.mark.parametrize("kind", ["ready_later", "button_only", "loses_its_text", "keeps_its_text"])
def test_a_question_is_sent_until_the_page_takes_it_and_once_only(site: str, kind: str) -> None:
    web = target(site, kind, submit_selector=None)
    assert texts(ask_all(web, "Is it so?")) == ["Answer to Is it so?: it is so."]


def test_a_question_that_is_never_taken(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragmeter.targets.web.sender._TAKES", 0.2)
    monkeypatch.setattr("ragmeter.targets.web.sender._GIVES_UP", 1.0)
    (failure,) = texts(ask_all(target(site, "never_takes", submit_selector=None), "Is it so?"))
    assert failure.startswith("timeout: the question was not sent: its text is still in the box after ")
    assert failure.endswith("with Enter and the button beside the box; submit_selector=... may help")


def test_pages_open_one_after_another(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    open_page, arrive = Visit.open, Visit.arrive
    steps: list[str] = []

    async def begin(visit: Visit) -> None:
        steps.append("begins")
        await open_page(visit)

    async def end(visit: Visit) -> None:
        await arrive(visit)
        steps.append("ends")

    monkeypatch.setattr(Visit, "open", begin)
    monkeypatch.setattr(Visit, "arrive", end)
    ask_all(target(site, "plain"), *"abcd", workers=4)
    assert steps == ["begins", "ends"] * 4


def test_a_tab_is_used_again_and_knows_nothing_of_the_question_before(
    site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(_tabs(target(site, "keeps_all"), monkeypatch, "I know of 0")) == 1


def _tabs(web: WebTarget, monkeypatch: pytest.MonkeyPatch, *more: str) -> set[Any]:
    """Ask two questions one after the other; the tabs that they were asked in."""
    ask = Visit.ask
    tabs: set[Any] = set()

    async def note(visit: Visit, text: str) -> Answer:
        tabs.add(visit.page)
        return await ask(visit, text)

    with monkeypatch.context() as patched:
        patched.setattr(Visit, "ask", note)
        patched.setattr(WebTarget, "overlap", 1)
        patched.setattr("ragmeter.targets.web.contexts._EMPTIES", PATIENCE)
        answers = texts(ask_all(web, "one?", "two?", workers=1))
    assert answers == [" ".join((f"Answer to {question}: it is so.", *more)) for question in ("one?", "two?")]
    return tabs


def test_the_next_questions_begin_while_answers_are_only_watched(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ask, questions = Visit.ask, ("one?", "two?", "three?", "four?")
    begun: list[str] = []
    together = asyncio.Event()

    async def note(visit: Visit, text: str) -> Answer:
        begun.append(text)
        if len(begun) == 4:
            together.set()
        answer = await ask(visit, text)
        if text != begun[0]:  # which shows that the call is right: nothing else is asked before its answer is there
            await asyncio.wait_for(together.wait(), PATIENCE)
        return answer

    monkeypatch.setattr(Visit, "ask", note)
    answers = texts(ask_all(target(site, "clock"), *questions, workers=1))  # timers: 4 s to be sure
    assert answers == [f"Answer to {question}: it is so." for question in questions]


@pytest.mark.parametrize(
    ("kind", "cause"),
    mostly_slow(
        [
            ("toast", "the page shows an error: The model can't be reached, try again"),
            ("red_box", "the page shows an error: No quota left"),
            ("says_so", "the page shows an error: Something went wrong. Please try again later."),
            ("refused", "the page's request failed: POST SITE/nowhere answered HTTP 405"),
            ("breaks_off", "the page shows an error: Connection lost"),
            ("gives_up", "the page has stopped working on the question and shows no answer"),
        ]
    ),
)
def test_an_error_on_the_page_is_an_error(site: str, kind: str, cause: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragmeter.targets.web.trouble._NOTHING", 2.0)
    answers = texts(ask_all(target(site, kind), "Is it so?", retries=1))
    assert answers == [f"target_error: {cause.replace('SITE', site)}"]


def test_a_question_that_a_page_loses_by_loading_again_is_asked_again(
    site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragmeter.targets.web.trouble._NOTHING", 0.5)
    answers = texts(ask_all(target(site, "loads_again"), "Is it lost once?", retries=1))
    assert answers == ["Answer to Is it lost once?: it is so."]


@pytest.mark.parametrize("kind", ["about_errors", "error_elsewhere"])
def test_an_answer_about_errors_is_an_answer(site: str, kind: str) -> None:
    (answer,) = texts(ask_all(target(site, kind), "Is it so?"))
    assert answer.endswith("it is so.")


def test_selectors_that_are_suggested_are_right_for_the_next_answer(site: str) -> None:
    web = target(site, "numbered_ids")
    ask_all(web, "x")
    assert selector_of(web) == "div.reply"
    again = target(site, "numbered_ids", answer_selector=selector_of(web), same_page=True)
    assert texts(ask_all(again, "a?", "b?", workers=1)) == ["Answer to a?: it is so.", "Answer to b?: it is so."]


def test_a_font_that_can_not_be_loaded_explains_nothing(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    give_up_soon(monkeypatch, "x", 1.0)
    (failure,) = texts(ask_all(target(site, "no_font"), "x"))
    assert failure.startswith("timeout: no answer within 1 s; nothing new on the page looks like an answer")
    assert "font" not in failure


def test_no_question_is_typed_into_a_login(site: str) -> None:
    web = target(site, "password", input_selector=None, submit_selector=None)
    with pytest.raises(UsageError, match=r"^the page asks for a password: .*storage_state"):
        ask_all(web, "x")


def test_what_is_only_a_label_is_named_when_no_answer_comes(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    give_up_soon(monkeypatch, "x", 4.0)
    (failure,) = texts(ask_all(target(site, "label_only"), "x"))
    assert failure.startswith("timeout: no answer within 4 s; what is new on the page are only labels: ")
    assert "answer_selector=... says where the answer is" in failure


def test_evidence_has_the_text_of_shadow_roots(site: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    web = target(site, "closed_root", evidence=tmp_path, evidence_when="always")
    assert texts(ask_all(web, "deep?")) == ["Answer to deep?: it is so."]
    assert "Answer to deep?: it is so." in (tmp_path / "0.txt").read_text().split("-- page --")[1]
    assert (tmp_path / "0.png").exists()


def test_pages_that_do_not_open(site: str) -> None:
    with pytest.raises(UsageError, match="HTTP 403"):
        ask_all(target(site, "forbidden"), "x")
    with socket.create_server(("127.0.0.1", 0)) as free:
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}/"
    with pytest.raises(EndpointError, match="ERR_CONNECTION_REFUSED"):
        ask_all(WebTarget(Page(nobody, "#q")), "x")
    (failure,) = ask_all(WebTarget(Page("http://127.0.0.1:9/", "#q")), "x")  # a port that browsers don't use
    assert isinstance(failure, Failure)
    assert failure.outcome == "navigation_error"
    with pytest.raises(UsageError, match="not an address"):
        WebTarget(Page("file:///etc/passwd", "#q"))


def test_another_host_is_refused(site: str) -> None:
    for kind in ("redirect", "leave"):
        with pytest.raises(UsageError, match="another host"):
            ask_all(target(site, kind), "x")
    assert texts(ask_all(target(site, "redirect", any_host=True), "x")) == ["Answer to x: it is so."]


def test_another_host_is_never_asked(site: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        other.settimeout(0.3)
        to = f"http://localhost:{other.getsockname()[1]}/"
        with pytest.raises(UsageError, match="another host"):
            ask_all(target(site, f"redirect?to={to}"), "x")
        with pytest.raises(TimeoutError):
            other.accept()


def test_a_password_is_for_the_page_alone() -> None:
    options = Login(credentials=("me", "secret")).options("https://chat.example.org:8443/talk?x=1")
    assert options["http_credentials"]["origin"] == "https://chat.example.org:8443"


def test_answers_are_kept_by_the_whole_address_and_not_by_the_patience(site: str) -> None:
    first, other = target(site, "plain?bot=a"), target(site, "plain?bot=b")
    assert first.name != other.name
    assert first.name == target(site, "plain?bot=a", timeout=99.0).name
    assert "bot=a" not in first.name


def test_an_answer_selector_that_matches_nothing_says_where_something_is(
    site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_up_soon(
        monkeypatch, "x", 4.0, once=lambda visit: visit.page.wait_for_selector(".bot", timeout=PATIENCE * 1000)
    )
    with pytest.raises(
        UsageError, match=r"'\.bott' matches nothing within 4 s; what is new .* is in div\.message\.bot"
    ):
        ask_all(target(site, "plain", answer_selector=".bott"), "x")
    with pytest.raises(UsageError, match="ready_selector '##' is not a CSS selector"):
        ask_all(target(site, "plain", ready_selector="##"), "x")


def test_a_selector_of_all_messages_does_not_read_the_question(site: str) -> None:
    answers = texts(ask_all(target(site, "box_off", answer_selector=".message"), LIKE))
    assert answers == [f"Answer to {LIKE}: it is so."]


def test_what_lies_over_the_button_is_told(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    submit = Visit._submit

    async def click_for_some_seconds(visit: Visit, box: Any) -> None:
        visit.how = replace(visit.how, timeout=6.0)
        await submit(visit, box)

    monkeypatch.setattr(Visit, "_submit", click_for_some_seconds)
    (failure,) = texts(ask_all(target(site, "covered"), "x"))
    banner = '<div id="banner">Do you like cookies?</div>'
    assert failure == f"timeout: submit_selector '#submit-button' can't be clicked: {banner} lies over it"


@pytest.mark.parametrize("same_page", mostly_slow([False, True]))
def test_a_browser_that_dies_is_replaced(site: str, monkeypatch: pytest.MonkeyPatch, same_page: bool) -> None:
    submit = Visit._submit
    killed: list[bool] = []

    async def kill_once(visit: Visit, box: Any) -> None:
        if not killed and box is not None and await box.input_value() == "two":
            killed.append(True)
            await visit.context.browser.close()
        await submit(visit, box)

    monkeypatch.setattr(Visit, "_submit", kill_once)
    answers = texts(ask_all(target(site, "plain", same_page=same_page), "one", "two", "three", workers=1, retries=1))
    assert answers == [f"Answer to {question}: it is so." for question in ("one", "two", "three")]
    assert killed


def test_evidence_of_an_attempt_that_failed_goes_when_the_next_one_works(
    site: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = Visit._find
    tried: list[Any] = []

    async def fail_once(visit: Visit, *given: Any) -> Any:
        tried.append(given)
        if len(tried) == 1:
            raise TryAgain("timeout", "not now")
        return await find(visit, *given)

    monkeypatch.setattr(Visit, "_find", fail_once)
    assert texts(ask_all(target(site, "plain", evidence=tmp_path), "x", retries=1)) == ["Answer to x: it is so."]
    assert list(tmp_path.iterdir()) == []


def test_ways_to_log_in(site: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cookie = Login(cookies=[{"name": "who", "value": "me"}])
    assert texts(ask_all(target(site, "login", login=cookie), "x")) == ["Answer to x: it is so."]
    credentials = Login(credentials=("me", "secret-password"))
    assert texts(ask_all(target(site, "basic", login=credentials), "x")) == ["Answer to x: it is so."]
    host = site.removeprefix("http://").partition(":")[0]
    saved = {"name": "who", "value": "me", "domain": host, "path": "/", "expires": -1, "sameSite": "Lax"}
    state = {"cookies": [saved | {"httpOnly": False, "secure": False}], "origins": []}
    (tmp_path / "login.json").write_text(json.dumps(state))
    stored = Login(storage_state=str(tmp_path / "login.json"))
    assert len(_tabs(target(site, "login", login=stored), monkeypatch)) == 1  # it is logged in again once it is emptied
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(UsageError, match="can't use this login"):
        ask_all(target(site, "login", login=Login(storage_state=str(tmp_path / "bad.json"))), "x")
    assert "secret-password" not in repr(credentials) + target(site, "basic", login=credentials).name


def test_many_questions_side_by_side_are_not_mixed_up(site: str) -> None:
    questions = [f"question number {i}" for i in range(24)]
    replies = ask_all(target(site, "stream?seconds=0.5", same_page=True), *questions, workers=4)
    assert [text.split(":")[0] for text in texts(replies)] == [f"Answer to {question}" for question in questions]
    assert all(text.endswith("word9 end.") for text in texts(replies))


def test_a_page_that_crashes(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def crash(visit: Any, box: Any) -> None:
        with contextlib.suppress(visit._error):
            await visit.page.goto("chrome://crash", timeout=2000)

    web = target(site, "plain")
    monkeypatch.setattr("ragmeter.targets.web.visit.Visit._submit", crash)
    (failure,) = ask_all(web, "x")
    assert isinstance(failure, Failure)
    assert failure.outcome == "page_crashed"
    monkeypatch.undo()
    assert texts(ask_all(target(site, "plain"), "y")) == ["Answer to y: it is so."]


@pytest.mark.slow
def test_a_stream_of_forty_seconds_with_pauses_of_three(site: str) -> None:
    (answer,) = ask_all(target(site, "stream?seconds=8&words=46&pause=3"), "x")
    assert isinstance(answer, Answer)
    assert answer.answer.endswith("word45 end.")
    assert answer.latency_ms > 38_000


@pytest.mark.slow
def test_two_hundred_questions_and_none_is_lost_swapped_or_cut(site: str) -> None:
    questions = [f"question number {i}" for i in range(200)]
    replies = ask_all(target(site, "stream?seconds=0.5"), *questions, workers=4, retries=1)
    assert [text.split(":")[0] for text in texts(replies)] == [f"Answer to {question}" for question in questions]
    assert all(text.endswith("word9 end.") for text in texts(replies))


def test_a_server_that_has_too_many_questions_is_asked_again(site: str) -> None:
    assert texts(ask_all(target(site, "limited"), "how often?", retries=1)) == ["Answer to how often?: it is so."]
