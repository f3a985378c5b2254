"""One run: its figures, its slices, and its rows, filtered, sorted and searched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from ragmeter.app import wording
from ragmeter.app.conversations import conversation_address
from ragmeter.app.layout import downloads, paged
from ragmeter.app.queries import Database, RowQuery
from ragmeter.app.scores import score
from ragmeter.documents.metrics import MetricSummary
from ragmeter.documents.summary import Summary
from ragmeter.io.write import dumps
from ragmeter.metrics.causes import CAUSE
from ragmeter.runs.conversations import SESSION
from ragmeter.runs.run import Run
from ragmeter.show.page.elements import Content, Markup, address, breakable, element, joined, link, text
from ragmeter.show.page.parts import field, figure, options, section, table, worded
from ragmeter.table import outcome_column
from ragmeter.wording.answer_causes import TITLES, cause_lines
from ragmeter.wording.causes import NotScored, failures
from ragmeter.wording.judging import judge_lines
from ragmeter.wording.limits import limit_lines
from ragmeter.wording.metrics import explained, titled
from ragmeter.wording.texts import shortened

_LONGEST = 200
#: Metrics that have a column of their own in the table of rows.
_METRICS = 6


def one_run(run: Run, database: Database, query: RowQuery, tags: Sequence[str]) -> list[Content]:
    """The page's content."""
    summary = run.summary()
    return [
        _links(run, query),
        _tags(run, tags),
        section(wording.FIGURES, _figures(run), _problems(run, summary), name="figures"),
        section(wording.CAUSES, _causes(run, summary), name="causes"),
        section(wording.SLICES, _slices(run, query), name="slices"),
        section(wording.ROWS, _filter(run, database, query), _rows(run, database, query), name="rows"),
        section(
            wording.SIGNATURE,
            element(
                "details", element("summary", "manifest.json"), element("pre", text(dumps(run.manifest(), indent=2)))
            ),
            name="signature",
        ),
    ]


def _links(run: Run, query: RowQuery) -> Markup:
    pages = [
        f"{run.n_rows:,} rows",
        link(wording.LABEL, address("run", run.name, "label")),
        link(wording.REPORT, address("run", run.name, "report")),
    ]
    return downloads(("run", run.name), query.as_query(page=1), before=[[part, " · "] for part in pages])


def _tags(run: Run, tags: Sequence[str]) -> Markup:
    """The run's tags, and a field to change them."""
    control = element("input", name="tags", value=" ".join(tags), maxlength=400)
    button = element("button", wording.SAVE, class_="quiet")
    return element("form", field(wording.TAGS, control), button, id="tags", class_="filter")


def _figures(run: Run) -> Markup:
    metrics = run.metrics()
    meaning = explained(list(metrics))
    rows = [
        [
            joined(
                breakable(titled(name, of_metric.direction)),
                element("span", worded(meaning[name]), class_="soft meaning"),
            ),
            figure(of_metric),
        ]
        for name, of_metric in metrics.items()
    ]
    return table([wording.METRIC, "mean, interval, n"], rows, caption=wording.FIGURES, cards=True)


def _causes(run: Run, summary: Summary) -> Content:
    """The share of each cause, with a link to its rows."""
    rows = [
        [
            joined(
                link(text(line.words), address("run", run.name, column=CAUSE, value=line.cause) + "#rows-title"),
                element("span", text(line.meaning), class_="soft meaning"),
            ),
            *line.cells[1:4],
            text(line.by),
        ]
        for line in cause_lines(summary.cause)
    ]
    return table(list(TITLES), rows, caption=wording.CAUSES, figures=(1, 2, 3)) if rows else None


def _problems(run: Run, summary: Summary) -> Content:
    lines = limit_lines(run.manifest())
    lines += [_failure(reason) for reason in failures(run.metrics())]
    lines += [line for line, _ in judge_lines(summary, run.manifest())]
    return element("ul", [element("li", text(line)) for line in lines], class_="note") if lines else None


def _failure(reason: NotScored) -> str:
    meaning = f" ({reason.meaning})" if reason.meaning else ""
    counted = wording.ROWS_NOT_SCORED[min(reason.count, 2)].format(**vars(reason))
    return f"{counted}{meaning}; {reason.which_metrics}"


def _slices(run: Run, query: RowQuery) -> Content:
    """Links to the rows of each value of the columns that part the rows, and to the figures of one column."""
    columns = run.slices() if run.n_rows <= 200_000 else []
    if not columns:
        return None
    names = [link(text(name), address("run", run.name, "slices", by=name)) for name in columns]
    return element("p", wording.BY, " ", [joined(name, " ") for name in names])


def slice_table(run: Run, column: str) -> list[Content]:
    """Each metric on the values of a column."""
    from ragmeter.analysis.slices import summarise_run

    summary = summarise_run(run, slices=[column])
    names = run.row_metrics
    rows = []
    for part in sorted(summary.slices, key=lambda part: -part.n_rows):
        cells = [_slice_figure(part.metrics[name]) for name in names]
        where = address("run", run.name, column=column, value=part.value)
        rows.append([link(text(part.value), where), f"{part.n_rows:,}", *cells])
    titles = [text(column), wording.ROWS, *map(breakable, names)]
    return [table(titles, rows, caption=f"{wording.SLICES}: {column}", figures=(1,))]


def _slice_figure(part: MetricSummary) -> Markup:
    ends = min(0.0, part.min or 0.0), 1.0 if part.max is None else max(1.0, part.max)
    return figure(replace(part, range=ends))


def _filter(run: Run, database: Database, query: RowQuery) -> Markup:
    metrics = {"": wording.ANY, **{name: name for name in run.row_metrics}}
    outcomes = {"": wording.ALL, "failed": wording.NOT_SCORED}
    number = {"type": "number", "step": "any"}
    hidden = [
        element("input", type="hidden", name=name, value=str(value))
        for name, value in query.as_query(page=1).items()
        if name in ("sort", "descending", "column", "value") and value is not None
    ]
    part = element("p", text(f"{query.column} = {query.value}"), class_="chip") if query.column else None
    low, high = ("" if value is None else f"{value:g}" for value in (query.low, query.high))
    return element(
        "form",
        part,
        hidden,
        field(wording.SEARCH, element("input", type="search", name="search", value=query.search, dir="auto")),
        field(wording.FILTER, options("outcome", outcomes, query.outcome)),
        field(wording.METRIC, options("metric", metrics, query.metric)),
        field(wording.FROM, element("input", name="low", value=low, **number)),
        field(wording.TO, element("input", name="high", value=high, **number)),
        element("button", wording.FILTER, class_="quiet"),
        link(wording.CLEAR, address("run", run.name) + "#rows-title"),
        action=address("run", run.name) + "#rows-title",
        method="get",
        class_="filter",
        role="search",
    )


def _rows(run: Run, database: Database, query: RowQuery) -> Markup:
    selection = database.rows(run, query)
    names = run.row_metrics[:_METRICS]
    if query.metric and query.metric in run.row_metrics and query.metric not in names:
        names = [*names[:-1], query.metric]
    columns = ["qid", "question", "answer", SESSION, *names, *map(outcome_column, names)]
    records = database.records(run, selection.places, columns)
    titles: list[Content] = ["qid", wording.QUESTION, wording.ANSWER, *(_sortable(run, name, query) for name in names)]
    rows = []
    for place, record in zip(selection.places, records, strict=True):
        where = address("run", run.name, "row", place, **query.as_query())
        rows.append(
            [
                [link(text(record.get("qid") or place + 1), where), _session(run, record.get(SESSION))],
                text(shortened(record.get("question") or "", _LONGEST)),
                _answer(record.get("answer")),
                *(score(record.get(name), record.get(outcome_column(name))) for name in names),
            ]
        )
    figures = tuple(range(3, 3 + len(names)))
    shown = table(titles, rows, caption=wording.ROWS, figures=figures, texts=(1, 2)) if rows else None
    return paged(shown, selection, query, ("run", run.name))


def _session(run: Run, session: Any) -> Content:
    """A link to the conversation of a row."""
    if not session:
        return None
    label = element("span", text(session), class_="soft")
    return joined(" ", link(label, conversation_address(run, session), aria_label=f"{wording.CONVERSATION} {session}"))


def _sortable(run: Run, name: str, query: RowQuery) -> Markup:
    descending = query.sort == name and not query.descending
    arrow = "" if query.sort != name else " ↓" if query.descending else " ↑"
    where = address("run", run.name, **query.as_query(sort=name, descending=descending, page=1)) + "#rows-title"
    return link(joined(breakable(name), arrow), where, class_="sorts")


def _answer(answer: str | None) -> Markup:
    return element("span", wording.NO_ANSWER, class_="lacking") if answer is None else text(shortened(answer, _LONGEST))
