"""Text in blocks of whole lines. No block is larger than the limit of a row, however long a line is."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from typing import Any, BinaryIO

from ragmeter.io.limits import Limit

#: Bytes to decode at a time.
_BLOCK = 1 << 20


class TooLongError(Exception):
    """The line after those that were yielded is longer than the limit."""


def decoded(stream: BinaryIO, encoding: str) -> Iterator[str]:
    """The text of a stream, piece by piece."""
    decoder = codecs.getincrementaldecoder(encoding)()
    while data := stream.read(_BLOCK):
        if text := decoder.decode(data):
            yield text
    if text := decoder.decode(b"", True):
        yield text


def blocks_of_lines(pieces: Iterator[str], limit: Limit, *, returns: bool = False) -> Iterator[str]:
    """The text in blocks of whole lines, cut after line breaks. The last line may lack its break.

    With `returns`, a carriage return alone ends a line too.
    """
    begun: list[str] = []
    size = 0
    for piece in pieces:
        end = piece.rfind("\n") + 1
        if returns and not end:
            end = piece.rfind("\r", 0, -1) + 1  # the last character may be half of CR LF
        if not end:
            begun.append(piece)
            size += len(piece)
            if size > limit.size:
                raise TooLongError
            continue
        yield "".join([*begun, piece[:end]])
        begun, size = [piece[end:]], len(piece) - end
    if rest := "".join(begun):
        yield rest


class Continued(io.RawIOBase):
    """A stream with some bytes put back at its beginning."""

    def __init__(self, before: bytes, stream: BinaryIO) -> None:
        self._before = memoryview(before)
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = len(buffer)
        data, self._before = self._before[:size], self._before[size:]
        data = data if len(data) else memoryview(self._stream.read(size))
        buffer[: len(data)] = data
        return len(data)
