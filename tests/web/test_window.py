"""What a person does in a window: here the tests do it, in a browser without one."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from ragmeter.errors import UsageError
from ragmeter.targets.web.learning.doubts import IN_COMMON
from ragmeter.targets.web.page import Page
from ragmeter.targets.web.target import Login, WebTarget
from ragmeter.targets.web.window import log_in, record
from tests.browser import missing
from tests.command import PATIENCE
from tests.web.helpers import ask_all, texts

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=missing() or "there is one"),
    pytest.mark.usefixtures("shared_browser"),
]


async def _ask(page: Any, steps: asyncio.Queue[str], question: str, answer: str) -> None:
    """Ask, and click the answer; each step is told."""
    await page.locator("#query-input").fill(question)
    await page.locator("#submit-button").click()
    assert (await steps.get()).startswith("asked in #query-input, sent by #submit-button")
    await page.locator(answer, has_text=question).click()
    assert question in await steps.get()


def test_a_page_is_learnt_from_clicks(site: str) -> None:
    async def person(page: Any) -> None:
        await page.locator("h1").click()
        assert await steps.get() == "clicked: h1"
        for question in ("one", "two"):
            await _ask(page, steps, question, ".bot")

    steps: asyncio.Queue[str] = asyncio.Queue()
    lessons = record(WebTarget(Page(f"{site}/plain", timeout=PATIENCE)), steps.put_nowait, person)
    profile = lessons.profile
    assert profile is not None
    assert (profile.before, profile.box, profile.send) == (("h1",), "#query-input", "#submit-button")
    assert profile.answer.selector == "div.bot"
    assert all(doubt.startswith(IN_COMMON) for doubt in lessons.doubts)  # the site begins all its answers so
    answers = [lesson.answer.answer for lesson in lessons.read if lesson.answer is not None]
    assert answers == ["Answer to one: it is so.", "Answer to two: it is so."]
    web = WebTarget(Page(f"{site}/plain", timeout=PATIENCE), profile=profile)
    assert texts(ask_all(web, "three")) == ["Answer to three: it is so."]


def test_the_click_says_which_of_two_parts_is_the_answer(site: str) -> None:
    async def person(page: Any) -> None:
        for question in ("one", "two"):
            await _ask(page, steps, question, ".verdict")

    steps: asyncio.Queue[str] = asyncio.Queue()
    web = WebTarget(Page(f"{site}/two_parts", timeout=PATIENCE))
    lessons = record(web, steps.put_nowait, person)
    assert lessons.profile is not None
    assert lessons.profile.answer.selector == "div.verdict"
    assert [lesson.answer.answer for lesson in lessons.read if lesson.answer] == ["Yes to one", "Yes to two"]


def test_nothing_recorded_is_an_error(site: str) -> None:
    async def person(page: Any) -> None:
        await page.locator("h1").click()

    with pytest.raises(UsageError, match="nothing was recorded"):
        record(WebTarget(Page(f"{site}/plain", timeout=PATIENCE)), lambda step: None, person)


def test_a_login_is_kept_for_its_owner_only(site: str, tmp_path: Path) -> None:
    async def person(page: Any) -> None:
        await page.evaluate("localStorage.setItem('token', 'secret'); document.cookie = 'session=abc'")

    path = tmp_path / "login.json"
    log_in(WebTarget(Page(f"{site}/plain", timeout=PATIENCE)), path, person)
    assert path.stat().st_mode & 0o777 == 0o600
    state = json.loads(path.read_text())
    assert state["cookies"][0]["value"] == "abc"
    assert state["origins"][0]["localStorage"] == [{"name": "token", "value": "secret"}]
    web = WebTarget(Page(f"{site}/plain", timeout=PATIENCE), Login(str(path)))
    assert texts(ask_all(web, "x")) == ["Answer to x: it is so."]
