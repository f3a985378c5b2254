"""Figures and reasons as a person reads them."""

from __future__ import annotations

from collections.abc import Mapping

from ragmeter.analysis.comparing.words import is_few
from ragmeter.show import numbers
from ragmeter.stats.confidence import percent
from ragmeter.stats.intervals import Interval
from ragmeter.stats.summary import MetricSummary


def between(interval: Interval | None, level: float) -> str:
    """An interval with its level."""
    return "no interval" if interval is None else f"{percent(level)}: {numbers.interval(interval)}"


def counted(summary: MetricSummary) -> str:
    """How many rows there are scores for; with a warning where an interval rests on too few to keep its promise."""
    few = ""
    if is_few(summary.n_scored, summary.n_clusters):
        few = " (few)" if summary.n_clusters is None else f" (few: {summary.n_clusters:,} groups)"
    return f"n = {numbers.scored(summary.n_scored, summary.n_total)}{few}"


def brief(summary: MetricSummary) -> str:
    """A mean with its interval and its n."""
    if summary.mean is None:
        return f"nothing scored of {summary.n_total:,}{listed(summary.n_not_scored)}"
    interval = between(summary.interval, summary.level)
    return f"{numbers.number(summary.mean)} ({interval}), {counted(summary)}"


def listed(causes: Mapping[str, int]) -> str:
    """Why rows have no score, in brackets; nothing where there is no reason."""
    held = sorted(causes.items(), key=lambda each: -each[1])
    more = ", …" if len(held) > 5 else ""
    return f" ({', '.join(f'{count:,} {cause}' for cause, count in held[:5])}{more})" if held else ""


def two_digits(number: float) -> str:
    """A number of questions for a plan, which needs no more."""
    return f"{float(f'{number:.2g}'):,.0f}"
