"""A run's rows as CSV, JSON lines, an Excel workbook or one Parquet file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ragmeter.io.write import replacing, write_rows
from ragmeter.runs.run import Run
from ragmeter.table import CONTEXT_DETAILS, RETRIEVED_SCORES, NewRow, Row

#: Rows that are in memory at once.
_ROWS = 10_000


def write_csv(run: Run, path: Path, guard: bool) -> list[Path]:
    """All columns, lists as JSON; a score that is missing is an empty cell."""
    with replacing(path, private=True) as (temporary,):
        write_rows(temporary, run.columns, _rows(run), "csv", guard=guard)
    return [path]


def write_xlsx(run: Run, path: Path, guard: bool) -> list[Path]:
    """As CSV has them, in one sheet; a text is never a formula."""
    with replacing(path, private=True) as (temporary,):
        write_rows(temporary, run.columns, _rows(run), "xlsx", guard=guard)
    return [path]


def write_jsonl(run: Run, path: Path, guard: bool) -> list[Path]:
    """An object a row; a score that is missing is null."""
    with replacing(path, private=True) as (temporary,):
        write_rows(temporary, run.columns, _rows(run), "jsonl")
    return [path]


def write_parquet(run: Run, path: Path, guard: bool) -> list[Path]:
    """One file, also of a run in parts."""
    import pyarrow.parquet as pq

    with replacing(path, private=True) as (temporary,):
        writer = None
        for batch in run.batches(_ROWS):
            writer = writer or pq.ParquetWriter(temporary, batch.schema, compression="zstd")
            writer.write_batch(batch)
        if writer is None:
            pq.write_table(run.rows(), temporary)
        else:
            writer.close()
    return [path]


def _rows(run: Run) -> Iterator[list[Any]]:
    for record in records(run):
        yield [None if value != value else value for value in record.values()]


def records(run: Run) -> Iterator[NewRow]:
    """The rows of a run, one by one, a part of them in memory."""
    for batch in run.batches(_ROWS):
        yield from batch.to_pylist()


def own_scores(row: Row) -> list[Any]:
    """The system's own scores of what it retrieved, from the ranking or else from the passages; empty without any."""
    scores = _json_list(row.get(RETRIEVED_SCORES))
    if scores:
        return scores
    details = [detail if isinstance(detail, dict) else {} for detail in _json_list(row.get(CONTEXT_DETAILS))]
    scores = [detail.get("score") for detail in details]
    return scores if any(score is not None for score in scores) else []


def _json_list(text: str | None) -> list[Any]:
    try:
        values = json.loads(text or "[]")
    except ValueError:
        return []
    return values if isinstance(values, list) else []
