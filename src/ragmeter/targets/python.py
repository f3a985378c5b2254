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
from ragmeter.errors import UsageError, describe, errors_of
from ragmeter.registry import import_object
from ragmeter.table import TARGET_ERROR, TIMEOUT
from ragmeter.targets.identity import fingerprint
from ragmeter.targets.port import Question, Target, read_answer


class PythonTarget(Target):
    """Calls a function with each question: in a thread, or in the event loop if it is a coroutine function.

    A function with a parameter `session_id` or `history` gets those as keywords.
    """

    def __init__(self, function: Callable[..., Any], *, path: str, timeout: float = 60.0) -> None:
        self.function = function
        self.path = path
        self.name = self.identity().name
        self.timeout = timeout
        self._extras = _extras(function)

    @classmethod
    def load(cls, path: str, timeout: float = 60.0) -> Self:
        """The target at a dotted path; a class is called without arguments."""
        target = import_object(path, "target")
        if isinstance(target, type):
            with errors_of(path):
                target = target()
        return cls.of(target, timeout, path=path)

    @classmethod
    def of(cls, target: Any, timeout: float = 60.0, *, path: str | None = None) -> Self:
        """A function, an object with `query(question)`, or a class of such objects that takes no arguments.

        Its code and state are part of its name.
        """
        if isinstance(target, type) and callable(getattr(target, "query", None)):
            with errors_of(target.__name__):
                target = target()
        function = target.query if callable(getattr(target, "query", None)) else target
        if not callable(function):
            raise UsageError(
                f"{target!r} can't be asked",
                hint="give a function of the question, an object with query(question), or a targets.port.Target",
            )
        kind = target if inspect.isroutine(target) else type(target)
        where = path or f"{getattr(kind, '__module__', None) or 'builtins'}:{kind.__qualname__}"
        return cls(function, path=where, timeout=timeout)

    def signature(self) -> dict[str, Any]:
        """The path, and digests of code and state."""
        return dict(self.identity().signature)

    def identity(self) -> Identity:
        """The code, and the state of the function or its object now."""
        digests = fingerprint(self.function)
        signature = {"kind": "python", "name": self.path, "source": digests.source, "state": digests.state}
        return Identity(f"{self.path} {digests.source} {digests.state}", signature, digests.certain)

    async def answer(self, question: Question) -> Reply:
        """Call the function, and read what it returns."""
        extras: dict[str, Callable[[], Any]] = {
            "session_id": lambda: question.session_id,
            "history": lambda: question.messages()[:-1],
        }
        keywords = {name: extras[name]() for name in self._extras}
        begun = time.perf_counter()
        limit = asyncio.timeout(self.timeout)
        try:
            async with limit:
                if inspect.iscoroutinefunction(self.function):
                    returned = await self.function(question.text, **keywords)
                else:
                    returned = await in_thread(self.function, question.text, **keywords)
                    if inspect.isawaitable(returned):
                        returned = await returned
            return read_answer(returned, (time.perf_counter() - begun) * 1000).as_reply()
        except GiveUp:
            raise
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise  # the run is being cancelled, not only the user's function
            raise TryAgain(TARGET_ERROR, describe(error)) from None
        except (Exception, SystemExit) as error:
            if limit.expired():
                raise TryAgain(TIMEOUT, f"no answer within {self.timeout:g} s") from None
            raise TryAgain(TARGET_ERROR, describe(error)) from None


def _extras(function: Callable[..., Any]) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # an extension function without a signature
        return []
    return [name for name in ("session_id", "history") if name in parameters]
