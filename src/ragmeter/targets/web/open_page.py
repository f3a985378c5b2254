"""The open page of a session as Playwright's synchronous scripts know it: every method waits for its result."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


class OpenPage:
    """A page, or a part of one, of Playwright's asynchronous interface, for synchronous code.

    `page.title()`, `page.locator("p").inner_text()`, `page.goto(url)` ... Not passed on: context managers, events.
    """

    def __init__(self, inner: Any, wait: Callable[[Any], Any]) -> None:
        """`wait` runs a coroutine in the page's own event loop, and returns its result."""
        self._inner = inner
        self._wait = wait

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value = getattr(self._inner, name)
        if not inspect.ismethod(value):
            return self._shown(value)

        def call(*arguments: Any, **keywords: Any) -> Any:
            plain = [_inner_of(argument) for argument in arguments]
            named = {key: _inner_of(argument) for key, argument in keywords.items()}

            async def work() -> Any:  # in the page's thread, since Playwright's objects belong to it
                result = value(*plain, **named)
                return await result if inspect.isawaitable(result) else result

            return self._shown(self._wait(work()))

        return call

    def __repr__(self) -> str:
        return f"OpenPage({self._inner!r})"

    def _shown(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._shown(item) for item in value]
        return OpenPage(value, self._wait) if type(value).__module__.startswith("playwright.") else value


def _inner_of(value: Any) -> Any:
    return value._inner if isinstance(value, OpenPage) else value
