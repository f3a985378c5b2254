"""`score_table`: Arrow in, Arrow out, for any engine that can call a Python function on a table.

It reads no file, keeps nothing between calls and needs no other row than those it is given, so that Spark, Ray or
DuckDB may cut a data set as they like.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from ragmeter.definition import Metric
from ragmeter.embedders.embedder import Embedders
from ragmeter.engine.judging.offline import with_offline
from ragmeter.engine.metric_choice import MetricLike, choose_metrics, with_models
from ragmeter.engine.scoring import fill_embedded, score_batch, whole_sessions
from ragmeter.errors import UsageError
from ragmeter.io.columns import Typed, check_mapping, missing_column
from ragmeter.io.source import open_source
from ragmeter.table import Batch, ScoreColumns, outcome_column


def score_table(
    table: Any,
    metrics: str | Iterable[MetricLike],
    *,
    language: str | None = None,
    columns: Mapping[str, str] | None = None,
    **settings: Any,
) -> pa.Table:
    """The table with two new columns for each metric: its scores, and each row's outcome.

    A score is null where the outcome is not `scored`. A column of the table that has the name of a score is renamed
    `input.NAME`.

    Args:
        table: an Arrow table, a record batch, or anything with Arrow's C stream.
        metrics: names, separated by commas or in a list, dotted paths, or scorers of your own.
        language: the texts' language, by code or name, for metrics that stem words.
        columns: the table's names and yours; by default columns are recognised by their titles, as those of a file.
        settings: any setting that one of the metrics has.
    """
    chosen = with_models(choose_metrics(metrics, language=language, **settings))
    rows = _as_table(table)
    check_mapping(columns or {})
    scores = _score(rows, chosen, dict(columns or {}))
    added = {column: array for metric in chosen for column, array in _arrays(metric.name, scores)}
    names = [f"input.{name}" if name in added else name for name in rows.schema.names]
    arrays = [*rows.columns, *added.values()]
    return pa.Table.from_arrays(arrays, names=[*names, *added])


def _as_table(table: Any) -> pa.Table:
    if isinstance(table, pa.Table):
        return table
    if isinstance(table, pa.RecordBatch):
        return pa.Table.from_batches([table])
    if hasattr(table, "__arrow_c_stream__"):
        return pa.table(table)
    raise UsageError(f"can't score a {type(table).__name__}", hint="give an Arrow table or a record batch")


def _score(rows: pa.Table, metrics: Sequence[Metric], mapping: dict[str, str]) -> list[ScoreColumns]:
    """The scores, block by block. A table without rows has none, and its columns are checked all the same."""
    empty_row = pa.Table.from_arrays([pa.nulls(1, field.type) for field in rows.schema], schema=rows.schema)
    source = open_source(rows if rows.num_rows else empty_row, what="the table")
    blocks = []
    with Embedders() as embedders:
        for batch in whole_sessions(Typed(source, "both", mapping).batches(), metrics):
            _check(batch, metrics, rows.schema.names)
            (filled,) = with_offline([batch], metrics, embedders)
            blocks.append(score_batch(fill_embedded(filled, metrics, embedders), metrics).scores)
    return blocks if rows.num_rows else []


def _check(batch: Batch, metrics: Sequence[Metric], titles: Sequence[str]) -> None:
    """Raise an error if a column is missing that a metric needs."""
    for metric in metrics:
        asked = {column.name for column in metric.judge_columns}
        needs = (*metric.needs_of_table, *asked)
        missing = next((name for name in needs if name not in batch.columns), None)
        if missing is None:
            continue
        if missing in asked:
            raise UsageError(
                f"{metric.name} needs the column {missing!r}, which only a judge can fill",
                hint="have evaluate() fill it first, and score the rows of its run",
            )
        raise missing_column(missing, metric.name, titles, "the table")


def _arrays(name: str, blocks: Sequence[ScoreColumns]) -> Iterable[tuple[str, Any]]:
    scores = [pa.array(block[name][0], pa.float64(), from_pandas=True) for block in blocks]
    outcomes = [pa.array(block[name][1], pa.string()) for block in blocks]
    yield name, pa.chunked_array(scores, pa.float64())
    yield outcome_column(name), pa.chunked_array(outcomes, pa.string())
