"""Answers that come piece by piece: from generators, asynchronous generators, and responses that hold one."""

from __future__ import annotations

import inspect
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ragmeter.effects.process.loop import in_thread
from ragmeter.passages import attribute
from ragmeter.targets.port import Answer, failed
from ragmeter.targets.results import read_answer, text_of

#: Attributes of a response that hold the generator of its pieces.
_GENERATORS = ("response_gen", "async_response_gen")


class Pieces:
    """The pieces of one answer, in the order in which they came; `begun` is when the question was asked."""

    def __init__(self, begun: float) -> None:
        self._begun = begun
        self._texts: list[str] = []
        self._others: dict[str, object] = {}
        self._first: float | None = None

    def add(self, piece: Any) -> None:
        """Take a piece: a text, a message with its next words, or a dict with a part of the result."""
        if isinstance(piece, Mapping):
            self._others |= {name: value for name, value in piece.items() if name != "answer"}
            text = text_of(piece.get("answer"))
        else:
            delta = attribute(piece, "delta")
            text = delta if isinstance(delta, str) else text_of(piece)
        if text:
            self._first = self._first or time.perf_counter()
            self._texts.append(text)

    def answer(self, response: Any = None) -> Answer:
        """The whole answer; `response` is what the pieces came with: its documents count."""
        latency = (time.perf_counter() - self._begun) * 1000
        rest = read_answer({"answer": "", **self._others}, latency)
        if response is not None:
            documents = {"answer": "", "source_nodes": attribute(response, "source_nodes")}
            rest = read_answer(documents, latency)
        if not self._texts and rest.retrieved is None and rest.contexts is None:
            raise failed("the target returned a stream without any text")
        first = None if self._first is None else (self._first - self._begun) * 1000
        return replace(rest, answer="".join(self._texts), time_to_first_token_ms=first)


async def read_stream(returned: Any, begun: float) -> Answer | None:
    """The answer in a stream, read to its end; None if what was returned is none."""
    response, stream = None, returned
    if not (inspect.isgenerator(returned) or inspect.isasyncgen(returned)):
        response, stream = returned, _generator_of(returned)
    if stream is None:
        return None
    pieces = Pieces(begun)
    if hasattr(stream, "__aiter__"):
        async for piece in stream:
            pieces.add(piece)
    else:
        await in_thread(_read_all, stream, pieces)
    return pieces.answer(response)


def _read_all(stream: Any, pieces: Pieces) -> None:
    for piece in stream:
        pieces.add(piece)


def _generator_of(response: Any) -> Any:
    """The generator inside a streaming response, if it is one."""
    if isinstance(response, str | Mapping) or not hasattr(response, "__dict__"):
        return None
    if isinstance(text := attribute(response, "response"), str) and text:
        return None  # it is whole already, though its class can stream
    for name in _GENERATORS:
        stream = attribute(response, name)
        stream = stream() if inspect.ismethod(stream) else stream
        if hasattr(stream, "__aiter__") or hasattr(stream, "__next__"):
            return stream
    return None
