"""Parquet files and Arrow tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from ragmeter.errors import InputError
from ragmeter.io.batches import CHARACTERS, ROWS, check_columns, repeated
from ragmeter.io.limits import Limit
from ragmeter.table import Batch

#: Rows that are decompressed at a time: a cell that takes one byte in the file may be a megabyte long.
_ROWS_AT_ONCE = 4096


#: Given the names of a file's columns, those to be read.
Choose = Callable[[Sequence[str]], Sequence[str]]


def read(
    name: str,
    opened: Callable[[], BinaryIO],
    limit: Limit = Limit(),  # noqa: B008 - frozen
    choose: Choose | None = None,
    groups: Sequence[int] | None = None,
) -> Iterator[Batch]:
    """Batches of a Parquet file: of all columns or of those that are chosen, of all row groups or of some."""
    import pyarrow.parquet as pq

    try:
        with opened() as stream, pq.ParquetFile(stream) as file:
            groups = range(file.num_row_groups) if groups is None else groups
            stated, rows = sum(file.metadata.row_group(group).num_rows for group in groups), 0
            if stated == 0:
                raise InputError("the file has no rows", file=name)
            names = file.schema_arrow.names
            check_columns(len(names), name)
            if duplicates := repeated(names):
                raise InputError(f"the file has {', '.join(map(repr, duplicates))} more than once", file=name)
            columns = None if choose is None else list(choose(names))
            packed = pq.ParquetFile(stream, metadata=file.metadata, read_dictionary=_with_dictionary(file))
            pieces = chain.from_iterable(  # group by group: Arrow can't join lists with the dictionaries of several
                packed.iter_batches(batch_size=_ROWS_AT_ONCE, row_groups=[group], columns=columns) for group in groups
            )
            for batch in batches_of_arrow(_bounded(_unpacked(pieces, file.schema_arrow, name, limit), name, limit)):
                rows += len(batch)
                yield batch
            if rows != stated:
                reason = f"it should have {stated:,} rows, and has {rows:,}"
                raise InputError(f"this is not a readable Parquet file: {reason}", file=name)
    except (pa.ArrowException, OSError, UnicodeDecodeError, OverflowError, ValueError) as error:
        raise InputError(f"this is not a readable Parquet file: {error}", file=name) from None


def batches_of_arrow(tables: Iterable[Any]) -> Iterator[Batch]:
    """Arrow tables or record batches as table batches. Lines are row numbers from 1."""
    line = 1
    for table in tables:
        columns = {name: _cells(column) for name, column in zip(table.schema.names, table.columns, strict=True)}
        yield Batch(columns, range(line, line + table.num_rows))
        line += table.num_rows


def _cells(column: Any) -> list[Any]:
    """A column's values as Python's own; a map is a dict, and of a key that it has twice the last value counts."""
    cells: list[Any] = column.to_pylist()
    return [_with_dicts(cell, column.type) for cell in cells] if "map<" in str(column.type) else cells


def _with_dicts(value: Any, kind: Any) -> Any:
    """A value of this type with dicts in place of the pairs of its maps."""
    if value is None:
        return None
    if pa.types.is_map(kind):
        pairs = ((key if isinstance(key, str | int | float) else str(key), item) for key, item in value)
        return {key: _with_dicts(item, kind.item_type) for key, item in pairs}
    if pa.types.is_struct(kind):
        return {field.name: _with_dicts(value[field.name], field.type) for field in kind}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return [_with_dicts(item, kind.value_type) for item in value]
    return value


def _bounded(batches: Iterable[Any], name: str, limit: Limit) -> Iterator[Any]:
    """The rows in tables of a good size: many small batches in one, a large one in several."""
    waiting: list[Any] = []
    line, rows, size = 1, 0, 0
    for batch in batches:
        _check_rows(batch, name, limit, line)
        line += batch.num_rows
        waiting.append(batch)
        rows += batch.num_rows
        size += batch.nbytes
        if rows >= ROWS or size > CHARACTERS:
            yield from _halves(pa.Table.from_batches(waiting))
            waiting, rows, size = [], 0, 0
    if waiting:
        yield from _halves(pa.Table.from_batches(waiting))


def _with_dictionary(file: Any) -> list[str]:
    """The columns with a dictionary of texts: a long one that stands there once may be the value of every row."""
    groups = [file.metadata.row_group(group) for group in range(file.num_row_groups)]
    views = {field.name for field in file.schema_arrow if "view" in str(field.type)}  # which Arrow can't cast to
    columns = [file.schema.column(place) for place in range(len(file.schema))]
    return [
        column.path
        for place, column in enumerate(columns)
        if column.physical_type == "BYTE_ARRAY"
        and column.path.partition(".")[0] not in views
        and any(group.column(place).has_dictionary_page for group in groups)
    ]


def _unpacked(batches: Iterable[Any], schema: Any, name: str, limit: Limit) -> Iterator[Any]:
    """The batches with texts in place of a dictionary's codes, in pieces that are small even then."""
    line = 1
    for batch in batches:
        waiting = [batch]
        while waiting:
            piece = waiting.pop()
            size = sum(map(_unpacked_size, piece.columns))
            if size > min(CHARACTERS, limit.size) and piece.num_rows > 1:
                middle = piece.num_rows // 2  # taken, not sliced: casting a slice of lists unpacks the rest too
                waiting += [piece.take(pa.array(rows)) for rows in (range(middle, piece.num_rows), range(middle))]
                continue
            if size > limit.size:
                raise limit.error("this row", name, line)
            line += piece.num_rows
            names = piece.schema.names
            columns = [_plain(column, schema.field(title)) for title, column in zip(names, piece.columns, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, names=names)


def _unpacked_size(column: Any) -> int:
    """How many bytes the column takes without dictionaries."""
    if pa.types.is_dictionary(column.type):
        return int(pc.sum(pc.binary_length(column.dictionary).take(column.indices)).as_py() or 0)
    if pa.types.is_map(column.type):  # which has no flatten of its own
        return sum(map(_unpacked_size, (column.keys, column.items)))
    if pa.types.is_nested(column.type):
        parts = column.flatten()
        return sum(map(_unpacked_size, parts if isinstance(parts, list) else [parts]))
    return int(column.nbytes)


def _plain(column: Any, field: Any) -> Any:
    """The column without a dictionary, of which every slice would carry the whole."""
    if pa.types.is_dictionary(column.type):
        return column.dictionary_decode()
    return column.cast(field.type)


def _halves(table: Any) -> Iterator[Any]:
    if table.num_rows > 1 and table.nbytes > 2 * CHARACTERS:
        middle = table.num_rows // 2
        first, second = table.slice(0, middle), table.slice(middle)
        if first.nbytes + second.nbytes < 1.5 * table.nbytes:  # else they share what is large
            yield from _halves(first)
            yield from _halves(second)
            return
    if table.num_rows:
        yield table


def _check_rows(batch: Any, name: str, limit: Limit, line: int) -> None:
    if batch.nbytes > limit.size:
        for row in range(batch.num_rows):
            if batch.slice(row, 1).nbytes > limit.size:
                raise limit.error("this row", name, line + row)
