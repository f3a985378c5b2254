"""`list_metrics()`: what can be measured, in a form for scripts, for a terminal and for a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Any, ClassVar, overload

from ragmeter import registry
from ragmeter.definition import Metric
from ragmeter.naming import several
from ragmeter.show.sentences.metrics import ARROWS
from ragmeter.show.tabular import Tabular, arrow_table, html_lines, html_table
from ragmeter.stats.summary import finite

_COLUMNS = ("name", "summary", "direction", "low", "high", "binary", "needs", "settings")


@dataclass(frozen=True)
class MetricInfo:
    """One metric: its name, what it is in a sentence, the columns that it needs, and its settings with their defaults.

    `range` has None where there is no end; a `binary` metric is 0 or 1, so its mean is a rate.
    """

    name: str
    summary: str
    direction: str
    range: tuple[float | None, float | None]
    binary: bool
    needs: tuple[str, ...]
    settings: dict[str, Any]

    @classmethod
    def of(cls, metric: Metric) -> MetricInfo:
        """What there is to know about a metric."""
        summary = (metric.__doc__ or "").partition("\n")[0]
        bounds = finite(metric.bounds)
        return cls(metric.name, summary, metric.direction, bounds, metric.binary, metric.needs, metric.settings)

    @property
    def title(self) -> str:
        """The name, with `[@k]` where a cut-off may be added."""
        return f"{self.name}[@k]" if "k" in self.settings and "@" not in self.name else self.name

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**vars(self), "needs": list(self.needs)}


class MetricList(Tabular, Sequence[MetricInfo]):
    """Metrics, in the order of the documents."""

    TABLES: ClassVar[tuple[str, ...]] = ("metrics",)

    def __init__(self, metrics: Iterable[MetricInfo]) -> None:
        self._metrics = tuple(metrics)

    @property
    def names(self) -> list[str]:
        """The names alone: what `metrics=` takes."""
        return [metric.name for metric in self]

    @overload
    def __getitem__(self, place: int) -> MetricInfo: ...
    @overload
    def __getitem__(self, place: slice) -> MetricList: ...
    def __getitem__(self, place: int | slice) -> MetricInfo | MetricList:
        return MetricList(self._metrics[place]) if isinstance(place, slice) else self._metrics[place]

    def __len__(self) -> int:
        return len(self._metrics)

    def __contains__(self, metric: object) -> bool:
        """Whether a metric is among them, by its name."""
        return metric in self._metrics or metric in self.names

    def __repr__(self) -> str:
        width = max((len(metric.title) for metric in self), default=0)
        lines = [
            f"{metric.title:{width}} {ARROWS[metric.direction] or ' '} {shorten(metric.summary, 90, placeholder=' …')}"
            for metric in self
        ]
        return "\n".join([*lines, f"<{len(self)} metrics; ↑ higher is better, ↓ lower is better>"])

    def _repr_html_(self) -> str:
        rows = [
            (
                metric.title,
                ARROWS[metric.direction],
                metric.summary,
                ", ".join(metric.needs),
                ", ".join(metric.settings),
            )
            for metric in self
        ]
        table = html_table(("metric", "", "what it is", "needs", "settings"), rows, texts=(0, 1, 2, 3, 4))
        return table + html_lines("↑ higher is better, ↓ lower is better")

    def _table(self, name: str) -> Any:
        records = []
        for metric in self:
            low, high = metric.range
            known = {key: value for key, value in vars(metric).items() if key not in ("range", "settings", "needs")}
            records.append(
                {**known, "low": low, "high": high, "needs": list(metric.needs), "settings": list(metric.settings)}
            )
        return arrow_table([{name: record[name] for name in _COLUMNS} for record in records], _COLUMNS)


def list_metrics(
    search: str = "", *, needs: str | Iterable[str] = (), columns: str | Iterable[str] | None = None
) -> MetricList:
    """The metrics that there are, built in and from plugins.

    `search` keeps those that have this text in their name or description. `needs` keeps those that need these columns,
    `columns` those that need no others: `list_metrics(columns=["reference", "answer"])` is what can be computed where
    there is nothing else.
    """
    wanted = search.casefold()
    needed = set(several(needs))
    given = None if columns is None else set(several(columns))
    return MetricList(
        metric
        for metric in map(MetricInfo.of, registry.known())
        if (wanted in metric.name.casefold() or wanted in metric.summary.casefold())
        and needed <= set(metric.needs)
        and (given is None or set(metric.needs) <= given)
    )
