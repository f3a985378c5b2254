"""The labelled rows of a run beside what a metric of 0 and 1 says of each, and how sure its judge was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from ragmeter.analysis.people.label_matches import match
from ragmeter.analysis.people.labels import read_labels
from ragmeter.analysis.people.verdicts import Answers, read_columns, verdicts
from ragmeter.documents.record import Interval
from ragmeter.metrics.offline import offline_correct_probability
from ragmeter.runs.run import Run
from ragmeter.stats.intervals import wilson_interval
from ragmeter.table import Scores

#: What a judge and people say of a row: the judge's verdict, then theirs.
CELLS = {"both_correct": (1, 1), "judge_alone_correct": (1, 0), "people_alone_correct": (0, 1), "both_wrong": (0, 0)}
#: A column of a cascade that says how sure it was.
_PROBABILITY = "verdict_probability"
#: Bins of the reliability curve have at least so many rows where there are enough, and there are at most so many bins.
_FEWEST_IN_BIN, _MOST_BINS = 10, 10


@dataclass(frozen=True)
class SureBin:
    """Rows of which a judge is about as sure: its mean probability, and the share that people call correct."""

    said: float
    observed: float
    interval: Interval | None
    n: int


@dataclass(frozen=True)
class JudgedRows:
    """The labelled rows: their places, people's verdicts and the judge's (NaN for none), both 1 for correct."""

    metric: str
    places: list[int]
    people: Scores
    judge: Scores
    probability: Scores | None

    def cell(self, name: str) -> list[int]:
        """The places of the rows in a cell of the two by two."""
        by_judge, by_people = CELLS[name]
        return [
            place
            for place, judge, people in zip(self.places, self.judge, self.people, strict=True)
            if judge == by_judge and people == by_people
        ]

    def reliability(self, level: float = 0.95) -> list[SureBin]:
        """Bins with about as many rows each, by how sure the judge says that it is; empty where it does not say so."""
        if self.probability is None:
            return []
        has_both = ~np.isnan(self.probability)
        said, people = self.probability[has_both], self.people[has_both]
        n_bins = min(_MOST_BINS, max(1, len(said) // _FEWEST_IN_BIN))
        bins = np.array_split(np.argsort(said, kind="stable"), n_bins) if len(said) else []
        return [
            SureBin(
                float(said[rows].mean()),
                float(people[rows].mean()),
                wilson_interval(float(people[rows].sum()), len(rows), level),
                len(rows),
            )
            for rows in bins
        ]


def judged_rows(run: Run, files: Sequence[Path], metric: str | None) -> JudgedRows:
    """The labels in some files, matched with a metric of the run. What is missing or ambiguous is an error."""
    name, judge = verdicts(run, metric, None)
    matched = match(read_labels(list(files)), read_columns(run, ["qid"])["qid"], Answers(run))
    probability = _probability(run)
    return JudgedRows(
        name,
        matched.places.tolist(),
        matched.people,
        judge[matched.places],
        None if probability is None else probability[matched.places],
    )


def _probability(run: Run) -> Scores | None:
    """How probable a judge that says so finds it that each answer is correct: the offline judge, or a cascade."""
    names = (name for name in run.row_metrics if name.partition("[")[0] == offline_correct_probability.base)
    if (metric := next(names, None)) is not None:
        return run.scores(metric)
    if _PROBABILITY in run.columns:
        column = run.rows([_PROBABILITY])[_PROBABILITY]  # of numbers, and no metric
        if pa.types.is_floating(column.type):
            return np.asarray(column.to_numpy(), dtype=np.float64)
    return None
