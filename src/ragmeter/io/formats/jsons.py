"""JSON and JSON Lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO

from ragmeter.errors import InputError
from ragmeter.io.batches import batches_of_records, numbered
from ragmeter.io.decoding import JsonObject, check_values, decode
from ragmeter.io.delimited.blocks import TooLongError, blocks_of_lines, decoded
from ragmeter.io.limits import Limit
from ragmeter.io.tools.documents import ROW_KEYS, rows_in
from ragmeter.io.tools.spans.otlp import SPANS, spans_of_text
from ragmeter.table import Batch, Row

_HAS_SPANS = re.compile(rf'\s*\{{\s*"{SPANS}"\s*:').match
_AS_LINES = "JSON Lines (one object per line, .jsonl) may be of any size"


def read_lines(stream: BinaryIO, encoding: str, *, name: str, limit: Limit = Limit()) -> Iterator[Batch]:  # noqa: B008 - frozen
    """One object per line; blank lines are skipped. A line of OpenTelemetry's has several spans."""
    yield from batches_of_records(_records(stream, encoding, name, limit), name)


def _records(stream: BinaryIO, encoding: str, name: str, limit: Limit) -> Iterator[tuple[int, int, Row]]:
    number = 1
    try:
        for block in blocks_of_lines(decoded(stream, encoding), limit):
            if block.isspace():
                number += block.count("\n")
                continue
            for line in block.removesuffix("\n").split("\n"):
                if line and not line.isspace():
                    check_values(line, name, number)
                    for record in _objects(line, name, number):
                        yield number, len(line), record
                number += 1
    except TooLongError:
        raise limit.error("this line", name, number) from None


def _objects(line: str, name: str, number: int) -> Sequence[JsonObject]:
    """The object in a line; the spans, if that is one of OpenTelemetry's."""
    if _HAS_SPANS(line) is None:
        return (_object(decode(line, name, number), name, number),)
    try:
        return spans_of_text(line)
    except ValueError:
        decode(line, name, number)  # what is no JSON has an error of its own
        reason = "this begins like OpenTelemetry's spans, and a part of it has another form"
        raise InputError(reason, file=name, line=number) from None


def read_document(
    stream: BinaryIO,
    encoding: str,
    *,
    name: str,
    limit: Limit = Limit(),  # noqa: B008 - frozen
    split: str | None = None,
    say: Callable[[str], None] = lambda note: None,
) -> Iterator[Batch]:
    """One document: a list of objects, an object with such a list or with a list for each column, or an object that is
    the only row. `split` names one of several lists of rows, `say` takes a line about a form that could be otherwise.
    """
    text = _text(stream, encoding, name, limit)
    check_values(text, name)
    document = decode(text, name)
    del text
    if isinstance(document, dict):
        try:
            document = rows_in(document, name, split, say)
        except (AttributeError, KeyError, TypeError, ValueError):
            reason = "this begins like a file of SQuAD or OpenTelemetry, and a part of it has another form"
            raise InputError(reason, file=name) from None
    if not isinstance(document, list):
        raise InputError(
            f"a list of objects is expected, got {_kind(document)}",
            file=name,
            hint=f"an object may hold the list under {', '.join(ROW_KEYS)}",
        )
    rows = (_object(row, name, number) for number, row in enumerate(document, 1))
    yield from batches_of_records(numbered(rows), name)


def _text(stream: BinaryIO, encoding: str, name: str, limit: Limit) -> str:
    pieces: list[str] = []
    size = 0
    for piece in decoded(stream, encoding):
        pieces.append(piece)
        size += len(piece)
        if size > limit.size:
            line = 1 + sum(piece.count("\n") for piece in pieces)
            raise limit.error("the document, of which this line is a part,", name, line, _AS_LINES)
    return "".join(pieces)


def _object(value: Any, name: str, line: int) -> JsonObject:
    if not isinstance(value, dict):
        raise InputError(f"each row must be an object, got {_kind(value)}", file=name, line=line)
    return value


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")
