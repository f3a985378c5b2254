"""Charts: where their marks are, what they say to a screen reader, and that texts in them stay texts."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter.show.page.charts.drawing import Axis
from ragmeter.show.page.charts.intervals import (
    Bar,
    Difference,
    Moment,
    bars,
    forest,
    timeline,
    whisker,
)
from ragmeter.show.page.charts.planes import (
    Bin,
    Curve,
    Offer,
    Spot,
    curves,
    offers,
    reliability,
    scatter,
)
from ragmeter.show.page.charts.shares import Part, histogram, overlay, stacked
from ragmeter.show.page.elements import Markup

HOSTILE = '<img src=x onerror=alert(1)>"&'
UNIT = Axis(0.0, 1.0)


def parsed(markup: Markup) -> ET.Element:
    """The chart as XML: what isn't well-formed is an error."""
    return ET.fromstring(f"<div>{markup}</div>")  # noqa: S314 - made here


def marks(markup: Markup, class_: str) -> list[ET.Element]:
    return [mark for mark in parsed(markup).iter() if class_ in mark.get("class", "").split()]


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(-1e9, 1e9))
def test_every_value_is_on_the_drawing(low: float, high: float, value: float) -> None:
    axis = Axis.around([low, high])
    assert axis.low < axis.high
    assert 0 <= axis.share(value) <= 100


def test_an_axis_has_its_values_and_zero() -> None:
    assert Axis.around([0.2, 0.5]) == Axis(0.0, 0.5)
    assert Axis.around([0.2, 0.5], zero=False) == Axis(0.2, 0.5)
    assert Axis.around([]) == Axis(0.0, 1.0)


def test_a_whisker() -> None:
    chart = whisker(0.5, (0.25, 0.75), UNIT, "run-3")
    (interval,), (dot,) = marks(chart, "interval"), marks(chart, "dot")
    assert (interval.get("x1"), interval.get("x2"), dot.get("cx")) == ("25.00%", "75.00%", "50.00%")
    assert marks(chart, "run-3")


def test_a_forest_has_better_on_the_right_of_its_line() -> None:
    up = Difference("f1", "0.2 → 0.4", 0.2, (0.1, 0.3), "better", "▲ +0.2", "answer")
    down = Difference("ms", "10 → 20", -0.5, None, "worse", "▼ +10", "cost")
    unknown = Difference(HOSTILE, "–", None, None, "even", "no score", "cost")
    chart = forest([up, down, unknown], "Differences", ["Metric", "Means", "Difference", "Change"])
    zero = float(marks(chart, "zero")[0].get("x1", "")[:-1])
    better, worse = (float(dot.get("cx", "")[:-1]) for dot in marks(chart, "dot"))
    assert worse < zero < better
    assert len(marks(chart, "dot")) == 2
    assert [head.findtext("th") for head in marks(chart, "group")] == ["answer", "cost"]
    assert "<img" not in chart


def test_bars_begin_at_zero() -> None:
    chart = bars(
        [
            Bar("x", 0.5, (0.2, 0.8), "better", "+50 pts · 24"),
            Bar(HOSTILE, -0.5, None, "worse", "-50"),
        ],
        "By x",
    )
    right, left = marks(chart, "column")
    assert float(left.get("x", "")[:-1]) + float(left.get("width", "")[:-1]) == pytest.approx(
        float(right.get("x", "")[:-1]), abs=0.02
    )
    assert "<img" not in chart


def test_the_parts_of_a_bar_are_as_wide_as_they_are_many() -> None:
    rows = [
        ("A", [Part("right", "right", 30), Part("failed-part", HOSTILE, 10, "/x?a=1&b=2")]),
        ("B", [Part("right", "right", 20)]),
    ]
    chart = stacked(rows, "Causes")
    widths = [mark.get("width") for mark in parsed(chart).iter("rect")]
    assert widths == ["75.00%", "25.00%", "50.00%"]
    assert [mark.text for mark in marks(chart, "count")] == ["30", "10", "20"]
    assert "<img" not in chart


def test_histograms_say_what_they_show() -> None:
    chart = histogram([0, 2, 4], "few are low", "run-1")
    assert [mark.get("height") for mark in marks(chart, "column")] == ["50.00%", "100.00%"]
    assert parsed(chart)[0].get("aria-label") == "few are low"
    both = overlay([1, 1], [0, 2], UNIT, "A and B", ("A", HOSTILE), ("run-0", "run-1"))
    assert [mark.get("height") for mark in marks(both, "column")] == ["50.00%", "50.00%"]
    assert "<img" not in both


def test_points_in_a_plane() -> None:
    spots = [Spot(0.0, 1.0, 3, "better", HOSTILE, "/row/1"), Spot(1.0, 0.0, 1, "worse")]
    chart = scatter(spots, UNIT, UNIT, ("A", "B"), "B against A")
    assert [(dot.get("cx"), dot.get("cy")) for dot in marks(chart, "bubble")] == [
        ("0.00%", "0.00%"),
        ("100.00%", "100.00%"),
    ]
    assert "<img" not in chart
    sure = reliability([Bin(0.9, 0.5, (0.4, 0.6), 20)], ("said", "right"), "calibration")
    assert marks(sure, "dot")[0].get("cy") == "50.00%"
    recall = curves([Curve("A", "run-0", [(1, 0.2), (5, 0.6), (10, 0.8)])], ("k", "recall"), "recall@k")
    assert (len(marks(recall, "edge")), len(marks(recall, "dot"))) == (2, 3)
    cheap = offers([Offer(HOSTILE, 2.0, 0.5, (0.4, 0.6), "run-1", "/run/x", True)], ("$", "share"), "cost")
    assert marks(cheap, "front")
    assert "<img" not in cheap


def test_time_is_true_time() -> None:
    moments = [Moment(when, 0.5, (0.4, 0.6), HOSTILE, "/run/x", "run-0") for when in (0.0, 1.0, 10.0)]
    chart = timeline(moments, "token_f1", ("May", "June"))
    first, second, last = (float(dot.get("cx", "")[:-1]) for dot in marks(chart, "dot"))
    assert (second - first) * 9 == pytest.approx(last - second, abs=0.1)
    assert "<img" not in chart


def test_no_chart_has_a_style_of_its_own() -> None:
    chart = whisker(0.5, None, UNIT) + histogram([1], "x") + timeline([], "x", ("", ""))
    assert not re.search(r"\sstyle=|<style", chart)
