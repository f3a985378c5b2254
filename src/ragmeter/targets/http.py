"""A target behind an address: a request with the question in it, and the answer out of the reply, streamed or whole."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urlencode, urlsplit, urlunsplit

from ragmeter.effects.caller import GiveUp
from ragmeter.effects.journal import Reply
from ragmeter.effects.rounds import Identity
from ragmeter.effects.secret import read_headers
from ragmeter.effects.wire import Response, Wire, check_address, public
from ragmeter.errors import UsageError
from ragmeter.hints import by_caller, parameter
from ragmeter.io.cells import as_number, as_text, whole
from ragmeter.io.write import dumps
from ragmeter.table import TARGET_ERROR
from ragmeter.targets.json_path import FIELDS, REQUEST_EXAMPLE, Path, fill
from ragmeter.targets.port import Answer, Question, Unseen, contexts_of, failed, ids_of

METHODS = ("POST", "GET", "PUT")
DEFAULT_REQUEST = {"question": "{question}"}
#: Where streamed pieces of an answer usually are.
_PIECES = tuple(map(Path.parse, ("delta", "choices[0].delta.content", "token", "text", "answer", "content")))
_ENOUGH = 5  # replies without an answer, and none with: then it is the path that is wrong
_HINTS = {
    401: "the server wants to know who asks: "
    + by_caller(
        "--header 'Authorization: Bearer $NAME_OF_A_VARIABLE'", 'headers=["Authorization: Bearer $NAME_OF_A_VARIABLE"]'
    ),
    403: f"the server lets this request not through: look at {by_caller('--header', 'headers')}",
    404: f"there is nothing at this address: look at {parameter('target')}",
    405: f"the server does not take this method: look at {parameter('method')}",
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
        headers: Sequence[str] | Mapping[str, str] = (),
        paths: Paths = Paths(),  # noqa: B008 - frozen
        timeout: float = 60.0,
    ) -> None:
        check_address(url, "http://127.0.0.1:8000/query")
        if method not in METHODS:
            raise UsageError(f"the method {method!r} is not known", hint=f"known are {', '.join(METHODS)}")
        self.url, self.method, self.paths = url, method, paths
        self.request = DEFAULT_REQUEST if request is None else request
        if fill(self.request, dict.fromkeys(FIELDS, "")) == fill(
            self.request, {**dict.fromkeys(FIELDS, ""), "question": "?"}
        ):
            raise UsageError("the request never shows {question}", hint=f"for example {REQUEST_EXAMPLE}")
        if method == "GET" and not isinstance(self.request, Mapping):
            raise UsageError("a GET request is an object, whose keys become the query")
        self.unseen = Unseen({path.text for name, path in vars(paths).items() if path and name != "answer"})
        self._without = 0
        self._headers = read_headers(headers)
        self._wire = Wire(url, outcome=TARGET_ERROR, timeout=timeout, headers=self._headers)
        # a header that is written out tells systems apart; a secret is the same system after it was changed
        plain = sorted((name, value.reveal()) for name, value in self._headers.items() if not value.from_environment)
        self.name = dumps([self.signature(), url, plain])

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

    def identity(self) -> Identity:
        """What was named. Whether what stands behind it has changed, nobody can know."""
        return Identity(self.name, self.signature(), certain=False)

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
        stream.flush()
        latency = (time.perf_counter() - begun) * 1000
        if not 200 <= response.status < 300:
            raise self._wire.failure(response, _HINTS)
        self.unseen.replies += 1
        documents = stream.documents if stream.begun else [_document(response)]
        try:
            answer = self._streamed(stream) or self._text(documents)
        except GiveUp as problem:
            self._without += 1
            wrong = self._without >= _ENOUGH and UsageError(problem.cause, hint=f"look at {parameter('answer_path')}")
            raise GiveUp(problem.outcome, problem.cause, fatal=wrong or None) from None
        return Answer(
            whole(answer),
            None if self.paths.retrieved is None else ids_of(_flat(self._last(documents, self.paths.retrieved))),
            None if self.paths.contexts is None else contexts_of(_flat(self._last(documents, self.paths.contexts))),
            self._number(documents, latency),
            stream.first_ms,
            next((as_text(value) for value in self._last(documents, self.paths.conversation)), None),
        ).as_reply()

    def _streamed(self, stream: _Stream) -> str:
        """The answer of a stream: whole from its last event, if that has it again, else its pieces."""
        if not stream.begun or not stream.text:
            return ""
        if self.paths.delta is not None:
            self.unseen.found.add(self.paths.delta.text)
        closing = self.paths.answer.find(stream.documents[-1]) if stream.documents else []
        apart = stream.place() != self.paths.answer.text
        return closing[0] if apart and len(closing) == 1 and isinstance(closing[0], str) else stream.text

    def _text(self, documents: list[Any]) -> str:
        if documents and isinstance(documents[-1], str):
            return documents[-1]  # plain text, not JSON
        found = self._last(documents, self.paths.answer)
        if not found:
            last = documents[-1] if documents else None
            keys = f"it has {dumps(last)[:100]}" if isinstance(last, Mapping) else "it is no object"
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
        return measured if given is None else max(given, 0.0)


class _Stream:
    """Server-sent events as they come: the pieces of the answer, and when the first one was there."""

    def __init__(self, paths: Paths, begun: float) -> None:
        self._places = (paths.delta,) if paths.delta else _PIECES
        self._started = begun
        self._held: list[str] = []
        self._kind = ""
        self._pieces: dict[str, str] = {}
        self._firsts: dict[str, float] = {}
        self.begun = False
        self.documents: list[Any] = []

    def line(self, line: str) -> None:
        """One line of the stream. An event ends with an empty one."""
        self.begun = True
        name, _, value = line.partition(":")
        if name == "data":
            self._held.append(value.removeprefix(" "))
        elif name == "event":
            self._kind = value.strip()
        elif not line:
            self.flush()

    def flush(self) -> None:
        """What has come of an event is all of it."""
        data, self._held = "\n".join(self._held), []
        kind, self._kind = self._kind, ""
        if not data or data.strip() == "[DONE]":
            return
        if kind == "error":
            raise failed(f"the stream broke off with an error: {data}")
        try:
            document = json.loads(data)
        except ValueError:
            document = None
        if not isinstance(document, Mapping):
            self._add("", data)  # a stream of bare text
            return
        self.documents.append(document)
        for path in self._places:
            if pieces := [piece for piece in path.find(document) if isinstance(piece, str)]:
                self._add(path.text, "".join(pieces))
                return

    def _add(self, place: str, piece: str) -> None:
        if piece:
            self._firsts.setdefault(place, (time.perf_counter() - self._started) * 1000)
        self._pieces[place] = self._pieces.get(place, "") + piece

    def place(self) -> str | None:
        """Where the pieces of the answer were: of several places the one that such streams usually have."""
        return next((each for each in (*(path.text for path in self._places), "") if self._pieces.get(each)), None)

    @property
    def text(self) -> str:
        """The pieces, put together."""
        return self._pieces.get(self.place() or "", "")

    @property
    def first_ms(self) -> float | None:
        """When the first piece was there."""
        return self._firsts.get(self.place() or "")


def _document(response: Response) -> Any:
    """The reply as JSON, or as the plain text that it says it is."""
    kind = response.headers.get("Content-Type", "")
    if kind.startswith("text/plain"):
        return response.text
    try:
        return json.loads(response.text)
    except (ValueError, RecursionError):
        what = "HTML" if "html" in kind or response.text.lstrip()[:1] == "<" else "not JSON"
        raise failed(f"the reply is {what}: {response.text[:80]}") from None


def _flat(found: list[Any]) -> list[Any]:
    """What a path leads to, item by item: it may lead to a list, or to everything in it."""
    items = [item for each in found for item in (each if isinstance(each, list) else [each])]
    return [item for item in items if item or (item == 0 and item is not False)]
