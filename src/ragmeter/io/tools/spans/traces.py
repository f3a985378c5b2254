"""Traces as rows: a row for each, with its question, its answer, its passages and its hops.

The question and the answer are the input and the output of the trace's first span without a parent. Where these are
objects, as those of LangChain and Haystack, the text under a usual key is taken, or what the model was asked and said.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragmeter.documents.hops import HOPS, RETRIEVAL, Hop, written_hops
from ragmeter.io.batches import batches_of_records, numbered
from ragmeter.io.decoding import JsonObject
from ragmeter.io.paths import decoded, split_path, value_at
from ragmeter.io.tools.fields import ANSWER_KEYS, QUESTION_KEYS
from ragmeter.io.tools.spans.attributes import Attributes
from ragmeter.io.tools.spans.hops import TraceHops
from ragmeter.io.tools.spans.span import FINDS, TRACE, Span
from ragmeter.io.tools.spans.store import Lines, SpanStore, kept_rows
from ragmeter.io.write import dumps
from ragmeter.table import CONTEXT_DETAILS, Batch, NewRow

NOTE = "read as spans of OpenInference or OpenTelemetry: a row for each trace, with its hops"
#: So many rows are looked at to see whether they are spans.
_LOOKED_AT = 200
#: Objects in an input or output are looked into so far; what a workflow of LlamaIndex begins with is no question.
_DEPTH, _NOT_ASKED = 4, frozenset({"init_state"})
#: Where Haystack's pipelines have their answers, as Python shows them: `GeneratedAnswer(data='Paris', …)`.
_LISTS = ("answers", "replies")
_LITERAL = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
_BEGINNINGS = (
    r"GeneratedAnswer\(data=", rf"ExtractedAnswer\(query=(?:{_LITERAL}), score=[^,]*, data=",
    r"ChatMessage\(.*?TextContent\(text=",
)  # fmt: skip
_SHOWN = re.compile(rf"(?:{'|'.join(_BEGINNINGS)})({_LITERAL})", re.DOTALL)
#: What an agent of LlamaIndex ends with, as Python shows it; a long one is cut, and then this is not in it.
_SHOWN_BLOCK = re.compile(rf"(?:StopEvent|AgentOutput)\(.{{0,200}}?TextBlock\(block_type='text', text=({_LITERAL})")
_Say = Callable[[str], None]


@dataclass
class Oddities:
    """Traces that are not as they should be, counted."""

    without_root: int = 0
    several_roots: int = 0

    def notes(self) -> Iterator[str]:
        """What is said of them."""
        if self.without_root:
            yield (
                f"{_traces(self.without_root)} no span without a parent, be it cut off or a circle: "
                "the first span is taken for the question's"
            )
        if self.several_roots:
            yield f"{_traces(self.several_roots)} several spans without a parent: the first is the question's"


def _traces(count: int) -> str:
    return f"{count:,} trace{' has' if count == 1 else 's have'}"


class Traces:
    """The rows of a source whose rows are spans; read once, since all spans must be known before the first row."""

    def __init__(self) -> None:
        self._rows: Lines[NewRow] | None = None

    def batches(self, spans: Iterable[Batch], name: str, say: _Say) -> Iterator[Batch]:
        """The traces as rows."""
        if self._rows is None:
            store, oddities = SpanStore(), Oddities()
            for batch in spans:
                titles = list(batch.columns)
                for cells in zip(*batch.columns.values(), strict=True):
                    store.add(dict(zip(titles, cells, strict=True)))
            self._rows = kept_rows(_row(trace, spans, oddities) for trace, spans in store.traces())
            for note in oddities.notes():
                say(note)
        yield from batches_of_records(numbered(self._rows), name)


def has_spans(batch: Batch) -> bool:
    """Whether these rows are spans: they belong to traces, and some have attributes of one of the conventions."""
    titles = list(batch.columns)
    rows = range(min(len(batch), _LOOKED_AT))
    parts = [split_path(path, titles) for path in TRACE]
    if not any(value_at(batch.columns[part[0]][row], part[1]) is not None for part in parts if part for row in rows):
        return False
    columns = {title: column[: len(rows)] for title, column in batch.columns.items()}
    records = (dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True))
    return any(Attributes(row).is_of_ai or bool(Attributes(row).kind(row)) for row in records)


def _row(trace: str, spans: Sequence[Span], oddities: Oddities) -> NewRow:
    spans = sorted(spans, key=lambda span: span.begin)
    root = _root(spans, oddities)
    speaker = next((span for span in (root, *spans) if _speaks(span)), root)
    hops = TraceHops(spans)
    reranked = [span.reranked for span in spans if span.reranked]
    row: NewRow = {
        "qid": trace,
        "question": _question(speaker, spans),
        "answer": _answer(speaker, spans),
        "latency_ms": root.latency_ms,
        HOPS: written_hops(hops.hops),
        **_passages(reranked[-1] if reranked else hops.documents, hops.hops),
    }
    if root.error is not None:
        row["error"] = root.error
    costs = [hop.cost for hop in hops.hops if hop.cost is not None]
    if costs:
        row["cost_usd"] = sum(costs)
    session = next((span.session for span in (root, *spans) if span.session is not None), None)
    return row if session is None else {**row, "session_id": session}


def _passages(documents: Sequence[JsonObject], hops: Sequence[Hop]) -> NewRow:
    """The columns of what was found: texts, ids, and all else that is known of each.

    Where nothing was retrieved it is what the tools said.
    """
    if not documents:
        is_searched = any(hop.kind == RETRIEVAL for hop in hops)
        return {"contexts": [] if is_searched else [text for hop in hops for text in hop.texts or ()]}
    columns: NewRow = {"contexts": [document.get("text", "") for document in documents]}
    details = [{name: value for name, value in document.items() if name != "text"} for document in documents]
    if any(details):
        columns[CONTEXT_DETAILS] = dumps(details, default=str)
    if all("id" in document for document in documents):
        columns["retrieved"] = [str(document["id"]) for document in documents]
    return columns


def _root(spans: Sequence[Span], oddities: Oddities) -> Span:
    """The span of the question: the first without a parent, else the first whose parent is not there, else the first.

    `spans` are in the order in which they began.
    """
    roots = [span for span in spans if span.parent is None]
    oddities.several_roots += len(roots) > 1
    oddities.without_root += not roots
    if not roots:
        ids = {span.id for span in spans}
        roots = [span for span in spans if span.parent not in ids] or list(spans[:1])
    return next((span for span in roots if span.kind), roots[0])


def _speaks(span: Span) -> bool:
    """Whether a span has what went in or came out of a whole system: that of a web server has not."""
    return span.kind in ("CHAIN", "AGENT") and (span.input is not None or span.output is not None)


def _question(root: Span, spans: Sequence[Span]) -> Any:
    asked = root.asked or next((span.asked for span in spans if span.asked), None)
    given = root.input
    if given is None and asked is None:
        given = next((span.input for span in spans if span.input is not None and span.kind not in FINDS), None)
    inner = decoded(given)
    shown = _first_shown_message(given) if isinstance(inner, Mapping) else None
    return asked if given is None else _text(given, QUESTION_KEYS, asked or shown)


def _answer(root: Span, spans: Sequence[Span]) -> Any:
    """What the trace answered; None of one that only found documents."""
    messages = [span.said for span in spans if span.said]
    output = decoded(root.output)
    said = messages[-1] if messages else _first_shown(output)
    if said is None and isinstance(root.output, str) and "ChatMessage(" in root.output:
        said = _last_shown_message(output)
    finds_only = root.kind in FINDS or (said is None and _value_under(output, ("documents",), list))
    if finds_only:
        return None
    if root.output is None or (root.said and not isinstance(output, str)):
        return root.said or said
    block = _SHOWN_BLOCK.match(output) if isinstance(output, str) else None
    if block is not None:
        return _literal(block[1])
    if isinstance(output, str) and output.startswith(("StopEvent(", "AgentOutput(")) and said is not None:
        return said
    return _text(root.output, ANSWER_KEYS, said)


def _first_shown_message(value: Any) -> Any:
    """The text of the first message that is shown in an input, where there is one."""
    match = re.search(rf"TextContent\(text=({_LITERAL})", value) if isinstance(value, str) else None
    return None if match is None else _literal(match[1])


def _last_shown_message(output: Any) -> Any:
    """The text of the last message that an agent of Haystack has in its output."""
    messages = _value_under(output, ("messages",), list) or ()
    shown = [_SHOWN.match(message) for message in messages if isinstance(message, str)]
    texts = [_literal(match[1]) for match in shown if match is not None]
    return texts[-1] if texts else None


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):  # no text that Python has written
        return text


def _first_shown(output: Any) -> Any:
    """The text of the first answer in an object's list of answers; None if there is none."""
    first = next(iter(_value_under(output, _LISTS, list) or ()), None)
    if isinstance(first, Mapping):
        return _value_under(first, ("data", *ANSWER_KEYS), str)
    if not isinstance(first, str):
        return None
    shown = _SHOWN.match(first)
    return first if shown is None else _literal(shown[1])


def _text(value: Any, keys: Sequence[str], message: Any) -> Any:
    """A value; of an object the text under one of the keys, else the message, else the only text that it has."""
    inner = decoded(value)
    if isinstance(inner, list) and message is not None:
        return message
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
    inner = (_value_under(item, keys, kind, depth - 1) for key, item in value.items() if key not in _NOT_ASKED)
    return next((text for text in (*texts, *inner) if text is not None), None)
