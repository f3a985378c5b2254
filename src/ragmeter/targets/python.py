"""A target in Python: a function, a coroutine function, or an object with `query(question)`."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from typing import Any, Self

from ragmeter.effects.caller import TryAgain
from ragmeter.effects.journal import Reply
from ragmeter.effects.loop import in_thread
from ragmeter.errors import UsageError, errors_of, told
from ragmeter.registry import import_object, source_name
from ragmeter.table import TARGET_ERROR, TIMEOUT
from ragmeter.targets.port import Question, read_answer


class PythonTarget:
    """Calls a function with each question, in a thread of its own unless it is a coroutine function.

    A function that takes `session_id` or `history` as a keyword is given those as well.
    """

    def __init__(self, function: Callable[..., Any], *, name: str, timeout: float = 60.0) -> None:
        self.function = function
        self.name = name
        self.timeout = timeout
        self._extras = _extras(function)

    @classmethod
    def load(cls, path: str, timeout: float = 60.0) -> Self:
        """The target that a dotted path leads to; a class is made into an object."""
        found = import_object(path, "target")
        if isinstance(found, type):
            with errors_of(path):
                found = found()
        return cls.of(found, timeout)

    @classmethod
    def of(cls, found: Any, timeout: float = 60.0) -> Self:
        """A function, or an object with `query(question)`."""
        function = found.query if callable(getattr(found, "query", None)) else found
        if not callable(function):
            raise UsageError(
                f"{found!r} can't be asked", hint="it should be a function of the question, or have query(question)"
            )
        return cls(function, name=source_name(found), timeout=timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failure: object) -> None:
        return None

    def signature(self) -> dict[str, Any]:
        """Where the code is, and a hash of its file."""
        return {"kind": "python", "name": self.name}

    async def answer(self, question: Question) -> Reply:
        """Call the function, and read what it returns."""
        extras = {"session_id": question.session_id, "history": question.messages()[:-1]}
        keywords = {name: extras[name] for name in self._extras}
        begun = time.perf_counter()
        try:
            async with asyncio.timeout(self.timeout):
                if inspect.iscoroutinefunction(self.function):
                    found = await self.function(question.text, **keywords)
                else:
                    found = await in_thread(self.function, question.text, **keywords)
                    if inspect.isawaitable(found):
                        found = await found
        except TimeoutError:
            raise TryAgain(TIMEOUT, f"no answer within {self.timeout:g} s") from None
        except (Exception, SystemExit) as error:
            raise TryAgain(TARGET_ERROR, told(error)) from None
        return read_answer(found, (time.perf_counter() - begun) * 1000).as_reply()


def _extras(function: Callable[..., Any]) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # a function of an extension that does not say
        return []
    return [name for name in ("session_id", "history") if name in parameters]
