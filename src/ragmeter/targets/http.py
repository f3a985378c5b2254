"""A target behind an address: a request with the question in it, and the answer out of the reply, streamed or whole."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urlencode, urlsplit, urlunsplit

from ragmeter.effects.journal import Reply
from ragmeter.endpoints import Response, Secret, Wire, check_address, public
from ragmeter.errors import UsageError
from ragmeter.io.cells import as_number, as_text
from ragmeter.io.write import dumps
from ragmeter.table import TARGET_ERROR
from ragmeter.targets.paths import Path, fill
from ragmeter.targets.port import Answer, Question, Unseen, failed, ids_of

METHODS = ("POST", "GET", "PUT")
DEFAULT_REQUEST = {"question": "{question}"}
#: Where streamed pieces of an answer usually are.
_PIECES = tuple(map(Path.parse, ("delta", "choices[0].delta.content", "token", "text", "answer", "content")))
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_HINTS = {
    401: "the server wants to know who asks: --header 'Authorization: Bearer $NAME_OF_A_VARIABLE'",
    403: "the server lets this request not through: look at --header",
    404: "there is nothing at this address: look at --target",
    405: "the server does not take this method: look at --method",
}


@dataclass(frozen=True)
class Paths:
    """Where things are in a reply."""

    answer: Path = field(default_factory=lambda: Path.parse("answer"))
    retrieved: Path | None = None
    contexts: Path | None = None
    latency: Path | None = None
    conversation: Path | None = None
    delta: Path | None = None

    def given(self) -> dict[str, str]:
        """Those that were named, for the signature."""
        return {name: path.text for name, path in vars(self).items() if path is not None}


class HttpTarget:
    """Asks an address."""

    def __init__(
        self,
        url: str,
        *,
        request: Any = None,
        method: str = "POST",
        headers: Sequence[str] = (),
        paths: Paths = Paths(),  # noqa: B008 - frozen
        timeout: float = 60.0,
    ) -> None:
        check_address(url, "http://127.0.0.1:8000/query")
        if method not in METHODS:
            raise UsageError(f"the method {method!r} is not known", hint=f"known are {', '.join(METHODS)}")
        self.url, self.method, self.paths = url, method, paths
        self.request = DEFAULT_REQUEST if request is None else request
        if "{question}" not in dumps(self.request):
            raise UsageError(
                "the request never shows {question}", hint="""for example --request '{"q": "{question}"}'"""
            )
        if method == "GET" and not isinstance(self.request, Mapping):
            raise UsageError("a GET request is an object, whose keys become the query")
        self.unseen = Unseen({path.text for path in (paths.retrieved, paths.contexts, paths.latency) if path})
        self._headers = dict(map(_header, headers))
        self._wire = Wire(url, outcome=TARGET_ERROR, timeout=timeout, headers=self._headers)
        self.name = dumps([self.signature(), url])

    async def __aenter__(self) -> Self:
        await self._wire.__aenter__()
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self._wire.__aexit__(*failure)

    def signature(self) -> dict[str, Any]:
        """Everything but the values of the headers."""
        return {
            "kind": "http",
            "url": public(self.url),
            "method": self.method,
            "request": self.request,
            "headers": sorted(self._headers),
            "paths": self.paths.given(),
        }

    async def answer(self, question: Question) -> Reply:
        """Send the question, and read the reply."""
        values = {
            "question": question.text,
            "qid": question.qid,
            "session_id": question.session_id,
            "conversation_id": question.conversation_id or question.session_id,
            "history": question.messages()[:-1],
        }
        filled = fill(self.request, values)
        url, body = self.url, None
        if self.method == "GET":
            parts = urlsplit(self.url)
            query = urlencode({key: value for key, value in filled.items() if value is not None}, doseq=True)
            url = urlunsplit(parts._replace(query="&".join(filter(None, (parts.query, query)))))
        else:
            body = dumps(filled).encode("utf-8", "replace")
        begun = time.perf_counter()
        stream = _Stream(self.paths, begun)
        response = await self._wire.request(self.method, url, body, on_line=stream.line)
        latency = (time.perf_counter() - begun) * 1000
        if not 200 <= response.status < 300:
            raise self._wire.failure(response, _HINTS)
        documents = stream.documents if stream.begun else [_document(response)]
        text = stream.text if stream.begun else None
        return self._read(documents, text, latency, stream.first_ms).as_reply()

    def _read(self, documents: list[Any], streamed: str | None, latency: float, first_ms: float | None) -> Answer:
        answer = streamed or self._text(documents)
        return Answer(
            self._wire.clean(answer),
            None if self.paths.retrieved is None else ids_of(self._last(documents, self.paths.retrieved)),
            None if self.paths.contexts is None else ids_of(self._last(documents, self.paths.contexts)),
            self._number(documents, latency),
            first_ms,
            next((as_text(value) for value in self._last(documents, self.paths.conversation)), None),
        )

    def _text(self, documents: list[Any]) -> str:
        if documents and isinstance(documents[-1], str):
            return documents[-1]  # plain text, not JSON
        found = self._last(documents, self.paths.answer)
        if not found:
            last = documents[-1] if documents else None
            keys = (
                f"it has {', '.join(map(str, last)) or 'nothing'}" if isinstance(last, Mapping) else "it is no object"
            )
            raise failed(f"there is no {self.paths.answer.text!r} in the reply; {keys}")
        if not all(isinstance(each, str) for each in found):
            raise failed(f"{self.paths.answer.text!r} in the reply is {type(found[0]).__name__}, not a text")
        return "".join(found)

    def _last(self, documents: list[Any], path: Path | None) -> list[Any]:
        """What a path leads to in the last document that has it."""
        if path is not None:
            for document in reversed(documents):
                if found := path.find(document):
                    self.unseen.found.add(path.text)
                    return found
        return []

    def _number(self, documents: list[Any], measured: float) -> float:
        found = self._last(documents, self.paths.latency)
        try:
            given = as_number(found[0]) if found else None
        except ValueError:
            raise failed(f"the latency in the reply is {found[0]!r}, not a number") from None
        return measured if given is None else given


class _Stream:
    """Server-sent events as they come: the pieces of the answer, and when the first one was there."""

    def __init__(self, paths: Paths, begun: float) -> None:
        self._pieces = (paths.delta,) if paths.delta else _PIECES
        self._started = begun
        self.begun = False
        self.text = ""
        self.first_ms: float | None = None
        self.documents: list[Any] = []

    def line(self, line: str) -> None:
        """One line of the stream."""
        self.begun = True
        if not line.startswith("data:"):
            return
        data = line[5:].removeprefix(" ")
        if data.strip() in ("", "[DONE]"):
            return
        try:
            document = json.loads(data)
        except ValueError:
            self._add(data)
            return
        self.documents.append(document)
        for path in self._pieces:
            if pieces := [piece for piece in path.find(document) if isinstance(piece, str)]:
                self._add("".join(pieces))
                return

    def _add(self, piece: str) -> None:
        if piece and self.first_ms is None:
            self.first_ms = (time.perf_counter() - self._started) * 1000
        self.text += piece


def _document(response: Response) -> Any:
    """The reply as JSON, or as the plain text that it says it is."""
    kind = response.headers.get("Content-Type", "")
    try:
        return json.loads(response.text)
    except (ValueError, RecursionError):
        if kind.startswith("text/plain"):
            return response.text
    what = "HTML" if "html" in kind or response.text.lstrip()[:1] == "<" else "not JSON"
    raise failed(f"the reply is {what}: {response.text[:80]}")


def _header(given: str) -> tuple[str, Secret]:
    """`Name: value`, with `$VARIABLE` taken from the environment."""
    name, colon, value = given.partition(":")
    if not colon or not re.fullmatch(r"[A-Za-z0-9-]+", name.strip()):
        raise UsageError(f"a header is 'Name: value', and {name.strip()!r} is none", hint="'X-Api-Key: $MY_KEY'")
    for match in _VARIABLE.finditer(value):
        if (match[1] or match[2]) not in os.environ:
            raise UsageError(f"the header {name.strip()} wants ${match[1] or match[2]}, which is not set")
    filled = _VARIABLE.sub(lambda match: os.environ[match[1] or match[2]], value).strip()
    if not filled.isprintable():
        raise UsageError(f"the header {name.strip()} has characters that no header has")
    return name.strip(), Secret(filled)
