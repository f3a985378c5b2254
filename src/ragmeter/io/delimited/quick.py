"""A fast CSV and TSV reader over arrays, for the plain case: UTF-8, RFC 4180 quoting, every row complete.

It raises no errors. At the first unusual piece of a file it stops and leaves the rest to the strict reader, which does.
A test checks that the two agree on what it reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ragmeter.io.batches import MAX_COLUMNS
from ragmeter.table import TextColumn

#: Bytes to read at a time: some ten thousand short rows, or some thousand long ones.
_PIECE = 3 << 20
#: The longest row.
_LONGEST = 16 << 20
_NEWLINE, _RETURN, _QUOTE = 10, 13, 34
_BOM = b"\xef\xbb\xbf"

Places = npt.NDArray[np.int64]


@dataclass
class Rest:
    """What the quick reader left: bytes that it took from the stream and did not parse, and the line they begin on."""

    pending: bytes = b""
    line: int = 1
    header: list[str] | None = None


def read(
    stream: BinaryIO, delimiter: str, rest: Rest, longest: int = _LONGEST
) -> Iterator[tuple[list[TextColumn], Sequence[int]]]:
    """Columns and the lines of their rows, as long as the file is plain. Afterwards `rest` has what is left.

    A row of more than `longest` bytes, or of more than some megabytes, is left to the strict reader: arrays of places
    take many times the size of the text.
    """
    size = _PIECE
    while True:
        piece = stream.read(size)
        at_end = len(piece) < size
        if piece.endswith(b"\r"):
            piece += stream.read(1)
        data = rest.pending + piece
        if rest.line == 1 and rest.header is None:
            data = data.removeprefix(_BOM)
        if at_end and data and not data.endswith(b"\n"):
            data += b"\r\n" if b"\r\n" in data else b"\n"
        rest.pending = data
        if not data:
            return
        table = _split(data, ord(delimiter), len(rest.header) if rest.header else None)
        if table is None or table.longest_row() > longest or table.width > MAX_COLUMNS:
            return
        if table.end == 0 and at_end:
            return
        if table.end == 0:
            if len(data) > min(longest, _LONGEST):
                return
            size *= 2  # a row longer than the piece
            continue
        size = _PIECE
        columns, lines = table.columns(), table.lines(rest.line)
        rest.pending = data[table.end :]
        rest.line += table.breaks
        if rest.header is None:
            rest.header = [column[0] for column in columns]
            columns, lines = [column[1:] for column in columns], lines[1:]
        if len(lines):
            yield columns, lines
        if at_end:
            return


@dataclass
class _Table:
    """The complete rows in some bytes: where their cells end, and where the last row ends.

    `marks` are the bytes that belong to no cell, besides the separators: quotes around cells and one of each two inside
    them, and the carriage returns before the line breaks that end a row.
    """

    data: bytes
    separators: Places
    marks: Places
    line_breaks: Places
    width: int
    end: int

    @property
    def breaks(self) -> int:
        return len(self.line_breaks)

    def longest_row(self) -> int:
        """The length of the longest row, in bytes."""
        ends = self.separators[self.width - 1 :: self.width]
        return int(np.diff(ends, prepend=-1).max(initial=0))

    def columns(self) -> list[TextColumn]:
        is_text = np.ones(self.end, bool)
        is_text[self.separators] = is_text[self.marks] = False
        letters = np.frombuffer(self.data, np.uint8, self.end)[is_text]
        ends = self.separators - np.arange(len(self.separators)) - np.searchsorted(self.marks, self.separators)
        bounds = pa.py_buffer(np.append(0, ends))
        cells = pa.LargeStringArray.from_buffers(len(ends), bounds, pa.py_buffer(letters))
        try:
            cells.validate(full=True)
        except pa.ArrowInvalid:
            self.data[: self.end].decode()  # raises an error that says where
            raise
        places = np.arange(0, len(ends), self.width)
        return [TextColumn(cells.take(pa.array(places + place))) for place in range(self.width)]

    def lines(self, first: int) -> Sequence[int]:
        ends = self.separators[self.width - 1 :: self.width]
        if len(ends) == self.breaks:
            return range(first, first + len(ends))
        begins = np.concatenate([[0], ends[:-1] + 1])
        lines: list[int] = (np.searchsorted(self.line_breaks, begins) + first).tolist()
        return lines


def _split(data: bytes, delimiter: int, width: int | None) -> _Table | None:
    """The rows that are complete in these bytes, or None if something about them is unusual."""
    if b"\0" in data:
        return None
    raw = np.frombuffer(data, np.uint8)
    line_breaks = np.flatnonzero(raw == _NEWLINE)
    separators = np.flatnonzero((raw == delimiter) | (raw == _NEWLINE))
    quotes = np.flatnonzero(raw == _QUOTE)
    marks = quotes
    if len(quotes):
        separators = separators[np.searchsorted(quotes, separators) % 2 == 0]
        outer = _marks(raw, quotes, delimiter)
        if outer is None:
            return None
        marks = outer
    ends_row = raw[separators] == _NEWLINE
    rows = int(ends_row.sum())
    if rows == 0:
        nothing = np.empty(0, np.int64)
        return _Table(data, nothing, nothing, nothing, width or 1, 0)
    end = int(separators[ends_row][-1]) + 1
    separators = separators[: np.searchsorted(separators, end)]
    ends_row = ends_row[: len(separators)]
    width = width or int(np.argmax(ends_row)) + 1
    if len(separators) != rows * width or not ends_row[width - 1 :: width].all() or rows != ends_row.sum():
        return None
    returns = np.flatnonzero(raw[:end] == _RETURN)
    if len(returns) and not np.array_equal(returns, separators[width - 1 :: width] - 1):
        return None
    if width == 1 and bool((np.diff(separators, prepend=-1) <= 1 + bool(len(returns))).any()):
        return None  # a blank line: with one column it could be an empty cell
    marks = marks[: np.searchsorted(marks, end)]
    if len(returns):
        marks = np.sort(np.concatenate([marks, returns]))
    line_breaks = line_breaks[: np.searchsorted(line_breaks, end)]
    return _Table(data, separators, marks, line_breaks, width, end)


def _marks(raw: npt.NDArray[np.uint8], quotes: Places, delimiter: int) -> Places | None:
    """The quotes that belong to no text, if every quote opens a cell, closes one, or is half of a doubled one."""
    opening, closing = quotes[::2], quotes[1::2]
    before = np.where(opening > 0, raw[opening - 1], _NEWLINE)
    begins = (before == delimiter) | (before == _NEWLINE)
    doubled = np.zeros(len(opening), dtype=bool)
    doubled[1:] = opening[1:] == closing[: len(opening) - 1] + 1
    if not (begins | doubled).all():
        return None
    after = raw[np.minimum(closing + 1, len(raw) - 1)]
    ends = (after == delimiter) | (after == _NEWLINE) | (after == _RETURN) | (closing + 1 == len(raw))
    ends[: len(opening) - 1] |= doubled[1:]
    if not ends.all():
        return None
    belongs = np.zeros(len(quotes), bool)
    belongs[::2] = doubled  # of two quotes inside a cell, the second
    return quotes[~belongs]
