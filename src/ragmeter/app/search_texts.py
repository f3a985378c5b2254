"""The texts of large runs for searches: copied once, in the background, when a run is first looked at.

A run's table is compressed well and has its passages in it: to read the texts of a million rows takes longer than
a person waits. These tables have nothing but the texts that a search looks into, in DuckDB's own format, which it
searches in half of the time that Parquet takes. Their file is gone when the app ends.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from itertools import count
from threading import Lock, Thread

from ragmeter.errors import RagmeterError

#: Smaller runs are searched quickly enough as they are.
_FEWEST_ROWS = 100_000
#: Rows of texts that are kept: about 1 GB.
_MOST_ROWS = 10_000_000


class SearchTexts:
    """Tables of texts by version of a run. The ones that were not used for longest are dropped."""

    def __init__(
        self, drop: Callable[[str], None], *, fewest_rows: int = _FEWEST_ROWS, most_rows: int = _MOST_ROWS
    ) -> None:
        self.fewest_rows = fewest_rows
        self._drop = drop
        self._most_rows = most_rows
        self._numbers = count()
        self._tables: OrderedDict[Hashable, tuple[str, int] | None] = OrderedDict()
        self._writers: list[Thread] = []
        self._lock = Lock()

    def table_of(self, version: Hashable, n_rows: int, write: Callable[[str], None]) -> str | None:
        """The complete table. Without one, None; unless it is being written already, `write` begins with it."""
        with self._lock:
            if version not in self._tables:
                self._tables[version] = None
                writer = Thread(target=self._write, args=(version, n_rows, write), daemon=True)
                self._writers = [*(thread for thread in self._writers if thread.is_alive()), writer]
                writer.start()
            self._tables.move_to_end(version)
            table = self._tables[version]
            return table and table[0]

    def wait(self) -> None:
        """Until all tables that were begun are complete."""
        for writer in self._writers:
            writer.join()

    def _write(self, version: Hashable, n_rows: int, write: Callable[[str], None]) -> None:
        table = f"texts{next(self._numbers)}"
        try:
            write(table)
        except RagmeterError:  # the disk is full, or the run is damaged: it is searched as it is
            return
        with self._lock:
            self._tables[version] = table, n_rows
            unused = self._too_many()
        for name in unused:
            self._drop(name)

    def _too_many(self) -> list[str]:
        """The tables that are given up, so that the others have few enough rows."""
        tables = {version: table for version, table in self._tables.items() if table is not None}
        unused = []
        for version in list(tables)[:-1]:
            if sum(rows for _, rows in tables.values()) <= self._most_rows:
                break
            unused.append(tables.pop(version)[0])
            del self._tables[version]
        return unused
