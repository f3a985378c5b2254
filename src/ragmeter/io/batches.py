"""The size of a batch, and batches made from dicts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TypedDict

from ragmeter.errors import InputError
from ragmeter.table import Batch, Row

#: The most rows, characters and cells of a batch: large enough to be fast, small enough for constant memory.
ROWS = 16_384
CHARACTERS = 16_000_000
_CELLS = 4_000_000
#: The most columns of a table, as in a spreadsheet. Rows that each have a key of their own would fill any memory.
MAX_COLUMNS = 16_384
#: Names of data whose rows are no lines; data in memory has a name without an ending.
_NO_LINES = re.compile(r"\.(json|parquet|xls[xm])(\.(gz|zst|zstd))?$|^[^./\\]+$", re.IGNORECASE)


def batches_of_records(records: Iterable[tuple[int, int, Row]], name: str) -> Iterator[Batch]:
    """Batches of rows given as (line, characters, dict). A key that a row lacks is a missing cell."""
    rows: list[Row] = []
    lines: list[int] = []
    total = 0
    for line, size, record in records:
        rows.append(record)
        lines.append(line)
        total += size
        if len(rows) == ROWS or total > CHARACTERS:
            yield from _columns(rows, lines, name)
            rows, lines, total = [], [], 0
    if rows:
        yield from _columns(rows, lines, name)


def numbered(records: Iterable[Row]) -> Iterator[tuple[int, int, Row]]:
    """Rows that are in memory already, each with its number and the size of its texts."""
    for number, record in enumerate(records, 1):
        yield number, sum(len(value) for value in record.values() if isinstance(value, str)), record


class RowPlace(TypedDict, total=False):
    """Where a row is, as the keywords of an error: `line` or `row`, whichever its file has."""

    file: str
    line: int
    row: int


def row_place(file: str, number: int) -> RowPlace:
    """Where a row is, for an error: its line, or its number in JSON documents, Parquet files and memory."""
    return {"file": file, "row": number} if _NO_LINES.search(file) else {"file": file, "line": number}


def _columns(rows: list[Row], lines: list[int], name: str) -> Iterator[Batch]:
    """The rows as columns, in several batches if the rows have few keys in common."""
    titles = dict.fromkeys(title for row in rows for title in row)
    check_columns(len(titles), name)
    step = max(1, _CELLS // max(1, len(titles)))
    for begin in range(0, len(rows), step):
        part = rows[begin : begin + step]
        yield Batch({title: [row.get(title) for row in part] for title in titles}, lines[begin : begin + step])


def check_columns(count: int, name: str, line: int | None = None) -> None:
    """Refuse a table with too many columns."""
    if count > MAX_COLUMNS:
        raise InputError(
            f"more than {MAX_COLUMNS:,} columns, {count:,} so far",
            file=name,
            line=line,
            hint="each key of an object is a column, and each cell of the header",
        )


def repeated(names: Sequence[str]) -> list[str]:
    """The names that appear more than once."""
    return sorted(name for name, count in Counter(names).items() if count > 1)
