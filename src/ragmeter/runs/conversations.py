"""The turns of conversations: the rows of a run with the same session id, in the order of their turns."""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc

from ragmeter.metrics.conversation import turn_number
from ragmeter.runs.run import Run
from ragmeter.table import Row

SESSION, TURN = "session_id", "turn_idx"


def conversation(run: Run, row: Row) -> list[int]:
    """The places of all turns of a row's conversation; empty where the row belongs to none."""
    session = row.get(SESSION)
    return [] if not session else turns_of(run, str(session))


def turns_of(run: Run, session: str) -> list[int]:
    """The places of a session's rows, in the order of their turns; without turns in the order of the table."""
    if SESSION not in run.texts:
        return []
    places = np.flatnonzero(pc.equal(run.column(SESSION), session).fill_null(False).to_numpy(zero_copy_only=False))
    numbers = [turn_number(record.get(TURN)) for record in run.records(places.tolist(), [TURN])]
    return [place for _, place in sorted(zip(numbers, places.tolist(), strict=True))]
