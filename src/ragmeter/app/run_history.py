"""A metric over time: a chart for each question set, for means of different questions are not compared."""

from __future__ import annotations

from collections.abc import Sequence

from ragmeter.app import wording
from ragmeter.app.run_list import RunList, SetOfRuns
from ragmeter.runs.catalogue import RunEntry
from ragmeter.runs.run import Run
from ragmeter.show.page.charts.intervals import Moment, timeline
from ragmeter.show.page.elements import Content, Markup, address, element, joined, text
from ragmeter.show.page.parts import field, hidden, options, tints
from ragmeter.wording import numbers, times
from ragmeter.wording.metrics import differing_level, headline, titled

#: Charts of a page, and runs of a chart.
_MOST_SETS, _MOST_RUNS = 6, 500


def over_time(runs: RunList, chosen: Sequence[RunEntry]) -> Content:
    """The charts of the sets with two runs or more, and the choice of the metric."""
    names = list(runs.all_metrics(chosen))
    if not names:
        return None
    metric = runs.query.over_time if runs.query.over_time in names else runs.metrics(chosen)[0]
    by_set = [(of_set, _with_mean(of_set, metric)) for of_set in runs.sets(chosen)]
    charts = [(of_set, entries) for of_set, entries in by_set if len(entries) > 1]
    control = options("metric", {name: name for name in names}, metric)
    button = element("button", wording.FILTER, class_="quiet")
    choice = element("form", field(wording.METRIC, control), hidden(runs.query.as_query(metric="")), " ", button)
    more = None
    if len(charts) > _MOST_SETS:
        more = element("p", wording.SOME_SETS.format(count=_MOST_SETS, total=len(charts)), class_="soft")
    nothing = None if charts else element("p", wording.NO_HISTORY, class_="soft")
    drawn = [_chart(of_set, entries, metric) for of_set, entries in charts[:_MOST_SETS]]
    return joined(choice, nothing, element("div", drawn, class_="histories"), more)


def _with_mean(of_set: SetOfRuns, metric: str) -> list[RunEntry]:
    """The runs with a mean of this metric and a time, the oldest first."""
    timed = [entry for entry in of_set.entries if times.local(entry.created) and metric in entry.metrics]
    return sorted((entry for entry in timed if entry.metrics[metric].mean is not None), key=lambda run: run.created)


def _chart(of_set: SetOfRuns, entries: Sequence[RunEntry], metric: str) -> Markup:
    shown = entries[-_MOST_RUNS:]
    moments = [
        _moment(entry, metric, tint)
        for entry, tint in zip(shown, tints([Run(entry.path) for entry in shown]), strict=True)
    ]
    ends = (times.day(shown[0].created), times.day(shown[-1].created))
    label = titled(metric, shown[0].metrics[metric].direction)
    count = f"{len(entries):,}" if len(shown) == len(entries) else f"{len(shown):,} of {len(entries):,}"
    without = len(of_set.entries) - len(entries)
    about = wording.RUNS_OF[2].format(count=count) + (wording.WITHOUT_METRIC.format(count=without) if without else "")
    return element(
        "div",
        element("h3", text(of_set.name or wording.NO_SET), " ", element("span", about, class_="soft")),
        timeline(moments, label, ends),
        class_="card history",
    )


def _moment(entry: RunEntry, metric: str, tint: str) -> Moment:
    figures = entry.metrics[metric]
    mean, interval = headline(figures)
    between = "" if interval is None else f" ({differing_level(figures)}{interval})"
    when = times.local(entry.created)
    title = f"{entry.name}, {entry.system or wording.NO_SYSTEM}, {times.exact(entry.created)}: {mean}{between}"
    n = numbers.scored(figures.n_scored, figures.n_total)
    assert when is not None and figures.mean is not None  # noqa: S101, PT018 - _with_mean leaves out the others
    is_pictured = figures.bounds_of_mean is None
    return Moment(
        when.timestamp(), figures.mean, figures.interval if is_pictured else None, f"{title}, n {n}",
        address("run", entry.name), tint,
    )  # fmt: skip
