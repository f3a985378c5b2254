"""Figures over all rows of a run: histograms of its metrics, its slices, and metrics on the values of a column.

They are made once for each version of a run, a part after the page itself where the run is large.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TypeVar

from ragmeter.app import row_sql
from ragmeter.app.latest import Latest
from ragmeter.app.queries import Database, version
from ragmeter.errors import UsageError
from ragmeter.runs.run import MOST_SLICES, Run
from ragmeter.show.page.shapes import bar_ends, histogram

#: Of larger runs, the page comes without these figures, which follow by themselves.
_MANY_ROWS = 100_000
#: Results that are kept: some for each of the runs that a person looks at.
_KEPT = 64
T = TypeVar("T")


@dataclass(frozen=True)
class Histogram:
    """The numbers of rows by score. `edges` are the ends of the bars; whole numbers each have a bar of their own."""

    counts: tuple[int, ...]
    edges: tuple[float, ...]
    is_whole: bool

    @classmethod
    def of(cls, run: Run, metric: str) -> Histogram | None:
        """The histogram of a metric; None where no row has a score."""
        bars = histogram(run, metric)
        if bars is None:
            return None
        ends = bar_ends(bars["low"], bars["high"], len(bars["counts"]))
        return cls(tuple(bars["counts"]), tuple(ends), bars["whole"])


@dataclass(frozen=True)
class SliceRow:
    """The rows with a value in a column (None: without one): how many, and each metric's mean and number of scores."""

    value: str | None
    n_rows: int
    figures: tuple[tuple[float | None, int], ...]


class Figures:
    """Figures by what they are of. Those that were not used for longest are dropped."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._latest = Latest(_KEPT)

    def are_quick(self, run: Run) -> bool:
        """Whether histograms and slices take no time: of a small run, or once they were made."""
        return run.n_rows <= _MANY_ROWS or ("histograms", version(run)) in self._latest

    def histograms(self, run: Run) -> dict[str, Histogram]:
        """The histogram of each metric that has one."""

        def make() -> dict[str, Histogram]:
            of_metrics = {name: Histogram.of(run, name) for name in run.row_metrics}
            return {name: bars for name, bars in of_metrics.items() if bars is not None}

        return self._once("histograms", run, make)

    def slices(self, run: Run) -> list[str]:
        """The columns that part the rows."""

        def make() -> list[str]:
            names = run.slice_candidates()
            if not names:
                return []
            (counts,) = self._database.lines(
                run, ", ".join(f"count(DISTINCT {row_sql.identifier(run, name)})" for name in names)
            )
            return [name for name, count in zip(names, counts, strict=True) if 2 <= count <= MOST_SLICES]

        return self._once("slices", run, make)

    def on_slices(self, run: Run, column: str) -> list[SliceRow]:
        """Each value of a column with its metrics, the most frequent first."""
        if column not in self.slices(run):
            raise UsageError(f"the column {column[:60]!r} does not part the rows", hint=", ".join(self.slices(run)))

        def make() -> list[SliceRow]:
            scores = [row_sql.score(run, name) for name in run.row_metrics]
            selected = [row_sql.identifier(run, column), "count(*)"]
            selected += [part for score in scores for part in (f"avg({score})", f"count({score})")]
            lines = self._database.lines(run, ", ".join(selected), "GROUP BY 1 ORDER BY 2 DESC, 1")
            return [SliceRow(value, n, tuple(zip(rest[::2], rest[1::2], strict=True))) for value, n, *rest in lines]

        return self._once(("on", column), run, make)

    def values(self, run: Run, column: str) -> list[str]:
        """The values of a text column with few of them, for a choice; empty where there are many."""

        def make() -> list[str]:
            if column in run.texts and not run.is_short(column, 100):
                return []
            name, most = row_sql.identifier(run, column), MOST_SLICES + 1
            rest = f"WHERE {name} IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT {most}"
            values = [str(value) for (value,) in self._database.lines(run, f"CAST({name} AS VARCHAR)", rest)]
            return values if len(values) < most else []

        return self._once(("values", column), run, make)

    def _once(self, what: Hashable, run: Run, make: Callable[[], T]) -> T:
        return self._latest.once((what, version(run)), make)
