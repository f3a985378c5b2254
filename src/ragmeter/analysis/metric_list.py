"""`list_metrics()`: the metrics, for scripts, terminals and notebooks."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Any, ClassVar, overload

from ragmeter import registry
from ragmeter.definition import Metric
from ragmeter.errors import RagmeterWarning
from ragmeter.io.tabular import Tabular, arrow_table, html_lines, html_table
from ragmeter.naming import several
from ragmeter.stats.summary import finite
from ragmeter.wording.signs import ARROWS, ARROWS_EXPLAINED

#: What a metric needs beside the answers: the groups of the list.
TEXTS, PASSAGES, DOCUMENTS, MODEL = "texts", "passages", "gold documents", "a model"
GROUPS = (TEXTS, PASSAGES, DOCUMENTS, MODEL)
_COLUMNS = ("name", "summary", "direction", "low", "high", "binary", "needs", "settings", "asks", "group")


@dataclass(frozen=True)
class MetricInfo:
    """One metric: its name, what it is in a sentence, the columns that it needs, and its settings with their defaults.

    `asks` are columns that a judge fills from those; a table that has them already needs no judge. `range` has None
    where it is unbounded; a `binary` metric is 0 or 1, so its mean is a rate. `group` says in a word what it needs.
    """

    name: str
    summary: str
    direction: str
    range: tuple[float | None, float | None]
    binary: bool
    needs: tuple[str, ...]
    settings: dict[str, Any]
    asks: tuple[str, ...] = ()
    group: str = TEXTS

    @classmethod
    def of(cls, metric: Metric) -> MetricInfo:
        """Describe a metric."""
        summary = (metric.__doc__ or "").partition("\n")[0]
        asks = tuple(column.name for column in metric.judge_columns)
        bounds = finite(metric.bounds)
        about = (metric.name, summary, metric.direction, bounds, metric.binary, metric.reads, metric.settings, asks)
        return cls(*about, _group(metric))

    @property
    def title(self) -> str:
        """The name, with `[@k]` where a cut-off may be added."""
        return f"{self.name}[@k]" if "k" in self.settings and "@" not in self.name else self.name

    def as_dict(self) -> dict[str, Any]:
        """The metric's description as a dict for JSON."""
        return {**vars(self), "needs": list(self.needs), "asks": list(self.asks)}


def _group(metric: Metric) -> str:
    if metric.judge_columns or metric.embedded:
        return MODEL
    if {"relevant", "retrieved"}.intersection(metric.reads):
        return DOCUMENTS
    return PASSAGES if "contexts" in metric.reads else TEXTS


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
        return "\n".join([*lines, f"<{len(self)} metrics; {ARROWS_EXPLAINED}>"])

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
        return table + html_lines(ARROWS_EXPLAINED)

    def _table(self, name: str) -> Any:
        records = []
        for metric in self:
            low, high = metric.range
            lists = {"needs": list(metric.needs), "settings": list(metric.settings), "asks": list(metric.asks)}
            records.append({**vars(metric), "low": low, "high": high, **lists})
        return arrow_table([{name: record[name] for name in _COLUMNS} for record in records], _COLUMNS)


def list_metrics(
    search: str = "", *, needs: str | Iterable[str] = (), columns: str | Iterable[str] | None = None
) -> MetricList:
    """The available metrics, built in and from plugins. A warning names each plugin that does not load.

    Args:
        search: a text in the name or the description.
        needs: columns that the metrics need.
        columns: columns beside which the metrics need no others: `list_metrics(columns=["reference", "answer"])` lists
            what these two columns suffice for.
    """
    for error in registry.broken_plugins().values():
        warnings.warn(error.message, RagmeterWarning, stacklevel=2)
    text = search.casefold()
    needed = set(several(needs))
    available = None if columns is None else set(several(columns))
    metrics = [
        metric for metric in registry.known() if available is None or set(metric.needs) - metric.may_lack <= available
    ]
    return MetricList(
        metric
        for metric in map(MetricInfo.of, metrics)
        if (text in metric.name.casefold() or text in metric.summary.casefold()) and needed <= set(metric.needs)
    )
