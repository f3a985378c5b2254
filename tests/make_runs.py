"""Runs with scores of our choosing, written as ragmeter writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ragmeter.documents.metrics import MetricSummary
from ragmeter.io.write import dumps
from ragmeter.runs.layout import MANIFEST, ROWS, SUMMARY
from ragmeter.runs.run import Run
from ragmeter.runs.writer import RowsWriter, Scored
from ragmeter.stats.confidence import Confidence
from ragmeter.table import SCORED, Batch, Measure


def make_run(
    path: Path, scores: Mapping[str, Sequence[float] | Any], columns: Mapping[str, Sequence[Any]] | None = None
) -> Run:
    """A run with these scores by metric, NaN for what was not scored. A metric named right... is of 0 and 1."""
    path.mkdir(parents=True)
    number = len(next(iter(scores.values())))
    held: dict[str, list[Any]] = {"qid": [str(row) for row in range(number)]}
    held.update({name: list(column) for name, column in (columns or {}).items()})
    measures = [
        Measure(name, binary=name.startswith("right"), direction="lower" if name.startswith("slow") else "higher")
        for name in scores
    ]
    writer = RowsWriter(path / ROWS, measures)
    found = {}
    for name, values in scores.items():
        array = np.asarray(values, dtype=np.float64)
        found[name] = (array, ["no_answer" if np.isnan(value) else SCORED for value in array])
    writer.write(Scored(Batch(held), found))
    writer.close()
    scored = writer.summary(Confidence())
    summary = {"n_rows": number, "metrics": scored.metrics}
    (path / SUMMARY).write_text(dumps(summary), encoding="utf-8")
    (path / MANIFEST).write_text(dumps({"run": path.name, "statistics": scored.statistics}), encoding="utf-8")
    return Run(path)


def summary_of(**fields: Any) -> MetricSummary:
    """The summary of a metric of which only some fields matter."""
    usual: dict[str, Any] = dict.fromkeys(("mean", "sd", "min", "max", "median", "interval"))
    usual |= {"interval_method": "none", "direction": "higher", "range": (0.0, 1.0)}
    n = int(fields.get("n_scored", fields.get("mean") is not None))
    return MetricSummary(**{**usual, "n_total": n, "n_scored": n, "n_not_scored": {}, **fields})
