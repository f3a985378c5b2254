"""The frame of a chart, its axes, and the marks that charts have in common."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ragmeter.show.page.elements import Content, Markup, element
from ragmeter.wording import numbers


@dataclass(frozen=True)
class Axis:
    """The ends of an axis, and the places of values on it."""

    low: float
    high: float

    @classmethod
    def around(cls, values: Iterable[float], *, zero: bool = True) -> Axis:
        """An axis that has all values, and zero unless told otherwise."""
        ends = [*values, 0.0] if zero else list(values)
        low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
        return cls(low, high) if high > low else cls(low, low + 1.0)

    @classmethod
    def beyond(cls, values: Iterable[float], *, zero: bool = True) -> Axis:
        """An axis that ends at round numbers, and a bit beyond the values, so that no point is cut."""
        around = cls.around(values, zero=zero)
        room = (around.high - around.low) / 20
        step = 10.0 ** math.floor(math.log10(2 * room))
        low = around.low if zero and around.low == 0 else math.floor((around.low - room) / step) * step
        return cls(low, math.ceil((around.high + room) / step) * step)

    def share(self, value: float) -> float:
        """Where a value lies between the ends, in percent; beyond an end, at the end."""
        return min(max((value - self.low) / (self.high - self.low) * 100, 0.0), 100.0)

    def x(self, value: float) -> str:
        """The place of a value from left to right."""
        return at(self.share(value))

    def y(self, value: float) -> str:
        """The place of a value from the bottom up."""
        return at(100 - self.share(value))


def at(percent: float) -> str:
    """A place on a drawing."""
    return f"{percent:.2f}%"


def drawing(*marks: Content, height: int, label: str = "", class_: str = "") -> Markup:
    """A drawing as wide as its place. Without a label it repeats what the text around it says."""
    shown = {"role": "img", "aria_label": label} if label else {"aria_hidden": "true"}
    return element("svg", *marks, width="100%", height=height, class_=f"chart {class_}".rstrip(), **shown)


def line(x1: str, y1: str, x2: str, y2: str, class_: str) -> Markup:
    """A straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def dot(x: str, y: str, class_: str = "dot", radius: float = 4.5, *inside: Content) -> Markup:
    """A point, with a title as its content."""
    return element("circle", *inside, cx=x, cy=y, r=at(radius)[:-1], class_=class_)


def block(x: float, y: float, width: float, height: float, class_: str, *inside: Content) -> Markup:
    """A rectangle, in percent of the drawing."""
    sides = {"x": x, "y": y, "width": max(width, 0.0), "height": max(height, 0.0)}
    return element("rect", *inside, class_=class_, **{side: at(value) for side, value in sides.items()})


def joined_points(points: Sequence[tuple[str, str]], class_: str) -> list[Markup]:
    """A line through points, piece by piece: a path can't have places in percent."""
    return [line(*begin, *end, class_=class_) for begin, end in pairwise(points)]


def ticks(axis: Axis, *middle: float) -> Markup:
    """The figures at the ends of an axis from left to right."""
    values = [axis.low, *middle, axis.high]
    return element("div", [element("span", numbers.tick(value)) for value in values], class_="scale")


def framed(
    picture: Markup, y_name: Content, y_axis: Axis, scale: Markup, x_name: Content = None, legend: Content = None
) -> Markup:
    """A drawing with two axes: the figures at their ends, `scale` for the one from left to right, and what they are."""
    ends = [element("span", numbers.tick(value)) for value in (y_axis.high, y_axis.low)]
    return element(
        "figure",
        element("p", y_name, class_="soft"),
        element("div", element("div", ends, class_="rise"), picture, class_="plane"),
        scale,
        element("p", x_name, class_="x-name soft") if x_name else None,
        legend,
        class_="framed",
    )


def key(entries: Iterable[tuple[str, Content]]) -> Markup:
    """What the colours of a chart mean: pairs of a class and words."""
    return element(
        "ul",
        [
            element("li", element("span", class_=f"swatch square {class_}", aria_hidden="true"), words)
            for class_, words in entries
        ],
        class_="legend",
    )
