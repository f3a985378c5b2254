"""The shape of scores: histograms, and two metrics against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ragmeter.runs.run import Run
from ragmeter.table import Scores

_BARS = 20
_CELLS = 24
#: Against each other only so many metrics are shown: the pairs of more are too many to look through.
MOST_METRICS = 12


def is_rate(summary: Mapping[str, Any]) -> bool:
    """Whether its scores are 0 or 1, so that its mean is a share of the rows."""
    return bool(summary.get("binary", summary["interval_method"] == "wilson"))


def domain(run: Run, metric: str) -> tuple[float, float]:
    """Where the axis of a metric begins and ends: its range, or what was seen where it has no end."""
    held = run.metrics()[metric]
    low, high = held["range"]
    least = 0.0 if held["min"] is None else min(0.0, held["min"])
    most = 1.0 if held["max"] is None else held["max"]
    begin, end = least if low is None else low, most if high is None else high
    return (begin, end) if end > begin else (begin, begin + 1.0)


def axis_of_means(summaries: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """Where the axis of a metric's means begins and ends: its range, or a little beyond the means where it has none."""
    low, high = summaries[0]["range"]
    seen = [0.0]
    for each in summaries:
        seen += [] if each["mean"] is None else [each["mean"], *(each["interval"] or ())]
    begin, end = min(seen) if low is None else low, max(seen) * 1.1 if high is None else high
    return (begin, end) if end > begin else (begin, begin + 1.0)


def histogram(run: Run, metric: str) -> dict[str, Any] | None:
    """How many rows have which score, in bars of equal width. A score of 1 falls into the last bar."""
    values = _finite(run.scores(metric))
    if not len(values):
        return None
    low, high = domain(run, metric)
    counted = is_rate(run.metrics()[metric]) or high - low > 1
    whole = bool(counted and high - low < _BARS and np.all(values == np.round(values)))
    bars = _BARS
    if whole:  # each whole number has a bar of its own, around it
        bars, low, high = int(high - low) + 1, low - 0.5, high + 0.5
    counts, _ = np.histogram(np.clip(values, low, high), bins=bars, range=(low, high))
    return {"low": low, "high": high, "counts": counts.tolist(), "whole": whole, "n": len(values)}


def relations(run: Run) -> list[dict[str, Any]]:
    """Each pair of metrics: how many rows lie where, the correlations of values and of ranks, and n."""
    shown = [name for name in run.row_metrics if len(np.unique(_finite(run.scores(name)))) > 1][:MOST_METRICS]
    return [_relation(run, x, y) for x, y in combinations(shown, 2)]


def _relation(run: Run, x: str, y: str) -> dict[str, Any]:
    xs, ys = run.scores(x), run.scores(y)
    both = ~np.isnan(xs) & ~np.isnan(ys)
    xs, ys = xs[both], ys[both]
    ranges = (domain(run, x), domain(run, y))
    counts, _, _ = np.histogram2d(
        np.clip(xs, *ranges[0]), np.clip(ys, *ranges[1]), bins=_CELLS, range=[list(each) for each in ranges]
    )
    where = np.argwhere(counts)
    return {
        "x": x,
        "y": y,
        "domains": ranges,
        "cells": _CELLS,
        "counts": [[int(i), int(j), int(counts[i, j])] for i, j in where],
        "pearson": correlation(xs, ys),
        "spearman": correlation(ranks(xs), ranks(ys)),
        "n": len(xs),
    }


def correlation(xs: Scores, ys: Scores) -> float | None:
    """Pearson's; none where one side does not vary, or for fewer than three rows."""
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
