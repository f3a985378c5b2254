"""Real pages in a real browser: asked as a person would, and read when the answer is finished."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragmeter.effects.caller import Failure
from ragmeter.errors import UsageError
from ragmeter.targets.asking import Limits, ask
from ragmeter.targets.port import Answer, Question
from ragmeter.targets.visit import Page, Visit
from ragmeter.targets.web import Login, WebTarget
from tests.browser import missing

SITE = Path(__file__).with_name("site.py")


pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "there is one")


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    process = subprocess.Popen([sys.executable, str(SITE)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
    process.terminate()
    process.communicate()


def target(site: str, kind: str, **more: Any) -> WebTarget:
    options: dict[str, Any] = {"input_selector": "#query-input", "submit_selector": "#submit-button", "timeout": 15.0}
    own = {name: more.pop(name) for name in ("login", "evidence", "evidence_when") if name in more}
    return WebTarget(Page(f"{site}/{kind}", **{**options, **more}), own.pop("login", Login()), **own)


def ask_all(
    target: WebTarget, *questions: str | Question, workers: int = 2, retries: int = 0
) -> list[Answer | Failure]:
    held = [q if isinstance(q, Question) else Question(str(i), q) for i, q in enumerate(questions)]
    return ask(target, held, Limits(workers, retries), None, lambda count: None).found


def texts(found: list[Answer | Failure]) -> list[str]:
    return [each.answer if isinstance(each, Answer) else f"{each.outcome}: {each.cause}" for each in found]


@pytest.mark.parametrize(
    "kind",
    ["plain", "delayed", "stream", "drip", "rerender", "replace", "alert", "virtual", "stop", "iframe", "editable",
     "late"],
)  # fmt: skip
def test_the_answer_is_found_and_whole(site: str, kind: str) -> None:
    end = {"stream": "word9 end.", "drip": "one two three"}.get(kind, "it is so.")
    found = ask_all(target(site, kind), "first?", "second one?")
    assert [text.split(":")[0] for text in texts(found)] == ["Answer to first?", "Answer to second one?"], texts(found)
    assert all(text.endswith(end) for text in texts(found)), texts(found)


def test_last_words_that_come_with_the_end_of_the_stop_button(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Visit._run

    async def on_a_busy_machine(visit: Visit, *given: Any) -> Any:
        await asyncio.sleep(0.25)
        return await run(visit, *given)

    monkeypatch.setattr(Visit, "_run", on_a_busy_machine)
    questions = ["q" * length for length in range(1, 9)]  # the longer, the later the page adds its last words
    found = texts(ask_all(target(site, "burst"), *questions, workers=4))
    assert found == [f"Answer to {question}: it is so." for question in questions]


@pytest.mark.parametrize("kind", ["plain", "stream", "rerender", "replace", "virtual"])
def test_one_after_another_on_the_same_page(site: str, kind: str) -> None:
    found = ask_all(target(site, kind, same_page=True), "one?", "two?", "three?", workers=1)
    assert [text.split(":")[0] for text in texts(found)] == ["Answer to one?", "Answer to two?", "Answer to three?"]
    assert all(text.rstrip().endswith(("it is so.", "end.")) for text in texts(found)), texts(found)


@pytest.mark.parametrize("kind", ["same", "same_list"])
@pytest.mark.parametrize("selector", [None, ".bot"])
def test_the_same_answer_again_is_new(site: str, kind: str, selector: str | None) -> None:
    found = ask_all(target(site, kind, same_page=True, answer_selector=selector), "a", "b", "c", workers=1)
    assert texts(found) == ["Always the same answer."] * 3


def test_shadow_dom(site: str) -> None:
    found = ask_all(target(site, "shadow", input_selector=".q", submit_selector=".go"), "deep?")
    assert texts(found) == ["Answer to deep?: it is so."]


def test_enter_sends_it(site: str) -> None:
    assert texts(ask_all(target(site, "enter", submit_selector=None), "x")) == ["Answer to x: it is so."]


def test_a_selector_for_the_answer(site: str) -> None:
    web = target(site, "plain", answer_selector=".message.bot")
    assert texts(ask_all(web, "x", "y")) == ["Answer to x: it is so.", "Answer to y: it is so."]


def test_the_element_that_was_found_is_told(site: str) -> None:
    web = target(site, "plain")
    ask_all(web, "x")
    assert web.found_selector == "div.message.bot"


def test_rich_text_comes_back_readable(site: str) -> None:
    (found,) = ask_all(target(site, "rich", answer_selector=".bot", sources_selector="a.source"), "x")
    assert isinstance(found, Answer)
    assert found.answer.split("\n\n") == [
        "Result", "Answer to x: it is so. bold", "- first", "- second", "| a | b |", "| 1 | 2 |",
        "```\nx = 1\ny = 2\n```", "See [the doc](https://example.org/doc) [1].",
    ]  # fmt: skip
    assert found.retrieved == ["https://example.org/one", "https://example.org/two"]
    assert found.contexts == ["[One](https://example.org/one)", "[Two](https://example.org/two)"]


def test_times_are_measured(site: str) -> None:
    (found,) = ask_all(target(site, "stream?seconds=1.5"), "x")
    assert isinstance(found, Answer)
    assert found.time_to_first_token_ms is not None
    assert found.time_to_first_token_ms < 800 < 1200 < found.latency_ms < 2500


def test_a_conversation_stays_on_its_page(site: str) -> None:
    questions = [Question("1", "a", "s", turn=0), Question("2", "b", "s", turn=1), Question("3", "c", "t")]
    found = ask_all(target(site, "memory"), *questions)
    assert [text.rsplit(" ", 1)[1] for text in texts(found)] == ["1", "2", "1"]


def test_failures_are_typed_and_leave_evidence(site: str, tmp_path: Path) -> None:
    web = target(site, "error", timeout=3.0, evidence=tmp_path / "evidence")
    found = ask_all(web, "good", "bad one", "fine", workers=1)
    assert [each.outcome if isinstance(each, Failure) else "scored" for each in found] == [
        "scored",
        "timeout",
        "scored",
    ]
    assert (tmp_path / "evidence" / "1.png").read_bytes().startswith(b"\x89PNG")
    assert "no luck with bad one" in (tmp_path / "evidence" / "1.txt").read_text()
    assert sorted(path.name for path in (tmp_path / "evidence").iterdir()) == ["1.png", "1.txt"]


def test_a_spinner_is_no_answer(site: str) -> None:
    (found,) = ask_all(target(site, "spinner", timeout=6.0), "x")
    assert isinstance(found, Failure)
    assert found.outcome == "timeout"


def test_a_selector_that_matches_nothing_stops_at_once(site: str) -> None:
    with pytest.raises(UsageError) as caught:
        ask_all(target(site, "plain", input_selector="#nothing", timeout=2.0), "x")
    assert "--input-selector '#nothing' matches nothing" in str(caught.value)
    assert "#query-input" in str(caught.value)
    with pytest.raises(UsageError, match="is not a selector"):
        ask_all(target(site, "plain", input_selector="##", timeout=2.0), "x")


def test_pages_that_do_not_open(site: str) -> None:
    with pytest.raises(UsageError, match="HTTP 403"):
        ask_all(target(site, "forbidden"), "x")
    (found,) = ask_all(WebTarget(Page("http://127.0.0.1:9/", "#q")), "x")
    assert isinstance(found, Failure)
    assert found.outcome == "navigation_error"
    with pytest.raises(UsageError, match="not an address"):
        WebTarget(Page("file:///etc/passwd", "#q"))


def test_another_host_is_refused(site: str) -> None:
    for kind in ("redirect", "leave"):
        with pytest.raises(UsageError, match="another host"):
            ask_all(target(site, kind, timeout=5.0), "x")
    assert texts(ask_all(target(site, "redirect", any_host=True), "x")) == ["Answer to x: it is so."]


def test_ways_to_log_in(site: str, tmp_path: Path) -> None:
    cookie = Login(cookies=[{"name": "who", "value": "me"}])
    assert texts(ask_all(target(site, "login", login=cookie), "x")) == ["Answer to x: it is so."]
    credentials = Login(credentials=("me", "secret-password"))
    assert texts(ask_all(target(site, "basic", login=credentials), "x")) == ["Answer to x: it is so."]
    host = site.removeprefix("http://").partition(":")[0]
    held = {"name": "who", "value": "me", "domain": host, "path": "/", "expires": -1, "sameSite": "Lax"}
    state = {"cookies": [held | {"httpOnly": False, "secure": False}], "origins": []}
    (tmp_path / "login.json").write_text(json.dumps(state))
    stored = Login(storage_state=str(tmp_path / "login.json"))
    assert texts(ask_all(target(site, "login", login=stored), "x")) == ["Answer to x: it is so."]
    assert "secret-password" not in repr(credentials) + target(site, "basic", login=credentials).name


def test_many_questions_side_by_side_are_not_mixed_up(site: str) -> None:
    questions = [f"question number {i}" for i in range(24)]
    found = ask_all(target(site, "stream?seconds=0.5", same_page=True), *questions, workers=4)
    assert [text.split(":")[0] for text in texts(found)] == [f"Answer to {question}" for question in questions]
    assert all(text.endswith("word9 end.") for text in texts(found))


def test_a_page_that_crashes(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def crash(visit: Any, box: Any) -> None:
        with contextlib.suppress(visit._error):
            await visit.page.goto("chrome://crash", timeout=2000)

    web = target(site, "plain")
    monkeypatch.setattr("ragmeter.targets.visit.Visit._submit", crash)
    (found,) = ask_all(web, "x")
    assert isinstance(found, Failure)
    assert found.outcome == "page_crashed"
    monkeypatch.undo()
    assert texts(ask_all(target(site, "plain"), "y")) == ["Answer to y: it is so."]


@pytest.mark.slow
def test_a_stream_of_forty_seconds_with_pauses_of_three(site: str) -> None:
    (found,) = ask_all(target(site, "stream?seconds=8&words=46&pause=3", timeout=90.0), "x")
    assert isinstance(found, Answer)
    assert found.answer.endswith("word45 end.")
    assert found.latency_ms > 38_000


@pytest.mark.slow
def test_two_hundred_questions_and_none_is_lost_swapped_or_cut(site: str) -> None:
    questions = [f"question number {i}" for i in range(200)]
    found = ask_all(target(site, "stream?seconds=0.5"), *questions, workers=4, retries=1)
    assert [text.split(":")[0] for text in texts(found)] == [f"Answer to {question}" for question in questions]
    assert all(text.endswith("word9 end.") for text in texts(found))
