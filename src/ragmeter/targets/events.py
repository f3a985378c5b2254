"""Server-sent events as they arrive: the pieces of an answer, and when the first one came.

Events are JSON objects, or all of them are bare text. What is neither, an error, and an event that breaks off are
failures: an answer that is not whole is no answer.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from ragmeter.effects.limits.caller import GiveUp, TryAgain
from ragmeter.io.cells import as_text
from ragmeter.table import TARGET_ERROR
from ragmeter.targets.json_path import JsonPath
from ragmeter.targets.port import failed

#: Paths to the pieces of a streamed answer in common APIs, the most specific first.
_PIECES = tuple(map(JsonPath.parse, ("delta", "choices[0].delta.content", "token", "text", "answer", "content")))
_SHOWN = 200  # characters of an event in a message


class EventStream:
    """The events of one reply. `begun` is a time of `perf_counter()`; `delta` is where the pieces are, if known."""

    def __init__(self, delta: JsonPath | None, begun: float) -> None:
        self._paths = (delta,) if delta else _PIECES
        self._started = begun
        self._data_lines: list[str] = []
        self._event = ""
        self._pieces: dict[str, list[str]] = {}
        self._firsts: dict[str, float] = {}
        self.begun = False
        self.documents: list[Any] = []

    def line(self, line: str) -> None:
        """Take one line of the stream. An empty line ends an event."""
        self.begun = True
        name, _, value = line.partition(":")
        if name == "data":
            self._data_lines.append(value.removeprefix(" "))
        elif name == "event":
            self._event = value.strip()
        elif not line:
            self._read_event()

    def end(self, *, is_whole: bool) -> None:
        """End the stream. `is_whole`: it was not cut, so that an event without an empty line after it is whole too."""
        data = "\n".join(self._data_lines)
        if data and not is_whole and data.strip() != "[DONE]" and not isinstance(_document(data), Mapping):
            raise TryAgain(TARGET_ERROR, "the stream ended in the middle of an event", billed=True)
        self._read_event()

    def _read_event(self) -> None:
        data, self._data_lines = "\n".join(self._data_lines), []
        event, self._event = self._event, ""
        if not data or data.strip() == "[DONE]":
            return
        if event == "error":
            raise _error(_document(data) or data)
        document = _document(data)
        if not isinstance(document, Mapping) or ("" in self._pieces and not document):
            self._read_text(data)
            return
        if "" in self._pieces:
            raise _not_json(self.text)
        if document.get("error") or document.get("type") == "error":
            raise _error(document)
        self.documents.append(document)
        for path in self._paths:
            if pieces := [piece for piece in path.find(document) if isinstance(piece, str)]:
                self._add(path.text, "".join(pieces))
                return

    def _read_text(self, data: str) -> None:
        """A piece of bare text, if the stream has nothing else."""
        beginning = data.lstrip()[:9].lower()
        if self.documents or beginning.startswith('{"'):
            raise _not_json(data)
        if "" not in self._pieces and beginning.startswith(("<html", "<!doctype")):
            raise failed(f"an event of the stream is HTML: {data[:_SHOWN]}")
        self._add("", data)

    def _add(self, place: str, piece: str) -> None:
        if piece:
            self._firsts.setdefault(place, (time.perf_counter() - self._started) * 1000)
        self._pieces.setdefault(place, []).append(piece)

    def place(self) -> str | None:
        """The path where the pieces of the answer were: the first of the common ones that has any, "" for bare text."""
        paths = (*(path.text for path in self._paths), "")
        return next((path for path in paths if any(self._pieces.get(path, ()))), None)

    @property
    def text(self) -> str:
        """The pieces, joined."""
        return "".join(self._pieces.get(self.place() or "", ()))

    @property
    def first_ms(self) -> float | None:
        """Milliseconds until the first piece."""
        return self._firsts.get(self.place() or "")


def _document(data: str) -> Any:
    """An event as JSON, None if it is not."""
    try:
        return json.loads(data)
    except ValueError:
        return None
    except RecursionError:
        raise failed("an event of the stream is nested too deeply") from None


def _not_json(data: str) -> GiveUp:
    return failed(f"an event of the stream is not JSON: {data[:_SHOWN]}")


def _error(document: Any) -> TryAgain:
    """The failure that an event reports: it may pass, as a status of 500 may."""
    error = document.get("error") or document if isinstance(document, Mapping) else document
    words = error.get("message") or error.get("detail") or error if isinstance(error, Mapping) else error
    cause = " ".join(f"the stream ended with an error: {as_text(words)}".split())
    return TryAgain(TARGET_ERROR, cause[:_SHOWN], billed=True)
