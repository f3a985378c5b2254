"""JSON and JSON Lines."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, NoReturn, TextIO

from ragmeter.errors import InputError
from ragmeter.io.batches import batches_of_records
from ragmeter.table import Batch

#: Keys of an object that may have its rows.
_ROW_KEYS = ("results", "rows", "data", "records")


def read_lines(stream: BinaryIO, encoding: str, *, name: str) -> Iterator[Batch]:
    """One object per line; blank lines are skipped."""
    with io.TextIOWrapper(stream, encoding, newline="\n") as text:
        yield from batches_of_records(_records(text, name))


class _ConstantError(Exception):
    """A number that JSON does not have: NaN, Infinity."""


def _refuse(constant: str) -> NoReturn:
    raise _ConstantError(constant)


#: Shared by all lines: `json.loads` would make a new one for each.
_DECODER = json.JSONDecoder(parse_constant=_refuse)


def _records(text: TextIO, name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(text, 1):
        if not line.isspace():
            yield number, _object(_parse(line, name, number), name, number)


def read_document(stream: BinaryIO, encoding: str, *, name: str) -> Iterator[Batch]:
    """One document: a list of objects, an object with such a list under `results`, `rows`, `data` or `records`, or an
    object that is the only row.
    """
    with io.TextIOWrapper(stream, encoding) as text:
        document = _parse(text.read(), name, None)
    if isinstance(document, dict):
        document = next((document[key] for key in _ROW_KEYS if _holds_rows(document.get(key))), [document])
    if not isinstance(document, list):
        raise InputError(
            f"a list of objects is expected, got {_kind(document)}",
            file=name,
            hint=f"an object may hold the list under {', '.join(_ROW_KEYS)}",
        )
    yield from batches_of_records((number, _object(row, name, number)) for number, row in enumerate(document, 1))


def _parse(text: str, name: str, line: int | None) -> Any:
    try:
        return _DECODER.decode(text)
    except _ConstantError as error:
        raise InputError(f"{error} is not JSON", file=name, line=line, hint="write null for a missing value") from None
    except json.JSONDecodeError as error:
        rest = f", found {text[error.pos : error.pos + 20]!r}" if error.pos < len(text) else ", the text ends there"
        where = line if line is not None else error.lineno
        raise InputError(
            f"this is not JSON: {error.msg} at column {error.colno}{rest}", file=name, line=where
        ) from None
    except RecursionError:
        raise InputError("the JSON is nested too deeply", file=name, line=line) from None
    except ValueError as error:  # a number with thousands of digits
        raise InputError(f"this JSON can't be read: {error}", file=name, line=line) from None


def _object(value: Any, name: str, line: int) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"each row must be an object, got {_kind(value)}", file=name, line=line)
    return value


def _holds_rows(value: Any) -> bool:
    """Whether this is a list of rows: any of its items is an object. A list of texts or numbers is a cell.

    Among rows, an item that is not an object is an error.
    """
    return isinstance(value, list) and (not value or any(isinstance(row, dict) for row in value))


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")
