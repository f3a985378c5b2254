"""Shows the runs of a project: how they compare, and what went wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.text import Text

from ragmeter.analysis.comparing import Comparison
from ragmeter.documents.metrics import MetricSummary
from ragmeter.show.terminal.comparison import show_comparison
from ragmeter.show.terminal.console import console
from ragmeter.show.terminal.tables import Figures
from ragmeter.wording.causes import cause_name, failures
from ragmeter.wording.metrics import headline, titled
from ragmeter.wording.numbers import MISSING, money, percent, scored
from ragmeter.wording.texts import printable

_CODES = {1: "the gate failed", 3: "too many rows without a score"}


def show_project(
    summaries: Mapping[str, Mapping[str, MetricSummary]],
    codes: Mapping[str, int],
    comparison: Comparison | None,
    cautions: Sequence[str] = (),
    costs: Mapping[str, float] | None = None,
) -> None:
    """The comparison of the runs, or the means of each where there is none; what went wrong in which; judges' costs."""
    out = console()
    if comparison is None:
        _show_means(summaries)
    else:
        show_comparison(comparison)
    for run, summary in summaries.items():
        for reason in failures(summary):
            name = cause_name(reason.cause)
            out.sentence(f"{run}: no score, {name}: {reason.count:,} ({reason.which_metrics})", "yellow")
    for line in cautions:
        out.sentence(line, "red")
    for run, cost in (costs or {}).items():
        out.sentence(f"{run}: its judge cost {money(cost)}")
    for run, code in codes.items():
        if code:
            out.sentence(f"{run}: {_CODES.get(code, f'exit code {code}')}", "red")


def _show_means(summaries: Mapping[str, Mapping[str, MetricSummary]]) -> None:
    """All means, the runs of each metric below one another."""
    metrics = dict.fromkeys(name for summary in summaries.values() for name in summary)
    levels = {figures.level for summary in summaries.values() for figures in summary.values()}
    table = Figures.of("metric", "system", "mean", f"{percent(min(levels, default=0.95))} interval", "n", names=2)
    for name in metrics:
        for run, summary in summaries.items():
            if name in summary:
                table.add(*_cells(name, run, summary[name]))
    console().print(table)


def _cells(name: str, run: str, figures: MetricSummary) -> tuple[str | Text, ...]:
    style = "" if figures.n_scored == figures.n_total else "bold red"
    count = Text(scored(figures.n_scored, figures.n_total), style=style)
    title = printable(titled(name, figures.direction))
    mean, between = headline(figures)
    return title, printable(run), mean, between or MISSING, count
