"""What a table of scores comes to, in one file or in parts: computed from what was written, a column at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import ragmeter
from ragmeter.definition import Metric
from ragmeter.documents.metrics import Percentiles
from ragmeter.documents.summary import Abstained, Answers, Summary
from ragmeter.metrics.abstention import MARKS, is_unanswerable
from ragmeter.runs.answer_causes import causes_of
from ragmeter.runs.declined import rightly_declined
from ragmeter.runs.document_ids import document_ids
from ragmeter.runs.question_set import only_system, question_set
from ragmeter.runs.rows import StoredRows, clusters_of
from ragmeter.runs.run import TEXTS
from ragmeter.stats.confidence import AUTO, Confidence
from ragmeter.stats.summary import percentiles, summarise
from ragmeter.table import ABSTAINED, NUMBER_COLUMNS, QID, Failed, Measure, outcome_column
from ragmeter.wording.metrics import first_of, is_right

#: Rows whose outcomes are looked at together.
_AT_ONCE = 262_144


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
) -> Summary:
    """The scores' part of a run's summary; its settings of intervals name the cluster column that was used.

    `numbers` are columns that are described as latency is, `left_out` counts the rows of columns that appear late.
    Where all qids are known to differ (`qids_differ`), they can't be the clusters, and are not read. `is_own`: the
    settings of intervals are the run's.
    """
    texts = [field.name for field in rows.schema if field.type in TEXTS]
    if qids_differ and confidence.cluster == AUTO:
        texts = [name for name in texts if name != QID]
    cluster, codes = clusters_of(confidence.cluster, texts, lambda name: rows.read([name])[name].combine_chunks(),
                                 is_own=is_own)  # fmt: skip
    summaries = {
        metric.name: summarise(
            rows.read([metric.name])[metric.name].to_numpy(),
            not_scored(metric.name),
            binary=metric.binary,
            direction=metric.direction,
            bounds=metric.bounds,
            confidence=confidence,
            codes=codes,
        )
        for metric in metrics
    }
    ids = document_ids(rows, [metric for metric in metrics if isinstance(metric, Metric)], summaries)
    return Summary(
        ragmeter=ragmeter.__version__,
        n_rows=rows.n_rows,
        questions=question_set(rows),
        system=only_system(rows),
        statistics=replace(confidence, cluster=cluster).kept(),
        metrics=summaries,
        numbers=_numbers(rows, numbers),
        columns_left_out=dict(left_out or {}),
        answers=_answers(rows),
        abstained=_abstained(rows),
        rightly_declined=_rightly_declined(rows, list(summaries)),
        cause=None if ids is not None and ids.tells_no_causes else causes_of(rows, confidence, codes),
        document_ids=ids,
    )


def _numbers(rows: StoredRows, more: Iterable[str]) -> dict[str, Percentiles]:
    """Count, mean and percentiles of a table's own numbers, such as latency, and of `more`."""
    numbers = {}
    for name in (*NUMBER_COLUMNS, *more):
        is_number = name in rows.schema.names and pa.types.is_floating(rows.schema.field(name).type)
        if is_number and len(values := rows.read([name])[name].drop_null().to_numpy()):
            numbers[name] = percentiles(values)
    return numbers


def _answers(rows: StoredRows) -> Answers | None:
    """How many answers there are; None for a table without the column, and where every row has one."""
    if "answer" not in rows.schema.names:
        return None
    given = empty = 0
    for batch in rows.batches(_AT_ONCE, ["answer"]):
        texts = batch["answer"].cast(pa.large_string())
        n_empty = int(pc.sum(pc.equal(pc.utf8_trim_whitespace(texts), "")).as_py() or 0)
        empty += n_empty
        given += len(texts) - texts.null_count - n_empty
    return None if given == rows.n_rows else Answers(given, empty)


def _abstained(rows: StoredRows) -> Abstained | None:
    """How many answers decline, and how many of them rightly, where questions are marked as unanswerable.

    None without answers that some metric did not score because they decline.
    """
    outcomes = [name for name in rows.schema.names if name.endswith(outcome_column(""))]
    marks = [name for name in rows.schema.names if name in MARKS]
    declined = 0
    flags: list[bool | Failed] = []
    for batch in rows.batches(_AT_ONCE, [*outcomes, *marks]) if outcomes else ():
        is_declined = np.zeros(batch.num_rows, dtype=np.bool_)
        for name in outcomes:
            texts = batch[name].cast(pa.string())
            is_declined |= pc.equal(texts, ABSTAINED).fill_null(False).to_numpy(zero_copy_only=False)
        declined += int(is_declined.sum())
        if marks and is_declined.any():
            flags += map(is_unanswerable, batch.select(marks).filter(pa.array(is_declined)).to_pylist())
    return Abstained(declined, flags.count(True), flags.count(False)) if declined else None


def _rightly_declined(rows: StoredRows, metrics: Sequence[str]) -> int:
    """How many answers rightly decline, and are not right by the metric that says which answers are."""
    right = first_of(metrics) if metrics else ""
    if not is_right(right):
        return 0
    is_right_one = rows.read([right])[right].to_numpy() == 1
    return int((rightly_declined(rows, metrics) & ~is_right_one).sum())
