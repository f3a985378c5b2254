"""A browser and servers for tests: whether there is a browser, and how to start it once for all of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any


@cache
def missing() -> str:
    """Why there is no browser to test with, or nothing."""
    if find_spec("playwright") is None:
        return "playwright is not installed"
    return "" if _executable() else "there is no browser: make browser"


@cache
def _executable() -> str | None:
    """The browser that the driver would take."""
    from playwright.sync_api import sync_playwright

    from ragmeter.targets.web.browser import installed

    with sync_playwright() as playwright:
        return installed(playwright)


@contextmanager
def started(*command: str) -> Iterator[str]:
    """A server that the tests start, by the first line that it prints. It ends with them, also if they are killed."""
    process = subprocess.Popen(
        [sys.executable, __file__, sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.communicate()


@contextmanager
def served(*command: str) -> Iterator[str]:
    """The address of a server that prints its port."""
    with started(*command) as port:
        yield f"http://127.0.0.1:{port}"


@contextmanager
def chromium_server(folder: Path) -> Iterator[str]:
    """A headless Chromium that whoever knows its address can have pages of."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    from ragmeter.targets.web.browser import QUIET

    config = folder / "browser.json"
    config.write_text(
        json.dumps({"executablePath": _executable(), "args": [*QUIET, *(["--no-sandbox"] if root else [])]})
    )
    with started("-m", "playwright", "launch-server", "--browser", "chromium", "--config", str(config)) as address:
        yield address


@contextmanager
def chromium(address: str) -> Iterator[Any]:
    """The browser at an address, for tests that drive it themselves."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.connect(address)
        yield browser
        browser.close()


def main() -> None:
    """Run a command and what it starts until the standard input ends, with whoever holds its other end."""
    process = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, start_new_session=True)

    def end() -> None:
        sys.stdin.read()
        os.killpg(process.pid, signal.SIGTERM)

    threading.Thread(target=end, daemon=True).start()
    sys.exit(process.wait())


if __name__ == "__main__":
    main()
