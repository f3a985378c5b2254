"""A browser to drive: found on the machine, or Playwright's own."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

from ragmeter.errors import MissingExtraError, UsageError
from ragmeter.hints import by_caller, option

#: What Chromium and its relatives are called where they are installed.
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "msedge")
_INSTALL = "install one: `playwright install chromium`, or your system's chromium package; or name it with " + option(
    "browser_path"
)


def playwright_api() -> Any:
    """Playwright's asynchronous interface, which is an extra."""
    try:
        from playwright import async_api
    except ImportError:
        raise MissingExtraError("driving a web page", "web") from None
    return async_api


async def launch(playwright: Any, path: str | None, *, headed: bool) -> Any:
    """A browser: the one that was named, Playwright's own, or one that is on the machine."""
    if path is not None and not Path(path).is_file():
        raise UsageError(f"there is no browser at {path}", hint=_INSTALL)
    own = Path(playwright.chromium.executable_path)
    found = path or (str(own) if own.is_file() else next(filter(None, map(shutil.which, _NAMES)), None))
    if found is None:
        raise UsageError("there is no browser on this machine", hint=_INSTALL)
    if headed and sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise UsageError(
            f"{by_caller('--headed', 'headed=True')} needs a screen, and there is none",
            hint="leave it out, or use xvfb-run",
        )
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    arguments = ["--no-sandbox"] if root else []  # the sandbox refuses to work for root, in a container for one
    try:
        return await playwright.chromium.launch(
            executable_path=found,
            headless=not headed,
            args=arguments,
            handle_sigint=False,  # Ctrl-C lets the pages come to their end
        )
    except playwright_api().Error as error:
        said = str(error).splitlines()[0]
        raise UsageError(f"the browser {found} does not start: {said}", hint=_INSTALL) from None
