"""Fills the table's score columns, batch by batch: first the vectors that metrics need, then the scores."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import numpy as np

from ragmeter.definition import Metric
from ragmeter.embedders.embedder import Embedders
from ragmeter.engine.causes import cause_codes, has_causes, read_for_causes, with_causes
from ragmeter.engine.executors import Executor, Threads
from ragmeter.engine.judging.offline import with_offline
from ragmeter.metrics.causes import CAUSE
from ragmeter.registry import ScorerMetric, load_builtin
from ragmeter.runs.writer import Scored
from ragmeter.table import (
    NOT_ASKED,
    SCORED,
    Batch,
    Block,
    EmbeddedKey,
    Embeddings,
    ScoreColumns,
    Scores,
    outcome_column,
    outcomes,
    row_causes,
)


def score_batches(
    batches: Iterable[Batch],
    metrics: Sequence[Metric],
    *,
    embedders: Embedders | None = None,
    executor: Executor | None = None,
    correctness: Metric | None = None,
) -> Iterator[Scored]:
    """Each batch with its scores, in the order of the batches. `embedders` are the run's embedding models.

    With a metric that says which answers are right (`correctness`), each batch gets its causes as well.
    """
    embeds = any(metric.embedded for metric in metrics)
    scoring = _Scoring(tuple(metrics), correctness)
    waiting: deque[Batch] = deque()
    with nullcontext(embedders) if embedders is not None else Embedders() as models:
        batches = with_offline(batches, metrics, models)
        if embeds:  # one after the other: a model uses all cores by itself
            batches = Threads(1).map(partial(fill_embedded, metrics=metrics, embedders=models), batches)
        for scores in (executor or Threads()).map(scoring, scoring.inputs(batches, waiting)):
            batch = with_causes(waiting.popleft(), scores.pop(CAUSE, None))
            yield Scored(batch, scores)


@dataclass(frozen=True)
class _Scoring:
    """The work that an executor is given. It travels as the names of its metrics."""

    metrics: tuple[Metric, ...]
    correctness: Metric | None = None

    @property
    def by_row(self) -> bool:
        """A metric of the user's may look at the whole block; scorers and our own take each row by itself."""
        own = (isinstance(metric, ScorerMetric) or metric.is_builtin for metric in self.metrics)
        return all(own) and not any(metric.embedded or metric.by_session for metric in self.metrics)

    @property
    def holds_lock(self) -> bool:
        """The offline judges do. Metrics of the user's may not be able to travel."""
        is_ours = all(metric.is_builtin for metric in self.metrics)
        return is_ours and self.by_row and any(metric.holds_lock for metric in self.metrics)

    def __call__(self, batch: Batch) -> ScoreColumns:
        load_builtin()  # in another process, only the metrics' own modules were imported
        blocks = _Blocks(batch)
        scores = _scores(batch, self.metrics, blocks)
        if has_causes(batch.columns, self.correctness):
            causes = cause_codes(batch, blocks.causes, self.correctness, self.metrics, partial(_score, batch, blocks))
            scores[CAUSE] = causes
        return scores

    def inputs(self, batches: Iterable[Batch], waiting: deque[Batch]) -> Iterator[Batch]:
        """The batches with those columns alone that the metrics look at. The whole ones wait for their scores."""
        needs = {name for metric in (*self.metrics, self.correctness) if metric for name in metric.needs}
        looked_at = {"error", *needs, *map(outcome_column, needs)}
        for batch in batches:
            for_causes = read_for_causes(batch.columns) if has_causes(batch.columns, self.correctness) else set()
            columns = {name: column for name, column in batch.columns.items() if name in looked_at | for_causes}
            some = dict(islice(batch.columns.items(), 1))  # so that it has a length
            waiting.append(replace(batch, embedded={}))
            yield replace(batch, columns=columns or some, lines=())


def fill_embedded(batch: Batch, metrics: Sequence[Metric], embedders: Embedders | None) -> Batch:
    """The batch with the vectors that the metrics need, for those rows that they can score."""
    blocks = _Blocks(batch)
    embedded: dict[EmbeddedKey, Embeddings] = dict(batch.embedded)
    for metric in metrics:
        if metric.embedded:
            block = blocks.of(metric)[1]
            metric.fill(block, embedders)
            embedded.update({(*_block_key(metric, batch), column): block.memo[column] for column in metric.embedded})
    return replace(batch, embedded=embedded)


def score_batch(batch: Batch, metrics: Sequence[Metric]) -> Scored:
    """A batch with its scores. Metrics that need the same columns share what is derived from them."""
    return Scored(batch, _scores(batch, metrics, _Blocks(batch)))


def _scores(batch: Batch, metrics: Sequence[Metric], blocks: _Blocks) -> ScoreColumns:
    scored: ScoreColumns = {}
    for metric in metrics:
        scores = _score(batch, blocks, metric)
        scored[metric.name] = (
            scores if metric.failed_score is None else _count_failed(scores, blocks.causes, metric.failed_score)
        )
    return scored


def _score(batch: Batch, blocks: _Blocks, metric: Metric) -> tuple[Scores, list[str]]:
    row_outcomes, block = blocks.of(metric)
    spread = _of_sessions if metric.by_session else _spread
    return spread(metric.score(block), [SCORED] * len(batch) if metric.per_session else row_outcomes)


def _block_key(metric: Metric, batch: Batch) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Metrics with the same one share a block. A column that the batch lacks, and may lack, makes no difference."""
    absent = metric.may_lack.difference(batch.columns)
    return tuple(name for name in metric.needs if name not in absent), tuple(sorted(metric.optional - absent))


class _Blocks:
    """The blocks of a batch, each made once, and with each the outcomes of the batch's rows."""

    def __init__(self, batch: Batch) -> None:
        self.causes = row_causes(batch)
        self._batch = batch
        self._blocks: dict[tuple[tuple[str, ...], tuple[str, ...], bool], tuple[list[str], Block]] = {}

    def of(self, metric: Metric) -> tuple[list[str], Block]:
        """The outcomes of all rows, and a block of those that the metric can score: over sessions, of all rows."""
        batch = self._batch
        block_key = _block_key(metric, batch)
        key = (*block_key, metric.by_session)
        if key not in self._blocks:
            rows = outcomes(batch.columns, key[0], len(batch), metric.optional)
            if self.causes:
                rows = [cause or outcome for cause, outcome in zip(self.causes, rows, strict=True)]
            taken = [SCORED] * len(batch) if metric.by_session else rows
            block = Block.of(batch.columns, key[0], taken, paired=not metric.by_session)
            of_block = (column for column in batch.embedded if column[:2] == block_key)
            block.memo.update({column[2]: batch.embedded[column] for column in of_block})
            self._blocks[key] = rows, block
        rows, block = self._blocks[key]
        for name in metric.may_lack.difference(batch.columns):
            block.columns.setdefault(name, [None] * block.pairs)
        return rows, block


def _spread(result: tuple[Scores, dict[int, str]], row_outcomes: list[str]) -> tuple[Scores, list[str]]:
    """The block's scores at their rows' places in the batch."""
    values, failures = result
    if len(values) == len(row_outcomes) and not failures:
        return values, row_outcomes
    places = np.flatnonzero([outcome == SCORED for outcome in row_outcomes])
    scores = np.full(len(row_outcomes), np.nan)
    scores[places] = values
    outcomes_of_rows = list(row_outcomes)
    for row, cause in failures.items():
        outcomes_of_rows[int(places[row])] = cause
    return scores, outcomes_of_rows


def _of_sessions(result: tuple[Scores, dict[int, str]], row_outcomes: list[str]) -> tuple[Scores, list[str]]:
    """The scores of all rows; a row without one has the cause of the row itself, where that has one."""
    values, failures = result
    causes = [SCORED] * len(row_outcomes)
    for row, cause in failures.items():
        causes[row] = cause if row_outcomes[row] == SCORED else row_outcomes[row]
    return values, causes


def _count_failed(
    result: tuple[Scores, list[str]], causes: Sequence[str | None], failed_score: float
) -> tuple[Scores, list[str]]:
    """The scores with `failed_score` where the system was asked and failed."""
    failed = [cause is not None and cause not in NOT_ASKED for cause in causes]
    if not any(failed):
        return result
    scores = np.where(failed, failed_score, result[0])
    return scores, [SCORED if lost else outcome for lost, outcome in zip(failed, result[1], strict=True)]


def whole_sessions(batches: Iterable[Batch], metrics: Iterable[Metric]) -> Iterable[Batch]:
    """The batches; for metrics over conversations one batch, since a conversation may begin and end anywhere."""
    return _as_one(batches) if any(metric.by_session for metric in metrics) else batches


def _as_one(batches: Iterable[Batch]) -> Iterator[Batch]:
    parts = list(batches)
    if len(parts) < 2:
        yield from parts
        return
    names = dict.fromkeys(name for part in parts for name in part.columns)
    columns = {
        name: [cell for part in parts for cell in part.columns.get(name) or [None] * len(part)] for name in names
    }
    causes = [cause for part in parts for cause in part.causes or [None] * len(part)]
    lines = [line for part in parts for line in part.lines]
    yield Batch(
        columns,
        lines if len(lines) == len(causes) else (),
        causes if any(causes) else (),
        numbers={name for part in parts for name in part.numbers},
        file=parts[0].file,
    )


def watched(batches: Iterable[Batch], advance: Callable[[int], None]) -> Iterator[Batch]:
    """The batches unchanged; `advance` is called with each one's number of rows when it was used."""
    for batch in batches:
        yield batch
        advance(len(batch))
