"""CSV and TSV, read strictly: a row that does not fit the header is an error with its line."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterator
from itertools import accumulate, chain, islice
from typing import Any, BinaryIO, TextIO

from ragmeter.errors import InputError
from ragmeter.hints import by_caller, option
from ragmeter.io import quick
from ragmeter.io.batches import CHARACTERS, ROWS
from ragmeter.table import Batch

csv.field_size_limit(min(sys.maxsize, 2**31 - 1))  # the default of 128 KiB is less than one retrieved context

_BREAK = re.compile(r"\r\n|\r|\n")


def read(stream: BinaryIO, encoding: str, *, name: str, delimiter: str, quotes: bool) -> Iterator[Batch]:
    """Batches of a delimited file with a header. `quotes`: cells may be in double quotes, as in RFC 4180."""
    rest = quick.Rest()
    if quotes and encoding == "utf-8-sig" and delimiter.isascii():
        for columns, lines in quick.read(stream, delimiter, rest):
            header = _header(rest.header or [], name, delimiter)
            yield Batch(dict(zip(header, columns, strict=True)), lines, plain=True)
    buffered = io.BufferedReader(_Continued(rest.pending, stream), 1 << 20)
    if rest.header is not None:
        encoding = "utf-8"  # after the beginning, a BOM is text
    text = io.TextIOWrapper(buffered, encoding=encoding, newline="")
    yield from _read_strictly(text, name, delimiter, quotes, rest.header, rest.line - 1)


def _read_strictly(
    text: TextIO, name: str, delimiter: str, quotes: bool, header: list[str] | None, lines_before: int
) -> Iterator[Batch]:
    reader = csv.reader(text, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE, strict=True)
    rows: list[list[str]] = []
    line, step = lines_before + 1, 64
    try:
        header = _header(header or next(filter(None, reader), []), name, delimiter)
        while True:
            rows, line = [], lines_before + reader.line_num + 1
            rows.extend(islice(reader, step))  # what was read before an error stays in the list
            if not rows:
                return
            yield _batch(header, rows, _lines(rows, line), name)
            size = sum(map(len, chain.from_iterable(rows)))
            step = max(1, min(ROWS, 64 * len(rows), len(rows) * CHARACTERS // (size + 1)))
    except csv.Error as error:
        raise _malformed(str(error), name, _lines(rows, line)[-1], delimiter) from None


class _Continued(io.RawIOBase):
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


def _lines(rows: list[list[str]], first: int) -> list[int]:
    """The line on which each row begins, and the line after the last row: a cell may contain line breaks."""
    breaks = [sum(len(_BREAK.findall(cell)) for cell in row if "\n" in cell or "\r" in cell) for row in rows]
    return list(accumulate((1 + count for count in breaks), initial=first))


def _complete(
    rows: list[list[str]], lines: list[int], header: list[str], name: str
) -> tuple[list[list[str]], list[int]]:
    """The rows without blank lines; any other row of the wrong length is an error."""
    complete, places = [], []
    for row, line in zip(rows, lines[:-1], strict=True):
        if row and len(row) != len(header):
            raise _ragged(row, header, name, line)
        if row:
            complete.append(row)
            places.append(line)
    return complete, [*places, lines[-1]]


def _header(row: list[str], name: str, delimiter: str) -> list[str]:
    if len(row) == 1:
        other = next((mark for mark in ";\t,|" if mark != delimiter and mark in row[0]), None)
        if other is not None:
            shown = "TAB" if other == "\t" else repr(other)
            raise InputError(
                f"the header is one cell, {row[0][:60]!r}: the columns seem to be separated by {other!r}",
                file=name,
                line=1,
                hint=f"add {by_caller(f'--delimiter {shown}', f'delimiter={other!r}')}",
            )
    names = [cell.strip() or f"unnamed_{place}" for place, cell in enumerate(row, 1)]
    if any("\0" in cell for cell in row):
        raise InputError("a NUL byte in the header", file=name, line=1)
    duplicates = sorted({title for title in names if names.count(title) > 1})
    if duplicates:
        raise InputError(f"the header has {', '.join(map(repr, duplicates))} more than once", file=name, line=1)
    return names


def _batch(header: list[str], rows: list[list[str]], lines: list[int], name: str) -> Batch:
    if set(map(len, rows)) != {len(header)}:
        rows, lines = _complete(rows, lines, header, name)
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in header]
    for title, column in zip(header, columns, strict=True):
        if "\0" in "".join(column):
            line = next(line for line, cell in zip(lines, column, strict=False) if "\0" in cell)
            raise InputError(
                f"a NUL byte in column {title!r}",
                file=name,
                line=line,
                hint=f"the file may be damaged, or UTF-16: then add {option('encoding', 'utf-16')}",
            )
    return Batch(dict(zip(header, columns, strict=True)), lines[: len(rows)])


def _ragged(row: list[str], header: list[str], name: str, line: int) -> InputError:
    return InputError(
        f"{len(row)} cells where the header has {len(header)}",
        file=name,
        line=line,
        hint="a cell that contains the separator or a line break must be in double quotes",
    )


def _malformed(message: str, name: str, line: int, delimiter: str) -> InputError:
    hint = 'write a quote inside a quoted cell twice (""); if quotes have no meaning in this file, add ' + by_caller(
        "--no-quotes", "quotes=False"
    )
    if "unexpected end of data" in message:
        return InputError("a quote that opens in this row is never closed", file=name, line=line, hint=hint)
    if "expected after" in message:
        separator = "tab" if delimiter == "\t" else "comma"
        return InputError(f"a {separator} is expected after a closing quote", file=name, line=line, hint=hint)
    return InputError(message, file=name, line=line, hint=hint)
