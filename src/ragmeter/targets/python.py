"""A target in Python: a function, a coroutine function, or an object with `query(question)`."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from typing import Any, Self

from ragmeter.effects.caller import GiveUp, TryAgain
from ragmeter.effects.journal import Reply
from ragmeter.effects.loop import in_thread
from ragmeter.effects.rounds import Identity
from ragmeter.errors import UsageError, errors_of, told
from ragmeter.registry import import_object
from ragmeter.table import TARGET_ERROR, TIMEOUT
from ragmeter.targets.identity import fingerprint
from ragmeter.targets.port import Question, read_answer


class PythonTarget:
    """Calls a function with each question, in a thread of its own unless it is a coroutine function.

    A function that takes `session_id` or `history` as a keyword is given those as well.
    """

    def __init__(self, function: Callable[..., Any], *, path: str, timeout: float = 60.0) -> None:
        self.function = function
        self.path = path
        self.name = self.identity().name
        self.timeout = timeout
        self._extras = _extras(function)

    @classmethod
    def load(cls, path: str, timeout: float = 60.0) -> Self:
        """The target that a dotted path leads to; a class is made into an object."""
        found = import_object(path, "target")
        if isinstance(found, type):
            with errors_of(path):
                found = found()
        return cls.of(found, timeout, path=path)

    @classmethod
    def of(cls, found: Any, timeout: float = 60.0, *, path: str | None = None) -> Self:
        """A function, an object with `query(question)`, or a class of such objects that takes no arguments.

        Its code and what it holds are part of its name.
        """
        if isinstance(found, type) and callable(getattr(found, "query", None)):
            with errors_of(found.__name__):
                found = found()
        function = found.query if callable(getattr(found, "query", None)) else found
        if not callable(function):
            raise UsageError(
                f"{found!r} can't be asked", hint="it should be a function of the question, or have query(question)"
            )
        kind = found if inspect.isroutine(found) else type(found)
        where = path or f"{getattr(kind, '__module__', None) or 'builtins'}:{kind.__qualname__}"
        return cls(function, path=where, timeout=timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failure: object) -> None:
        return None

    def signature(self) -> dict[str, Any]:
        """Where the code is, and digests of the code and of what it holds."""
        return dict(self.identity().signature)

    def identity(self) -> Identity:
        """The code, and what the function or its object holds now."""
        seen = fingerprint(self.function)
        signature = {"kind": "python", "name": self.path, "source": seen.source, "state": seen.state}
        return Identity(f"{self.path} {seen.source} {seen.state}", signature, seen.certain)

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


def _extras(function: Callable[..., Any]) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # a function of an extension that does not say
        return []
    return [name for name in ("session_id", "history") if name in parameters]
