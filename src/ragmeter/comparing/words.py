"""A comparison in plain words."""

from __future__ import annotations

import math

from ragmeter.comparing.comparison import BETTER, NO_EVIDENCE, WORSE, MetricDifference, Pair
from ragmeter.stats.confidence import percent

#: A sentence that names more metrics is no sentence any more; the table has them all.
_NAMED = 8


def sentence(pair: Pair, level: float) -> str:
    """What two runs' differences come to: where b is better, where it is worse, and what can't be told."""
    same_n = len({each.n for each in pair.metrics.values()}) == 1
    said: list[str] = []
    for verdict in (BETTER, WORSE):
        found = [
            f"{name} by {_by_how_much(each, level)}" + ("" if same_n else f", n = {each.n:,}")
            for name, each in pair.metrics.items()
            if each.verdict == verdict
        ]
        if found:
            more = f", and on {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
            said.append(
                f"{'it' if said else pair.b} is {verdict} than {pair.a} on {', on '.join(found[:_NAMED])}{more}"
            )
    if said and same_n:
        said[-1] += f", n = {next(iter(pair.metrics.values())).n:,}"
    unknown = {name: each for name, each in pair.metrics.items() if each.verdict == NO_EVIDENCE}
    if unknown:
        where = "the rest" if said else " and ".join(unknown) if len(unknown) < 3 else "any metric"
        said.append(f"on {where} there is no evidence either way{_needed(list(unknown.values()))}")
    text = "; ".join(said)
    return text + "." if len(unknown) < len(pair.metrics) else f"{pair.a} and {pair.b}: {text}."


def _by_how_much(each: MetricDifference, level: float) -> str:
    scale, unit = (100, " points") if each.point else (1, "")
    difference = each.difference or 0.0
    between = ""
    if each.interval is not None:
        low, high = each.interval if difference > 0 else (-each.interval[1], -each.interval[0])
        between = f" ({percent(level)}: {_figure(low * scale)} to {_figure(high * scale)})"
    return f"{_figure(abs(difference) * scale)}{unit}{between}"


def _needed(unknown: list[MetricDifference]) -> str:
    """What it would take to see a point's difference, or what these rows would have shown."""
    scaled = [each for each in unknown if each.needed and each.smallest]
    if not scaled:
        return ""
    hardest = max(scaled, key=lambda each: each.needed or 0)
    if (hardest.smallest or 0.0) <= (hardest.point or 0.0):
        return f": a difference of {_figure((hardest.smallest or 0.0) * 100)} points would have been seen"
    return f": to see a difference of 1 point you need about {_rounded(hardest.needed or 0):,} questions"


def _figure(value: float) -> str:
    return f"{value:,.1f}" if abs(value) < 1000 else f"{value:,.0f}"


def _rounded(number: int) -> int:
    """To two digits: a plan needs no more."""
    digits = max(0, math.floor(math.log10(number)) - 1)
    return round(number, -digits)
