"""Some lines of a large text file, so that several workers can read one file."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from ragmeter.io.locations import Location

_BLOCK = 1 << 16


@dataclass(frozen=True)
class Span:
    """The lines of a text file that begin in a range of its bytes. With `header`, the first line comes before them."""

    begin: int
    end: int
    header: bool = False


def open_span(path: Location, span: Span) -> BinaryIO:
    """These lines as a stream. Ranges that cover a file without overlap have each of its lines once."""
    file = path.open("rb")
    first = next_line(file, 1) if span.header else 0
    begin = max(next_line(file, span.begin), first)
    end = max(next_line(file, span.end), begin)
    return cast(BinaryIO, io.BufferedReader(_Ranges(file, [(0, first), (begin, end)]), 1 << 20))


def next_line(file: BinaryIO, place: int) -> int:
    """Where the first line begins that begins at this place or after it; the end of the file if none does."""
    if place <= 0:
        return 0
    at = place - 1
    file.seek(at)
    while block := file.read(_BLOCK):
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
