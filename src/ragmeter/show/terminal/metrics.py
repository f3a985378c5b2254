"""The metrics that there are, as a person reads them."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table

from ragmeter.analysis.listing import MetricInfo
from ragmeter.definition import Metric
from ragmeter.show.markdown import metric_page
from ragmeter.show.sentences.metrics import ARROWS
from ragmeter.show.terminal.console import console


def show_metrics(metrics: Sequence[MetricInfo]) -> None:
    """A line for each metric."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("metric", no_wrap=True)
    table.add_column("")
    table.add_column("what it is")
    for metric in metrics:
        table.add_row(metric.title, ARROWS[metric.direction], metric.summary)
    out = console()
    out.print(table)
    out.print("`ragmeter metrics NAME` explains one. ↑ higher is better, ↓ lower is better.")


def show_metric(metric: Metric) -> None:
    """A metric's page."""
    from rich.markdown import Markdown  # takes longer than a list of all metrics

    out = console()
    out.print(metric.name, style="bold")
    out.print(Markdown(metric_page(metric)))
