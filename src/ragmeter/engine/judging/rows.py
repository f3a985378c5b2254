"""The qids and answers of rows, which people's labels are matched with."""

from __future__ import annotations

from collections.abc import Iterable

from ragmeter.engine.added_metrics import run_batches
from ragmeter.runs.lookup import RunLike, find_run
from ragmeter.table import QID, Batch


def rows_of_run(run: RunLike) -> tuple[list[str], list[str | None]]:
    """The qids and answers of a run that was kept."""
    return qids_and_answers(run_batches(find_run(run)))


def qids_and_answers(batches: Iterable[Batch]) -> tuple[list[str], list[str | None]]:
    """The qids and answers of a table."""
    qids: list[str] = []
    answers: list[str | None] = []
    for batch in batches:
        qids += batch.columns[QID]
        answers += batch.columns.get("answer") or [None] * len(batch)
    return qids, answers
