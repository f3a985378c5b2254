"""Spans of OpenInference, as Phoenix exports them: one row for each trace.

The question and the answer are the input and the output of the trace's first span without a parent, the contexts are
the documents of its retrievers, or of the last reranker. Where input and output are objects, as LangChain and Haystack
have them, the text under a usual key is taken, or what the model was asked and said.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ragmeter.io.batches import batches_of_records, numbered
from ragmeter.io.decoding import JsonObject
from ragmeter.io.paths import decoded, split_path, value_at
from ragmeter.io.tools.fields import ANSWER_KEYS, QUESTION_KEYS
from ragmeter.passages import is_object
from ragmeter.table import Batch, NewRow, Row

_TRACE = ("context.trace_id", "trace_id", "traceId")
_PARENT = ("parent_id", "parentId", "parent_span_id")
_KIND = ("attributes.openinference.span.kind", "span_kind")
_INPUT, _OUTPUT = "attributes.input.value", "attributes.output.value"
_RETRIEVED, _RERANKED = "attributes.retrieval.documents", "attributes.reranker.output_documents"
_ASKED, _SAID = "attributes.llm.input_messages", "attributes.llm.output_messages"
#: Spans that find documents, and answer nothing.
_FINDS = ("RETRIEVER", "RERANKER", "EMBEDDING")
#: Objects in an input or output are looked into so far.
_DEPTH = 4
#: Where Haystack's pipelines have their answers, as Python shows them: `GeneratedAnswer(data='Paris', …)`.
_LISTS = ("answers", "replies")
_LITERAL = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_BEGINNINGS = (
    r"GeneratedAnswer\(data=", rf"ExtractedAnswer\(query=(?:{_LITERAL}), score=[^,]*, data=",
    r"ChatMessage\(.*?TextContent\(text=",
)  # fmt: skip
_SHOWN = re.compile(rf"(?:{'|'.join(_BEGINNINGS)})({_LITERAL})", re.DOTALL)
#: OpenTelemetry has no lists of objects: `retrieval.documents.0.document.content`.
_FLAT = re.compile(r"(\d+)\.(.+)")
NOTE = f"read as OpenInference spans: a row for each trace, question={_INPUT}, answer={_OUTPUT}, contexts={_RETRIEVED}"


def has_spans(batch: Batch) -> bool:
    """Whether these rows are spans: they belong to traces, and have a kind and an input or output."""
    titles = list(batch.columns)
    rows = range(min(len(batch), 200))

    def any_row(paths: Iterable[str]) -> bool:
        parts = [split_path(path, titles) for path in paths]
        return any(value_at(batch.columns[part[0]][row], part[1]) is not None for part in parts if part for row in rows)

    return any_row(_TRACE) and any_row(_KIND) and any_row((_INPUT, _OUTPUT))


def rows_of_spans(batches: Iterable[Batch], name: str) -> Iterator[Batch]:
    """The traces as rows. The spans are held in memory: those of a trace need not be together."""
    traces: dict[str, list[_Span]] = {}
    for batch in batches:
        titles = list(batch.columns)
        for row in zip(*batch.columns.values(), strict=True):
            span = _Span(dict(zip(titles, row, strict=True)))
            traces.setdefault(str(span.first(_TRACE)), []).append(span)
    yield from batches_of_records(numbered(_row(trace, spans) for trace, spans in traces.items()), name)


class _Span:
    """A span, whose attributes are columns, objects, or keys with dots."""

    def __init__(self, columns: Row) -> None:
        self._columns = columns
        self.begin = str(self.at("start_time") or "")
        self.kind = str(self.first(_KIND))

    def at(self, path: str) -> Any:
        parts = split_path(path, list(self._columns))
        return None if parts is None else value_at(self._columns[parts[0]], parts[1])

    def first(self, paths: Sequence[str]) -> Any:
        return next((value for path in paths if not _is_empty(value := self.at(path))), None)

    def documents(self, path: str) -> list[Any]:
        listed = self.at(path)
        listed = listed.tolist() if hasattr(listed, "tolist") else listed
        if isinstance(listed, list):
            return [item for item in listed if is_object(item)]
        attributes = self._columns.get("attributes")
        if not isinstance(attributes, Mapping):
            return []
        beginning = path.removeprefix("attributes.") + "."
        items: dict[int, JsonObject] = {}
        for key, value in attributes.items():
            match = _FLAT.fullmatch(key.removeprefix(beginning)) if key.startswith(beginning) else None
            if match is not None:
                items.setdefault(int(match[1]), {})[match[2]] = value
        return [items[place] for place in sorted(items)]

    def retrieved(self) -> list[Any]:
        """The documents of a retriever. LangChain's have their ids in the output alone."""
        documents = self.documents(_RETRIEVED)
        output = decoded(self.at(_OUTPUT)) if documents and self.kind in _FINDS else None
        listed = output.get("documents") if isinstance(output, Mapping) else None
        if any("document.id" in document for document in documents) or not isinstance(listed, list):
            return documents
        return listed if len(listed) == len(documents) and all(map(is_object, listed)) else documents

    def last_message(self, path: str) -> Any:
        """The text of the last message of a model's span; None if there is none."""
        messages = self.documents(path)
        return messages[-1].get("message.content") if messages else None


def _row(trace: str, spans: Sequence[_Span]) -> NewRow:
    spans = sorted(spans, key=lambda span: span.begin)
    root = next((span for span in spans if span.first(_PARENT) is None), spans[0])
    reranked = [documents for span in spans if (documents := span.documents(_RERANKED))]
    retrieved = [document for span in spans for document in span.retrieved()]
    row = {
        "qid": trace,
        "question": _text(root.at(_INPUT), QUESTION_KEYS, root.last_message(_ASKED)),
        "answer": _answer(root, spans),
        "contexts": reranked[-1] if reranked else retrieved,
        "latency_ms": _milliseconds(root),
    }
    if str(root.first(("status_code", "status.status_code")) or "").endswith("ERROR"):
        row["error"] = root.first(("status_message", "status.description")) or "ERROR"
    session = root.first(("attributes.session.id",))
    return row if session is None else {**row, "session_id": session}


def _answer(root: _Span, spans: Sequence[_Span]) -> Any:
    """What the trace answered; None of one that only found documents."""
    output = root.at(_OUTPUT)
    messages = [message for span in spans if (message := span.last_message(_SAID)) is not None]
    said = messages[-1] if messages else _first_shown(decoded(output))
    finds_only = root.kind in _FINDS or (said is None and _value_under(decoded(output), ("documents",), list))
    return None if finds_only else _text(output, ANSWER_KEYS, said)


def _first_shown(output: Any) -> Any:
    """The text of the first answer in an object's list of answers; None if there is none."""
    first = next(iter(_value_under(output, _LISTS, list) or ()), None)
    if isinstance(first, Mapping):
        return _value_under(first, ("data", *ANSWER_KEYS), str)
    if not isinstance(first, str):
        return None
    shown = _SHOWN.match(first)
    try:
        return first if shown is None else ast.literal_eval(shown[1])
    except (SyntaxError, ValueError):  # no text that Python has written
        return first


def _text(value: Any, keys: Sequence[str], message: Any) -> Any:
    """A value; of an object the text under one of the keys, else the message, else the only text that it has."""
    inner = decoded(value)
    if not isinstance(inner, Mapping):
        return value
    text = _value_under(inner, keys, str)
    if text is not None or message is not None:
        return message if text is None else text
    texts = [text for text in inner.values() if isinstance(text, str)]
    return texts[0] if len(texts) == 1 else value


def _value_under(value: Any, keys: Sequence[str], kind: type, depth: int = _DEPTH) -> Any:
    """What an object has under the first of the keys and of this kind; else what an object in it has."""
    if not isinstance(value, Mapping) or not depth:
        return None
    texts = (value[key] for key in keys if isinstance(value.get(key), kind))
    inner = (_value_under(item, keys, kind, depth - 1) for item in value.values())
    return next((text for text in (*texts, *inner) if text is not None), None)


def _milliseconds(span: _Span) -> float | None:
    begin, end = span.at("start_time"), span.at("end_time")
    try:
        if isinstance(begin, str) and isinstance(end, str):
            begin, end = (datetime.fromisoformat(text) for text in (begin, end))
        if isinstance(begin, float) and isinstance(end, float):  # in seconds
            return round((end - begin) * 1e3, 3)
        return float((end - begin).total_seconds() * 1000)
    except (TypeError, ValueError, AttributeError):
        return None


def _is_empty(value: Any) -> bool:
    return value is None or value == "" or value != value
