"""How many: stacked bars of causes, histograms, and two histograms over each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragmeter.show.page.charts.drawing import Axis, at, block, drawing, key, line, ticks
from ragmeter.show.page.elements import Content, Markup, element, joined, link
from ragmeter.wording import numbers


@dataclass(frozen=True)
class Part:
    """A part of a stacked bar: its class, what it is, how many rows, where they are, and what it means."""

    class_: str
    words: str
    count: int
    href: str | None = None
    meaning: str | None = None


def stacked(rows: Sequence[tuple[Content, Sequence[Part]]], caption: str) -> Markup:
    """A bar for each run, parted by what happened to its rows, on one scale, with one legend.

    The legend of a single bar has the counts, too, and leads to the rows.
    """
    longest = max((sum(part.count for part in parts) for _, parts in rows), default=0) or 1
    lines = [
        element(
            "div",
            element("span", name, class_="name"),
            element("div", _parts(parts, longest), class_="stack"),
        )
        for name, parts in rows
    ]
    entries: dict[tuple[str, Content], None] = dict.fromkeys(
        (part.class_, part.words if len(rows) > 1 else _counted(part))
        for _, parts in rows
        for part in parts
        if part.count
    )
    return element("div", element("div", lines, class_="stacks", role="group", aria_label=caption), key(entries))


def _counted(part: Part) -> Markup:
    words = f"{part.words} {part.count:,}"
    return link(words, part.href, title=part.meaning) if part.href else element("span", words, title=part.meaning)


def _parts(parts: Sequence[Part], longest: int) -> Markup:
    """The drawing with its counts; a part too narrow for its figures has them in its title alone."""
    marks: list[Content] = []
    begin = 0.0
    for part in parts:
        width = part.count / longest * 100
        words = f"{part.words}: {part.count:,}"
        digits = len(f"{part.count:,}")
        kind = "count narrow" if width < 3 + 3.5 * digits else "count"  # which a phone has no room for
        figures = element("text", f"{part.count:,}", x=at(begin + 0.8), y="50%", class_=kind)
        inside = joined(
            block(begin, 0, width, 100, part.class_, element("title", words)),
            figures if width > 2 + 1.3 * digits else None,
        )
        marks.append(link(inside, part.href, aria_label=words) if part.href else inside)
        begin += width
    label = ", ".join(f"{part.words} {part.count:,}" for part in parts if part.count)
    if any(part.href for part in parts):  # links are part of the page, and not of a picture
        return element("svg", marks, width="100%", height=26, class_="chart stacked", role="group", aria_label=label)
    return drawing(marks, height=26, class_="stacked", label=label)


def histogram(counts: Sequence[int], label: str, tint: str = "plain", height: int = 28) -> Markup:
    """A small histogram without figures: `label` says what it shows."""
    return drawing(
        _columns(counts, max(counts, default=0) or 1, "column"), height=height, class_=f"histogram {tint}", label=label
    )


def overlay(
    first: Sequence[int],
    second: Sequence[int],
    axis: Axis,
    label: str,
    names: tuple[Content, Content],
    tints: tuple[str, str],
) -> Markup:
    """Two histograms with the same bars over each other: the first filled, the second as an outline; shares of rows."""
    totals = [sum(counts) or 1 for counts in (first, second)]
    shares = [[count / total for count in counts] for counts, total in zip((first, second), totals, strict=True)]
    most = max((share for of_run in shares for share in of_run), default=0.0) or 1.0
    marks = [
        element("g", _columns(shares[0], most, "column"), class_=tints[0]),
        element("g", _outline(shares[1], most), class_=tints[1]),
    ]
    picture = drawing(marks, height=90, class_="histogram overlay", label=label)
    return element("figure", picture, ticks(axis), key(zip(tints, names, strict=True)), class_="framed")


def _columns(values: Sequence[float], most: float, class_: str) -> list[Markup]:
    width = 100 / max(len(values), 1)
    return [
        block(place * width + 0.05 * width, 100 - value / most * 100, 0.9 * width, value / most * 100, class_)
        for place, value in enumerate(values)
        if value
    ]


def _outline(values: Sequence[float], most: float) -> list[Markup]:
    """The upper edge of columns."""
    width, marks, before = 100 / max(len(values), 1), [], 0.0
    for place, value in enumerate([*values, 0.0]):
        x, height = at(place * width), at(100 - value / most * 100)
        marks.append(line(x, at(100 - before / most * 100), x, height, "edge"))
        if place < len(values):
            marks.append(line(x, height, at((place + 1) * width), height, "edge"))
        before = value
    return marks


def meter(share: float, tint: str = "plain") -> Markup:
    """A share of 1 as a short bar; the figure beside it says the same."""
    axis = Axis(0.0, 1.0)
    return drawing(
        block(0, 25, 100, 50, "still"), block(0, 25, axis.share(share), 50, "column"), height=10, class_=tint
    )


def described(counts: Sequence[int], axis: Axis, name: str) -> str:
    """What a histogram shows, in words."""
    ends = f"{numbers.number(axis.low)} to {numbers.number(axis.high)}"
    return f"{name}: {sum(counts):,} rows from {ends}"
