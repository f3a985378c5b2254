"""Filter, sort and search the rows of runs, by DuckDB over their Parquet files. Texts are bound as values."""

from __future__ import annotations

import glob
import shutil
import tempfile
import weakref
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ragmeter.app import row_sql
from ragmeter.app.latest import Latest
from ragmeter.app.row_query import RowQuery
from ragmeter.app.search_texts import SearchTexts
from ragmeter.effects.process.cores import available_cores
from ragmeter.errors import MissingExtraError, UsageError
from ragmeter.runs.layout import stamps_of
from ragmeter.runs.run import Run
from ragmeter.table import NewRow

#: Rows on a page.
PAGE = 50
_MEMORY, _THREADS = "160MB", 4
#: Bytes of places that are kept: eight orders of a million rows.
_MOST_PLACES = 32_000_000
Places = npt.NDArray[np.int32]
T = TypeVar("T")


@dataclass(frozen=True)
class Selection:
    """How many rows match, and the places of those on the page."""

    total: int
    places: list[int]


class Database:
    """DuckDB in memory. It reads the runs' files and nothing else, and fetches nothing from anywhere.

    The places of the rows that were found are kept, so that the next page and the next row take no time.
    """

    def __init__(self) -> None:
        try:
            import duckdb
        except ImportError:
            raise MissingExtraError("ragmeter app", extra="app") from None
        scratch = tempfile.mkdtemp(prefix="ragmeter-app-")
        weakref.finalize(self, shutil.rmtree, scratch, ignore_errors=True)
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": _MEMORY,
            "threads": min(available_cores(), _THREADS),
            "temp_directory": scratch,
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        self._connection = duckdb.connect(":memory:", config=settings)
        self._lock = Lock()
        self._orders = Latest(_MOST_PLACES, lambda places: int(places.nbytes))
        self._texts = SearchTexts(Path(scratch))

    def rows(self, run: Run, query: RowQuery) -> Selection:
        """The rows on the wanted page."""
        order = self._order(run, query)
        begin = (max(query.page, 1) - 1) * PAGE
        return Selection(len(order), [int(place) for place in order[begin : begin + PAGE]])

    def all_rows(self, run: Run, query: RowQuery) -> Sequence[int]:
        """The places of all rows that are wanted of a run, in their order."""
        order = self._order(run, query)
        return order if isinstance(order, range) else order.tolist()

    def neighbours(self, run: Run, query: RowQuery, place: int) -> tuple[int | None, int | None]:
        """The rows before and after this one, in the order and among the rows that are wanted."""
        order = self._order(run, query)
        if isinstance(order, range):
            return place - 1 if place else None, place + 1 if place + 1 < len(order) else None
        position = np.flatnonzero(order == place)
        if not len(position):
            return None, None
        at = int(position[0])
        return int(order[at - 1]) if at else None, int(order[at + 1]) if at + 1 < len(order) else None

    def records(self, run: Run, places: Sequence[int], columns: Sequence[str]) -> list[NewRow]:
        """Some columns of the rows at these places. Much quicker than `run.records` where they are far apart."""
        names = [name for name in dict.fromkeys(columns) if name in run.columns]
        if not places or not names:
            return [{} for _ in places]
        wanted = ", ".join(str(int(place)) for place in sorted(set(places)))
        columns = ", ".join(row_sql.identifier(run, name) for name in names)
        rows = self.lines(run, f"file_row_number, {columns}", f"WHERE file_row_number IN ({wanted})")
        by_place = {place: dict(zip(names, cells, strict=True)) for place, *cells in rows}
        return [by_place[place] for place in places]

    def lines(self, run: Run, selected: str, rest: str = "") -> list[tuple[Any, ...]]:
        """What a query finds in a run's table. Both of its parts are SQL of ours, with nobody's texts."""
        return self._ask(f"SELECT {selected} FROM {row_sql.source(run)} {rest}", [row_sql.files(run)], _all)  # noqa: S608

    def _order(self, run: Run, query: RowQuery) -> range | Places:
        """The places of the wanted rows in their order: as they are in the file, if nothing is asked for."""
        texts = self._texts_of(run)
        where, values = row_sql.conditions(run, query)
        order: range | Places = range(run.n_rows)
        if where or query.sort:
            condition, sorting = where or "true", row_sql.order(run, query)
            sql = f"SELECT file_row_number FROM {row_sql.source(run)} WHERE {condition} ORDER BY {sorting}"  # noqa: S608
            values = [row_sql.files(run), *values]
            order = self._kept((sql, repr(values)), [run], lambda: self._ask(sql, values, _column))
        if not query.search:
            return order
        is_match = np.zeros(run.n_rows, dtype=np.bool_)
        is_match[self._kept(("search", query.search), [run], lambda: self._matches(run, query.search, texts))] = True
        return np.flatnonzero(is_match).astype(np.int32) if isinstance(order, range) else order[is_match[order]]

    def _matches(self, run: Run, search: str, texts: Path | None) -> Places:
        """The places of the rows that have a text, in any case and order."""
        if texts is not None:
            query = "SELECT place FROM read_parquet(?) WHERE contains(text, lower(?))"
            return self._ask(query, [glob.escape(str(texts)), search], _column)
        query = f"SELECT file_row_number FROM {row_sql.source(run)} WHERE contains({row_sql.searched(run)}, lower(?))"  # noqa: S608
        return self._ask(query, [row_sql.files(run), search], _column)

    def _texts_of(self, run: Run) -> Path | None:
        """The file of a large run's texts for searches, once it is complete; the first call begins to write it."""
        if run.n_rows < self._texts.fewest_rows:
            return None
        query = (
            f"COPY (SELECT file_row_number AS place, {row_sql.searched(run)} AS text "  # noqa: S608 - our own numbers
            f"FROM {row_sql.source(run)}) TO "
        )
        files = [row_sql.files(run)]

        def write(path: Path) -> None:
            target = str(path).replace("'", "''")
            self._ask(
                f"{query} '{target}' (FORMAT parquet, COMPRESSION uncompressed, ROW_GROUP_SIZE 16384)", files, _all
            )

        return self._texts.file_of(version(run), write)

    def _kept(self, wanted: Hashable, runs: Sequence[Run], find: Callable[[], Places]) -> Places:
        """The places that are wanted: those of an earlier request, if the runs have not changed."""
        return self._orders.once((wanted, *map(version, runs)), find)

    def _ask(self, query: str, values: list[Any], read: Callable[[Any], T]) -> T:
        import duckdb

        with self._lock:
            cursor = self._connection.cursor()
        try:
            return read(cursor.execute(query, values))
        except duckdb.Error as error:
            raise UsageError(f"the rows can't be searched: {str(error).splitlines()[0]}") from None
        finally:
            cursor.close()


def version(run: Run) -> Hashable:
    """Changes whenever the run does."""
    return run.path, stamps_of(run.path)


def _column(cursor: Any) -> Places:
    """The only column of a result, which is numbers."""
    (numbers,) = cursor.fetchnumpy().values()
    return np.asarray(numbers, dtype=np.int32)


def _all(cursor: Any) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows
