"""A span as far as its trace's row needs it, read from a row of a file."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from ragmeter.io.cells import whole
from ragmeter.io.decoding import JsonObject
from ragmeter.io.paths import decoded
from ragmeter.io.tools.spans.attributes import Attributes, is_empty
from ragmeter.passages import is_object, passage_details, passage_text
from ragmeter.table import Row

TRACE = ("trace_id", "context.trace_id", "traceId")
_SPAN = ("span_id", "context.span_id", "spanId", "id")
_PARENT = ("parent_id", "parentId", "parent_span_id", "parentSpanId")
_CODE = ("status_code", "status.status_code", "status.code")
_MESSAGE = ("status_message", "status.description", "status.message")
_BEGIN, _END = ("start_time", "startTime", "start_time_unix_nano"), ("end_time", "endTime", "end_time_unix_nano")
_SESSION = ("session.id", "gen_ai.conversation.id")
_CONTENT = "document.content"
#: Spans that find documents, and answer nothing.
FINDS = ("RETRIEVER", "RERANKER", "EMBEDDING")
#: A time as a whole number is in seconds, milliseconds, microseconds or nanoseconds: by its size.
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
_LITERAL = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
#: A call of a tool as Haystack's objects show themselves.
_SHOWN_CALL = re.compile(rf"(?<!origin=)ToolCall\(tool_name=({_LITERAL}), arguments=(\{{[^{{}}]{{0,10000}}\}})")


class Call(msgspec.Struct, frozen=True, array_like=True):
    """A call of a tool that a model asked for."""

    name: str
    arguments: Any = None


class Span(msgspec.Struct, frozen=True, array_like=True):
    """A span: its place in its trace, what went in and came out, and what a hop is made of.

    `begin` is in seconds; it is 0 where it is not known. `asked` and `said` are messages to a model and its own;
    `requests` are the calls of tools that it asked for. `documents` were retrieved, `reranked` are those left: objects
    with a `text`, an `id`, a `score` and `metadata`, as far as they have them.
    """

    id: str
    parent: str | None
    kind: str
    begin: float
    latency_ms: float | None
    error: str | None
    session: str | None
    input: Any
    output: Any
    asked: str | None
    said: str | None
    requests: list[Call]
    documents: list[JsonObject]
    reranked: list[JsonObject]
    tokens: int | None
    cost: float | None
    tool: str | None
    arguments: Any


def read_span(row: Row) -> tuple[str, Span]:
    """A span and the id of its trace."""
    attributes = Attributes(row)
    kind = attributes.kind(row)
    begin, end = (_seconds(_first(row, names)) for names in (_BEGIN, _END))
    is_error = str(_first(row, _CODE) or "").upper().endswith("ERROR")
    is_tool, is_model = kind == "TOOL", kind == "LLM"
    output = attributes.at("output.value")
    if output is None and is_tool:
        output = attributes.result()
    span = Span(
        id=str(_first(row, _SPAN) or ""),
        parent=_text_or_none(_first(row, _PARENT)),
        kind=kind,
        begin=begin or 0.0,
        latency_ms=None if begin is None or end is None else round((end - begin) * 1e3, 3),
        error=str(_first(row, _MESSAGE) or "ERROR") if is_error else None,
        session=_text_or_none(attributes.first(_SESSION)),
        input=attributes.at("input.value"),
        output=output,
        asked=attributes.asked() if kind not in FINDS and not is_tool else None,
        said=attributes.said() if kind not in FINDS and not is_tool else None,
        requests=_requests(attributes, output) if not is_tool and kind not in FINDS else [],
        documents=list(map(_passage, _documents(attributes, kind, output))),
        reranked=list(map(_passage, attributes.reranked())) if kind == "RERANKER" else [],
        tokens=attributes.tokens() if is_model else None,
        cost=attributes.cost() if is_model else None,
        tool=attributes.tool() or (_text_or_none(row.get("name")) if is_tool else None),
        arguments=attributes.arguments() if is_tool else None,
    )
    return str(_first(row, TRACE)), span


def without_half_characters(value: Any) -> Any:
    """The value with what UTF-8 can't encode replaced, at any depth."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, Mapping):
        return {whole(str(key)): without_half_characters(item) for key, item in value.items()}
    return [without_half_characters(item) for item in value] if isinstance(value, list | tuple) else value


def _first(row: Row, names: Sequence[str]) -> Any:
    for name in names:
        value = row.get(name)
        if value is None and "." in name:
            holder, _, key = name.partition(".")
            inner = decoded(row.get(holder))
            value = inner.get(key) if isinstance(inner, Mapping) else None
        if not is_empty(value):
            return value
    return None


def _passage(document: Mapping[str, Any]) -> JsonObject:
    """A document with its text, id, score and metadata under plain names."""
    if _CONTENT in document and isinstance(document[_CONTENT], str):
        passage = {name: document.get(f"document.{name}") for name in ("id", "score", "metadata")}
        passage["metadata"] = as_object(passage["metadata"])
        return {"text": document[_CONTENT], **{name: value for name, value in passage.items() if value is not None}}
    text = passage_text(document)
    return {**({} if text is None else {"text": text}), **passage_details(document)}


def _documents(attributes: Attributes, kind: str, output: Any) -> list[Any]:
    """The documents of a retriever, or of a tool that returns such. LangChain's have their ids in the output alone."""
    if kind == "TOOL":
        return _listed(output, with_ids=True)
    documents = attributes.retrieved()
    if kind != "RETRIEVER" or any("document.id" in document for document in documents):
        return documents
    listed = _listed(output)
    return listed if listed and len(listed) >= len(documents) else documents


def _listed(output: Any, *, with_ids: bool = False) -> list[Any]:
    """The objects in a list, or in an object's list of documents."""
    value = decoded(output)
    value = value.get("documents", value.get("results")) if isinstance(value, Mapping) else value
    if not isinstance(value, list) or not value or not all(isinstance(item, Mapping) for item in value):
        return []
    if with_ids and not all("id" in item or "doc_id" in item or "document_id" in item for item in value):
        return []
    return value if all(map(is_object, value)) else []


def _requests(attributes: Attributes, output: Any) -> list[Call]:
    calls = [Call(str(name), decoded(arguments)) for name, arguments in attributes.calls()]
    if calls or not isinstance(output, str) or "ToolCall(" not in output:
        return calls
    return _shown_calls(output)


def _shown_calls(output: str) -> list[Call]:
    calls = []
    for match in _SHOWN_CALL.finditer(output.replace("\\'", "'") if "\\'" in output else output):
        try:
            calls.append(Call(ast.literal_eval(match[1]), ast.literal_eval(match[2])))
        except (SyntaxError, ValueError, MemoryError, RecursionError):  # no text that Python has written
            continue
    return calls


def _seconds(value: Any) -> float | None:
    """A time in seconds: it is given as a text, a number or an object."""
    try:
        if isinstance(value, str):
            value = float(value) if value.isdigit() else datetime.fromisoformat(value)
        if isinstance(value, datetime) or hasattr(value, "timestamp"):
            return float(value.timestamp())
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    scale = next((scale for least, scale in _UNITS if number > least), 1.0)
    return number / scale if number == number else None


def _text_or_none(value: Any) -> str | None:
    return None if value is None or is_empty(value) else str(value)


def as_object(value: Any) -> JsonObject | None:
    """A value that is an object, also as JSON."""
    value = decoded(value)
    return value if isinstance(value, dict) else None
