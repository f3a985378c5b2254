"""OpenTelemetry's JSON (OTLP) as typed documents: spans in scopes in resources, attributes as lists of typed values."""

from __future__ import annotations

from typing import Any

import msgspec

from ragmeter.io.decoding import MAX_DEPTH, JsonObject
from ragmeter.table import NewRow

#: The key under which a document, or a line, has its spans.
SPANS = "resourceSpans"
_FAILED = (2, "STATUS_CODE_ERROR")


class _Value(msgspec.Struct, rename="camel"):
    """A value is in the member that is named after its type. Whole numbers are written as texts."""

    string_value: str | None = None
    int_value: int | str | None = None
    double_value: float | str | None = None
    bool_value: bool | None = None
    array_value: _Values | None = None
    kvlist_value: _Attributes | None = None
    bytes_value: str | None = None

    def plain(self, depth: int = 0) -> Any:
        if self.string_value is not None:
            return self.string_value
        if self.int_value is not None:
            return int(self.int_value)
        if depth > MAX_DEPTH:
            raise ValueError("values are nested too deeply")
        if self.array_value is not None:
            return [value.plain(depth + 1) for value in self.array_value.values]
        if self.kvlist_value is not None:
            return _plain(self.kvlist_value.values, depth + 1)
        return next((value for value in (self.double_value, self.bool_value) if value is not None), self.bytes_value)


class _Values(msgspec.Struct):
    values: list[_Value] = []


class _Attribute(msgspec.Struct):
    key: str
    value: _Value = msgspec.field(default_factory=_Value)


class _Attributes(msgspec.Struct):
    values: list[_Attribute] = []


class _Status(msgspec.Struct):
    code: int | str | None = None
    message: str | None = None


class _Event(msgspec.Struct):
    name: str = ""
    attributes: list[_Attribute] = []


class _Span(msgspec.Struct, rename="camel"):
    trace_id: str | None = None
    span_id: str | None = None
    parent_span_id: str | None = None
    name: str = ""
    attributes: list[_Attribute] = []
    start_time_unix_nano: int | str = 0
    end_time_unix_nano: int | str = 0
    status: _Status = msgspec.field(default_factory=_Status)
    events: list[_Event] = []

    def row(self) -> NewRow:
        return {
            "trace_id": self.trace_id,
            "span_id": self.span_id,
            "parent_id": self.parent_span_id,
            "name": self.name,
            "attributes": _plain(self.attributes),
            "start_time": int(self.start_time_unix_nano),
            "end_time": int(self.end_time_unix_nano),
            "status_code": "ERROR" if self.status.code in _FAILED else "OK",
            "status_message": self.status.message,
            "events": [{"name": event.name, "attributes": _plain(event.attributes)} for event in self.events],
        }


class _Scope(msgspec.Struct):
    spans: list[_Span] = []


class _Resource(msgspec.Struct, rename="camel"):
    scope_spans: list[_Scope] = []


class _Document(msgspec.Struct, rename="camel"):
    resource_spans: list[_Resource] = []


_decoder = msgspec.json.Decoder(_Document)


def spans_of_text(text: str) -> list[NewRow]:
    """The spans of a document, or of a line; ValueError if a part of it has another form."""
    try:
        return _rows(_decoder.decode(text))
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(str(error)) from None


def spans_in(document: JsonObject) -> list[NewRow]:
    """The spans of a document that is read already; ValueError if a part of it has another form."""
    try:
        return _rows(msgspec.convert(document, _Document))
    except msgspec.MsgspecError as error:
        raise ValueError(str(error)) from None


def _rows(document: _Document) -> list[NewRow]:
    scopes = (scope for resource in document.resource_spans for scope in resource.scope_spans)
    return [span.row() for scope in scopes for span in scope.spans]


def _plain(attributes: list[_Attribute], depth: int = 0) -> JsonObject:
    return {attribute.key: attribute.value.plain(depth) for attribute in attributes}
