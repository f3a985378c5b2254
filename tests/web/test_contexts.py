"""Which contexts of the browser are used again, without a browser."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from ragmeter.targets.contexts import Contexts, Slot


class Context:
    """A context that can be emptied."""

    def __init__(self, browser: Any) -> None:
        self.browser, self.cookies = browser, 1
        self.pages: list[Any] = []

    async def new_cdp_session(self, page: Any) -> Any:
        return SimpleNamespace(send=self._nothing, detach=self._nothing)

    async def clear_cookies(self) -> None:
        self.cookies = 0

    async def _nothing(self, *given: Any) -> None:
        return None


def visit(context: Any, *, other_origins: bool = False) -> Any:
    nothing = context._nothing
    page = SimpleNamespace(goto=nothing, evaluate=nothing)
    how = SimpleNamespace(url="http://127.0.0.1:1/")
    return SimpleNamespace(
        context=context, page=page, how=how, gate=None, has_other_origins=other_origins, detach=nothing
    )


def test_a_context_is_emptied_and_used_again_by_its_browser_alone() -> None:
    contexts, browser = Contexts(), SimpleNamespace(is_connected=lambda: True)
    context = Context(browser)
    assert asyncio.run(contexts.keep(visit(context)))
    assert context.cookies == 0
    assert contexts.take(SimpleNamespace(is_connected=lambda: True)) is None
    assert asyncio.run(contexts.keep(visit(context)))
    assert contexts.take(browser) == (context, None)
    assert contexts.take(browser) is None


def test_what_was_stored_at_other_origins_is_not_kept() -> None:
    assert not asyncio.run(Contexts().keep(visit(Context(None), other_origins=True)))


def test_a_slot_is_given_back_once() -> None:
    async def use() -> int:
        slots = asyncio.Semaphore(1)
        async with Slot(slots) as slot:
            slot.release()
            slot.release()
        return slots._value

    assert asyncio.run(use()) == 1
