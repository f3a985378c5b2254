"""Contexts of the browser that are used again."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlsplit

from ragmeter.targets.web.origin import Gate
from ragmeter.targets.web.page import OpenPage

#: The most contexts that wait to be used again, how often one is used, and the seconds that emptying it may take.
_MOST, _TIMES, _EMPTIES = 8, 20, 5.0


class Contexts:
    """Contexts whose pages have been asked, with their tab. They are emptied of all that a page keeps.

    Only the browser's cache and the tab's process stay: a heavy page opens quickly in it, and knows nothing of the
    question before.
    """

    def __init__(self) -> None:
        self._ready: list[tuple[Any, Gate | None]] = []
        self._times: dict[Any, int] = {}
        self._lost: list[Gate | None] = []  # of contexts whose browser has ended
        self._emptying = self._waiting = 0  # contexts that will be ready in a moment, and who waits for them
        self._emptied = asyncio.Condition()

    async def keep(self, visit: OpenPage, login: str | None = None) -> bool:
        """Empty the context of a page and keep it, with the login of this file; False if that can't be done."""
        context = visit.context
        times = self._times.pop(context, 0) + 1
        if times >= _TIMES or len(self._ready) >= _MOST or visit.has_other_origins:
            return False
        self._emptying += 1
        try:
            async with asyncio.timeout(_EMPTIES):
                await _empty(visit)
                if login is not None:
                    await context.set_storage_state(login)  # an old Playwright does not have it
            self._times[context] = times
            self._ready.append((context, visit.gate))
        except Exception:  # whatever it is, the context is closed with all that is in it
            return False
        finally:
            self._emptying -= 1
            async with self._emptied:
                self._emptied.notify_all()
        return True

    async def close(self) -> None:
        """Close what the contexts need; they themselves end with the browser."""
        for gate in [*self._lost, *(gate for _, gate in self._ready)]:
            if gate is not None:
                await gate.close()
        self._ready.clear()

    async def take(self, browser: Any) -> tuple[Any, Gate | None] | None:
        """A context of this browser that is ready, or will be in a moment; None if there is none."""
        async with self._emptied:
            self._waiting += 1
            try:
                await self._emptied.wait_for(lambda: self._ready or self._emptying < self._waiting)
            finally:
                self._waiting -= 1
        while self._ready:
            context, gate = self._ready.pop()
            if context.browser is browser and browser.is_connected():
                return context, gate
            self._lost.append(gate)
        return None


async def _empty(visit: OpenPage) -> None:
    """Leave the page of a tab, and delete all that the page has stored, in the tab and beyond it."""
    context, tab, address = visit.context, visit.page, urlsplit(visit.how.url)
    where = {"origin": f"{address.scheme}://{address.netloc}", "storageTypes": "all"}
    session = await context.new_cdp_session(tab)
    for other in context.pages:
        if other is not tab:
            await other.close()
    await tab.goto("about:blank")  # no script of the page writes anything after this
    await session.send("Storage.clearDataForOrigin", where)
    await context.clear_cookies()
    await session.send("Page.resetNavigationHistory")
    await tab.evaluate("window.name = ''")
    await session.detach()
    await visit.detach()
