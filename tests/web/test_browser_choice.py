"""Which browser is started: the one without a window where none is wanted."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from ragmeter.targets.browser import installed


def test_of_playwright_s_own_the_shell(tmp_path: Path) -> None:
    own = tmp_path / "chromium-1187" / "chrome-linux" / "chrome"
    shell = tmp_path / "chromium_headless_shell-1187" / "chrome-linux" / "headless_shell"
    playwright = SimpleNamespace(chromium=SimpleNamespace(executable_path=str(own)))
    own.parent.mkdir(parents=True)
    own.touch()
    assert installed(playwright) == str(own)
    shell.parent.mkdir(parents=True)
    shell.touch()
    assert installed(playwright) == str(shell)
    assert installed(playwright, headed=True) == str(own)


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
