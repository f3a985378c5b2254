"""A run's metrics by slices: for each value of a column."""

from __future__ import annotations

import math
from typing import Any

from ragmeter.analysis.slices import Slice, summarise_run
from ragmeter.documents.metrics import MetricSummary
from ragmeter.runs.run import NOTHING, Run
from ragmeter.wording.metrics import headline

#: A column with more values than this is not used for slices: it is a text or an id.
MOST_VALUES = 30


def slice_columns(run: Run) -> list[str]:
    """The columns with few values, each with at least two rows on average."""
    most_values = min(MOST_VALUES, run.n_rows // 2)
    return [name for name in run.slices() if len(run.column(name).unique()) <= most_values]


def slices(run: Run) -> list[dict[str, Any]]:
    """The values of each such column with their rows, and each metric's mean, interval and n on them."""
    columns = slice_columns(run)
    if not columns:
        return []
    summary = summarise_run(run, slices=columns)
    return [
        {
            "column": column,
            "values": [
                {
                    "value": part.value,
                    "n": part.n_rows,
                    "cells": {name: _cell(run.metrics()[name], part.metrics[name]) for name in run.row_metrics},
                }
                for part in sorted((part for part in summary.slices if part.column == column), key=_order)
            ],
        }
        for column in columns
    ]


def _cell(overall: MetricSummary, on_slice: MetricSummary) -> dict[str, Any]:
    """A metric on a slice, and its distance from the mean of all rows in standard deviations; above 0 is better."""
    apart = None
    if on_slice.mean is not None and overall.mean is not None and overall.sd and overall.direction != "none":
        apart = (on_slice.mean - overall.mean) / overall.sd * (-1 if overall.direction == "lower" else 1)
    return {
        "mean": on_slice.mean,
        "interval": on_slice.interval,
        "shown": headline(on_slice),
        "n": on_slice.n_scored,
        "apart": apart,
        "few": on_slice.is_few,
    }


def _order(part: Slice) -> tuple[int, float, str]:
    """Sort key: numbers by value, then texts, and rows without a value last."""
    if part.value == NOTHING:
        return 2, 0.0, ""
    try:
        number = float(part.value)
    except ValueError:
        return 1, 0.0, part.value
    return (0, number, part.value) if math.isfinite(number) else (1, 0.0, part.value)
