"""Some lines of a large text file, so that several workers can read one file."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from ragmeter.io.locations import Location

#: Bytes to read at a time, and those that a header may have.
HEAD = 1 << 16
BOM = b"\xef\xbb\xbf"
_MARKS = re.compile(rb'"|\n|\r(?!\n)')


@dataclass(frozen=True)
class Span:
    """The lines of a text file that begin in a range of its bytes. The first `header` bytes of it come before them.

    With a `delimiter`, line breaks may be in quoted cells, and nobody has looked yet where rows begin.
    """

    begin: int
    end: int
    header: int = 0
    delimiter: str = ""


def open_span(path: Location, span: Span) -> BinaryIO:
    """The lines of a range as a stream. Ranges that cover a file without overlap have each of its lines once."""
    file = path.open("rb")
    begin = max(next_line(file, span.begin), span.header)
    end = max(next_line(file, span.end), begin)
    return cast(BinaryIO, io.BufferedReader(_Ranges(file, [(0, span.header), (begin, end)]), 1 << 20))


def header_end(head: bytes, *, quotes: bool) -> int | None:
    """Where the first row ends that is not blank; None if that can't be told from the beginning of a file."""
    begin = len(BOM) if head.startswith(BOM) else 0
    is_open = False
    for match in _MARKS.finditer(head, begin):
        if match[0] == b'"':
            is_open ^= quotes
        elif not is_open and match[0] == b"\r":
            return None  # a line break without a line feed
        elif not is_open and head[begin : match.end()].strip(b"\r\n"):
            return match.end()
        elif not is_open:
            begin = match.end()
    return None


def next_line(file: BinaryIO, place: int) -> int:
    """Where the first line begins that begins at this place or after it; the end of the file if none does."""
    if place <= 0:
        return 0
    at = place - 1
    file.seek(at)
    while block := file.read(HEAD):
        if (line_break := block.find(b"\n")) >= 0:
            return at + line_break + 1
        at += len(block)
    return at


class _Ranges(io.RawIOBase):
    """Some ranges of a file, one after the other, as a stream of their own."""

    def __init__(self, file: BinaryIO, ranges: list[tuple[int, int]]) -> None:
        self._file = file
        self._ranges = ranges
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        if whence == 2:
            offset += sum(end - begin for begin, end in self._ranges)
        self._place = offset + (self._place if whence == 1 else 0)
        return self._place

    def readinto(self, buffer: Any) -> int:
        place = self._place
        for begin, end in self._ranges:
            if place < end - begin:
                self._file.seek(begin + place)
                data = self._file.read(min(len(buffer), end - begin - place))
                buffer[: len(data)] = data
                self._place += len(data)
                return len(data)
            place -= end - begin
        return 0

    def close(self) -> None:
        self._file.close()
        super().close()
