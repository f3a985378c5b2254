"""Watches whether a page that was opened still grows: a box that is not there yet may still come."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

from ragmeter.targets.web.looks import Signs
from ragmeter.targets.web.traffic import Traffic

#: Seconds without a change after which nothing more is expected of a page, and the fewest looks at it: on a busy
#: machine the time may be over after one.
_QUIET, _LOOKS = 10.0, 5
#: The most seconds that are waited for a page to hear nothing more.
_HEARS = 3.0


class Growth:
    """How long a page has not changed. `signs` says what its frames have: boxes and elements."""

    def __init__(self, signs: Callable[[], Awaitable[list[Signs]]], traffic: Traffic) -> None:
        self._signs = signs
        self._traffic = traffic
        self._begun = self._since = time.monotonic()
        self._last: list[tuple[Any, Any]] = []
        self._looks = 0
        self.has_box = self.has_chat = False

    @property
    def seconds(self) -> float:
        """The seconds since the beginning."""
        return time.monotonic() - self._begun

    async def is_quiet_for(self, seconds: float, *, has_box: bool) -> bool:
        """Whether the page has added no elements and heard nothing for so many seconds, and has a box if it must.

        A page that has a box may not be connected yet: what is typed before is lost. Some always hear something.
        """
        signs = await self._look()
        self.has_box = any(sign.get("fields") for sign in signs)
        self.has_chat = any(sign.get("boxes") for sign in signs)
        hears = time.perf_counter() - self._traffic.heard_at < seconds and self.seconds < _HEARS
        return (self.has_box or not has_box) and time.monotonic() - self._since >= seconds and not hears

    async def is_over(self, timeout: float) -> bool:
        """Whether nothing more is to be expected: the time is over, or the page is quiet and waits for nothing."""
        signs = await self._look()
        if self._looks < _LOOKS:
            return False
        has_box = any(sign.get("fields") for sign in signs)
        expected = self._traffic.under_way or (self._traffic.lines and not has_box)
        quiet = time.monotonic() - self._since > _QUIET and not expected
        return quiet or self.seconds > timeout

    async def _look(self) -> list[Signs]:
        self._looks += 1
        signs = await self._signs()
        content = [(sign.get("fields"), sign.get("elements")) for sign in signs]
        if content != self._last:
            self._last, self._since = content, time.monotonic()
        return signs
