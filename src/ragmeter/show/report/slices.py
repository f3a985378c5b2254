"""How a run does on parts of its rows: each value of a column by itself."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ragmeter.analysis.slicing import Slice, summarise_run
from ragmeter.runs.run import NOTHING, Run
from ragmeter.stats.intervals import SMALL
from ragmeter.stats.summary import MetricSummary

#: A column with more values than these is no division into parts but a text, or an id.
MOST_VALUES = 30


def slice_columns(run: Run) -> list[str]:
    """The columns that divide the rows into a few parts, each with more than one row on average."""
    most = min(MOST_VALUES, run.n_rows // 2)
    return [name for name in run.slices() if len(run.column(name).unique()) <= most]


def slices(run: Run) -> list[dict[str, Any]]:
    """For each such column its values with their rows, and each metric's mean, interval and n on them."""
    columns = slice_columns(run)
    if not columns:
        return []
    how = run.confidence
    found = summarise_run(run, slices=columns, interval=how.method, cluster=how.cluster, level=how.level, seed=how.seed)
    return [
        {
            "column": column,
            "values": [
                {
                    "value": each.value,
                    "n": each.n_rows,
                    "cells": {name: _cell(run.metrics()[name], each.metrics[name]) for name in run.row_metrics},
                }
                for each in sorted((each for each in found.slices if each.column == column), key=_order)
            ],
        }
        for column in columns
    ]


def _cell(held: Mapping[str, Any], found: MetricSummary) -> dict[str, Any]:
    """A metric on some rows, and how far from the mean of all, in standard deviations; above 0 is better."""
    apart = None
    if found.mean is not None and held["mean"] is not None and held["sd"] and held["direction"] != "none":
        apart = (found.mean - held["mean"]) / held["sd"] * (-1 if held["direction"] == "lower" else 1)
    return {
        "mean": found.mean,
        "interval": found.interval,
        "n": found.n_scored,
        "apart": apart,
        "few": found.n_scored < SMALL,
    }


def _order(part: Slice) -> tuple[int, float, str]:
    """Numbers by their size, then texts, and what has no value last."""
    if part.value == NOTHING:
        return 2, 0.0, ""
    try:
        number = float(part.value)
    except ValueError:
        return 1, 0.0, part.value
    return (0, number, part.value) if math.isfinite(number) else (1, 0.0, part.value)
