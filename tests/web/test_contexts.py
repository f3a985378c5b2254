"""Which contexts of the browser are used again, and whose turn it is, without a browser."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from ragmeter.targets.web.contexts import Contexts
from ragmeter.targets.web.turns import Slot, Turns


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
    async def use() -> None:
        contexts, browser = Contexts(), SimpleNamespace(is_connected=lambda: True)
        context = Context(browser)
        assert await contexts.keep(visit(context))
        assert context.cookies == 0
        assert await contexts.take(SimpleNamespace(is_connected=lambda: True)) is None
        assert await contexts.keep(visit(context))
        assert await contexts.take(browser) == (context, None)
        assert await contexts.take(browser) is None

    asyncio.run(use())


def test_a_context_that_is_being_emptied_is_waited_for_by_one_page() -> None:
    async def use() -> None:
        contexts, browser = Contexts(), SimpleNamespace(is_connected=lambda: True)
        context, emptied = Context(browser), asyncio.Event()
        context.clear_cookies = emptied.wait  # type: ignore[method-assign,assignment]
        emptying = asyncio.create_task(contexts.keep(visit(context)))
        await asyncio.sleep(0)  # it has begun
        takes = [asyncio.create_task(contexts.take(browser)) for _ in range(2)]
        assert await takes[1] is None  # a new context for it
        assert not emptying.done()
        emptied.set()
        assert await emptying
        assert await takes[0] == (context, None)

    asyncio.run(use())


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


def test_a_page_opens_once_the_one_before_has_opened_and_the_questions_are_sent() -> None:
    async def use() -> list[str]:
        turns, order = Turns(), []

        async def opens(name: str) -> None:
            async with turns.opening():
                order.append(f"{name} opens")
                await asyncio.sleep(0)
                order.append(f"{name} is open")

        with turns.sending():
            first, second = (asyncio.create_task(opens(name)) for name in ("one", "two"))
            with turns.sending():
                await asyncio.sleep(0)
            await asyncio.sleep(0)
            order.append("sent")
        await asyncio.gather(first, second)
        return order

    assert asyncio.run(use()) == ["sent", "one opens", "one is open", "two opens", "two is open"]
