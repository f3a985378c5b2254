"""A target in Python: a function, a coroutine function, or an object with `query(question)`."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import time
from collections.abc import Callable
from typing import Any, Self

from ragmeter.effects.caller import GiveUp, TryAgain
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
        return cls.of(found, timeout, name=f"{path} {source_name(found)}")

    @classmethod
    def of(cls, found: Any, timeout: float = 60.0, *, name: str | None = None) -> Self:
        """A function, or an object with `query(question)`; what it holds is part of its name, unless a path is."""
        function = found.query if callable(getattr(found, "query", None)) else found
        if not callable(function):
            raise UsageError(
                f"{found!r} can't be asked", hint="it should be a function of the question, or have query(question)"
            )
        return cls(function, name=name or f"{source_name(found)} {_state(found)}", timeout=timeout)

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
        limit = asyncio.timeout(self.timeout)
        try:
            async with limit:
                if inspect.iscoroutinefunction(self.function):
                    found = await self.function(question.text, **keywords)
                else:
                    found = await in_thread(self.function, question.text, **keywords)
                    if inspect.isawaitable(found):
                        found = await found
            return read_answer(found, (time.perf_counter() - begun) * 1000).as_reply()
        except GiveUp:
            raise
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise  # it is we who are to stop
            raise TryAgain(TARGET_ERROR, told(error)) from None
        except (Exception, SystemExit) as error:
            if limit.expired():
                raise TryAgain(TIMEOUT, f"no answer within {self.timeout:g} s") from None
            raise TryAgain(TARGET_ERROR, told(error)) from None


def _state(found: Any) -> str:
    """What tells two objects of one class, two closures or two partials apart."""
    cells = [cell.cell_contents for cell in getattr(found, "__closure__", None) or ()]
    held = (getattr(found, "args", ()), getattr(found, "keywords", {}), cells, getattr(found, "__dict__", {}))
    return hashlib.sha256(repr(held)[:1_000_000].encode("utf-8", "replace")).hexdigest()[:16]


def _extras(function: Callable[..., Any]) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # a function of an extension that does not say
        return []
    return [name for name in ("session_id", "history") if name in parameters]
