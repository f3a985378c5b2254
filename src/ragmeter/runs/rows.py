"""A run's table: a Parquet file that is opened once, or a table in memory. A column is read when first needed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ragmeter.errors import UnknownNameError, UsageError
from ragmeter.hints import option
from ragmeter.io.locations import Location
from ragmeter.runs.layout import reading, unreadable
from ragmeter.stats.clusters import Codes, cluster_codes, has_clusters
from ragmeter.stats.confidence import AUTO
from ragmeter.table import QID, NewRow

#: A number of rows, and a function that reads those at some places.
Piece = tuple[int, Callable[[Sequence[int]], list[NewRow]]]


class StoredRows(ABC):
    """A table in files, whose columns are read at most once."""

    schema: pa.Schema
    n_rows: int
    _columns: dict[str, pa.ChunkedArray]

    @abstractmethod
    def read(self, columns: Sequence[str]) -> pa.Table:
        """Some columns, without caching."""

    @abstractmethod
    def batches(self, size: int, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """All columns or some, at most `size` rows at a time, without caching."""

    def table(self, columns: Iterable[str] | None = None) -> pa.Table:
        """All columns, or those of these names that exist."""
        names = [name for name in dict.fromkeys(self.schema.names if columns is None else columns) if self._has(name)]
        missing = [name for name in names if name not in self._columns]
        if missing:
            table = self.read(missing)
            self._columns.update({name: table[name] for name in missing})
        if not names:
            return self.read([])
        schema = pa.schema([self.schema.field(name) for name in names], metadata=self.schema.metadata)
        return pa.Table.from_arrays([self._columns[name] for name in names], schema=schema)

    def array(self, column: str) -> pa.Array:
        """One column in one piece, which replaces its chunks in the cache."""
        chunked = self.table([column])[column]
        if chunked.num_chunks != 1:
            self._columns[column] = chunked = pa.chunked_array([chunked.combine_chunks()])
        return chunked.chunk(0)

    @abstractmethod
    def check_sizes(self) -> None:
        """Raise an error if a file is shorter than its footer says; the rows are not read."""

    @abstractmethod
    def size(self, column: str) -> int:
        """How many bytes a column of texts has, uncompressed; taken from Parquet metadata without reading it."""

    @abstractmethod
    def close(self) -> None:
        """Close the files."""

    @abstractmethod
    def _pieces(self, columns: Sequence[str]) -> Iterator[Piece]:
        """The pieces of the table: each with its number of rows, and what reads these columns of some of them."""

    def records(self, places: Sequence[int], columns: Sequence[str]) -> list[NewRow]:
        """These columns of the rows at these places, in that order; only their pieces are read."""
        if all(name in self._columns for name in columns):
            return _records(self.table(columns), places)
        records: dict[int, NewRow] = {}
        begin = 0
        for rows, read in self._pieces(columns):
            inside = [place for place in places if begin <= place < begin + rows]
            if inside:
                records.update(zip(inside, read([place - begin for place in inside]), strict=True))
            begin += rows
        return [records[place] for place in places]

    def _has(self, name: str) -> bool:
        return bool(self.schema.get_field_index(name) >= 0)


class RowsFile(StoredRows):
    """A table in a Parquet file. The metadata and every column are read at most once."""

    def __init__(self, path: Location) -> None:
        self._path = path
        with reading(path):
            # Arrow's file is thread-safe; ParquetFile would read a path with a colon as a URL.
            file = pa.OSFile(str(path)) if isinstance(path, Path) else path.open("rb")
            self._file = pq.ParquetFile(file, page_checksum_verification=True)
        self.schema: pa.Schema = self._file.schema_arrow
        self.n_rows: int = self._file.metadata.num_rows
        self._columns: dict[str, pa.ChunkedArray] = {}

    def close(self) -> None:
        """Close the file."""
        self._file.close(force=True)

    def check_sizes(self) -> None:
        """The row groups, with the sizes that the footer says, fill the file up to the footer."""
        metadata, said = self._file.metadata, 0
        if not isinstance(self._path, Path) or not metadata.num_row_groups:
            return
        for group in map(metadata.row_group, range(metadata.num_row_groups)):
            said += sum(group.column(place).total_compressed_size for place in range(group.num_columns))
        if said > self._path.stat().st_size - metadata.serialized_size:
            raise unreadable(self._path, "its row groups are shorter than its footer says")

    def read(self, columns: Sequence[str]) -> pa.Table:
        """Some columns, without caching."""
        with reading(self._path):  # Arrow's threads sometimes abort a short process at exit
            table = self._file.read(columns=columns, use_threads=False)
            table.validate(full=True)  # a damaged file may hold bytes that are no text
            return table

    def batches(self, size: int, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """All columns or some, `size` rows at a time, without caching."""
        with reading(self._path):
            for batch in self._file.iter_batches(batch_size=size, columns=columns):
                batch.validate(full=True)
                yield batch

    def _pieces(self, columns: Sequence[str]) -> Iterator[Piece]:
        for group in range(self._file.num_row_groups):
            yield self._file.metadata.row_group(group).num_rows, partial(self._of_group, group, list(columns))

    def _of_group(self, group: int, columns: list[str], places: Sequence[int]) -> list[NewRow]:
        with reading(self._path):
            rows = self._file.read_row_group(group, columns=columns, use_threads=False)
            rows.validate(full=True)
        return _records(rows, places)

    def size(self, column: str) -> int:
        """How many bytes a column has, uncompressed; taken from Parquet metadata without reading it."""
        metadata = self._file.metadata
        place = [metadata.schema.column(i).path for i in range(len(metadata.schema))].index(column)
        return sum(metadata.row_group(i).column(place).total_uncompressed_size for i in range(metadata.num_row_groups))


class RowsInMemory:
    """The table of a run that was not kept."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self.schema: pa.Schema = table.schema
        self.n_rows: int = table.num_rows

    def table(self, columns: Iterable[str] | None = None) -> pa.Table:
        """All columns, or those of these names that exist."""
        if columns is None:
            return self._table
        return self._table.select([name for name in dict.fromkeys(columns) if name in self.schema.names])

    def array(self, column: str) -> pa.Array:
        """One column in one piece."""
        return self._table[column].combine_chunks()

    def batches(self, size: int) -> Iterator[pa.RecordBatch]:
        """All columns, `size` rows at a time."""
        yield from self._table.combine_chunks().to_batches(max_chunksize=size)

    def records(self, places: Sequence[int], columns: Sequence[str]) -> list[NewRow]:
        """These columns of the rows at these places, in that order."""
        return _records(self.table(columns), places)

    def size(self, column: str) -> int:
        """How many bytes a column of texts would take in Parquet: four for each length, and the texts."""
        return 4 * self.n_rows + int(pc.sum(pc.binary_length(self._table[column])).as_py() or 0)


#: A run's table.
Rows = StoredRows | RowsInMemory


def _records(table: pa.Table, places: Sequence[int]) -> list[NewRow]:
    """The rows at these places. Without a column Arrow would make no record of them."""
    if not table.num_columns:
        return [{} for _ in places]
    records: list[NewRow] = table.take(pa.array(places, pa.int64())).to_pylist()
    return records


def clusters_of(
    cluster: str | None, texts: Sequence[str], column: Callable[[str], pa.Array], *, is_own: bool = False
) -> tuple[str | None, Codes | None]:
    """The column that clusters the rows, and each row's cluster number; None and None for independent rows.

    `cluster` is a column's name, "auto", or None; `texts` are the columns of texts, which `column` reads. A single
    cluster is an error where the user has chosen the column, and not where it is the run's own (`is_own`).
    """
    if cluster is None:
        return None, None
    if cluster != AUTO:
        if cluster not in texts:
            raise UnknownNameError("column", cluster, texts, hint=f"the columns are {', '.join(texts)}")
        codes = cluster_codes(column(cluster))
        if len(np.unique(codes)) < 2 and not is_own:
            raise UsageError(
                f"all rows have the same {cluster!r}: with fewer than two clusters there is no interval",
                hint=f"choose another column with {option('cluster')}, or {option('cluster', None)}",
            )
        return cluster, codes
    for name in ("session_id", QID):
        if name in texts and has_clusters(values := column(name)):
            return name, cluster_codes(values)
    return None, None
