"""What a table of scores comes to, in one file or in parts: computed from what was written, a column at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import pyarrow as pa

import ragmeter
from ragmeter.definition import Metric
from ragmeter.documents.metrics import MetricSummary, Percentiles
from ragmeter.documents.summary import Summary
from ragmeter.effects.process.cores import available_cores
from ragmeter.runs.answer_causes import causes_of
from ragmeter.runs.declined import rightly_declined
from ragmeter.runs.document_ids import document_ids
from ragmeter.runs.question_set import only_system
from ragmeter.runs.row_counts import RowCounts
from ragmeter.runs.rows import StoredRows, clusters_of
from ragmeter.runs.run import TEXTS
from ragmeter.stats.confidence import AUTO, Confidence
from ragmeter.stats.summary import percentiles, summarise
from ragmeter.table import NUMBER_COLUMNS, QID, Measure, Scores
from ragmeter.wording.metrics import first_of, is_right

#: From so many rows on, columns are summarised by several threads, which hold so many bytes of scores at once.
_MANY_ROWS, _BYTES = 200_000, 256 << 20


def summarise_table(
    rows: StoredRows,
    metrics: Sequence[Metric | Measure],
    not_scored: Callable[[str], Mapping[str, int]],
    confidence: Confidence,
    *,
    numbers: Iterable[str] = (),
    left_out: Mapping[str, int] | None = None,
    qids_differ: bool = False,
    is_own: bool = False,
    counts: RowCounts | None = None,
) -> Summary:
    """The scores' part of a run's summary; its settings of intervals name the cluster column that was used.

    `numbers` are columns that are described as latency is, `left_out` counts the rows of columns that appear late.
    Where all qids are known to differ (`qids_differ`), they can't be the clusters, and are not read. `is_own`: the
    settings of intervals are the run's. `counts` are those of the rows, if somebody has counted them.
    """
    counts = counts or RowCounts.of(rows)
    texts = [field.name for field in rows.schema if field.type in TEXTS]
    if qids_differ and confidence.cluster == AUTO:
        texts = [name for name in texts if name != QID]
    cluster, codes = clusters_of(confidence.cluster, texts, lambda name: rows.read([name])[name].combine_chunks(),
                                 is_own=is_own)  # fmt: skip

    def summary_of(metric: Metric | Measure, scores: Scores) -> MetricSummary:
        return summarise(
            scores,
            not_scored(metric.name),
            binary=metric.binary,
            direction=metric.direction,
            bounds=metric.bounds,
            confidence=confidence,
            codes=codes,
        )

    summaries = _by_column(rows, {metric.name: partial(summary_of, metric) for metric in metrics})
    ids = document_ids(rows, [metric for metric in metrics if isinstance(metric, Metric)], summaries)
    return Summary(
        ragmeter=ragmeter.__version__,
        n_rows=rows.n_rows,
        questions=counts.questions(rows),
        system=only_system(rows),
        statistics=replace(confidence, cluster=cluster).kept(),
        metrics=summaries,
        numbers=_numbers(rows, numbers),
        columns_left_out=dict(left_out or {}),
        answers=counts.answers(rows),
        abstained=counts.abstained(),
        rightly_declined=_rightly_declined(rows, list(summaries)),
        cause=None if ids is not None and ids.tells_no_causes else causes_of(rows, confidence, codes),
        document_ids=ids,
    )


def _by_column(
    rows: StoredRows, functions: Mapping[str, Callable[[Scores], MetricSummary]]
) -> dict[str, MetricSummary]:
    """What these functions make of columns of numbers. Long ones are read a few at a time, and looked at in threads."""
    at_once = max(1, _BYTES // (8 * max(rows.n_rows, 1)))
    names = list(functions)
    threads = min(at_once, available_cores()) if rows.n_rows >= _MANY_ROWS else 1
    summaries: dict[str, MetricSummary] = {}
    with ThreadPoolExecutor(threads, thread_name_prefix="ragmeter-summary") as pool:
        for begin in range(0, len(names), at_once):
            some = names[begin : begin + at_once]
            table = rows.read(some)
            columns = [table[name].to_numpy() for name in some]
            del table
            summaries.update(
                zip(some, pool.map(lambda name, column: functions[name](column), some, columns), strict=True)
            )
    return summaries


def _numbers(rows: StoredRows, more: Iterable[str]) -> dict[str, Percentiles]:
    """Count, mean and percentiles of a table's own numbers, such as latency, and of `more`."""
    numbers = {}
    for name in (*NUMBER_COLUMNS, *more):
        is_number = name in rows.schema.names and pa.types.is_floating(rows.schema.field(name).type)
        if is_number and len(values := rows.read([name])[name].drop_null().to_numpy()):
            numbers[name] = percentiles(values)
    return numbers


def _rightly_declined(rows: StoredRows, metrics: Sequence[str]) -> int:
    """How many answers rightly decline, and are not right by the metric that says which answers are."""
    right = first_of(metrics) if metrics else ""
    if not is_right(right):
        return 0
    is_right_one = rows.read([right])[right].to_numpy() == 1
    return int((rightly_declined(rows, metrics) & ~is_right_one).sum())
