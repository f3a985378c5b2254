"""Scores whole batches for several evaluators at once: what metrics share is computed once, and no row is made."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ragmeter.compat.objects import EvaluationResult
from ragmeter.compat.rows import ResultRows
from ragmeter.definition import Metric
from ragmeter.engine.scoring import score_batches
from ragmeter.runs.writer import Scored
from ragmeter.table import SCORED, Batch, Scores

if TYPE_CHECKING:
    from ragmeter.compat.base import MetricEvaluator

Number = int | float


def score_table(evaluators: Sequence[MetricEvaluator], batches: Iterable[Batch]) -> list[EvaluationResult]:
    """The result of each evaluator. The batches are read once."""
    started = time.perf_counter()
    tables = [_Table(evaluator) for evaluator in evaluators]
    metrics = list(dict.fromkeys(metric for table in tables for metric in table.metrics.values()))
    systems: set[str | None] = set()
    for scored in score_batches(batches, metrics):
        for table in tables:
            table.add(scored)
        systems.update(scored.batch.columns.get("system_name", ()))
    elapsed = (time.perf_counter() - started) * 1000
    return [table.result(elapsed, only_name(systems)) for table in tables]


def only_name(names: Iterable[str | None]) -> str:
    """The system's name, if there is only one."""
    distinct = set(names) - {None, ""}
    return distinct.pop() or "" if len(distinct) == 1 else ""


class _Table:
    """The rows of one evaluator, by columns, and what is counted."""

    def __init__(self, evaluator: MetricEvaluator) -> None:
        self.evaluator = evaluator
        self.metrics: dict[str, Metric] = evaluator.metrics()
        self._columns: dict[str, list[Any]] = {}
        self._not_scored: Counter[str] = Counter()
        self._scores: dict[str, list[Number | None]] = {column: [] for column in self.metrics}

    def add(self, scored: Scored) -> None:
        whole = self.evaluator.whole
        scores = {
            column: _numbers(scored.scores[metric.name][0], column in whole) for column, metric in self.metrics.items()
        }
        for name, column in self.evaluator.columns(scored.batch.columns, len(scored.batch)).items():
            self._columns.setdefault(name, []).extend(column)
        for name, values_of_column in scores.items():
            self._scores[name].extend(values_of_column)
        outcomes = scored.scores[next(iter(self.metrics.values())).name][1]
        if outcomes.count(SCORED) < len(outcomes):
            self._not_scored.update(outcome for outcome in outcomes if outcome != SCORED)

    def result(self, elapsed: float, system_name: str) -> EvaluationResult:
        present = {
            name: [value for value in column if value is not None] if None in column else column
            for name, column in self._scores.items()
        }
        rows = ResultRows({**self._columns, **self._scores})
        return EvaluationResult(
            evaluator_name=type(self.evaluator).__name__,
            metrics={**self.evaluator.aggregate(present), "processing_time_ms": elapsed},  # type: ignore[arg-type]
            rows=rows,
            sample_count=len(rows) - self._not_scored.total(),
            system_name=system_name,
            not_scored=dict(self._not_scored),
        )


def _numbers(scores: Scores, whole: bool) -> list[Number | None]:
    """Scores as Python's numbers, None for NaN; whole numbers as integers."""
    is_missing = np.isnan(scores)
    if is_missing.any():
        return [None if value != value else int(value) if whole else value for value in scores.tolist()]
    numbers: list[Number | None] = (scores.astype(np.int64) if whole else scores).tolist()
    return numbers
