"""By how much? The differences of all metrics on one axis, on the right where the candidate is better."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ragmeter.analysis.comparing import MetricDifference
from ragmeter.show.page.charts.intervals import Difference, forest
from ragmeter.show.page.compare.verdict import sign_of
from ragmeter.show.page.compare.view import CompareView, tone, turned, way
from ragmeter.show.page.elements import Markup, breakable, element, joined, text
from ragmeter.wording.metrics import groups_of
from ragmeter.wording.numbers import deserved_decimals, number, percent, signed, signed_interval
from ragmeter.wording.verdicts import left_out

BY_HOW_MUCH = "By how much?"
_TITLES = ("metric", "baseline → candidate", "drawing", "difference")


def by_how_much(view: CompareView) -> Markup:
    """The forest plot, by what metrics are about; times come last. Below it, which rows are left out."""
    results: Mapping[str, MetricDifference] = {**view.pair.metrics, **view.times}
    rows = [_line(view, name, results[name], group) for name, group in groups_of(results).items()]
    lines = left_out(view.letters[view.pair.a], view.letters[view.pair.b], view.pair.metrics)
    notes = [element("p", text(f"{line[0].upper()}{line[1:]}."), class_="soft") for line in lines]
    return joined(forest(rows, f"{BY_HOW_MUCH} {about(view)}", _TITLES), notes)


def about(view: CompareView) -> str:
    """What the drawing shows, beside its title."""
    return f"differences, right = {view.letters[view.pair.b]} better"


def _line(view: CompareView, name: str, result: MetricDifference, group: str) -> Difference:
    decimals = deserved_decimals(result.interval)
    means = [number(mean, decimals=decimals) for mean in (result.mean_a, result.mean_b)]
    shade, unit = tone(result.verdict), _unit(view, name, result)
    factor = 0.0 if not unit else way(result.direction) / unit
    shift = None if result.difference is None or not unit else factor * result.difference
    level = percent(view.comparison.level)
    between = f"{level}: {signed_interval(result.interval, decimals)}; " if result.interval else ""
    return Difference(
        name=breakable(name),
        figures=[f"{means[0]} → {means[1]}", with_n(result.n, len(view.pairing))],
        shift=shift,
        interval=turned(result.interval, factor) if unit else None,
        tone=shade,
        words=f"{sign_of(shade)} {signed(result.difference, decimals=decimals)}",
        group=group,
        title=f"{result.verdict}; {between}n = {result.n:,}",
    )


def with_n(n: int, of_all: int) -> Markup | None:
    """The number of rows that a mean is over, where these are not all of them."""
    return None if n == of_all else joined(" ", element("span", f"n {n:,}", class_="soft nowrap"))


def _unit(view: CompareView, name: str, result: MetricDifference) -> float:
    """The width of a metric's range; of one without an end, the baseline's mean. 0 where there is neither."""
    measures = view.candidate.measures | view.candidate.share_measures
    low, high = measures[name].bounds if name in measures else (0.0, math.inf)
    return high - low if math.isfinite(high - low) else abs(result.mean_a or 0.0)
