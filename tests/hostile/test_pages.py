"""Hostile pages: each row is an answer or a typed failure within its limits, and the next one has a fresh page."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragmeter.effects.limits.caller import GiveUp
from ragmeter.targets.port import Answer, Question
from ragmeter.targets.web.looks import is_left_over, is_look
from ragmeter.targets.web.page import OpenPage
from ragmeter.targets.web.target import WebTarget, _script
from ragmeter.targets.web.visit import Visit
from tests.browser import chromium, missing
from tests.hostile.pages import BUSY, PAGES
from tests.web.helpers import ask_all, target, texts

in_browser = pytest.mark.skipif(bool(missing()), reason=missing() or "there is one")
pytestmark = [] if missing() else [pytest.mark.usefixtures("shared_browser")]
GOOD = ["Answer to first: it is so.", "Answer to last: it is so."]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait only a little once a bad question is typed: its answer never comes."""
    mark = Visit._mark

    async def hurry(visit: Visit, question: str) -> None:
        if "bad" in question:
            visit.how = replace(visit.how, timeout=3.0)
            visit.grace = 1.0
        await mark(visit, question)

    monkeypatch.setattr(Visit, "_mark", hurry)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have only a little time for all of a bad question."""
    ask = Visit.ask

    async def hurry(visit: Visit, question: str) -> Answer:
        if "bad" in question:
            visit.how = replace(visit.how, timeout=3.0)
            visit.grace = 1.0
        return await ask(visit, question)

    monkeypatch.setattr(Visit, "ask", hurry)
    monkeypatch.setattr("ragmeter.targets.web.growth._QUIET", 1.0)


def rows(site: str, kind: str, **more: Any) -> list[str]:
    """The rows of three questions to a page, the second of which is a bad one."""
    web = target(site, kind, ready_selector=".done", **more)
    return texts(ask_all(web, "first", "bad", "last", workers=1))


def check(site: str, kind: str) -> None:
    page = PAGES[kind]
    questions = ["bad"] if page.always or page.slow else ["first", "bad", "last"]
    replies = ask_all(target(site, kind, ready_selector=".done"), *questions, workers=1)
    answers = dict(zip(questions, texts(replies), strict=True))
    assert answers.pop("bad").startswith(page.row)
    assert list(answers.values()) == GOOD[: len(answers)]


@in_browser
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[pytest.mark.slow] * (page.sibling or page.slow), id=kind)
        for kind, page in PAGES.items()
    ],
)
def test_a_hostile_page_costs_its_own_row_only(site: str, kind: str, request: pytest.FixtureRequest) -> None:
    page = PAGES[kind]
    if page.may_be_late and not page.slow:
        request.getfixturevalue("hasty" if "typed" in kind else "impatient")
    check(site, kind)


@in_browser
def test_what_is_kept_of_a_page_that_does_not_respond(site: str, impatient: None, tmp_path: Path) -> None:
    first, bad, last = rows(site, "blocks_after_text", evidence=tmp_path)
    assert bad.startswith("timeout: ")
    assert bad.endswith(BUSY)
    assert [first, last] == GOOD
    assert [path.name for path in tmp_path.iterdir()] == ["1.txt"]
    assert "(the page does not respond)" in (tmp_path / "1.txt").read_text()


@in_browser
def test_a_conversation_ends_with_its_page_and_the_next_has_its_own(site: str, impatient: None) -> None:
    turns = [Question("1", "one", "a"), Question("2", "bad", "a", turn=1), Question("3", "two", "a", turn=2)]
    other = Question("4", "three", "b")
    web = target(site, "blocks_at_once", ready_selector=".done")
    one, bad, two, three = texts(ask_all(web, *turns, other, workers=1))
    assert [one, three] == ["Answer to one: it is so.", "Answer to three: it is so."]
    assert bad.startswith("timeout: ")
    assert two == "timeout: an earlier turn of the session has no answer"


@in_browser
def test_pages_that_never_open(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Visit, "grace", 5.0)
    (unready,) = texts(ask_all(target(site, "blocks_once_opened", timeout=2.0), "x"))
    assert unready.startswith("timeout: ")
    assert unready.endswith(f" within 2 s: {BUSY}")
    (blocked,) = texts(ask_all(target(site, "blocks_when_opened", timeout=2.0), "x"))
    assert blocked == f"timeout: can't open {site}/blocks_when_opened within 2 s: {BUSY}"
    (endless,) = texts(ask_all(target(site, "loop"), "x"))
    assert endless == f"navigation_error: can't open {site}/loop: net::ERR_TOO_MANY_REDIRECTS"


@in_browser
def test_a_page_that_can_not_be_closed_is_lost_with_its_browser(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = Visit.ask
    browsers = []

    async def never() -> None:
        await asyncio.Event().wait()

    async def watched(visit: Visit, text: str) -> Answer:
        browsers.append(visit.context.browser)
        if text == "bad":
            visit.context.close = never
        return await ask(visit, text)

    monkeypatch.setattr(Visit, "ask", watched)
    monkeypatch.setattr(WebTarget, "overlap", 1)  # no other page is lost
    monkeypatch.setattr("ragmeter.targets.web.contexts._TIMES", 0)  # no context is used again
    monkeypatch.setattr("ragmeter.targets.web.page._CLOSES", 0.2)
    first, bad, last = rows(site, "will_not_be_left")
    assert [first, last] == GOOD
    assert bad == "Answer to bad: it is so."
    assert browsers[0] == browsers[1] != browsers[2]


@in_browser
@pytest.mark.slow
def test_reading_takes_time_in_proportion_to_the_page(browser_address: str) -> None:
    fill = """n => { const list = document.createElement("ol"); document.body.append(list);
        for (let i = 0; i < n; i++) { const e = document.createElement("li"); e.textContent = i; list.append(e); } }"""
    mark = '() => window.__ragmeter.mark({question: "x", rule: {selector: "ol"}, learning: true})'
    seconds = []
    with chromium(browser_address) as browser:
        for count in (20_000, 80_000):
            page = browser.new_page()
            page.add_init_script(_script())
            page.goto("data:text/html,<p>Hello</p>")
            session = page.context.new_cdp_session(page)
            session.send("Performance.enable", {"timeDomain": "threadTicks"})
            page.evaluate(fill, count)  # half of them before the question, half after it
            page.evaluate(mark)
            page.evaluate(fill, count)
            before, after = (_work(page, session, code) for code in ("0", "window.__ragmeter.look().value.text.length"))
            seconds.append(after - before)
            page.close()
    assert seconds[1] < 4 * 3 * seconds[0]  # a quadratic one takes 16 times as long


def _work(page: Any, session: Any, code: str) -> float:
    """Seconds of the page's thread so far, once it has evaluated the code."""
    assert page.evaluate(code) is not None
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration"))


LOOK: dict[str, Any] = {
    "text": "x", "guess": "", "facts": [], "problem": "", "selector": None, "sources": None, "busy": None,
    "moves": False, "lost": False, "echoed": False, "ready": True, "newly": True, "links": [],
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "valid"),
    [
        ({}, True),
        ({"sources": [{"text": "a", "href": None}], "selector": "#a", "busy": "#b"}, True),
        ({"text": 1}, False),
        ({"text": None}, False),
        ({"ready": 1}, False),
        ({"sources": [1]}, False),
        ({"sources": [{"text": "a", "href": 1}]}, False),
        ({"sources": "abc"}, False),
        ({"facts": [1]}, False),
    ],
)
def test_what_a_page_reports_is_checked(change: dict[str, Any], valid: bool) -> None:
    assert is_look({**LOOK, **change}) is valid
    assert not is_look({})
    assert is_left_over([{"what": "text", "text": "a", "selector": "p"}])
    assert not is_left_over([{"what": "text", "text": 1, "selector": "p"}])


@pytest.mark.parametrize("result", [1, "x", [], {}, {"value": 1}, {"limit": 1}, {"problem": None}, {"values": {}}])
def test_a_result_of_another_form_is_a_typed_failure(result: Any) -> None:
    page = object.__new__(OpenPage)
    with pytest.raises(GiveUp, match="has replaced functions of the browser") as caught:
        page._value(result, dict)
    assert caught.value.outcome == "target_error"
