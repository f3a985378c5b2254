"""Two values against each other: scatter, calibration, recall by rank, quality against cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragmeter.show.page.charts.drawing import Axis, dot, drawing, framed, joined_points, key, line, ticks
from ragmeter.show.page.elements import Content, Markup, element, link

_UNIT = Axis(0.0, 1.0)
_HEIGHT = 220


@dataclass(frozen=True)
class Spot:
    """A point of a scatter: as many rows as `count`, with a tone that says which way they changed."""

    x: float
    y: float
    count: int = 1
    tone: str = "even"
    title: str | None = None
    href: str | None = None


def scatter(spots: Sequence[Spot], x: Axis, y: Axis, names: tuple[Content, Content], label: str) -> Markup:
    """Rows by two values, with the line on which they are equal; `names` are of x and y."""
    most = max((spot.count for spot in spots), default=1)
    marks: list[Content] = [
        line(x.x(max(x.low, y.low)), y.y(max(x.low, y.low)), x.x(min(x.high, y.high)), y.y(min(x.high, y.high)), "zero")
    ]
    for spot in spots:
        title = element("title", spot.title) if spot.title else None
        point = dot(x.x(spot.x), y.y(spot.y), f"bubble {spot.tone}", 2.5 + 7 * (spot.count / most) ** 0.5, title)
        marks.append(link(point, spot.href, aria_label=spot.title) if spot.href else point)
    picture = _picture(marks, label, any(spot.href for spot in spots))
    return framed(picture, names[1], y, ticks(x), names[0])


@dataclass(frozen=True)
class Bin:
    """Rows of which a judge is about as sure, and the share of them that people judge alike, with its interval."""

    said: float
    observed: float
    interval: tuple[float, float] | None
    n: int


def reliability(bins: Sequence[Bin], names: tuple[Content, Content], label: str, tint: str = "plain") -> Markup:
    """How often a judge is right where it says how sure it is; on the diagonal it is as sure as it may be."""
    marks: list[Content] = [line("0%", "100%", "100%", "0%", "zero")]
    for row in bins:
        x = _UNIT.x(row.said)
        if row.interval is not None:
            marks.append(line(x, _UNIT.y(row.interval[0]), x, _UNIT.y(row.interval[1]), "interval"))
        marks.append(dot(x, _UNIT.y(row.observed), "dot", 4.5, element("title", f"n = {row.n:,}")))
    marks[1:1] = joined_points([(_UNIT.x(row.said), _UNIT.y(row.observed)) for row in bins], "edge")
    return framed(drawing(marks, height=_HEIGHT, class_=tint, label=label), names[1], _UNIT, ticks(_UNIT), names[0])


@dataclass(frozen=True)
class Curve:
    """A run's values by rank."""

    name: Content
    tint: str
    values: Sequence[tuple[float, float]]


def curves(lines: Sequence[Curve], names: tuple[Content, Content], label: str) -> Markup:
    """A share by rank, such as recall@k: a line for each run."""
    x = Axis.around([rank for curve in lines for rank, _ in curve.values], zero=False)
    marks = []
    for curve in lines:
        points = [(x.x(rank), _UNIT.y(value)) for rank, value in curve.values]
        marks.append(
            element(
                "g", joined_points(points, "edge"), [dot(*point, "dot", 3.5) for point in points], class_=curve.tint
            )
        )
    picture = drawing(marks, height=_HEIGHT, label=label)
    return framed(picture, names[1], _UNIT, ticks(x), names[0], key((curve.tint, curve.name) for curve in lines))


@dataclass(frozen=True)
class Offer:
    """A run by its cost, in dollars or milliseconds, and how good it is. `is_front`: a test says that none beats it."""

    name: str
    cost: float
    quality: float
    interval: tuple[float, float] | None
    tint: str
    href: str
    is_front: bool = False


def offers(points: Sequence[Offer], names: tuple[Content, Content], label: str) -> Markup:
    """A dot for each run: to the left cheaper, up better."""
    x = Axis.beyond(point.cost for point in points)
    y = Axis.beyond((value for point in points for value in (point.quality, *(point.interval or ()))), zero=False)
    marks = []
    for point in points:
        place = x.x(point.cost)
        bounds = (
            line(place, y.y(point.interval[0]), place, y.y(point.interval[1]), "interval") if point.interval else None
        )
        title = element("title", point.name)
        shown = element(
            "g",
            bounds,
            dot(place, y.y(point.quality), "dot front" if point.is_front else "dot", 6, title),
            class_=point.tint,
        )
        marks.append(link(shown, point.href, aria_label=point.name))
    legend = key((point.tint, point.name) for point in points)
    return framed(_picture(marks, label, True), names[1], y, ticks(x), names[0], legend)


def _picture(marks: Sequence[Content], label: str, has_links: bool) -> Markup:
    """A drawing; one with links is a group, so that they can be reached."""
    if not has_links:
        return drawing(marks, height=_HEIGHT, label=label)
    return element("svg", marks, width="100%", height=_HEIGHT, class_="chart", role="group", aria_label=label)
