"""A table that is read more than once: what one pass over its rows has shown need not be read again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from ragmeter.table import Batch


class RowReader:
    """The rows of a table in batches; each call is a pass over it, from its first row.

    To know the columns, the first rows are read, and the next pass goes on from there. `n_rows` is the number of rows
    once it is known.
    """

    def __init__(self, read: Callable[[], Iterable[Batch]], n_rows: int | None = None) -> None:
        self._read, self.n_rows = read, n_rows
        self._columns: Sequence[str] | None = None
        self._begun: Iterator[Batch] | None = None

    def __call__(self) -> Iterator[Batch]:
        """A pass over the rows."""
        begun, self._begun = self._begun, None
        rows = 0
        for batch in self._read() if begun is None else begun:
            if self._columns is None:
                self._columns = list(batch.columns)
            rows += len(batch)
            yield batch
        self.n_rows = rows

    @property
    def columns(self) -> Sequence[str]:
        """The columns of the first rows; none if there are no rows."""
        if self._columns is None:
            batches = iter(self._read())
            first = next(batches, None)
            self._columns = [] if first is None else list(first.columns)
            self._begun = batches if first is None else chain([first], batches)
        return self._columns

    def count(self) -> int:
        """The number of rows, for which they are read if no pass has come to their end."""
        if self.n_rows is None:
            self.n_rows = sum(map(len, self()))
        return self.n_rows
