"""Distributions of scores: histograms, and pairs of metrics."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ragmeter.documents.metrics import MetricSummary
from ragmeter.runs.run import Run
from ragmeter.table import Scores
from ragmeter.wording import numbers

_BARS = 20
_CELLS = 24
#: The most metrics that are shown in pairs.
MOST_METRICS = 12


def is_rate(summary: MetricSummary) -> bool:
    """Whether its scores are 0 or 1, so that its mean is a share of the rows."""
    return summary.binary


def domain(run: Run, metric: str) -> tuple[float, float]:
    """The ends of a metric's axis: its range, or the observed scores on a side without a limit."""
    summary = run.metrics()[metric]
    low, high = summary.range
    least = 0.0 if summary.min is None else min(0.0, summary.min)
    greatest = 1.0 if summary.max is None else summary.max
    begin, end = least if low is None else low, greatest if high is None else high
    return (begin, end) if end > begin else (begin, begin + 1.0)


def axis_of_means(summaries: Sequence[MetricSummary]) -> tuple[float, float]:
    """The ends of the axis of a metric's means: its range, or a little beyond the means on a side without a limit."""
    low, high = summaries[0].range
    values = [0.0]
    for summary in summaries:
        values += [] if summary.mean is None else [summary.mean, *(summary.interval or ())]
    begin, end = min(values) if low is None else low, max(values) * 1.1 if high is None else high
    return (begin, end) if end > begin else (begin, begin + 1.0)


def histogram(run: Run, metric: str) -> dict[str, Any] | None:
    """The numbers of rows by score, in bars of equal width. A score of 1 belongs to the last bar."""
    values = _finite(run.scores(metric))
    if not len(values):
        return None
    low, high = domain(run, metric)
    counted = is_rate(run.metrics()[metric]) or high - low > 1
    is_whole = bool(counted and high - low < _BARS and np.all(values == np.round(values)))
    bars = _BARS
    if is_whole:  # each whole number has a bar of its own, around it
        bars, low, high = int(high - low) + 1, low - 0.5, high + 0.5
    counts, _ = np.histogram(np.clip(values, low, high), bins=bar_ends(low, high, bars))
    return {"low": low, "high": high, "counts": counts.tolist(), "whole": is_whole, "n": len(values)}


def bar_ends(low: float, high: float, bars: int) -> list[float]:
    """The ends of bars of equal width, as they are written: a score that is shown as an end is on the same side."""
    inner = [float(numbers.given(end)) for end in np.linspace(low, high, bars + 1)[1:-1]]
    return [low, *inner, high]


def relations(run: Run) -> list[dict[str, Any]]:
    """A two-dimensional histogram for each pair of metrics, with correlations of values and of ranks, and n."""
    varying = [name for name in run.row_metrics if len(np.unique(_finite(run.scores(name)))) > 1][:MOST_METRICS]
    return [_relation(run, x, y) for x, y in combinations(varying, 2)]


def _relation(run: Run, x: str, y: str) -> dict[str, Any]:
    xs, ys = run.scores(x), run.scores(y)
    has_both = ~np.isnan(xs) & ~np.isnan(ys)
    xs, ys = xs[has_both], ys[has_both]
    ranges = (domain(run, x), domain(run, y))
    counts, _, _ = np.histogram2d(
        np.clip(xs, *ranges[0]), np.clip(ys, *ranges[1]), bins=_CELLS, range=[list(bounds) for bounds in ranges]
    )
    cells = np.argwhere(counts)
    return {
        "x": x,
        "y": y,
        "domains": ranges,
        "cells": _CELLS,
        "counts": [[int(i), int(j), int(counts[i, j])] for i, j in cells],
        "pearson": correlation(xs, ys),
        "spearman": correlation(ranks(xs), ranks(ys)),
        "n": len(xs),
    }


def correlation(xs: Scores, ys: Scores) -> float | None:
    """Pearson's correlation; None if a side does not vary, or for fewer than three rows."""
    if len(xs) < 3 or not np.ptp(xs) or not np.ptp(ys):
        return None
    return float(np.corrcoef(xs, ys)[0, 1])


def ranks(values: Scores) -> Scores:
    """Ranks from 1 up; equal values share the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse], dtype=np.float64)


def _finite(values: Scores) -> Scores:
    return values[~np.isnan(values)]
