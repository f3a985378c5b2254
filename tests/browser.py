"""A browser for tests: whether there is one, and how to start it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def missing() -> str:
    """Why there is no browser to test with, or nothing."""
    if find_spec("playwright") is None:
        return "playwright is not installed"
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path).is_file()
    there = own or shutil.which("chromium") or shutil.which("google-chrome")
    return "" if there else "there is no browser: make browser"


@contextmanager
def chromium() -> Iterator[Any]:
    """A headless Chromium: Playwright's own, or one that is on the machine."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
        path = str(own) if own.is_file() else shutil.which("chromium") or shutil.which("google-chrome")
        root = hasattr(os, "geteuid") and os.geteuid() == 0
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"] if root else [])
        yield browser
        browser.close()
