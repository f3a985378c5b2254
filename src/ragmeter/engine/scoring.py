"""Fills the table's score columns, batch by batch.

Batches are scored by threads while the next ones are read and the last ones written: the arithmetic runs in native
code, which does not hold Python's lock. At most a few batches are alive at a time, so memory stays flat.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context

import numpy as np

from ragmeter.definition import Metric
from ragmeter.effects.cores import available_cores
from ragmeter.runs.writer import Scored
from ragmeter.table import NOT_ASKED, SCORED, Batch, Block, Scores, outcomes, row_causes


def score_batches(
    batches: Iterable[Batch], metrics: Sequence[Metric], *, workers: int | None = None
) -> Iterator[Scored]:
    """Each batch with its scores, in the order of the batches."""
    workers = workers or available_cores()
    pending: deque[Future[Scored]] = deque()
    pool = ThreadPoolExecutor(workers, thread_name_prefix="ragmeter")
    try:
        for batch in batches:
            # Each thread sees what belongs to this run, such as its embedding models.
            pending.append(pool.submit(copy_context().run, score_batch, batch, metrics))
            while len(pending) > workers:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # whoever interrupts does not want to wait for a slow scorer


def score_batch(batch: Batch, metrics: Sequence[Metric]) -> Scored:
    """One batch with its scores. Metrics that need the same columns share what is derived from them."""
    rows = len(batch)
    causes = row_causes(batch)
    blocks: dict[Hashable, tuple[list[str], Block]] = {}
    scored: dict[str, tuple[Scores, list[str]]] = {}
    for metric in metrics:
        key = metric.needs, metric.optional
        if key not in blocks:
            found = outcomes(batch.columns, metric.needs, rows, metric.optional)
            if causes:
                found = [cause or outcome for cause, outcome in zip(causes, found, strict=True)]
            blocks[key] = found, Block.of(batch.columns, metric.needs, found)
        found, block = blocks[key]
        scores = _spread(metric.score(block), found)
        scored[metric.name] = (
            scores if metric.failed_score is None else _count_failed(scores, causes, metric.failed_score)
        )
    return Scored(batch, scored)


def _spread(result: tuple[Scores, dict[int, str]], found: list[str]) -> tuple[Scores, list[str]]:
    """The block's scores at their rows' places in the batch."""
    values, failures = result
    if len(values) == len(found) and not failures:
        return values, found
    places = np.flatnonzero([outcome == SCORED for outcome in found])
    scores = np.full(len(found), np.nan)
    scores[places] = values
    outcomes_of_rows = list(found)
    for row, cause in failures.items():
        outcomes_of_rows[int(places[row])] = cause
    return scores, outcomes_of_rows


def _count_failed(
    result: tuple[Scores, list[str]], causes: Sequence[str | None], failed_score: float
) -> tuple[Scores, list[str]]:
    """The scores with `failed_score` where the system was asked and failed."""
    failed = [cause is not None and cause not in NOT_ASKED for cause in causes]
    if not any(failed):
        return result
    scores = np.where(failed, failed_score, result[0])
    return scores, [SCORED if lost else outcome for lost, outcome in zip(failed, result[1], strict=True)]


def watched(batches: Iterable[Batch], advance: Callable[[int], None]) -> Iterator[Batch]:
    """The same batches, with a word to whoever shows the progress."""
    for batch in batches:
        yield batch
        advance(len(batch))
