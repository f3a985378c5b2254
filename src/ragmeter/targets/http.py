"""A target behind an HTTP address: the question goes into a JSON request, the answer comes in a reply or in events."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urlencode, urlsplit, urlunsplit

from ragmeter.effects.keys.credentials import hide_credentials
from ragmeter.effects.keys.headers import read_headers
from ragmeter.effects.limits.caller import GiveUp, TryAgain
from ragmeter.effects.network.wire import Response, Wire, check_address
from ragmeter.effects.replies.journal import Reply
from ragmeter.errors import UsageError
from ragmeter.hints import by_caller, parameter
from ragmeter.io.addresses import public
from ragmeter.io.cells import as_number, as_text, whole
from ragmeter.io.write import dumps
from ragmeter.naming import Signature
from ragmeter.table import TARGET_ERROR
from ragmeter.targets.events import EventStream
from ragmeter.targets.json_path import FIELD, FIELDS, REQUEST_EXAMPLE, JsonPath, fill
from ragmeter.targets.port import WRONG_PATH_AFTER, Answer, Question, Target, failed
from ragmeter.targets.results import contexts_of, ids_of, other_columns

METHODS = ("POST", "GET", "PUT")
DEFAULT_REQUEST = {"question": "{question}"}
_LONGEST_REASON = 300
#: Members of a reply that are columns of the run, where it has them.
_KEPT = frozenset({"tool_calls", "steps", "usage", "cost_usd", "hops"})
_HINTS = {
    401: "the server wants credentials: "
    + by_caller(
        "--header 'Authorization: Bearer $NAME_OF_A_VARIABLE'", 'headers=["Authorization: Bearer $NAME_OF_A_VARIABLE"]'
    ),
    403: f"the server refuses this request: check {by_caller('--header', 'headers')}",
    404: f"there is nothing at this address: check {parameter('target')}",
    405: f"the server does not take this method: check {parameter('method')}",
}


@dataclass(frozen=True)
class Paths:
    """Paths to the parts of a reply."""

    answer: JsonPath = field(default_factory=lambda: JsonPath.parse("answer"))
    retrieved: JsonPath | None = None
    contexts: JsonPath | None = None
    latency: JsonPath | None = None
    conversation: JsonPath | None = None
    delta: JsonPath | None = None

    def given(self) -> dict[str, str]:
        """The paths that were given, for the signature."""
        return {name: path.text for name, path in vars(self).items() if path is not None}


class HttpTarget(Target):
    """Asks an HTTP address."""

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
        check_address(url, "http://127.0.0.1:8000/query", by_caller("--header 'NAME: $VARIABLE'", "headers=..."))
        if method not in METHODS:
            raise UsageError(f"unknown method {method!r}", hint=f"choose from {', '.join(METHODS)}")
        self.url, self.method, self.paths = url, method, paths
        self.request = DEFAULT_REQUEST if request is None else request
        if not self._sends("question"):
            raise UsageError("the request has no {question}", hint=f"for example {REQUEST_EXAMPLE}")
        if method == "GET" and not isinstance(self.request, Mapping):
            raise UsageError("with GET, the request must be a JSON object: its keys become the query")
        self._replies_without_answer = 0
        self._headers = read_headers(headers)
        self._shown_request, secrets = hide_credentials(self.request, FIELD)
        self._wire = Wire(url, outcome=TARGET_ERROR, timeout=timeout, headers=self._headers, secrets=secrets)
        # A literal header value distinguishes systems; a secret may change without the system changing.
        plain = sorted((name, value.reveal()) for name, value in self._headers.items() if not value.from_environment)
        self.name = dumps([{**self.signature(), "request": self.request}, url, plain])

    async def __aenter__(self) -> Self:
        await self._wire.__aenter__()
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self._wire.__aexit__(*failure)

    def signature(self) -> Signature:
        """How the address is asked; of the headers only their names, and the request without its credentials."""
        return {
            "kind": "http",
            "url": public(self.url),
            "method": self.method,
            "request": self._shown_request,
            "headers": sorted(self._headers),
            "paths": self.paths.given(),
        }

    async def answer(self, question: Question) -> Reply:
        """Send the question, and read the reply. A failure says what part of the answer had arrived."""
        url, body = self._address_and_body(question)
        begun = time.perf_counter()
        events = EventStream(self.paths.delta, begun)
        try:
            response = await self._wire.request(self.method, url, body, on_line=events.line)
            if not 200 <= response.status < 300:
                raise self._wire.failure(response, _HINTS)
            events.end(is_whole=response.has_end)
            latency = (response.arrived - begun) * 1000
            return await self._wire.aside(
                response.size, lambda: self._read(response, events, latency).cleaned(self._wire.clean).as_reply()
            )
        except RecursionError:
            raise failed("the reply is nested too deeply") from None
        except (GiveUp, TryAgain) as problem:
            problem.cause = self._wire.clean(problem.cause)
            problem.partial_answer = whole(self._wire.clean(events.text)) or None
            raise

    def _read(self, response: Response, events: EventStream, latency: float) -> Answer:
        """The answer in a reply, and what else it has."""
        documents = events.documents if events.begun else [_document(response)]
        try:
            answer = self._streamed(events) or self._text(documents)
        except GiveUp as problem:
            self._replies_without_answer += 1
            wrong_path = self._replies_without_answer >= WRONG_PATH_AFTER
            fatal = UsageError(problem.cause, hint=f"check {parameter('answer_path')}") if wrong_path else None
            raise GiveUp(problem.outcome, problem.cause, fatal=fatal) from None
        return Answer(
            whole(answer),
            self._ids(documents),
            self._contexts(documents),
            self._latency(documents, latency),
            events.first_ms,
            next((as_text(value) for value in self._last(documents, self.paths.conversation)), None),
            lacks=self._lacking(events, documents),
            columns=_kept(documents),
        )

    def _lacking(self, events: EventStream, documents: list[Any]) -> dict[str, str]:
        """The paths that the reply has not, by their options, each with what is there instead."""
        lacking = {}
        for name in ("retrieved", "contexts", "latency", "conversation"):
            path: JsonPath | None = getattr(self.paths, name)
            if path is not None and (reason := _missing(path, documents)) is not None:
                lacking[f"{name}_path"] = f"{path.text!r}: {reason}"[:_LONGEST_REASON]
        if self.paths.delta is not None and not events.text:
            lacking["delta_path"] = f"{self.paths.delta.text!r}: no event has it"
        return lacking

    def _address_and_body(self, question: Question) -> tuple[str, bytes | None]:
        values = {
            "question": question.text,
            "qid": question.qid,
            "session_id": question.session_id,
            "conversation_id": question.conversation_id or question.session_id,
            "history": question.messages()[:-1] if self._sends("history") else None,
        }
        filled = fill(self.request, values)
        if self.method != "GET":
            return self.url, dumps(filled).encode("utf-8", "replace")
        parts = urlsplit(self.url)
        query = urlencode({key: value for key, value in filled.items() if value is not None}, doseq=True)
        return urlunsplit(parts._replace(query="&".join(filter(None, (parts.query, query))))), None

    def _sends(self, name: str) -> bool:
        """Whether this field is in the request."""
        without = dict.fromkeys(FIELDS, "")
        return bool(fill(self.request, without) != fill(self.request, {**without, name: "?"}))

    def _streamed(self, events: EventStream) -> str:
        """The answer of a stream: from the last event if that repeats it in full, else the pieces joined."""
        if not events.text:
            return ""
        in_last = self.paths.answer.find(events.documents[-1]) if events.documents else []
        repeated = events.place() != self.paths.answer.text and len(in_last) == 1 and isinstance(in_last[0], str)
        return in_last[0] if repeated else events.text

    def _text(self, documents: list[Any]) -> str:
        if documents and isinstance(documents[-1], str):
            return documents[-1]  # plain text, not JSON
        texts = self._last(documents, self.paths.answer)
        if not texts:
            last = documents[-1] if documents else None
            content = f"it has {dumps(last)[:100]}" if isinstance(last, Mapping) else "it is not a JSON object"
            raise failed(f"there is no {self.paths.answer.text!r} in the reply; {content}")
        if not all(isinstance(text, str) for text in texts):
            raise failed(f"{self.paths.answer.text!r} in the reply is {type(texts[0]).__name__}, not a text")
        return "".join(texts)

    def _last(
        self, documents: list[Any], path: JsonPath | None, find: Callable[[Any], list[Any]] | None = None
    ) -> list[Any]:
        """The values at a path, in the last document that has it."""
        if path is not None:
            for document in reversed(documents):
                if values := (find or path.find)(document):
                    return values
        return []

    def _ids(self, documents: list[Any]) -> list[str] | None:
        if (path := self.paths.retrieved) is None or _missing(path, documents) is not None:
            return None
        return ids_of([item for item in _flat(self._last(documents, path)) if _is_there(item)])

    def _contexts(self, documents: list[Any]) -> list[str] | None:
        """The passages. One without a text keeps its place, since citations count them."""
        if (path := self.paths.contexts) is None or _missing(path, documents) is not None:
            return None
        items = _flat(self._last(documents, path, path.find_all))
        return contexts_of(items) if any(map(_is_there, items)) else []

    def _latency(self, documents: list[Any], measured: float) -> float:
        """The milliseconds that the reply reports, else those that were measured."""
        values = self._last(documents, self.paths.latency)
        try:
            given = as_number(values[0]) if values else None
        except ValueError:
            raise failed(f"the latency in the reply is {values[0]!r}, not a number") from None
        if given is not None and given < 0:
            raise failed(f"the latency in the reply is {given:g}, and can't be below 0")
        return measured if given is None else given


def _document(response: Response) -> Any:
    """The reply as JSON, or as text if its content type is text/plain."""
    content_type = response.headers.get("Content-Type", "")
    if content_type.startswith("text/plain"):
        return response.text
    try:
        return json.loads(response.text)
    except (ValueError, RecursionError):
        what = "HTML" if "html" in content_type or response.text.lstrip()[:1] == "<" else "not JSON"
        raise failed(f"the reply is {what}: {response.text[:80]}") from None


def _kept(documents: list[Any]) -> dict[str, str | float]:
    """What the last part of a reply says of how the answer was made."""
    columns = other_columns(documents[-1]) if documents else {}
    return {name: value for name, value in columns.items() if name in _KEPT}


def _missing(path: JsonPath, documents: list[Any]) -> str | None:
    """What is there instead of a path that none of a reply's documents has; None if one has it."""
    reasons = [path.missing(document) for document in reversed(documents)]
    return None if None in reasons else next(iter(reasons), "the reply is no JSON")


def _flat(values: list[Any]) -> list[Any]:
    """The items at a path, which may lead to a list or to each item of one."""
    return [item for value in values for item in (value if isinstance(value, list) else [value])]


def _is_there(item: Any) -> bool:
    return bool(item) or (item == 0 and item is not False)
