"""A target in Python: a function, plain, asynchronous or a generator, or an object that libraries make of a RAG."""

from __future__ import annotations

import ast
import asyncio
import inspect
import time
from collections.abc import Callable
from typing import Any, Self

from ragmeter.effects.limits.caller import GiveUp, TryAgain
from ragmeter.effects.process.loop import in_thread
from ragmeter.effects.replies.journal import Reply
from ragmeter.effects.replies.rounds import Identity
from ragmeter.errors import UsageError, describe, errors_of, is_refused_call, refused_call
from ragmeter.naming import Settings, Signature
from ragmeter.registry import import_object
from ragmeter.table import TARGET_ERROR, TIMEOUT
from ragmeter.targets.functions import METHODS, asks, method_of
from ragmeter.targets.identity import fingerprint
from ragmeter.targets.port import Question, Target
from ragmeter.targets.results import read_answer
from ragmeter.targets.streams import read_stream


class PythonTarget(Target):
    """Calls a function with each question: in a thread, or in the event loop if it is a coroutine function.

    A function with a parameter `session_id` or `history` gets those as keywords. An answer may come in pieces.
    """

    def __init__(self, function: Callable[..., Any], *, path: str, timeout: float = 60.0) -> None:
        self.function = function
        self.path = path
        self.name = self.identity().name
        self.timeout = timeout
        self._ask = asks(function)

    @classmethod
    def load(cls, path: str, timeout: float = 60.0) -> Self:
        """The target at a dotted path; a class is called without arguments, and so is a function that takes none.

        `mypkg.rag:build(top_k=5)` calls what is there with these keywords, and asks what it returns.
        """
        name, keywords = _split_call(path)
        target = import_object(name, "target")
        if keywords is not None or isinstance(target, type) or _builds(target):
            with errors_of(path):
                target = target(**(keywords or {}))
        return cls.of(target, timeout, path=path)

    @classmethod
    def of(cls, target: Any, timeout: float = 60.0, *, path: str | None = None) -> Self:
        """A function, an object that `calling` knows how to ask, or a class of such objects that takes no arguments.

        Its code and state are part of its name.
        """
        if isinstance(target, type) and any(callable(getattr(target, name, None)) for name in METHODS):
            with errors_of(target.__name__):
                target = target()
        function = method_of(target)
        if function is None:
            raise UsageError(
                f"{target!r} can't be asked",
                hint=f"give a function of the question, an object with {', '.join(METHODS)} or __call__, or a "
                "targets.port.Target",
            )
        kind = target if inspect.isroutine(target) else type(target)
        where = path or f"{getattr(kind, '__module__', None) or 'builtins'}:{kind.__qualname__}"
        return cls(function, path=where, timeout=timeout)

    def signature(self) -> Signature:
        """The path, and digests of code and state."""
        return self.identity().signature

    def identity(self) -> Identity:
        """The code, and the state of the function or its object now."""
        digests = fingerprint(self.function)
        signature = {"kind": "python", "name": self.path, "source": digests.source, "state": digests.state}
        return Identity(f"{self.path} {digests.source} {digests.state}", signature, digests.certain)

    async def answer(self, question: Question) -> Reply:
        """Call the function, and read what it returns."""
        begun = time.perf_counter()
        limit = asyncio.timeout(self.timeout)
        is_called = False
        try:
            async with limit:
                if inspect.iscoroutinefunction(self.function) or inspect.isasyncgenfunction(self.function):
                    returned = self._ask(question)
                else:
                    returned = await in_thread(self._ask, question)
                is_called = True
                if inspect.isawaitable(returned):
                    returned = await returned
                answer = await read_stream(returned, begun)
            return (answer or read_answer(returned, (time.perf_counter() - begun) * 1000)).as_reply()
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
            if not is_called and is_refused_call(error):
                wrong = refused_call(self.function, self.path, "a question", error)
                raise GiveUp(TARGET_ERROR, wrong.message, fatal=wrong) from None
            raise TryAgain(TARGET_ERROR, describe(error)) from None


def _builds(target: Any) -> bool:
    """Whether a function takes no argument: it can't be asked a question, so it makes what can be."""
    if not inspect.isfunction(target) or inspect.iscoroutinefunction(target) or inspect.isgeneratorfunction(target):
        return False
    parameters = inspect.signature(target, follow_wrapped=False).parameters.values()
    return all(value.kind == value.KEYWORD_ONLY and value.default is not value.empty for value in parameters)


def _split_call(path: str) -> tuple[str, Settings | None]:
    """`build(top_k=5)` as the name and its keywords; None without brackets. Values are literals: nothing is run."""
    name, bracket, rest = path.partition("(")
    if not bracket:
        return path, None
    try:
        call = ast.parse(f"f({rest}", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or not all(keyword.arg for keyword in call.keywords):
            raise ValueError
        return name, {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        hint = 'write keywords with plain values: mypkg.rag:build(top_k=5, model="small")'
        raise UsageError(f"the arguments in {path!r} can't be read", hint=hint) from None
