"""The frame of every page, and pieces that several pages have: tables, intervals as pictures, pages of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from starlette.responses import HTMLResponse

from ragmeter.app import wording
from ragmeter.app.elements import Content, Markup, address, element, joined, link, plain, text
from ragmeter.app.queries import PAGE, RowQuery, Selection
from ragmeter.documents.metrics import MetricSummary
from ragmeter.show.report.shapes import axis_of_means
from ragmeter.wording import numbers
from ragmeter.wording.metrics import differing_level, headline


def page(
    title: str, *content: Content, csrf: str = "", status: int = 200, here: Sequence[Content] = ()
) -> HTMLResponse:
    """A whole page. `here` are the links from the list of runs to this page."""
    crumbs = [link(wording.ALL_RUNS, address()), *here]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="csrf", content=csrf),
        element("title", f"{title} – ragmeter"),
        element("link", rel="icon", href="data:,"),
        element("link", rel="stylesheet", href="/static/report.css"),
        element("link", rel="stylesheet", href="/static/app.css"),
        element("script", type="module", src="/static/app.js"),
    )
    bar = element(
        "header",
        element(
            "div",
            element("span", "ragmeter", class_="brand", aria_hidden="true"),
            element("nav", crumbs, id="contents", aria_label="Breadcrumbs"),
            element("button", "◐", type="button", id="theme", class_="quiet", aria_label=wording.THEME),
            class_="inside",
        ),
        class_="bar",
    )
    body = element(
        "body",
        link(wording.SKIP_TO_MAIN, "#main", class_="skip"),
        bar,
        element("main", element("h1", text(title)), *content, id="main", tabindex="-1"),
    )
    return HTMLResponse("<!doctype html>" + element("html", head, body, lang="en"), status)


def section(title: str, *content: Content, name: str) -> Markup:
    """A part of a page under its own heading; nothing if it is empty."""
    if not joined(*content):
        return Markup()
    return element("section", element("h2", title, id=f"{name}-title"), *content, aria_labelledby=f"{name}-title")


def table(
    titles: Sequence[Content],
    rows: Iterable[Sequence[Content]],
    *,
    caption: str,
    figures: Sequence[int] = (),
    texts: Sequence[int] = (),
    cards: bool | None = None,
) -> Markup:
    """A table that scrolls by itself where it is too wide. On a phone its rows are `cards` if it has three columns.

    The columns at `figures` are aligned to the right; those at `texts` have long texts. Roles are named because some
    browsers forget those of a table whose rows are not shown as such.
    """
    kinds = ["number" if at in figures else "words" if at in texts else None for at in range(len(titles))]
    columns = [(kind, plain(title)) for kind, title in zip(kinds, titles, strict=True)]
    head = [
        element("th", title, scope="col", role="columnheader", class_=kind)
        for title, kind in zip(titles, kinds, strict=True)
    ]
    body = [
        element(
            "tr",
            [
                element("td", cell, role="cell", class_=kind, data_title=title)
                for cell, (kind, title) in zip(row, columns, strict=True)
            ],
            role="row",
        )
        for row in rows
    ]
    return element(
        "div",
        element(
            "table",
            element("caption", caption, class_="hidden"),
            element("thead", element("tr", head, role="row"), role="rowgroup", data_title=wording.SORT_BY),
            element("tbody", body, role="rowgroup"),
            role="table",
            class_="cards-on-phones" if (len(titles) > 2 if cards is None else cards) else None,
        ),
        class_="scroll",
        tabindex="0",
        role="group",  # a section has the same name already, and landmarks need names of their own
        aria_label=caption,
    )


def figure(summary: MetricSummary | None) -> Markup:
    """A mean with its interval and n, as text and as a picture."""
    if summary is None:
        return Markup()
    mean, interval = headline(summary)
    between = "" if interval is None else differing_level(summary) + interval
    n = numbers.scored(summary.n_scored, summary.n_total)
    return joined(
        element("span", mean, class_="mean"),
        " ",
        element("span", between, class_="soft nowrap"),
        whisker(summary),
        element("span", f"n {n}", class_="soft nowrap"),
    )


def whisker(summary: MetricSummary) -> Markup:
    """A mean and its interval on the metric's axis."""
    if summary.mean is None or summary.bounds_of_mean is not None:
        return Markup()
    low, high = axis_of_means([summary])
    scale = 100 / (high - low)
    begin, end = summary.interval or (summary.mean, summary.mean)
    x = [f"{min(max((value - low) * scale, 0), 100):.2f}" for value in (begin, summary.mean, end)]
    return element(
        "svg",
        element("line", x1="0", x2="100", y1="6", y2="6", class_="axis"),
        element("line", x1=x[0], x2=x[2], y1="6", y2="6", class_="interval"),
        element("circle", cx=x[1], cy="6", r="4", class_="dot"),
        viewBox="-4 0 108 12",
        class_="whisker run-0",
        aria_hidden="true",
    )


def worded(sentence: str) -> list[Content]:
    """A sentence of ours, with what stands between backticks as code."""
    return [element("code", part) if place % 2 else part for place, part in enumerate(sentence.split("`"))]


def field(label: Content, control: Markup) -> Markup:
    """A control with its label."""
    return element("label", element("span", label), " ", control)


def command(line: str) -> Markup:
    """A command that does the same as the page, with a button that copies it."""
    copy = element("button", wording.COPY, type="button", class_="quiet", data_copy=line, data_done=wording.COPIED)
    return element("p", wording.COMMAND, " ", element("code", text(line)), " ", copy, class_="soft")


def options(name: str, choices: Mapping[str, str], chosen: str) -> Markup:
    """A drop-down list."""
    return element(
        "select",
        [element("option", label, value=value, selected=value == chosen) for value, label in choices.items()],
        name=name,
    )


def downloads(where: Sequence[str | int], fields: Mapping[str, object], before: Content = None) -> Markup:
    """Links to files of the rows that are shown, after other links."""
    files = [joined(link(kind, address(*where, "export", kind, **fields)), " ") for kind in ("csv", "jsonl", "parquet")]
    return element("p", before, wording.EXPORT, " ", files, class_="soft")


def paged(content: Content, selection: Selection, query: RowQuery, where: Sequence[str | int], **more: Any) -> Markup:
    """A page of rows between links to those before and after; if there is only one page, they stand above it."""
    pages = pager(selection, query, where, **more)
    return joined(pages, content, pages if selection.total > PAGE else None)


def pager(selection: Selection, query: RowQuery, where: Sequence[str | int], **more: Any) -> Markup:
    """A line that says which rows these are, with links to those before and after."""
    if not selection.places:
        start = link(wording.FIRST_PAGE, address(*where, **more, **query.as_query(page=1))) if selection.total else None
        return element("p", wording.NO_ROWS, " ", start, class_="soft")
    first = (query.page - 1) * PAGE + 1
    shown = wording.SHOWN.format(first=first, last=first + len(selection.places) - 1, total=selection.total)
    links = []
    if query.page > 1:
        links.append(link(wording.PREVIOUS, address(*where, **more, **query.as_query(page=query.page - 1)), rel="prev"))
    if query.page * PAGE < selection.total:
        links.append(link(wording.NEXT, address(*where, **more, **query.as_query(page=query.page + 1)), rel="next"))
    return element("p", element("span", shown), [joined(" ", item) for item in links], class_="pager")
