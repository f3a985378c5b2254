"""How a run does on parts of its rows: each value of a column by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from ragmeter.reporting.runs import ShownRun
from ragmeter.reporting.words import is_rate
from ragmeter.stats.intervals import SMALL, Confidence
from ragmeter.stats.summary import summarise

#: A column with more values than these is no division into parts but a text, or an id.
MOST_VALUES = 30
NOTHING = "(none)"


def slice_columns(run: ShownRun) -> list[str]:
    """The columns that divide the rows into a few parts, each with more than one row on average."""
    most = min(MOST_VALUES, run.table.num_rows // 2)
    return [name for name in run.stored.slices() if len(run.table[name].unique()) <= most]


def slices(run: ShownRun) -> list[dict[str, Any]]:
    """For each such column its values with their rows, and each metric's mean, interval and n on them."""
    return [_slice(run, column) for column in slice_columns(run)]


def _slice(run: ShownRun, column: str) -> dict[str, Any]:
    encoded = run.table[column].combine_chunks().dictionary_encode()
    values = [*encoded.dictionary.to_pylist(), None]
    codes = encoded.indices.fill_null(len(values) - 1).to_numpy(zero_copy_only=False)
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(len(values)), side="right")
    parts = dict(zip(values, np.split(order, ends[:-1]), strict=True))
    return {
        "column": column,
        "values": [
            {
                "value": NOTHING if value is None else value,
                "n": len(parts[value]),
                "cells": {name: _cell(run, name, parts[value]) for name in run.row_metrics},
            }
            for value in sorted((value for value in values if len(parts[value])), key=_order)
        ],
    }


def _cell(run: ShownRun, metric: str, rows: Any) -> dict[str, Any]:
    """A metric on some rows, and how far from the mean of all, in standard deviations; above 0 is better."""
    held = run.metrics[metric]
    codes = None if run.clusters is None else run.clusters[rows]
    how = Confidence(level=held.get("level", 0.95))
    found = summarise(run.scores[metric][rows], {}, binary=is_rate(held), how=how, codes=codes)
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


def _order(value: str | None) -> tuple[int, float, str]:
    """Numbers by their size, then texts, and what has no value last."""
    if value is None:
        return 2, 0.0, ""
    try:
        number = float(value)
    except ValueError:
        return 1, 0.0, value
    return (0, number, value) if np.isfinite(number) else (1, 0.0, value)
