"""Pages with the idioms of known products: learnt with three questions, then read by what was learnt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragmeter.targets.port import Question
from ragmeter.targets.web.learning.asking import Lessons, learn_page
from ragmeter.targets.web.page import Page
from ragmeter.targets.web.profile import Profile, read_profile, write_profile
from ragmeter.targets.web.target import WebTarget
from tests.browser import missing
from tests.command import PATIENCE
from tests.web import idioms
from tests.web.helpers import ask_all, texts

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=missing() or "there is one"),
    pytest.mark.usefixtures("shared_browser", "_hurried"),
]
#: The pages of the usual tests; the slow ones have all.
USUAL = {"bot_colon", "sent_at_without_names", "sources", "bubble"}
QUESTIONS = list(idioms.ANSWERS)


@pytest.fixture
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait less where nothing shows the end: these pages have no pauses, but for one."""
    monkeypatch.setattr("ragmeter.targets.web.finish.STILL", 1.0)
    monkeypatch.setattr("ragmeter.targets.web.finish.BROKEN_OFF", 1.5)
    monkeypatch.setattr("ragmeter.targets.web.learning.signs.UNSURE", 1.0)


def _target(site: str, kind: str, profile: Profile | None = None, **more: Any) -> WebTarget:
    page = Page(f"{site}/idiom_{kind}", timeout=PATIENCE, **more)
    return WebTarget(page, profile=profile)


def _learn(target: WebTarget, folder: Path) -> Lessons:
    questions = [Question(str(number), text) for number, text in enumerate(QUESTIONS[:3])]
    return learn_page(target, questions, folder / "page.png")


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[] if kind in USUAL else [pytest.mark.slow])
        for kind in idioms.PAGES
        if kind not in ("more", "spinner_before")
    ],
)
def test_answers_are_read_alone_and_whole(site: str, kind: str, tmp_path: Path) -> None:
    lessons = _learn(_target(site, kind), tmp_path)
    assert lessons.doubts == []
    read = [lesson.answer.answer for lesson in lessons.lessons if lesson.answer is not None]
    assert read == [idioms.expected(kind, question) for question in QUESTIONS[:3]]
    assert lessons.has_picture
    assert (tmp_path / "page.png").stat().st_size > 0
    assert lessons.profile is not None
    write_profile(tmp_path / "page.toml", lessons.profile)
    by_rule = _target(site, kind, read_profile(tmp_path / "page.toml"))
    assert texts(ask_all(by_rule, *QUESTIONS[3:])) == [idioms.expected(kind, question) for question in QUESTIONS[3:]]


def test_the_rest_of_an_answer_is_unfolded_by_the_click_that_was_learnt(site: str, tmp_path: Path) -> None:
    lessons = _learn(_target(site, "more"), tmp_path)
    assert lessons.doubts == []
    assert lessons.profile is not None
    assert lessons.profile.answer.more == ("button.show-more",)
    assert [lesson.answer.answer for lesson in lessons.read if lesson.answer] == list(idioms.ANSWERS.values())[:3]


def test_the_rest_of_an_answer_is_a_doubt_where_no_click_is_named(site: str, tmp_path: Path) -> None:
    (tmp_path / "page.toml").write_text("[answer]\nselector = '.a'\n[end]\nstill = 0.5\n")
    (text,) = texts(ask_all(_target(site, "more", read_profile(tmp_path / "page.toml")), QUESTIONS[0]))
    assert text.startswith("unsure: 'Show more' may show more of the answer on a click")


def test_what_is_clicked_before_is_learnt(site: str, tmp_path: Path) -> None:
    profiles = {}
    for kind in ("bubble", "banner", "tick"):
        lessons = _learn(_target(site, kind), tmp_path)
        assert lessons.profile is not None
        assert [lesson.failure for lesson in lessons.lessons] == [""] * 3
        profiles[kind] = lessons.profile.before, lessons.profile.box
    assert profiles == {"bubble": (("#open",), "#box"), "banner": (("#agree",), "#box"), "tick": (("#terms",), "#box")}


@pytest.mark.slow
def test_a_pause_after_a_spinner_has_gone(site: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    lessons = _learn(_target(site, "spinner_before"), tmp_path)
    read = [lesson.answer.answer for lesson in lessons.lessons if lesson.answer is not None]
    assert read == [idioms.expected("spinner_before", question) for question in QUESTIONS[:3]]
