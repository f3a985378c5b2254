"""Rows that changed between the first of several runs and the last one, by a metric."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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


@dataclass(frozen=True)
class ChangedRows:
    """A filter for rows whose score by a metric changed in this direction, by more than a threshold."""

    metric: str
    change: str = ALL_ROWS
    threshold: float = 0.0


def changed(runs: Sequence[Run], partners: Places, chosen: ChangedRows) -> Places:
    """The partners that pass the filter, those that changed most first."""
    first, last = (runs[at].scores(chosen.metric)[partners[at]] for at in (0, -1))
    if chosen.change == _FAILED:
        rows = np.flatnonzero(np.isnan(last) & ~np.isnan(first))
    else:
        gain = first - last if runs[0].measure(chosen.metric).direction == "lower" else last - first
        size = _SIZES[chosen.change](gain)
        rows = np.flatnonzero(size > chosen.threshold)  # NaN is not more than anything
        return _largest_first(rows, size[rows])
    return rows.astype(np.int32)


def _largest_first(rows: npt.NDArray[np.int64], sizes: Scores) -> Places:
    """Rows by size, equal ones in their order. To sort size and row as one number takes half as long as an argsort.

    As float32, which a page shows no difference to, positive numbers are ordered as their bits are.
    """
    with np.errstate(over="ignore"):
        inverted = ~sizes.astype(np.float32).view(np.uint32)
    keys = inverted.astype(np.uint64) << np.uint64(32) | rows.astype(np.uint64)
    keys.sort()
    return (keys & np.uint64(0xFFFFFFFF)).astype(np.int32)
