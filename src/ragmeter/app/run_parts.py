"""A run's figures at a glance: its metrics with histograms, where its answers failed, and its slices."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ragmeter.app import wording
from ragmeter.app.conditions import AT_LEAST, AT_MOST, BELOW, EQUAL, MISSING, Condition
from ragmeter.app.figures import Figures, Histogram, SliceRow
from ragmeter.app.row_query import RowQuery
from ragmeter.app.scores import metric_meanings
from ragmeter.documents.metrics import MetricSummary
from ragmeter.documents.summary import Summary
from ragmeter.metrics.causes import CAUSE, FAILED
from ragmeter.runs.run import NOTHING, Run
from ragmeter.show.page.charts.drawing import block
from ragmeter.show.page.charts.shares import Part, stacked
from ragmeter.show.page.elements import Content, Markup, address, breakable, element, joined, link, text
from ragmeter.show.page.parts import SIGNS, folded, table, tints
from ragmeter.stats.distributions import z_two_sided
from ragmeter.stats.multiple import holm
from ragmeter.wording import numbers
from ragmeter.wording.answer_causes import cause_lines
from ragmeter.wording.metrics import differing_level, headline, titled

#: Metrics that are shown at once; the others are behind a click.
_MEASURES = 7
#: Of so many rows, a card has no room for how many have no score; the alarms say it.
_MANY = 10_000
#: Values and metrics of a heat map.
_VALUES, _METRICS = 30, 8
#: How far a slice's mean is from that of all rows, in standard deviations, for the second and third step of its colour.
_STEPS = (0.25, 0.5)
_ALPHA = 0.05
#: A slice of fewer rows is not tested.
_FEWEST = 10


def run_parts(run: Run, summary: Summary, query: RowQuery, figures: Figures, *, wait: bool = False) -> Markup:
    """All of it. Of a large run, histograms and slices follow by themselves, unless they are waited for."""
    is_complete = wait or figures.are_quick(run)
    later = None if is_complete else address("run", run.name, "parts", **query.as_query())
    return element(
        "div",
        _measures(run, query, figures.histograms(run) if is_complete else {}),
        _causes(run, summary, query),
        _slices(run, query, figures) if is_complete else element("p", wording.COUNTING, class_="soft working"),
        id="parts",
        hx_get=later,
        hx_trigger=later and "load",
        hx_select=later and "#parts",
        hx_swap=later and "outerHTML",
    )


def _measures(run: Run, query: RowQuery, histograms: dict[str, Histogram]) -> Content:
    metrics = run.metrics()
    meanings = metric_meanings(tuple(metrics))
    (tint,) = tints([run])
    cards = [
        element(
            "li",
            element("p", _named(name, summary, meanings[name]), class_="name"),
            element("p", _mean(summary)),
            _bars(run, name, summary, query, histograms.get(name)),
            class_=f"measure card {tint}",
        )
        for name, summary in metrics.items()
    ]
    if not cards:
        return None
    first, rest = cards[:_MEASURES], cards[_MEASURES:]
    more = folded(wording.MORE_METRICS.format(count=len(rest)), element("ul", rest, class_="measures"))
    listed = element("ul", first, class_="measures", aria_label=wording.FIGURES)
    return joined(listed, more if rest else None)


def _named(name: str, summary: MetricSummary, meaning: str) -> Markup:
    words = breakable(titled(name, summary.direction))
    return element("abbr", words, title=meaning, tabindex="0") if meaning else words


def _mean(summary: MetricSummary) -> Markup:
    mean, interval = headline(summary)
    between = "" if interval is None else differing_level(summary) + interval
    return joined(element("span", mean, class_="mean"), " ", element("span", between, class_="soft nowrap"))


def _bars(run: Run, metric: str, summary: MetricSummary, query: RowQuery, bars: Histogram | None) -> Content:
    """A histogram whose bars lead to their rows; a person can also draw over several of them."""
    n = f"n {numbers.scored(summary.n_scored, summary.n_total if summary.n_total < _MANY else summary.n_scored)}"
    if bars is None or metric not in run.row_metrics:
        return joined(element("div", class_="bins"), element("p", element("span", n), class_="scale"))
    width, most = 100 / len(bars.counts), max(bars.counts)
    marks = []
    for place, count in enumerate(bars.counts):
        low, high = bars.edges[place], bars.edges[place + 1]
        is_last = place + 1 == len(bars.counts)
        wanted = _in_bar(metric, low, high, is_whole=bars.is_whole, is_last=is_last)
        where = wording.YES_NO[int(low + 0.5)] if summary.binary else _ends(low, high, bars.is_whole)
        words = f"{where}: {count:,} {wording.OF_ROWS}"
        height = max(count / most * 100, 2.0 if count else 0.0)
        inside = joined(
            element("title", words),
            block(place * width, 0, width, 100, "hit"),
            block((place + 0.05) * width, 100 - height, 0.9 * width, height, "column"),
        )
        rows = address("run", run.name, **query.with_condition(*wanted).as_query()) + "#rows"
        of_several = [Condition(metric, AT_LEAST, wanted[0].value), wanted[-1]]
        if len(wanted) < 2:  # a bar of a whole number
            of_several[1] = Condition(metric, AT_MOST, wanted[0].value)
        ends = {"data_from": of_several[0].written, "data_to": of_several[1].written}
        marks.append(link(inside, rows, aria_label=words, tabindex="-1", **ends))
    label = wording.HISTOGRAM.format(metric=metric)
    begin, end = _scale(bars, summary)
    ends_shown = [element("span", words) for words in (begin, n, end)]
    return joined(
        element(
            "svg", marks, width="100%", height=26, class_="chart bins", role="group", aria_label=label,
            data_column=metric,
        ),
        element("p", ends_shown, class_="scale"),
    )  # fmt: skip


def _in_bar(metric: str, low: float, high: float, *, is_whole: bool, is_last: bool) -> tuple[Condition, ...]:
    if is_whole:
        return (Condition(metric, EQUAL, _written(low + 0.5)),)
    least = Condition(metric, AT_LEAST, _written(low))
    return least, Condition(metric, AT_MOST if is_last else BELOW, _written(high))


def _written(end: float) -> str:
    """An end of a bar, with as many digits as say it exactly."""
    short = numbers.given(end)
    return short if float(short) == end else repr(end)


def _ends(low: float, high: float, is_whole: bool) -> str:
    return numbers.given(low + 0.5) if is_whole else f"{numbers.given(low)} {wording.TO} {numbers.given(high)}"


def _scale(bars: Histogram, summary: MetricSummary) -> tuple[str, str]:
    """What the ends of a histogram are."""
    if summary.binary:
        return wording.YES_NO[0], wording.YES_NO[1]
    half = 0.5 if bars.is_whole else 0.0
    low, high = bars.edges[0] + half, bars.edges[-1] - half
    return numbers.significant(low, 3), numbers.significant(high, 3)


def _causes(run: Run, summary: Summary, query: RowQuery) -> Content:
    """What happened to the answers, as a bar whose parts lead to their rows."""
    lines = cause_lines(summary.cause)
    if not lines or CAUSE not in run.columns:
        return None
    parts = [
        Part(
            "failed-part" if line.cause == FAILED else line.cause,
            line.words,
            line.count,
            address("run", run.name, **query.with_condition(Condition(CAUSE, EQUAL, line.cause)).as_query()) + "#rows",
            line.meaning,
        )
        for line in lines
    ]
    return element("div", stacked([(wording.CAUSES, parts)], wording.CAUSES), id="causes")


def _slices(run: Run, query: RowQuery, figures: Figures) -> Content:
    """Links to the columns that part the rows; the metrics on the values of the one that is chosen."""
    columns = figures.slices(run)
    if not columns:
        return None
    links: list[Content] = [
        link(
            text(name),
            address("run", run.name, **query.as_query(by="" if name == query.by else name)) + "#slices",
            aria_current="true" if name == query.by else None,
        )
        for name in columns
    ]
    line = element("p", wording.SLICES_BY, " ", [joined(name, " ") for name in links], class_="by")
    heat = _heat_map(run, query, figures.on_slices(run, query.by)) if query.by else None
    return element("div", line, heat, id="slices")


def _heat_map(run: Run, query: RowQuery, rows: Sequence[SliceRow]) -> Markup:
    names = run.row_metrics[:_METRICS]
    summaries, shown = [run.metrics()[name] for name in names], rows[:_VALUES]
    tested = holm([_p_of_slice(of, *part) for row in shown for of, part in zip(summaries, row.figures, strict=False)])
    p = iter(tested.tolist())
    lines: list[list[Content]] = []
    for row in shown:
        wanted = Condition(query.by, MISSING) if row.value is None else Condition(query.by, EQUAL, row.value)
        on_slice = query.with_condition(wanted)
        value = text(NOTHING if row.value is None else row.value)
        cells = [_heat(run, name, *part, next(p), on_slice) for name, part in zip(names, row.figures, strict=False)]
        lines.append([link(value, _rows_of(run, on_slice)), f"{row.n_rows:,}", *cells])
    titles: list[Content] = [text(query.by), wording.ROWS, *(breakable(_titled(run, name)) for name in names)]
    figures = tuple(range(1, 2 + len(names)))
    more = element("p", wording.AND_MORE.format(count=len(rows) - _VALUES)) if len(rows) > _VALUES else None
    caption = f"{wording.SLICES}: {query.by}"
    return joined(element("div", table(titles, lines, caption=caption, figures=figures), class_="heat-map"), more)


def _p_of_slice(overall: MetricSummary, mean: float | None, n: int) -> float:
    """P of a slice's mean being so far from that of the other rows. A group of rows is worth no more than a single one.

    The rows are taken as drawn from the same distribution: of few rows there is no test, and p is 1.
    """
    others = overall.n_scored - n
    if (
        mean is None
        or overall.mean is None
        or not overall.sd
        or overall.direction == "none"
        or min(n, others) < _FEWEST
    ):
        return 1.0
    apart = (mean - overall.mean) * overall.n_scored / others  # from the mean of the other rows
    of_group = overall.n_scored / (overall.n_clusters or overall.n_scored)
    return z_two_sided(apart / (overall.sd * math.sqrt(of_group * (1 / n + 1 / others))))


def _heat(run: Run, metric: str, mean: float | None, n: int, p: float, on_slice: RowQuery) -> Content:
    """A metric on a slice: significantly better or worse than elsewhere, it has a colour and a sign.

    It leads to its rows.
    """
    if mean is None:
        return element("span", wording.NO_SCORE, class_="lacking")
    overall = run.metrics()[metric]
    apart = (mean - (overall.mean or 0.0)) / (overall.sd or 1.0) * (-1 if overall.direction == "lower" else 1)
    step = 1 + sum(abs(apart) >= least for least in _STEPS) if p < _ALPHA else 0
    tone = "better" if apart > 0 else "worse"
    sign = f" {SIGNS[tone]}" if step else ""
    worst_first = on_slice.as_query(sort=metric, descending=overall.direction == "lower")
    shown = joined(numbers.number(mean, decimals=2), element("span", sign, aria_hidden="true"))
    says = numbers.equals("Holm p", numbers.p_value(p))
    title = f"{metric} {numbers.number(mean)}, n {n:,}" + (f" ({wording.TONES[tone]}, {says})" if step else "")
    kind = f"heat heat-{'up' if apart > 0 else 'down'}-{step}" if step else "heat"
    return link(shown, address("run", run.name, **worst_first) + "#rows", class_=kind, title=title)


def _titled(run: Run, name: str) -> str:
    return titled(name, run.metrics()[name].direction)


def _rows_of(run: Run, query: RowQuery) -> str:
    return address("run", run.name, **query.as_query()) + "#rows"
