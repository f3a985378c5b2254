"""The runs of a report: found, read, and each with a name that no other has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ragmeter.errors import InputError, UsageError
from ragmeter.io.write import RUNS
from ragmeter.runs.finding import RunLike, find_runs, run_labels
from ragmeter.runs.run import Run
from ragmeter.stats.confidence import Confidence
from ragmeter.table import JUDGE_COLUMNS, NAMED_COLUMNS, Scores, outcome_column


@dataclass(frozen=True)
class ShownRun:
    """A run with everything that a report says of it."""

    name: str
    stored: Run
    manifest: dict[str, Any]
    summary: dict[str, Any]
    table: Any

    @property
    def metrics(self) -> dict[str, dict[str, Any]]:
        """Each metric's summary by its name; some are of conversations, and no row has them."""
        found: dict[str, dict[str, Any]] = self.summary["metrics"]
        return found

    @cached_property
    def row_metrics(self) -> list[str]:
        """The metrics that every row has a score of."""
        return [name for name in self.metrics if name in self.table.column_names]

    @cached_property
    def scores(self) -> dict[str, Scores]:
        """Each metric's scores, NaN where a row has none."""
        return {
            name: np.asarray(self.table[name].to_numpy(zero_copy_only=False), dtype=np.float64)
            for name in self.row_metrics
        }

    @cached_property
    def other_columns(self) -> list[str]:
        """Columns of texts that the table has no name for: slices, ids and notes of the user's."""
        scores = {each for name in self.metrics for each in (name, outcome_column(name))}
        known = {*NAMED_COLUMNS, *JUDGE_COLUMNS, *scores}
        return [name for name in self.stored.texts if name not in known]

    @cached_property
    def confidence(self) -> Confidence:
        """How the run's own intervals were made."""
        held = self.summary.get("statistics") or {}
        return Confidence(**{key: held[key] for key in ("method", "cluster", "level", "seed") if key in held})

    def texts(self, column: str) -> list[str | None]:
        """A column of texts, nothing where the run has no such column."""
        if column not in self.table.column_names:
            return [None] * self.table.num_rows
        return list(self.table[column].to_pylist())


def load_runs(runs: RunLike | Iterable[RunLike], output_dir: str | Path = RUNS) -> list[ShownRun]:
    """The runs, in the order given."""
    folders = find_runs(runs, output_dir)
    if not folders:
        raise UsageError("no run was named", hint=f"a run is a folder, or the name of one in {output_dir}/")
    repeated = [path for path, count in Counter(each.path.resolve() for each in folders).items() if count > 1]
    if repeated:
        raise UsageError(f"{repeated[0]} is named twice", hint="name each run once")
    return [_load(folder, name) for folder, name in zip(folders, run_labels(folders), strict=True)]


def _load(folder: Run, name: str) -> ShownRun:
    if not folder.metrics():
        raise InputError("the run has no metrics", file=str(folder.path))
    return ShownRun(name, folder, folder.manifest(), folder.summary(), folder.rows())
