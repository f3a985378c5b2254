"""The hops of a trace: its retrievals, calls of tools and calls of models, in the order in which they began.

A span inside another one of its kind is the same hop: a retriever may ask others. The only retrieval in a call of a
tool is that call's: one hop, with the name and the arguments of the tool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragmeter.documents.hops import LLM, RETRIEVAL, TOOL, Hop, Kind
from ragmeter.io.decoding import JsonObject
from ragmeter.io.paths import decoded
from ragmeter.io.tools.fields import QUESTION_KEYS
from ragmeter.io.tools.spans.span import Call, Span, as_object

_KINDS: dict[str, Kind] = {"RETRIEVER": RETRIEVAL, "TOOL": TOOL, "LLM": LLM}
#: Names under which the input of a retriever, or the arguments of a tool, have the query.
_QUERIES = (*QUESTION_KEYS, "query_str", "query_bundle", "search_query", "q")
#: Under these an object that a framework writes has what a tool was called with, or what it returned.
_ARGUMENTS, _RESULTS = ("kwargs", "tool_kwargs", "arguments", "args"), ("content", "text", "output", "result", "blocks")
_DEPTH = 4


class TraceHops:
    """The hops of the spans of a trace, and the documents of those that retrieved some."""

    def __init__(self, spans: Sequence[Span]) -> None:
        """`spans` are in the order in which they began."""
        self.documents: list[JsonObject] = []
        self._outer = _enclosing(spans)
        self._requests = [call for span in spans if span.kind == "LLM" for call in span.requests] or [
            call for span in spans[:1] for call in span.requests
        ]
        inner_of = self._retrievals_by_tool(spans)
        merged = {id(inner[0]) for inner in inner_of.values() if len(inner) == 1}
        self.hops: list[Hop] = []
        for span in spans:
            if id(span) in merged or not self._is_hop(span):
                continue
            inner = inner_of.get(id(span), [])
            self.hops.append(self._hop(span, inner[0] if len(inner) == 1 else None))
        self._add_missing_calls()

    def _is_hop(self, span: Span) -> bool:
        if span.kind not in _KINDS:
            return False
        outer = self._outer.get(id(span), {}).get(span.kind)
        return outer is None or (span.kind == "TOOL" and outer.tool != span.tool)

    def _retrievals_by_tool(self, spans: Sequence[Span]) -> dict[int, list[Span]]:
        """The retrievals in each call of a tool."""
        inner: dict[int, list[Span]] = {}
        for span in spans:
            if span.kind == "RETRIEVER" and self._is_hop(span):
                tool = self._outer.get(id(span), {}).get("TOOL")
                if tool is not None:
                    inner.setdefault(id(tool), []).append(span)
        return inner

    def _hop(self, span: Span, retrieval: Span | None) -> Hop:
        source = retrieval or span
        documents = source.documents
        self.documents += documents
        is_retrieval = source.kind == "RETRIEVER" or bool(documents)
        arguments = self._arguments(span) if span.kind == "TOOL" else None
        known = is_retrieval and (bool(documents) or source.error is None)
        names = [str(document.get("id", "")) for document in documents]
        scores = [_score(document.get("score")) for document in documents]
        return Hop(
            kind=RETRIEVAL if is_retrieval else _KINDS[span.kind],
            query=_query(source.input) if source.kind == "RETRIEVER" else _query(arguments),
            ids=tuple(names) if known and all(names) else None,
            texts=tuple(document.get("text", "") for document in documents) if known else _result(span),
            scores=tuple(scores) if any(score is not None for score in scores) else None,
            latency_ms=span.latency_ms,
            tokens=span.tokens,
            cost=span.cost,
            tool=span.tool if span.kind == "TOOL" else None,
            arguments=arguments,
            error=span.error or source.error,
        )

    def _arguments(self, span: Span) -> Any:
        """What a tool was called with: as the model asked for it, else by its own span."""
        request = next((call for call in self._requests if call.name == span.tool), None)
        given = span.arguments
        if given is None:
            value = as_object(span.input)
            given = (
                next((value[key] for key in _ARGUMENTS if isinstance(value.get(key), dict)), value) if value else None
            )
        if request is not None and (given is None or given == request.arguments or not isinstance(given, dict)):
            self._requests.remove(request)
            return request.arguments
        self._requests = [call for call in self._requests if (call.name, call.arguments) != (span.tool, given)]
        return span.input if given is None else given

    def _add_missing_calls(self) -> None:
        """Calls that a model asked for and no span is of: a retrieval with such a query is one, another is a hop."""
        if any(hop.tool is not None for hop in self.hops):
            return
        for call in self._requests:
            place = next((n for n, hop in enumerate(self.hops) if hop.tool is None and _is_of(hop, call)), None)
            if place is None:
                self.hops.append(Hop(TOOL, _query(call.arguments), tool=call.name, arguments=call.arguments))
            else:
                fields = {name: getattr(self.hops[place], name) for name in Hop.__struct_fields__}
                self.hops[place] = Hop(**{**fields, "tool": call.name, "arguments": call.arguments})


def _is_of(hop: Hop, call: Call) -> bool:
    values = call.arguments.values() if isinstance(call.arguments, Mapping) else [call.arguments]
    return hop.kind == RETRIEVAL and hop.query is not None and hop.query in values


def _enclosing(spans: Sequence[Span]) -> dict[int, dict[str, Span]]:
    """For each span the nearest one of each kind of hop around it. Spans that are their own ancestors have none."""
    by_id = {span.id: span for span in spans if span.id}
    around: dict[int, dict[str, Span]] = {}
    for span in spans:
        path: list[Span] = []
        on_path: set[int] = set()
        current: Span | None = span
        while current is not None and id(current) not in around and id(current) not in on_path:
            path.append(current)
            on_path.add(id(current))
            current = by_id.get(current.parent) if current.parent else None
        if current is not None and id(current) in on_path:  # a circle
            current = None
        for inner in reversed(path):
            known = {} if current is None else around[id(current)]
            around[id(inner)] = {**known, current.kind: current} if current and current.kind in _KINDS else known
            current = inner
    return around


def _query(value: Any) -> str | None:
    """The query in an input or in arguments; None if none of their members is known as one."""
    for _ in range(_DEPTH):
        value = decoded(value)
        if not isinstance(value, Mapping):
            break
        value = next((value[key] for key in (*_QUERIES, *_ARGUMENTS) if value.get(key)), None)
    return value if isinstance(value, str) and value else None


def _score(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _result(span: Span) -> tuple[str, ...] | None:
    """The text that a tool returned."""
    text = None if span.kind != "TOOL" else result_text(span.output)
    return None if text is None else (text,)


def result_text(value: Any, depth: int = _DEPTH) -> str | None:
    """The text in what a tool returned: a text, or one in the message, or in the blocks, that it is in."""
    inner = decoded(value) if isinstance(value, str) else value
    if isinstance(inner, Mapping) and depth:
        data = inner.get("data")
        nested: Mapping[str, Any] = data if isinstance(data, Mapping) else inner
        parts = (result_text(nested[key], depth - 1) for key in _RESULTS if nested.get(key) is not None)
        text = next((part for part in parts if part is not None), None)
        return text if text is not None else value if isinstance(value, str) else None
    if isinstance(inner, list) and inner and depth and all(isinstance(item, Mapping) for item in inner):
        texts = [result_text(item, depth - 1) for item in inner]
        if all(text is not None for text in texts):
            return "".join(text or "" for text in texts)
    return value if isinstance(value, str) else None
