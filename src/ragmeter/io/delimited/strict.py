"""CSV and TSV, read strictly: a row that does not fit the header is an error with its line."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterator
from typing import BinaryIO, cast

from ragmeter.errors import InputError
from ragmeter.hints import by_caller, option
from ragmeter.io.batches import CHARACTERS, ROWS, check_columns, repeated
from ragmeter.io.delimited import quick
from ragmeter.io.delimited.blocks import Continued, TooLongError, blocks_of_lines, decoded
from ragmeter.io.limits import Limit
from ragmeter.table import Batch

csv.field_size_limit(min(sys.maxsize, 2**31 - 1))  # the default of 128 KiB is less than one retrieved context

_LINE = re.compile(r"[^\r\n]*+(?:\r\n|\r|\n)|[^\r\n]++")


def read(
    stream: BinaryIO,
    encoding: str,
    *,
    name: str,
    delimiter: str,
    quotes: bool,
    limit: Limit = Limit(),  # noqa: B008 - frozen
) -> Iterator[Batch]:
    """Batches of a delimited file with a header. `quotes`: cells may be in double quotes, as in RFC 4180."""
    rest = quick.Rest()
    header: list[str] = []
    if quotes and encoding == "utf-8-sig" and delimiter.isascii():
        for columns, lines in quick.read(stream, delimiter, rest, limit.size):
            header = header or _header(rest.header or [], name, delimiter)
            yield Batch(dict(zip(header, columns, strict=True)), lines)
    buffered = io.BufferedReader(Continued(rest.pending, stream), 1 << 20)
    if rest.header is not None:
        encoding = "utf-8"  # after the beginning, a BOM is text
        header = header or _header(rest.header, name, delimiter)
    rest.pending = b""
    lines_left = _Lines(decoded(cast(BinaryIO, buffered), encoding), limit, rest.line - 1)
    yield from _read_strictly(lines_left, name, delimiter, quotes, header)


def _read_strictly(lines: _Lines, name: str, delimiter: str, quotes: bool, header: list[str]) -> Iterator[Batch]:
    reader = csv.reader(
        iter(lines), delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE, strict=True
    )
    rows: list[list[str]] = []
    places: list[int] = []
    try:
        for row in reader:
            begin = lines.finish_row()
            if not row:
                continue  # a blank line
            if not header:
                header = _header(row, name, delimiter)
                continue
            if len(row) != len(header):
                raise _ragged(row, header, name, begin)
            rows.append(row)
            places.append(begin)
            if len(rows) == ROWS or lines.size > CHARACTERS:
                yield _batch(header, rows, places, name)
                rows, places, lines.size = [], [], 0
    except csv.Error as error:
        raise _malformed(str(error), name, lines.begin, delimiter) from None
    except TooLongError:
        hint = "a quote that is never closed may take in the rest of the file"
        raise lines.limit.error("the row that begins here", name, lines.begin, hint) from None
    if rows:
        yield _batch(header, rows, places, name)


class _Lines:
    """The lines of a text for the csv module, and where the row begins that they are parts of.

    Blank lines between rows are skipped a block at a time: a small compressed file may contain a billion of them.
    """

    def __init__(self, pieces: Iterator[str], limit: Limit, line: int = 0) -> None:
        self.limit = limit
        self.line = line  # of the last line that was given
        self.begin = line + 1
        self.size = 0  # characters since somebody set it to 0
        self._pieces = pieces
        self._row = 0  # characters of the row so far
        self._between_rows = True

    def finish_row(self) -> int:
        """The line in which the row began that is now complete."""
        begin, self.begin = self.begin, self.line + 1
        self.size += self._row
        self._row = 0
        self._between_rows = True
        return begin

    def __iter__(self) -> Iterator[str]:
        for block in blocks_of_lines(self._pieces, self.limit, returns=True):
            if self._between_rows and not block.strip("\r\n"):
                self.line += block.count("\n") + block.count("\r") - block.count("\r\n")
                self.begin = self.line + 1
                continue
            for line in _split(block):
                self.line += 1
                if self._between_rows:
                    self.begin = self.line
                    self._between_rows = False
                self._row += len(line)
                if self._row > self.limit.size:
                    raise TooLongError
                yield line


def _split(block: str) -> list[str]:
    """The lines of a block, with their line breaks."""
    if block.count("\r") != block.count("\r\n"):
        return _LINE.findall(block)
    lines = [f"{line}\n" for line in block.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _header(row: list[str], name: str, delimiter: str) -> list[str]:
    check_columns(len(row), name, 1)
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
    duplicates = repeated(names)
    if duplicates:
        raise InputError(f"the header has {', '.join(map(repr, duplicates))} more than once", file=name, line=1)
    return names


def _batch(header: list[str], rows: list[list[str]], lines: list[int], name: str) -> Batch:
    columns = [list(column) for column in zip(*rows, strict=True)]
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
