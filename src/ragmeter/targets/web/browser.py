"""Starts a browser: Playwright's own, or one installed on the machine."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from ragmeter.errors import MissingExtraError, UsageError
from ragmeter.hints import by_caller, option

#: Commands that start Chromium or a browser built on it.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "msedge")
#: Chromium's headless shell as Debian calls it: it has no window, and a page costs it a fifth of the CPU.
SHELL = "chromium-headless-shell"
#: Chromium sends the fields of forms to a server of Google's, to fill them in: to a port that it never uses, instead.
#: A frame of another site has a process of its own in a headless shell, too: if the frame blocks, the page does not.
QUIET = ["--autofill-server-url=http://127.0.0.1:9/", "--site-per-process"]
#: Names are not looked up by the browser itself, and calls between browsers (WebRTC) send no UDP.
_PROXY_ONLY = [
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
]
_INSTALL = "install one: `playwright install chromium`, or your system's chromium package; or name it with " + option(
    "browser_path"
)


def playwright_api() -> Any:
    """Playwright's asynchronous interface; it comes with the extra `web`."""
    try:
        from playwright import async_api
    except ImportError:
        raise MissingExtraError("driving a web page", "web") from None
    return async_api


async def start_playwright() -> Any:
    """Start Playwright's driver in a session of its own; it ends when this process does.

    A signal that a terminal or a service manager sends to all our processes would end it, and the open pages with it.
    """
    loop = asyncio.get_running_loop()
    with suppress(AttributeError):  # a loop of another kind can't be changed
        loop.subprocess_exec = partial(loop.subprocess_exec, start_new_session=True)  # type: ignore[method-assign]
    try:
        return await playwright_api().async_playwright().start()
    finally:
        with suppress(AttributeError):
            del loop.subprocess_exec


def installed(playwright: Any, *, headed: bool = False) -> str | None:
    """Playwright's own browser, else one installed on the machine; a headless shell where no window is wanted."""
    own = Path(playwright.chromium.executable_path)  # .../chromium-1187/chrome-linux/chrome, there or not
    shells = () if headed else _playwrights_shells(own)
    names = NAMES if headed else (SHELL, *NAMES)
    own_path = next((path for path in (*shells, own) if path.is_file()), None)
    return str(own_path) if own_path else next(filter(None, map(shutil.which, names)), None)


def _playwrights_shells(own: Path) -> Iterator[Path]:
    """Headless shells of the same build as Playwright's own browser: `playwright install` brings one beside it."""
    for build in own.parents:
        if build.name.startswith("chromium-"):
            shells = build.with_name(build.name.replace("-", "_headless_shell-", 1))
            yield from (path for path in shells.glob("*/*") if path.stem in ("headless_shell", "chrome-headless-shell"))


async def launch(playwright: Any, path: str | None, *, headed: bool, own_origin: bool = False) -> Any:
    """Start the browser at `path`, else Playwright's own, else one installed on the machine.

    With `own_origin`, it does not go past the proxy that its pages have.
    """
    if path is not None and not Path(path).is_file():
        raise UsageError(f"there is no browser at {path}", hint=_INSTALL)
    if headed and sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise UsageError(
            f"{by_caller('--headed', 'headed=True')} needs a screen, as a window does, and there is no display",
            hint="leave it out, or use xvfb-run",
        )
    executable = path or installed(playwright, headed=headed)
    if executable is None:
        raise UsageError(f"there is no browser {'with a window ' if headed else ''}on this machine", hint=_INSTALL)
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    arguments = [*QUIET, *(_PROXY_ONLY if own_origin else [])]
    if root:
        arguments.append("--no-sandbox")  # the sandbox does not work for root, which containers often run as
    try:
        return await playwright.chromium.launch(
            executable_path=executable,
            headless=not headed,
            args=arguments,
            handle_sigint=False,  # after Ctrl-C, SIGTERM and SIGHUP, open pages may finish
            handle_sigterm=False,
            handle_sighup=False,
        )
    except playwright_api().Error as error:
        reason = str(error).splitlines()[0]
        raise UsageError(f"the browser {executable} does not start: {reason}", hint=_INSTALL) from None
