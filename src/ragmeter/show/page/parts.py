"""Pieces that pages have in common: tables, sections, controls, cards with one number, swatches, signs and notes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ragmeter.documents.metrics import MetricSummary
from ragmeter.runs.colours import colours_of
from ragmeter.runs.run import Run
from ragmeter.show.page.charts.drawing import Axis
from ragmeter.show.page.charts.intervals import BETTER, EVEN, WORSE, whisker
from ragmeter.show.page.elements import Content, Markup, breakable, element, joined, plain, text
from ragmeter.show.page.shapes import axis_of_means
from ragmeter.wording import numbers
from ragmeter.wording.metrics import differing_level, headline

#: The colours of runs in `style.css`, none of them green, red or amber.
N_TINTS = 8
#: The words of pages that parts need.
COPY, COPIED, COMMAND, SORT_BY = "Copy", "Copied", "The same on the command line:", "Sort by"
#: Signs of what a difference means; a sign never stands alone, but with a figure or a word.
SIGNS = {BETTER: "▲", WORSE: "▼", EVEN: "="}


def tints(runs: Sequence[Run]) -> list[str]:
    """The classes of runs' colours, which are the same on all pages."""
    return [f"run-{number % N_TINTS}" for number in colours_of(runs)]


def swatch(tint: str) -> Markup:
    """A run's colour beside its name."""
    return element("span", class_=f"swatch {tint}", aria_hidden="true")


def verdict(tone: str, words: Content) -> Markup:
    """Better, worse or neither: colour, sign and words."""
    return element("span", element("span", SIGNS.get(tone, ""), aria_hidden="true"), " ", words, class_=f"tone {tone}")


def section(title: Content, *content: Content, name: str, class_: str | None = None, about: Content = None) -> Markup:
    """A part of a page under its own heading; nothing if it is empty. `about` follows the heading in small letters."""
    if not joined(*content):
        return Markup()
    head = element("h2", title, id=f"{name}-title")
    top = element("div", head, element("span", about, class_="soft"), class_="head") if about else head
    return element("section", top, *content, aria_labelledby=f"{name}-title", id=name, class_=class_)


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
            element("thead", element("tr", head, role="row"), role="rowgroup", data_title=SORT_BY),
            element("tbody", body, role="rowgroup"),
            role="table",
            class_="cards-on-phones" if (len(titles) > 2 if cards is None else cards) else None,
        ),
        class_="scroll",
        tabindex="0",
        role="group",  # a section has the same name already, and landmarks need names of their own
        aria_label=caption,
    )


def figure(summary: MetricSummary | None, tint: str = "plain") -> Markup:
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
        pictured(summary, tint),
        element("span", f"n {n}", class_="soft nowrap"),
    )


def pictured(summary: MetricSummary, tint: str = "plain") -> Markup:
    """A mean and its interval on the metric's axis; nothing where it has no mean."""
    if summary.mean is None or summary.bounds_of_mean is not None:
        return Markup()
    return whisker(summary.mean, summary.interval, Axis(*axis_of_means([summary])), tint)


def stat(
    value: Content, words: Content, *, tone: str = "", href: str | None = None, title: str | None = None
) -> Markup:
    """A card with one number and what it is; with an address, a link to its rows."""
    inside = joined(element("span", value, class_=f"big {tone}".rstrip()), element("span", words, class_="what"))
    return element("a" if href else "div", inside, class_="stat card", href=href, title=title)


def stats(*cards: Content) -> Markup:
    """Cards with one number beside each other."""
    return element("div", *cards, class_="stats")


def chip(words: Content, *, remove: str | None = None, label: str = "") -> Markup:
    """A filter or a tag; with an address that removes it, a cross leads there."""
    cross = element("a", "×", href=remove, aria_label=label) if remove else None
    return element("span", words, cross, class_="chip")


def meaning(words: Content, says: str) -> Markup:
    """A word with what it means, on hover and for screen readers."""
    return element("abbr", words, title=says, tabindex="0")


def alarm(words: Content, *, failed: bool) -> Markup:
    """A note above everything else: red where a judge or the system failed, amber where rows have no score."""
    return element("p", words, class_="note bad" if failed else "note amber", role="alert" if failed else None)


def worded(sentence: str) -> list[Content]:
    """A sentence of ours, with what stands between backticks as code."""
    return [element("code", part) if place % 2 else part for place, part in enumerate(sentence.split("`"))]


def field(label: Content, control: Markup) -> Markup:
    """A control with its label."""
    return element("label", element("span", label), " ", control)


def hidden(fields: Mapping[str, Any]) -> list[Markup]:
    """Fields of a form that nobody sees; a list is a field for each of its values."""
    return [
        element("input", type="hidden", name=name, value=str(value))
        for name, values in fields.items()
        for value in (values if isinstance(values, list | tuple) else [values])
        if value is not None and value != ""
    ]


def options(name: str, choices: Mapping[str, str], chosen: str, **attributes: str | int | bool | None) -> Markup:
    """A drop-down list."""
    return element(
        "select",
        [element("option", label, value=value, selected=value == chosen) for value, label in choices.items()],
        **{"name": name, **attributes},
    )


def boxes(name: str, values: Iterable[str], chosen: Collection[str]) -> list[Markup]:
    """A box to tick for each value."""
    ticks = (
        (value, element("input", type="checkbox", name=name, value=value, checked=value in chosen)) for value in values
    )
    return [element("label", tick, " ", breakable(value)) for value, tick in ticks]


def command(line: str) -> Markup:
    """A command that does the same as the page, with a button that copies it."""
    return element("p", COMMAND, " ", element("code", text(line)), " ", copying(line, COPY), class_="soft")


def copying(copied: str, words: str) -> Markup:
    """A button that copies a text; without a text, the page's address."""
    return element("button", words, type="button", class_="quiet", data_copy=copied, data_done=COPIED)


def folded(title: Content, *content: Content, opened: bool = False, name: str | None = None) -> Markup:
    """What is shown once somebody asks for it."""
    return element("details", element("summary", title), *content, open=opened, id=name, class_="folded")
