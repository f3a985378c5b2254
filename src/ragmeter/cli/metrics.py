"""`ragmeter metrics [NAME]`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ragmeter import registry
from ragmeter.analysis.listing import MetricInfo, list_metrics
from ragmeter.cli.options import Parser
from ragmeter.definition import Metric
from ragmeter.io.write import dumps


def run(argv: Sequence[str]) -> int:
    """List the metrics, or show one metric's page."""
    parser = Parser(prog="ragmeter metrics", description="List the metrics, or explain one.")
    parser.add_argument("name", nargs="?", help="a metric's name, for example ndcg@10")
    parser.add_argument("--json", action="store_true", help="for scripts")
    chosen = parser.parse_args(list(argv))
    if chosen.name is None:
        metrics = list_metrics()
        print(dumps([each.as_dict() for each in metrics], indent=2)) if chosen.json else _list(metrics)
    else:
        metric = registry.get(chosen.name)
        print(dumps(describe(metric), indent=2)) if chosen.json else _page(metric)
    return 0


def describe(metric: Metric) -> dict[str, Any]:
    """What there is to know about a metric, for scripts."""
    return MetricInfo.of(metric).as_dict()


def page(metric: Metric) -> str:
    """A metric's page in Markdown."""
    low, high = ("−∞" if end == -math.inf else "∞" if end == math.inf else f"{end:g}" for end in metric.bounds)
    bounds = "0 or 1" if metric.binary else f"{low} to {high}"
    better = {"higher": "higher is better", "lower": "lower is better", "none": "neither is better"}[metric.direction]
    facts = f"**Range.** {bounds}; {better}. **Needs** {', '.join(metric.needs)}."
    if metric.settings:
        facts += f" **Settings** {', '.join(metric.settings)}."
    first, _, rest = (metric.__doc__ or "").partition("\n")
    return f"{first}\n\n{facts}\n\n{rest.strip()}"


def _list(metrics: Sequence[MetricInfo]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from ragmeter.show.terminal import ARROWS, console

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("metric", no_wrap=True)
    table.add_column("")
    table.add_column("what it is")
    for metric in metrics:
        table.add_row(metric.title, ARROWS[metric.direction], metric.summary)
    console().print(table)
    console().print("`ragmeter metrics NAME` explains one. ↑ higher is better, ↓ lower is better.")


def _page(metric: Metric) -> None:
    from rich.markdown import Markdown

    from ragmeter.show.terminal import console

    out = console()
    out.print(metric.name, style="bold")
    out.print(Markdown(page(metric)))
