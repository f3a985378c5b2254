"""Figures and reasons as a person reads them."""

from __future__ import annotations

from collections.abc import Mapping

from ragmeter.stats.confidence import percent
from ragmeter.stats.intervals import SMALL, Interval, within
from ragmeter.stats.summary import MetricSummary


def figure(value: float | None) -> str:
    """A number for reading: four places below 10, one above."""
    if value is None:
        return "–"
    return f"{value:.4f}" if abs(value) < 10 else f"{value:,.1f}"


def clipped(summary: MetricSummary) -> Interval | None:
    """The interval as far as the metric can go; Student's knows no limits."""
    return within(summary.interval, summary.range)


def between(interval: Interval | None, level: float) -> str:
    """An interval with its level."""
    return "no interval" if interval is None else f"{percent(level)}: {figure(interval[0])} to {figure(interval[1])}"


def counted(summary: MetricSummary) -> str:
    """How many rows there are scores for."""
    scored, total = summary.n_scored, summary.n_total
    return f"n = {scored:,}{'' if scored == total else f' of {total:,}'}{few(scored, summary.n_clusters)}"


def few(n: int, clusters: int | None) -> str:
    """A word of warning where an interval rests on too few rows, or too few groups of them, to keep its promise."""
    held = n if clusters is None else clusters
    return "" if held >= SMALL else " (few)" if clusters is None else f" (few: {clusters:,} groups)"


def brief(summary: MetricSummary) -> str:
    """A mean with its interval and its n."""
    if summary.mean is None:
        return f"nothing scored of {summary.n_total:,}{listed(summary.n_not_scored)}"
    return f"{figure(summary.mean)} ({between(clipped(summary), summary.level)}), {counted(summary)}"


def listed(causes: Mapping[str, int]) -> str:
    """Why rows have no score, in brackets; nothing where there is no reason."""
    held = sorted(causes.items(), key=lambda each: -each[1])
    more = ", …" if len(held) > 5 else ""
    return f" ({', '.join(f'{count:,} {cause}' for cause, count in held[:5])}{more})" if held else ""


def two_digits(number: float) -> str:
    """A number of questions for a plan, which needs no more."""
    return f"{float(f'{number:.2g}'):,.0f}"
