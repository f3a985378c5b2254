"""The size of a batch, and batches made from dicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ragmeter.table import Batch

#: The most rows and characters of a batch: large enough to be fast, small enough for constant memory.
ROWS = 16_384
CHARACTERS = 16_000_000


def batches_of_records(records: Iterable[tuple[int, Mapping[str, Any]]]) -> Iterator[Batch]:
    """Batches of rows given as (line, dict). A key that a row lacks is a missing cell."""
    rows: list[Mapping[str, Any]] = []
    lines: list[int] = []
    size = 0
    for line, record in records:
        rows.append(record)
        lines.append(line)
        size += sum(len(value) for value in record.values() if isinstance(value, str))
        if len(rows) == ROWS or size > CHARACTERS:
            yield _columns(rows, lines)
            rows, lines, size = [], [], 0
    if rows:
        yield _columns(rows, lines)


def _columns(rows: list[Mapping[str, Any]], lines: list[int]) -> Batch:
    names = dict.fromkeys(name for row in rows for name in row)
    return Batch({name: [row.get(name) for row in rows] for name in names}, lines)
