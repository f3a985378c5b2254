"""Rows that changed between the first of several runs and the last one, by a metric."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ragmeter.app.orders import Places
from ragmeter.runs.run import Run
from ragmeter.table import QID, Scores

ALL_ROWS, _FAILED = "all", "failed"
#: How large a change is, of how much better the last run is.
_SIZES: dict[str, Callable[[Scores], Scores]] = {"better": np.positive, "worse": np.negative, "differs": np.abs}
CHANGES = (ALL_ROWS, *_SIZES, _FAILED)


def have_same_rows(runs: Sequence[Run]) -> bool:
    """Whether all runs have the same qids in the same order, as runs of one data set mostly do."""
    qids = runs[0].column(QID)
    return not qids.null_count and all(qids.equals(run.column(QID)) for run in runs[1:])


def changed(runs: Sequence[Run], partners: Places, metric: str, change: str, threshold: float) -> Places:
    """Which of the partners changed so by more than a threshold, those that changed most first."""
    first, last = (runs[at].scores(metric)[partners[at]] for at in (0, -1))
    if change == _FAILED:
        rows = np.flatnonzero(np.isnan(last) & ~np.isnan(first))
    else:
        gain = first - last if runs[0].measure(metric).direction == "lower" else last - first
        size = _SIZES[change](gain)
        rows = np.flatnonzero(size > threshold)  # no number is more than NaN: rows without a score are not among them
        rows = rows[np.argsort(-size[rows], kind="stable")]
    return rows.astype(np.int32)
