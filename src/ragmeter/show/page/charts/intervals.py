"""Means and differences with their intervals: whiskers, a forest, bars, a timeline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from ragmeter.show.page.charts.drawing import Axis, at, block, dot, drawing, framed, line
from ragmeter.show.page.elements import Content, Markup, element, joined, link

#: What a difference means, as classes: better and worse are always said by a sign or a word too.
BETTER, WORSE, EVEN = "better", "worse", "even"


def whisker(mean: float, interval: tuple[float, float] | None, axis: Axis, tint: str = "plain") -> Markup:
    """A mean and its interval on an axis; the text beside it says the same."""
    begin, end = interval or (mean, mean)
    return drawing(
        line("0%", "50%", "100%", "50%", "axis"),
        line(axis.x(begin), "50%", axis.x(end), "50%", "interval"),
        dot(axis.x(mean), "50%"),
        height=12,
        class_=f"whisker {tint}",
    )


@dataclass(frozen=True)
class Difference:
    """A line of a forest. `shift` and `interval` are turned so that more is better, in parts of the axis' unit.

    A metric without a range has them relative to the baseline, so that seconds and dollars fit beside shares.
    """

    name: Content
    figures: Content
    shift: float | None
    interval: tuple[float, float] | None
    tone: str
    words: Content
    group: str = ""
    title: str | None = None


def forest(differences: Sequence[Difference], caption: str, titles: Sequence[str]) -> Markup:
    """A table of differences with a drawing in each line, all on one axis; right is better."""
    ends = [end for row in differences for end in (*(row.interval or ()), row.shift) if end is not None]
    reach = min(max((abs(end) for end in ends), default=0.0), 1.0) or 1.0
    axis = Axis(-reach if any(end < 0 for end in ends) else -0.12 * reach, reach * 1.04)
    bodies = []
    for group, rows in groupby(differences, key=lambda row: row.group):
        head = element("tr", element("th", group, colspan="4", scope="rowgroup"), class_="group") if group else None
        bodies.append(element("tbody", head, [_forest_row(row, axis) for row in rows]))
    head = element("tr", [element("th", title, scope="col") for title in titles])
    return element(
        "table",
        element("caption", caption, class_="hidden"),
        element("thead", head, class_="hidden"),
        bodies,
        class_="forest",
    )


def _forest_row(row: Difference, axis: Axis) -> Markup:
    marks: list[Markup] = [line(axis.x(0.0), "0%", axis.x(0.0), "100%", "zero")]
    if row.interval is not None:
        begin, end = (axis.x(value) for value in row.interval)
        marks.append(line(begin, "50%", end, "50%", "interval"))
    if row.shift is not None:
        marks.append(dot(axis.x(row.shift), "50%"))
    return element(
        "tr",
        element("th", row.name, scope="row"),
        element("td", row.figures, class_="figures"),
        element("td", drawing(marks, height=24, class_=row.tone), class_="picture"),
        element("td", row.words, class_=f"change {row.tone}"),
        title=row.title,
    )


@dataclass(frozen=True)
class Bar:
    """A bar from zero to a value, with its interval; a link where it leads to rows."""

    name: Content
    value: float
    interval: tuple[float, float] | None
    tone: str
    words: Content
    href: str | None = None
    is_chosen: bool = False
    about: str = ""  # on hover


def bars(rows: Sequence[Bar], caption: str) -> Markup:
    """Bars from a common zero, named on the left, with words on the right."""
    ends = [end for row in rows for end in (row.value, *(row.interval or ()))]
    axis = Axis.around(ends)
    return element("ul", [_bar(row, axis) for row in rows], class_="bars", aria_label=caption)


def _bar(row: Bar, axis: Axis) -> Markup:
    zero, end = axis.share(0.0), axis.share(row.value)
    marks = [
        block(min(zero, end), 20, abs(end - zero), 60, "column"),
        line(axis.x(0.0), "0%", axis.x(0.0), "100%", "zero"),
    ]
    if row.interval is not None:
        begin, last = (axis.x(value) for value in row.interval)
        marks.append(line(begin, "50%", last, "50%", "error"))
    name = link(row.name, row.href, aria_current="true" if row.is_chosen else None) if row.href else row.name
    return element(
        "li",
        element("span", name, class_="name"),
        drawing(marks, height=22, class_=row.tone),
        element("span", row.words, class_="words-of-bar", title=row.about or None),
    )


@dataclass(frozen=True)
class Moment:
    """A point of a timeline: when (in any unit), a mean with its interval, and where it leads."""

    when: float
    mean: float
    interval: tuple[float, float] | None
    title: str
    href: str
    tint: str


def timeline(moments: Sequence[Moment], label: str, ends: tuple[str, str]) -> Markup:
    """Means over true time. `ends` say when it begins and ends."""
    values = [value for moment in moments for value in (moment.mean, *(moment.interval or ()))]
    y, x = Axis.around(values, zero=False), Axis.around([moment.when for moment in moments], zero=False)
    marks = []
    for moment in moments:
        place = at(2 + 0.96 * x.share(moment.when))
        begin, end = moment.interval or (moment.mean, moment.mean)
        inside = joined(
            element("title", moment.title),
            line(place, y.y(begin), place, y.y(end), "interval"),
            dot(place, y.y(moment.mean), "dot", 5),
        )
        marks.append(link(inside, moment.href, aria_label=moment.title, class_=moment.tint))
    picture = element("svg", marks, width="100%", height=150, class_="chart timeline", role="group", aria_label=label)
    when = element("div", [element("span", end) for end in dict.fromkeys(ends)], class_="scale")
    return framed(picture, label, y, when)
