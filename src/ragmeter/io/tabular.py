"""Results as data frames and HTML tables: `to_pandas()`, `to_polars()`, and the display in notebooks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ragmeter.documents.record import Interval
from ragmeter.errors import MissingExtraError, UnknownNameError
from ragmeter.table import NewRow, Row
from ragmeter.wording import numbers
from ragmeter.wording.causes import counted_causes
from ragmeter.wording.metrics import headline, titled
from ragmeter.wording.texts import in_html

if TYPE_CHECKING:
    import pyarrow as pa

    from ragmeter.documents.metrics import MetricSummary


class Tabular(ABC):
    """An object with tables. `TABLES` are their names, the default first."""

    TABLES: ClassVar[tuple[str, ...]]

    @abstractmethod
    def _table(self, name: str) -> pa.Table:
        """One of the tables as an Arrow table."""

    @abstractmethod
    def _repr_html_(self) -> str:
        """The HTML for notebooks."""

    def to_pandas(self, table: str | None = None) -> Any:
        """One of the tables as a pandas frame; the first of `TABLES` unless named."""
        chosen = self._chosen(table)
        try:
            import pandas  # noqa: F401 - Arrow needs it, and its own error message is less clear
        except ImportError:
            raise MissingExtraError("to_pandas()", package="pandas") from None
        frame = chosen.to_pandas()
        for field in chosen.schema:
            if hasattr(field.type, "value_type") and not hasattr(field.type, "index_type"):
                frame[field.name] = chosen[field.name].to_pylist()  # lists in place of Arrow's arrays
        return frame

    def to_polars(self, table: str | None = None) -> Any:
        """One of the tables as a polars frame; the first of `TABLES` unless named."""
        chosen = self._chosen(table)
        try:
            import polars
        except ImportError:
            raise MissingExtraError("to_polars()", package="polars") from None
        # A missing score must be null, not NaN: polars ignores only nulls in a mean.
        return polars.DataFrame(chosen).with_columns(polars.selectors.float().fill_nan(None))

    def _chosen(self, table: str | None) -> pa.Table:
        name = self.TABLES[0] if table is None else table
        if name not in self.TABLES:
            raise UnknownNameError("table", str(name), self.TABLES, hint=f"choose from {', '.join(self.TABLES)}")
        return self._table(name)


def arrow_table(records: Sequence[Row], columns: Sequence[str] = ()) -> pa.Table:
    """Records as an Arrow table; it has `columns` even without records."""
    import pyarrow as pa

    names = list(dict.fromkeys([*columns, *(name for record in records for name in record)]))
    return pa.table({name: pa.array([record.get(name) for record in records]) for name in names})


def ends(interval: Interval | None) -> dict[str, float | None]:
    """An interval as two cells of a record."""
    low, high = (None, None) if interval is None else interval
    return {"low": low, "high": high}


def summary_records(metrics: Mapping[str, MetricSummary]) -> list[NewRow]:
    """A record for each metric: its mean with its interval, and the rest of its summary."""
    return [
        {
            "metric": name,
            "direction": summary.direction,
            "mean": summary.mean,
            **ends(summary.interval),
            "level": summary.level,
            "n_scored": summary.n_scored,
            "n_total": summary.n_total,
            "median": summary.median,
            "sd": summary.sd,
            "min": summary.min,
            "max": summary.max,
            "interval_method": summary.interval_method,
            "n_clusters": summary.n_clusters,
        }
        for name, summary in metrics.items()
    ]


def summaries_html(metrics: Mapping[str, MetricSummary]) -> str:
    """A line for each metric: its mean, interval and n, and the causes if rows were not scored."""
    level = next((summary.level for summary in metrics.values()), 0.95)
    titles = ["metric", "mean", f"{numbers.percent(level)} interval", "n"]
    shown = {name: headline(summary) for name, summary in metrics.items()}
    rows = [
        [
            titled(name, summary.direction),
            shown[name][0],
            shown[name][1] or numbers.MISSING,
            numbers.scored(summary.n_scored, summary.n_total),
        ]
        for name, summary in metrics.items()
    ]
    causes = [counted_causes(summary.n_not_scored) for summary in metrics.values()]
    if any(causes):
        titles.append("no score")
        rows = [[*row, cause] for row, cause in zip(rows, causes, strict=True)]
    return html_table(titles, rows, texts=(0, 4))


def html_table(titles: Sequence[str], rows: Sequence[Sequence[object]], *, texts: Sequence[int] = (0,)) -> str:
    """A table, with everything in it escaped. The columns at `texts` are aligned to the left, numbers to the right."""
    align = ["left" if place in texts else "right" for place in range(len(titles))]
    head = "".join(_cell("th", title, side) for title, side in zip(titles, align, strict=True))
    body = "".join(
        "<tr>" + "".join(_cell("td", cell, side) for cell, side in zip(row, align, strict=True)) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_lines(*lines: str) -> str:
    """Each text as an escaped line; empty texts are left out."""
    return "".join(f"<div>{in_html(line)}</div>" for line in lines if line)


def _cell(tag: str, content: object, side: str) -> str:
    return f'<{tag} style="text-align: {side}">{in_html(content)}</{tag}>'
