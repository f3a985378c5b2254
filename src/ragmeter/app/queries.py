"""Filter, sort and search the rows of runs, by DuckDB over their Parquet files. Texts are bound as values."""

from __future__ import annotations

import glob
import shutil
import tempfile
import weakref
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import numpy as np

from ragmeter.app.orders import Orders, Places
from ragmeter.app.search_texts import SearchTexts
from ragmeter.effects.process.cores import available_cores
from ragmeter.errors import MissingExtraError, UsageError
from ragmeter.io.locations import on_disk
from ragmeter.runs.layout import stamps_of
from ragmeter.runs.run import Run
from ragmeter.table import SCORED, NewRow, outcome_column

#: Rows on a page.
PAGE = 50
#: The columns of texts that a search looks into.
_SEARCHED = ("qid", "question", "answer", "reference", "error")
_MEMORY, _THREADS = "160MB", 4
T = TypeVar("T")


@dataclass(frozen=True)
class RowQuery:
    """The rows that are wanted, and their order. Every field is part of an address."""

    search: str = ""
    metric: str = ""
    low: float | None = None
    high: float | None = None
    outcome: str = ""
    column: str = ""
    value: str = ""
    sort: str = ""
    descending: bool = False
    page: int = 1

    @classmethod
    def read(cls, query: Any) -> RowQuery:
        """Read what is wanted from the query of an address. Values that make no sense are an error that says so."""
        return cls(
            query.get("search", ""),
            query.get("metric", ""),
            _number(query.get("low", "")),
            _number(query.get("high", "")),
            query.get("outcome", ""),
            query.get("column", ""),
            query.get("value", ""),
            query.get("sort", ""),
            query.get("descending", "") == "1",
            max(int(_number(query.get("page", "")) or 1), 1),
        )

    def as_query(self, **changes: Any) -> dict[str, object]:
        """The fields for an address, changed."""
        query = replace(self, **changes)
        fields: dict[str, object] = {
            name: value for name, value in vars(query).items() if value is not None and value != ""
        }
        fields["descending"] = 1 if query.descending else None
        if query.page == 1:
            fields.pop("page", None)
        return fields


def _number(written: str) -> float | None:
    if not written.strip():
        return None
    try:
        number = float(written)
    except ValueError:
        raise UsageError(f"{written[:40]!r} is not a number") from None
    if number != number or abs(number) > 1e12:
        raise UsageError(f"{written[:40]!r} is not a number that can be used here")
    return number


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
        self._orders = Orders()
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
        query = f"SELECT file_row_number, {', '.join(_identifier(run, name) for name in names)} FROM {_source(run)} "  # noqa: S608
        rows = self._ask(f"{query} WHERE file_row_number IN ({wanted})", [_files(run)], _all)
        by_place = {place: dict(zip(names, cells, strict=True)) for place, *cells in rows}
        return [by_place[place] for place in places]

    def _order(self, run: Run, query: RowQuery) -> range | Places:
        """The places of the wanted rows in their order: as they are in the file, if nothing is asked for."""
        texts = self._texts_of(run)
        where, values = _conditions(run, query)
        order: range | Places = range(run.n_rows)
        if where or query.sort:
            condition, sorting = where or "true", _order(run, query)
            sql = f"SELECT file_row_number FROM {_source(run)} WHERE {condition} ORDER BY {sorting}"  # noqa: S608
            values = [_files(run), *values]
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
        query = f"SELECT file_row_number FROM {_source(run)} WHERE contains({_searched(run)}, lower(?))"  # noqa: S608
        return self._ask(query, [_files(run), search], _column)

    def _texts_of(self, run: Run) -> Path | None:
        """The file of a large run's texts for searches, once it is complete; the first call begins to write it."""
        if run.n_rows < self._texts.fewest_rows:
            return None
        query = f"COPY (SELECT file_row_number AS place, {_searched(run)} AS text FROM {_source(run)}) TO "  # noqa: S608
        files = [_files(run)]

        def write(path: Path) -> None:
            target = str(path).replace("'", "''")
            self._ask(
                f"{query} '{target}' (FORMAT parquet, COMPRESSION uncompressed, ROW_GROUP_SIZE 16384)", files, _all
            )

        return self._texts.file_of(_version(run), write)

    def _kept(self, wanted: Hashable, runs: Sequence[Run], find: Callable[[], Places]) -> Places:
        """The places that are wanted: those of an earlier request, if the runs have not changed."""
        key = (wanted, *map(_version, runs))
        places = self._orders.get(key)
        if places is None:
            places = find()
            self._orders.keep(key, places)
        return places

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


def _version(run: Run) -> Hashable:
    """Changes whenever the run does."""
    return run.path, stamps_of(run.path)


def _column(cursor: Any) -> Places:
    """The only column of a result, which is numbers."""
    (numbers,) = cursor.fetchnumpy().values()
    return np.asarray(numbers, dtype=np.int32)


def _all(cursor: Any) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _source(run: Run) -> str:
    """The run's table with each row's place, to be given `_files`. A table in parts has the numbers of its parts.

    Columns have numbers in place of names: to DuckDB, `Lang` and `lang` are one name, and `file_row_number` is its own.
    """
    source = f"read_parquet(?) AS rows({', '.join(_column_names(run))})"
    parts = run.manifest().parts
    if not parts:
        return source
    begins = ", ".join(str(int(begin)) for begin in accumulate((part.rows for part in parts[:-1]), initial=0))
    place = f"file_row_number + ([{begins}])[CAST(file_index AS BIGINT) + 1]"
    return f"(SELECT *, {place} AS file_row_number FROM {source})"  # noqa: S608 - our own numbers


def _column_names(run: Run) -> list[str]:
    """The names of the columns in queries, in their order."""
    return [f"c{place}" for place in range(len(run.columns))]


def _files(run: Run) -> str | list[str]:
    """The run's file or files. In a name, * and ? are characters, not wild cards."""
    place = on_disk(run.rows_path, "the app")
    parts = run.manifest().parts
    return [glob.escape(str(place / part.file)) for part in parts] if parts else glob.escape(str(place))


def _identifier(run: Run, column: str) -> str:
    """A column of this run by what it is called in queries; anything else is refused."""
    if column not in run.columns:
        raise UsageError(f"{run.name} has no column {column[:60]!r}")
    return _column_names(run)[run.columns.index(column)]


def _score(run: Run, metric: str, table: str = "") -> str:
    """A metric's column, with NULL for a missing score: to DuckDB, NaN is more than any number.

    It finds no NaN by `isnan`, since the file's statistics, which it trusts, leave NaN out.
    """
    name = table + _identifier(run, metric)
    return f"(CASE WHEN isfinite({name}) THEN {name} END)"


def _conditions(run: Run, query: RowQuery) -> tuple[str, list[Any]]:
    """The conditions on rows besides the search; empty for all rows."""
    conditions: list[str] = []
    values: list[Any] = []
    if query.metric:
        score = _score(run, query.metric)
        if query.low is not None:
            conditions.append(f"{score} >= ?")
            values.append(query.low)
        if query.high is not None:
            conditions.append(f"{score} <= ?")
            values.append(query.high)
        if query.outcome:
            conditions.append(f"{_identifier(run, outcome_column(query.metric))} = ?")
            values.append(query.outcome)
    elif query.outcome == "failed":
        outcomes = [outcome_column(name) for name in run.row_metrics if outcome_column(name) in run.columns]
        conditions.append(
            "(" + (" OR ".join(f"{_identifier(run, name)} <> '{SCORED}'" for name in outcomes) or "false") + ")"
        )
    if query.column:
        conditions.append(f"CAST({_identifier(run, query.column)} AS VARCHAR) = ?")
        values.append(query.value)
    return " AND ".join(conditions), values


def _searched(run: Run) -> str:
    """The text that a search looks into: a row's texts as one, in lower case."""
    names = [name for name in _SEARCHED if name in run.columns]
    columns = {name: _identifier(run, name) for name in names}
    texts = [column if name in run.texts else f"array_to_string({column}, ' ')" for name, column in columns.items()]
    return f"lower(concat_ws(chr(31), {', '.join(texts) or 'NULL'}))"


def _order(run: Run, query: RowQuery) -> str:
    """Rows without a score come last; equal ones in the order of the file."""
    if not query.sort:
        return "file_row_number"
    value = _score(run, query.sort) if query.sort in run.measures else _identifier(run, query.sort)
    return f"{value} {'DESC' if query.descending else 'ASC'} NULLS LAST, file_row_number"
