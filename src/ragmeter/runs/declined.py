"""Which answers of a table rightly decline: by its causes, else by its marks of questions that have no answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragmeter.metrics.abstention import MARKS, is_unanswerable
from ragmeter.metrics.causes import CAUSE, RIGHTLY_DECLINED
from ragmeter.naming import base_of
from ragmeter.runs.rows import Rows

#: The metric that says which answers decline where they should, of questions that are marked.
_DECLINES = "abstention_correct"
Flags = npt.NDArray[np.bool_]


def marked_unanswerable(rows: Rows) -> Flags:
    """The rows whose question is marked as one without an answer."""
    marks = [name for name in rows.schema.names if name in MARKS]
    if not marks:
        return np.zeros(rows.n_rows, bool)
    return np.array([is_unanswerable(row) is True for row in rows.table(marks).to_pylist()], bool)


def rightly_declined(rows: Rows, metrics: Sequence[str]) -> Flags:
    """The rows whose answer declines a question that can't be answered; none where nothing says so."""
    if CAUSE in rows.schema.names:
        causes = rows.table([CAUSE])[CAUSE].cast(pa.string())
        return np.asarray(pc.fill_null(pc.equal(causes, RIGHTLY_DECLINED), fill_value=False))
    by = next((name for name in metrics if base_of(name) == _DECLINES), None)
    if by is None:
        return np.zeros(rows.n_rows, bool)
    return np.asarray(marked_unanswerable(rows) & (rows.table([by])[by].to_numpy() == 1))
