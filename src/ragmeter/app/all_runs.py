"""The list of all runs, and a metric over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragmeter.app import wording
from ragmeter.runs.catalogue import RunEntry
from ragmeter.show.page.elements import Content, Markup, address, breakable, element, joined, link, text
from ragmeter.show.page.parts import field, figure, options, section, table, worded
from ragmeter.show.terminal.catalogue import day, headlines
from ragmeter.wording import numbers
from ragmeter.wording.limits import rows_shown
from ragmeter.wording.metrics import titled

#: The picture of a metric over time: its least width, its height without margins, and the margins for the figures.
_CHART_WIDTH, _CHART_HEIGHT, _CHART_TOP, _CHART_LEFT = 400, 150, 20, 60
_SORTS = {"name": wording.RUN, "created": wording.CREATED, "system": wording.SYSTEM, "n_rows": wording.ROWS}


def all_runs(entries: Sequence[RunEntry], query: Mapping[str, str], live: Content, n_shown: int = 200) -> list[Content]:
    """The page's content. `query` may have search, sort, data (a hash) and metric."""
    chosen = [entry for entry in entries if _wanted(entry, query)]
    sort = query.get("sort", "created")
    chosen.sort(key=lambda entry: _key(entry, sort), reverse=sort in ("created", "n_rows") or sort not in _SORTS)
    readable = [entry for entry in chosen if not entry.error]
    names = headlines(readable)
    titles: list[Content] = [element("span", wording.CHOOSE, class_="hidden")]
    titles += [_sortable(name, _SORTS[name], query) for name in ("name", "created", "n_rows")]
    titles += [_sortable(name, breakable(titled(name, _direction(readable, name))), query) for name in names]
    titles += [wording.FAILED, wording.COST, _sortable("system", wording.SYSTEM, query), wording.DATA]
    rows = [_row(entry, names, query) for entry in readable[:n_shown]]
    more = f"{len(chosen):,} runs" if len(chosen) <= n_shown else f"the first {n_shown:,} of {len(chosen):,} runs"
    if not entries:
        return [live, element("p", worded(wording.NO_RUNS), class_="note")]
    return [
        live,
        _search(query),
        element(
            "form",
            element(
                "p", element("button", wording.SIDE_BY_SIDE, class_="quiet"), " ", wording.CHOOSE_RUNS, class_="soft"
            ),
            table(titles, rows, caption=wording.ALL_RUNS, figures=(3, 4 + len(names), 5 + len(names))),
            element("p", more, class_="soft"),
            action="/compare",
            method="get",
        ),
        [_damaged(entry) for entry in chosen if entry.error],
        section(wording.OVER_TIME, over_time(readable, query), name="time"),
    ]


def _wanted(entry: RunEntry, query: Mapping[str, str]) -> bool:
    words = query.get("search", "").casefold().split()
    about = f"{entry.name}\n{entry.system}\n{entry.data_file}".casefold()
    has_tag = query.get("tag", "") in ("", *entry.tags)
    return has_tag and all(word in about for word in words) and query.get("data", "") in ("", entry.data)


def _key(entry: RunEntry, sort: str) -> Any:
    if sort in _SORTS:
        return getattr(entry, sort)
    summary = entry.metrics.get(sort)
    return float("-inf") if summary is None or summary.mean is None else summary.mean


def _direction(entries: Sequence[RunEntry], name: str) -> str:
    return next(entry.metrics[name].direction for entry in entries if name in entry.metrics)


def _sortable(name: str, label: Content, query: Mapping[str, str]) -> Markup:
    sorts = query.get("sort", "created") == name
    return link(label, address(**{**query, "sort": name}), aria_current="true" if sorts else None, class_="sorts")


def _search(query: Mapping[str, str]) -> Markup:
    control = element("input", type="search", name="search", value=query.get("search", ""), aria_label=wording.SEARCH)
    hidden = [
        element("input", type="hidden", name=name, value=query[name])
        for name in ("data", "sort", "tag")
        if query.get(name)
    ]
    clear = link(wording.CLEAR, address()) if any(map(query.get, ("search", "data", "tag"))) else None
    button = element("button", wording.SEARCH, class_="quiet")
    return element("form", control, hidden, " ", button, " ", clear, method="get", role="search")


def _damaged(entry: RunEntry) -> Markup:
    return element(
        "p", element("strong", text(entry.name), " ", wording.DAMAGED), " ", text(entry.error), class_="note bad"
    )


def _row(entry: RunEntry, names: Sequence[str], query: Mapping[str, str]) -> list[Content]:
    box = element(
        "input", type="checkbox", name="run", value=entry.name, aria_label=f"{wording.SIDE_BY_SIDE}: {entry.name}"
    )
    short = entry.data[:8]
    data_set = joined(breakable(entry.data_file), " ", element("code", short))
    created = [joined(element("span", part, class_="nowrap"), " ") for part in day(entry.created).split()]
    return [
        box,
        joined(link(breakable(entry.name), address("run", entry.name)), [_tag(tag, query) for tag in entry.tags]),
        element("time", created, datetime=entry.created),
        rows_shown(entry.n_rows, limited=entry.limited),
        *(figure(entry.metrics.get(name)) for name in names),
        f"{entry.n_failed:,}" if entry.n_failed else "",
        "" if entry.cost_usd is None else numbers.money(entry.cost_usd),
        breakable(entry.system) if entry.system else "",
        link(data_set, address(**{**query, "data": entry.data})) if short else "",
    ]


def _tag(tag: str, query: Mapping[str, str]) -> Markup:
    return joined(" ", link(tag, address(**{**query, "tag": tag}), class_="chip"))


def over_time(entries: Sequence[RunEntry], query: Mapping[str, str]) -> Content:
    """A metric's mean and interval, run after run, with a choice of the metric."""
    names = list(dict.fromkeys(name for entry in entries for name in entry.metrics))
    if not names:
        return None
    metric = query.get("metric", "") if query.get("metric", "") in names else headlines(entries)[0]
    points = [entry for entry in reversed(entries) if _key(entry, metric) > float("-inf")]
    points.sort(key=lambda entry: entry.created)
    control = options("metric", {name: name for name in names}, metric)
    hidden = [
        element("input", type="hidden", name=name, value=query[name])
        for name in ("search", "data", "tag")
        if query.get(name)
    ]
    choice = element(
        "form", field(wording.METRIC, control), hidden, " ", element("button", wording.FILTER, class_="quiet")
    )
    return joined(choice, _chart(points[-100:], metric))


def _chart(points: Sequence[RunEntry], metric: str) -> Markup:
    """Points with intervals from left to right, between lines at the least and the most; each links to its run."""
    if not points:
        return Markup()
    figures = [entry.metrics[metric] for entry in points]
    intervals = [of_run.interval or (of_run.mean or 0.0, of_run.mean or 0.0) for of_run in figures]
    low, high = min(begin for begin, _ in intervals), max(end for _, end in intervals)
    span = (high - low) or 1.0
    width = max(_CHART_WIDTH, 34 * len(points))

    def y(value: float) -> str:
        return f"{_CHART_TOP + (high - value) / span * _CHART_HEIGHT:.1f}"

    lines = [
        [
            element("line", x1="0", x2=width, y1=y(value), y2=y(value), class_="axis"),
            element("text", numbers.number(value), x="0", y=f"{float(y(value)) - 5:.1f}", class_="tick"),
        ]
        for value in dict.fromkeys((high, low))
    ]
    marks = []
    for place, (entry, of_run, (begin, end)) in enumerate(zip(points, figures, intervals, strict=True)):
        x = f"{_CHART_LEFT + (place + 0.5) * (width - _CHART_LEFT) / len(points):.1f}"
        label = f"{entry.name}, {day(entry.created)}: {numbers.number(of_run.mean)} ({numbers.interval((begin, end))})"
        marks.append(
            link(
                [
                    element("title", label),
                    element("line", x1=x, x2=x, y1=y(begin), y2=y(end), class_="interval"),
                    element("circle", cx=x, cy=y(of_run.mean or 0.0), r="5", class_="dot"),
                ],
                address("run", entry.name),
                aria_label=label,
            )
        )
    drawing = element(
        "svg",
        lines,
        marks,
        viewBox=f"0 0 {width} {_CHART_HEIGHT + _CHART_TOP + 10}",
        class_="timeline run-0",
        preserveAspectRatio="xMinYMid meet",
        role="group",
        aria_label=metric,
    )
    ends = dict.fromkeys(f"{entry.name}, {day(entry.created)}" for entry in (points[0], points[-1]))
    return element("figure", drawing, element("figcaption", text(" → ".join(ends)), class_="soft"))
