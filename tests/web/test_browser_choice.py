"""Which browser is started: a headless shell where no window is wanted."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from ragmeter.targets.web.browser import installed


@pytest.mark.parametrize(
    ("full", "shell"),
    [
        ("chrome-linux/chrome", "chrome-linux/headless_shell"),
        ("chrome-linux64/chrome", "chrome-headless-shell-linux64/chrome-headless-shell"),
        ("chrome-win/chrome.exe", "chrome-win/headless_shell.exe"),
        ("chrome-mac/Chromium.app/Contents/MacOS/Chromium", "chrome-mac/headless_shell"),
    ],
)
def test_of_playwright_s_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: str, shell: str) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    browser = tmp_path / "chromium-1187" / full
    headless = tmp_path / "chromium_headless_shell-1187" / shell
    playwright = SimpleNamespace(chromium=SimpleNamespace(executable_path=str(browser)))
    choices = []
    for path in (headless, browser):
        path.parent.mkdir(parents=True)
        path.touch()
        choices.append((installed(playwright), installed(playwright, headed=True)))
    headless.unlink()
    choices.append((installed(playwright), installed(playwright, headed=True)))
    both = (str(headless), str(browser))
    assert choices == [(str(headless), None), both, (str(browser), str(browser))]


@pytest.mark.parametrize(
    ("headed", "there", "expected"),
    [
        (False, {"chromium", "chromium-headless-shell"}, "chromium-headless-shell"),
        (True, {"chromium", "chromium-headless-shell"}, "chromium"),
        (False, {"google-chrome"}, "google-chrome"),
        (True, {"chromium-headless-shell"}, None),
    ],
)
def test_of_the_machine_s(monkeypatch: pytest.MonkeyPatch, headed: bool, there: set[str], expected: str | None) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: name if name in there else None)
    playwright = SimpleNamespace(chromium=SimpleNamespace(executable_path="/nowhere/chrome"))
    assert installed(playwright, headed=headed) == expected
