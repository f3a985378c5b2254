"""A run's table in several files, as many workers have written them. A part is opened when it is first needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from ragmeter.io.locations import Location
from ragmeter.runs.layout import unreadable
from ragmeter.runs.rows import Piece, RowsFile, StoredRows

#: So many files are open at once: of more, the one that was opened first is closed, unless somebody still reads it.
_MOST_OPEN = 128


class RowsParts(StoredRows):
    """A table in the files of a folder, each given with its number of rows. All have the columns of the first."""

    def __init__(self, folder: Location, parts: Sequence[tuple[str, int]]) -> None:
        self._folder = folder
        self._parts = parts
        self._opened: dict[str, RowsFile] = {}
        self._columns: dict[str, pa.ChunkedArray] = {}
        self.schema: pa.Schema = self._part(*parts[0]).schema
        self.n_rows = sum(rows for _, rows in parts)

    def _part(self, name: str, rows: int) -> RowsFile:
        part = self._opened.get(name)
        if part is None:
            part = RowsFile(self._folder / name)
            if part.n_rows != rows:
                raise unreadable(self._folder / name, f"it has {part.n_rows:,} rows, and the manifest says {rows:,}")
            self._opened[name] = part
            for first in list(self._opened)[:-_MOST_OPEN]:
                self._opened.pop(first, None)
        return part

    def _all(self) -> Iterator[RowsFile]:
        return (self._part(name, rows) for name, rows in self._parts)

    def close(self) -> None:
        """Close the files."""
        for part in self._opened.values():
            part.close()

    def check_sizes(self) -> None:
        """Check every part."""
        for part in self._all():
            part.check_sizes()

    def read(self, columns: Sequence[str]) -> pa.Table:
        """Some columns, without caching."""
        return pa.concat_tables([part.read(columns) for part in self._all()]).unify_dictionaries()

    def batches(self, size: int, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """All columns or some, at most `size` rows at a time, without caching."""
        for part in self._all():
            yield from part.batches(size, columns)

    def _pieces(self, columns: Sequence[str]) -> Iterator[Piece]:
        for name, rows in self._parts:
            yield rows, lambda places, of=(name, rows): self._part(*of).records(places, columns)  # type: ignore[misc]

    def size(self, column: str) -> int:
        """How many bytes a column has, uncompressed; taken from Parquet metadata without reading it."""
        return sum(part.size(column) for part in self._all())
