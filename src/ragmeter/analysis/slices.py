"""Summarise a kept run again: with other intervals, and by slices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ragmeter.documents.metrics import MetricSummary
from ragmeter.documents.record import plain
from ragmeter.io.write import RUNS
from ragmeter.naming import metrics_or_all, several
from ragmeter.runs.lookup import RunLike, find_run
from ragmeter.runs.run import slice_label
from ragmeter.stats.clusters import Codes
from ragmeter.stats.confidence import AUTO, Confidence
from ragmeter.stats.summary import summarise
from ragmeter.table import SCORED, Measure, Scores

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Slice:
    """The rows that have the same value in a column, or in each of two. `small`: too few rows to rely on."""

    column: str
    value: str
    n_rows: int
    small: bool
    metrics: dict[str, MetricSummary]


@dataclass(frozen=True)
class RunSummary:
    """A run's metrics, on all rows and by slices."""

    run: str
    n_rows: int
    statistics: Confidence
    metrics: dict[str, MetricSummary]
    slices: list[Slice]

    def as_dict(self) -> dict[str, Any]:
        """The result as a dict for JSON."""
        return {**plain(self), "statistics": self.statistics.kept().as_dict()}


def summarise_run(
    run: RunLike,
    *,
    metrics: str | Iterable[str] | None = None,
    slices: str | Iterable[str] = (),
    interval: str | None = None,
    cluster: str | None = AUTO,
    level: float | None = None,
    seed: int | None = None,
    output_dir: str | Path = RUNS,
) -> RunSummary:
    """Summarise a kept run: its metrics on all rows, and on the rows of each slice.

    `slices` are columns, or pairs of them as "one,two". The other settings are those of `evaluate()`, by default the
    run's own; a cluster of None takes all rows for independent.
    """
    run = find_run(run, output_dir)
    others: dict[str, Any] = {"method": interval, "level": level, "seed": seed}
    confidence = replace(run.confidence, **{name: value for name, value in others.items() if value is not None})
    cluster, codes = run.clusters(replace(confidence, cluster=cluster))
    confidence = replace(confidence, cluster=cluster)
    names = [run.measure(name).name for name in metrics_or_all(metrics) or ()] or list(run.measures)
    columns = [_Column(run.measure(name), run.scores(name), *run.outcomes(name)) for name in names]

    def summaries(selected: Mask) -> dict[str, MetricSummary]:
        return {column.measure.name: column.summary(selected, confidence, codes) for column in columns}

    parts = []
    for name in several(slices):
        row_groups, values = run.groups(run.columns_of(name))
        for group, value in enumerate(values):
            selected = row_groups == group
            on_slice = summaries(selected)
            small = any(summary.is_few for summary in on_slice.values())
            parts.append(Slice(name, slice_label(value), int(selected.sum()), small, on_slice))
    on_all = summaries(np.ones(run.n_rows, dtype=bool))
    return RunSummary(run.name, run.n_rows, confidence, on_all, parts)


@dataclass(frozen=True)
class _Column:
    """A measure's scores and outcomes."""

    measure: Measure
    scores: Scores
    outcomes: Codes
    names: list[str]

    def summary(self, selected: Mask, confidence: Confidence, codes: Codes | None) -> MetricSummary:
        """Summarise the scores of the selected rows."""
        if confidence.method == "wilson" and not self.measure.binary:
            confidence = replace(confidence, method=AUTO)
        counts = np.bincount(self.outcomes[selected], minlength=len(self.names)).tolist()
        return summarise(
            self.scores[selected],
            {name: count for name, count in zip(self.names, counts, strict=True) if count and name != SCORED},
            binary=self.measure.binary,
            direction=self.measure.direction,
            bounds=self.measure.bounds,
            confidence=confidence,
            codes=None if codes is None else codes[selected],
        )
