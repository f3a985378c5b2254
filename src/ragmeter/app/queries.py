"""Filter, sort and search the rows of runs, by DuckDB over their Parquet files. Texts are bound as values."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

from ragmeter.errors import MissingExtraError, UsageError
from ragmeter.runs.layout import ROWS
from ragmeter.runs.run import Run
from ragmeter.table import SCORED, outcome_column

#: Rows on a page.
PAGE = 50
#: The columns of texts that a search looks into.
_SEARCHED = ("qid", "question", "answer", "reference", "error")
_MEMORY = "192MB"
#: The condition of all rows.
_ALL = "true"


@dataclass(frozen=True)
class Wish:
    """Which rows are wanted, in which order. Every field is part of an address."""

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
    def read(cls, query: Any) -> Wish:
        """From the query of an address; what makes no sense there is an error that says so."""
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
            int(_number(query.get("page", "")) or 1),
        )

    def as_query(self, **changes: Any) -> dict[str, Any]:
        """The fields for an address, changed."""
        wish = replace(self, **changes)
        fields = {name: value for name, value in vars(wish).items() if value is not None and value != ""}
        fields["descending"] = 1 if wish.descending else None
        if wish.page == 1:
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
    """DuckDB in memory. It reads the runs' files and nothing else, and fetches nothing from anywhere."""

    def __init__(self) -> None:
        try:
            import duckdb
        except ImportError:
            raise MissingExtraError("ragmeter app", extra="app") from None
        settings: dict[str, Any] = {
            "memory_limit": _MEMORY,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        self._connection = duckdb.connect(":memory:", config=settings)
        self._lock = Lock()

    def rows(self, run: Run, wish: Wish) -> Selection:
        """The rows that are wanted of a run. Where all are, they need not be counted; otherwise one scan does both."""
        where, values = _conditions(run, wish)
        source, everything = "read_parquet(?, file_row_number = true)", where == _ALL
        counted = "0" if everything else "count(*) OVER ()"
        query = (
            f"SELECT file_row_number, {counted} FROM {source} WHERE {where} "  # noqa: S608
            f"ORDER BY {_order(run, wish)} LIMIT ? OFFSET ?"
        )
        offset = (max(wish.page, 1) - 1) * PAGE
        rows = self._all(query, [_path(run), *values, PAGE, offset])
        total = run.n_rows if everything else int(rows[0][1]) if rows else 0
        return Selection(total, [int(place) for place, _ in rows])

    def all_rows(self, run: Run, wish: Wish) -> list[int]:
        """The places of all rows that are wanted of a run, in their order."""
        where, values = _conditions(run, wish)
        query = f"SELECT file_row_number FROM read_parquet(?, file_row_number = true) WHERE {where} ORDER BY "  # noqa: S608
        return [int(place) for (place,) in self._all(query + _order(run, wish), [_path(run), *values])]

    def neighbours(self, run: Run, wish: Wish, place: int) -> tuple[int | None, int | None]:
        """The rows before and after this one, in the order and among the rows that are wanted."""
        where, values = _conditions(run, wish)
        query = (
            "SELECT before, after FROM (SELECT file_row_number AS place, lag(file_row_number) OVER w AS before, "  # noqa: S608
            f"lead(file_row_number) OVER w AS after FROM read_parquet(?, file_row_number = true) WHERE {where} "
            f"WINDOW w AS (ORDER BY {_order(run, wish)})) WHERE place = ?"
        )
        rows = self._all(query, [_path(run), *values, place])
        return (rows[0][0], rows[0][1]) if rows else (None, None)

    def side_by_side(self, runs: Sequence[Run], metric: str, change: str, threshold: float, page: int) -> Selection:
        """The qids that all runs have, as places in the first run, filtered by how a metric changed since that run."""
        joins = " ".join(f"JOIN read_parquet(?) AS r{i} ON r0.qid = r{i}.qid" for i in range(1, len(runs)))
        first, last = _score(runs[0], metric, "r0."), _score(runs[-1], metric, f"r{len(runs) - 1}.")
        where, order = _CHANGES[change]
        bound = [_path(run) for run in runs]
        columns = {"first": first, "last": last, "sign": _sign(runs[0], metric)}
        source = f"read_parquet(?, file_row_number = true) AS r0 {joins} WHERE {where.format(**columns)}"
        values = [threshold] * where.count("?")
        total = int(self._all(f"SELECT count(*) FROM {source}", [*bound, *values])[0][0])  # noqa: S608
        query = (
            f"SELECT r0.file_row_number FROM {source} "  # noqa: S608
            f"ORDER BY {order.format(**columns)}, r0.file_row_number LIMIT ? OFFSET ?"
        )
        places = self._all(query, [*bound, *values, PAGE, (max(page, 1) - 1) * PAGE])
        return Selection(total, [int(place) for (place,) in places])

    def places_of(self, run: Run, qids: Sequence[str]) -> dict[str, int]:
        """Where these qids are in a run."""
        query = "SELECT qid, file_row_number FROM read_parquet(?, file_row_number = true) WHERE list_contains(?, qid)"
        return {qid: int(place) for qid, place in self._all(query, [_path(run), list(qids)])}

    def _all(self, query: str, values: list[Any]) -> list[tuple[Any, ...]]:
        import duckdb

        with self._lock:
            cursor = self._connection.cursor()
        try:
            rows: list[tuple[Any, ...]] = cursor.execute(query, values).fetchall()
            return rows
        except duckdb.Error as error:
            raise UsageError(f"the rows can't be searched: {str(error).splitlines()[0]}") from None
        finally:
            cursor.close()


#: What may have changed between the first run and the last: a condition, an order. `sign` is -1 if lower is better.
_CHANGES = {
    "all": ("true", "r0.file_row_number"),
    "better": ("{sign} * ({last} - {first}) > ?", "{sign} * ({first} - {last})"),
    "worse": ("{sign} * ({first} - {last}) > ?", "{sign} * ({last} - {first})"),
    "differs": ("abs({last} - {first}) > ?", "-abs({last} - {first})"),
    "failed": ("{last} IS NULL AND {first} IS NOT NULL", "r0.file_row_number"),
}
CHANGES = tuple(_CHANGES)


def _sign(run: Run, metric: str) -> int:
    return -1 if run.measure(metric).direction == "lower" else 1


def _path(run: Run) -> str:
    """The run's file. In a name, * and ? are characters, not wild cards."""
    return glob.escape(str(run.path / ROWS))


def _quoted(run: Run, column: str) -> str:
    """A column of this run as an identifier; anything else is refused."""
    if column not in run.columns:
        raise UsageError(f"{run.name} has no column {column[:60]!r}")
    return '"' + column.replace('"', '""') + '"'


def _score(run: Run, metric: str, table: str = "") -> str:
    """A metric's column, with NULL for a missing score: to DuckDB, NaN is more than any number.

    It finds no NaN by `isnan`, since the file's statistics, which it trusts, leave NaN out.
    """
    name = table + _quoted(run, metric)
    return f"(CASE WHEN isfinite({name}) THEN {name} END)"


def _conditions(run: Run, wish: Wish) -> tuple[str, list[Any]]:
    conditions: list[str] = [_ALL]
    values: list[Any] = []
    if wish.search:
        columns = [name for name in _SEARCHED if name in run.columns]
        conditions.append(
            "(" + " OR ".join(f"contains(lower({_as_text(run, name)}), lower(?))" for name in columns) + ")"
        )
        values += [wish.search] * len(columns)
    if wish.metric:
        score = _score(run, wish.metric)
        if wish.low is not None:
            conditions.append(f"{score} >= ?")
            values.append(wish.low)
        if wish.high is not None:
            conditions.append(f"{score} <= ?")
            values.append(wish.high)
        if wish.outcome:
            conditions.append(f"{_quoted(run, outcome_column(wish.metric))} = ?")
            values.append(wish.outcome)
    elif wish.outcome == "failed":
        outcomes = [outcome_column(name) for name in run.row_metrics if outcome_column(name) in run.columns]
        conditions.append(
            "(" + (" OR ".join(f"{_quoted(run, name)} <> '{SCORED}'" for name in outcomes) or "false") + ")"
        )
    if wish.column:
        conditions.append(f"CAST({_quoted(run, wish.column)} AS VARCHAR) = ?")
        values.append(wish.value)
    return " AND ".join(conditions), values


def _as_text(run: Run, column: str) -> str:
    """A column of texts, or of lists of texts, as one text."""
    name = _quoted(run, column)
    return name if column in run.texts else f"array_to_string({name}, ' ')"


def _order(run: Run, wish: Wish) -> str:
    """Rows without a score come last; equal ones in the order of the file."""
    if not wish.sort:
        return "file_row_number"
    value = _score(run, wish.sort) if wish.sort in run.measures else _quoted(run, wish.sort)
    return f"{value} {'DESC' if wish.descending else 'ASC'} NULLS LAST, file_row_number"
