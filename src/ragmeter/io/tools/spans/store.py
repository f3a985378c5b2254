"""Spans by their traces, in bounded memory: beyond some size they are in a temporary file that has no name.

The spans of a trace need not be together in a file: its last one may be the last line.
"""

from __future__ import annotations

import weakref
from array import array
from collections.abc import Iterable, Iterator
from tempfile import SpooledTemporaryFile
from typing import Any, Generic, TypeVar

import msgspec

from ragmeter.io.tools.spans.span import Span, read_span, without_half_characters
from ragmeter.table import NewRow, Row

#: So many bytes are held in memory.
_IN_MEMORY = 64 << 20
_Record = TypeVar("_Record")


class Lines(Generic[_Record]):
    """Records in a temporary file, one in each line."""

    def __init__(self, kind: Any) -> None:
        self._file = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - it lives as long as this object
        weakref.finalize(self, self._file.close)
        self._encode = msgspec.json.Encoder(enc_hook=str).encode
        self._decode = msgspec.json.Decoder(kind).decode
        self._end = 0

    def add(self, record: _Record) -> int:
        """Add a record; its place."""
        line = self._encode(record) + b"\n"
        self._file.write(line)
        place, self._end = self._end, self._end + len(line)
        return place

    def at(self, place: int) -> _Record:
        """The record at a place."""
        self._file.seek(place)
        record: _Record = self._decode(self._file.readline())
        return record

    def __iter__(self) -> Iterator[_Record]:
        place = 0
        while place < self._end:
            self._file.seek(place)
            line = self._file.readline()
            yield self._decode(line)
            place += len(line)


class SpanStore:
    """Spans, by the ids of their traces."""

    def __init__(self) -> None:
        self._lines: Lines[Span] = Lines(Span)
        self._places: dict[str, array[int]] = {}

    def add(self, row: Row) -> None:
        """Add the span that a row of a file is."""
        trace, span = read_span(row)
        try:
            place = self._lines.add(span)
        except UnicodeEncodeError:
            trace, span = read_span(without_half_characters(row))
            place = self._lines.add(span)
        places = self._places.get(trace)
        if places is None:
            places = self._places[trace] = array("q")
        places.append(place)

    def traces(self) -> Iterator[tuple[str, list[Span]]]:
        """The spans of each trace, in the order of the traces' first spans; those of a trace as they were added."""
        for trace, places in self._places.items():
            yield trace, [self._lines.at(place) for place in places]


def kept_rows(rows: Iterable[NewRow]) -> Lines[NewRow]:
    """Rows for several passes."""
    lines: Lines[NewRow] = Lines(dict)
    for row in rows:
        lines.add(row)
    return lines
