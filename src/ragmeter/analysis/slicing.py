"""A kept run's figures again: with other intervals, and by slices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ragmeter.io.write import RUNS
from ragmeter.naming import chosen_names, several
from ragmeter.runs.finding import RunLike, find_run
from ragmeter.runs.run import slice_label
from ragmeter.stats.clusters import Codes
from ragmeter.stats.confidence import AUTO, Confidence
from ragmeter.stats.intervals import SMALL
from ragmeter.stats.summary import MetricSummary, summarise
from ragmeter.table import SCORED, Measure, Scores

Inside = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Slice:
    """The rows that have the same value in a column, or in each of two. `small`: too few for much trust."""

    column: str
    value: str
    n_rows: int
    small: bool
    metrics: dict[str, MetricSummary]


@dataclass(frozen=True)
class RunSummary:
    """A run's figures, on all rows and by slices."""

    run: str
    n_rows: int
    statistics: Confidence
    metrics: dict[str, MetricSummary]
    slices: list[Slice]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "statistics": self.statistics.as_dict()}


def summarise_run(
    run: RunLike,
    *,
    metrics: str | Iterable[str] | None = None,
    slices: str | Iterable[str] = (),
    interval: str = AUTO,
    cluster: str | None = AUTO,
    level: float = 0.95,
    seed: int = 0,
    output_dir: str | Path = RUNS,
) -> RunSummary:
    """Summarise a kept run: its metrics on all rows, and on the rows of each slice.

    `slices` are columns, or pairs of them as "one,two". The other settings are those of `evaluate()`.
    """
    held = find_run(run, output_dir)
    how = Confidence(interval, cluster, level, seed)
    column, codes = held.clusters(how)
    how = replace(how, cluster=column)
    names = [held.measure(name).name for name in chosen_names(metrics)] or list(held.measures)
    columns = [_Column(held.measure(name), held.scores(name), *held.outcomes(name)) for name in names]
    groups = [(each, *held.groups(held.columns_of(each))) for each in several(slices)]
    everything = np.ones(held.n_rows, dtype=bool)
    return RunSummary(
        held.name,
        held.n_rows,
        how,
        {each.measure.name: each.summary(everything, how, codes) for each in columns},
        [
            _slice(name, value, of_rows == number, columns, how, codes)
            for name, of_rows, values in groups
            for number, value in enumerate(values)
        ],
    )


@dataclass(frozen=True)
class _Column:
    """A measure's scores, and how each came about."""

    measure: Measure
    scores: Scores
    outcomes: Codes
    names: list[str]

    def summary(self, inside: Inside, how: Confidence, codes: Codes | None) -> MetricSummary:
        """What the scores of some rows say."""
        if how.method == "wilson" and not self.measure.binary:
            how = replace(how, method=AUTO)
        counts = np.bincount(self.outcomes[inside], minlength=len(self.names)).tolist()
        return summarise(
            self.scores[inside],
            {name: count for name, count in zip(self.names, counts, strict=True) if count and name != SCORED},
            binary=self.measure.binary,
            direction=self.measure.direction,
            bounds=self.measure.bounds,
            how=how,
            codes=None if codes is None else codes[inside],
        )


def _slice(
    column: str,
    value: Sequence[str | None],
    inside: Inside,
    columns: Sequence[_Column],
    how: Confidence,
    codes: Codes | None,
) -> Slice:
    metrics = {each.measure.name: each.summary(inside, how, codes) for each in columns}
    return Slice(
        column, slice_label(value), int(inside.sum()), any(each.n_scored < SMALL for each in metrics.values()), metrics
    )
