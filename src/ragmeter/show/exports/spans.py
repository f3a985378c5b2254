"""A run's answers as OpenInference spans, in OpenTelemetry's JSON (OTLP): a document a line.

A question is a trace: a span of kind CHAIN with question, answer and scores, and one of kind RETRIEVER with what was
retrieved. When a question was asked is not part of a run: spans end when the run was made, and are as long as the
answer took.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias, TypedDict

import ragmeter
from ragmeter.io.write import dumps, replacing
from ragmeter.runs.run import Run
from ragmeter.show.exports.rows import own_scores
from ragmeter.table import QID, Row

#: Questions in a line of the file.
_QUESTIONS = 500
_INTERNAL, _OK, _ERROR = 1, 1, 2
#: A span's attributes by their names: texts and numbers; what is missing is left out of the file.
Attributes: TypeAlias = Mapping[str, str | float | None]


class _Shared(TypedDict):
    """What all spans of a question have, as OpenTelemetry writes it in JSON."""

    traceId: str
    kind: int
    startTimeUnixNano: str
    endTimeUnixNano: str
    status: dict[str, object]


class Span(_Shared):
    """A span without a parent: the question's own."""

    spanId: str
    name: str
    attributes: list[dict[str, object]]


class InnerSpan(Span):
    """A span inside another."""

    parentSpanId: str


def write_spans(run: Run, path: Path, guard: bool) -> list[Path]:
    """Write the spans of all questions."""
    end = _end(run)
    number = 0
    with replacing(path, private=True) as (temporary,), temporary.open("w", encoding="utf-8", newline="\n") as file:
        for batch in run.batches(_QUESTIONS):
            spans = []
            for row in batch.to_pylist():
                spans += list(_spans(run, row, number, end))
                number += 1
            file.write(dumps(_document(run, spans)) + "\n")
    return [path]


def _document(run: Run, spans: list[Span]) -> dict[str, object]:
    resource = {"service.name": "ragmeter", "openinference.project.name": run.name}
    scope = {"name": "ragmeter", "version": ragmeter.__version__}
    scopes = [{"scope": scope, "spans": spans}]
    return {"resourceSpans": [{"resource": {"attributes": _attributes(resource)}, "scopeSpans": scopes}]}


def _end(run: Run) -> int:
    """When the run was made, in nanoseconds."""
    try:
        moment = datetime.fromisoformat(str(run.manifest().created))
    except ValueError:
        moment = datetime.fromtimestamp(0, UTC)
    return int(moment.timestamp()) * 1_000_000_000


def _spans(run: Run, row: Row, number: int, end: int) -> Iterator[Span]:
    """The spans of a row. Their ids depend on the run and the row alone, so that a second export has the same."""
    digest = hashlib.sha256(dumps([run.name, run.manifest().created, number]).encode()).hexdigest()
    trace, root, child = digest[:32], digest[32:48], digest[48:64]
    begin = end - int((row.get("latency_ms") or 0.0) * 1_000_000)
    error = row.get("error")
    common: _Shared = {
        "traceId": trace,
        "kind": _INTERNAL,
        "startTimeUnixNano": str(begin),
        "endTimeUnixNano": str(end),
        "status": {"code": _ERROR, "message": error} if error else {"code": _OK},
    }
    yield {"spanId": root, "name": "question", "attributes": _attributes(_of_question(run, row)), **common}
    documents = _documents(row)
    if documents is not None:
        retrieval = {"openinference.span.kind": "RETRIEVER", **_texts("input", row.get("question")), **documents}
        inner: InnerSpan = {
            "spanId": child,
            "parentSpanId": root,
            "name": "retrieval",
            "attributes": _attributes(retrieval),
            **common,
        }
        yield inner


def _of_question(run: Run, row: Row) -> Attributes:
    scores = {f"ragmeter.{name}": row[name] for name in run.metrics()}
    references = row.get("reference")
    return {
        "openinference.span.kind": "CHAIN",
        **_texts("input", row.get("question")),
        **_texts("output", row.get("answer")),
        "session.id": row.get("session_id"),
        "ragmeter.qid": row[QID],
        "ragmeter.reference": dumps(references) if references else None,
        **scores,
    }


def _texts(side: str, text: str | None) -> Attributes:
    return {} if text is None else {f"{side}.value": text, f"{side}.mime_type": "text/plain"}


def _documents(row: Row) -> Attributes | None:
    """What was retrieved, as attributes; None if the run does not say."""
    ids, texts = row.get("retrieved"), row.get("contexts")
    if ids is None and texts is None:
        return None
    parts = {"id": ids or [], "content": texts or [], "score": own_scores(row)}
    if ids is not None and texts is not None and len(ids) != len(texts):
        parts["content"] = []  # which text belongs to which id is not known
    return {
        f"retrieval.documents.{place}.document.{name}": value
        for name, values in parts.items()
        for place, value in enumerate(values)
    }


def _attributes(values: Attributes) -> list[dict[str, object]]:
    """Attributes as OTLP writes them; what is missing is left out."""
    return [
        {"key": name, "value": {"doubleValue": value} if isinstance(value, int | float) else {"stringValue": value}}
        for name, value in values.items()
        if value is not None and value == value
    ]
