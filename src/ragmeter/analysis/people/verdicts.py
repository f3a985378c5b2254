"""What people and calibration ask of a run: its answers, and a metric's verdict on each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ragmeter.errors import InputError, UnknownNameError, UsageError
from ragmeter.hints import option
from ragmeter.runs.run import Run
from ragmeter.show.numbers import given
from ragmeter.table import OTHER_NAMES, Scores

#: The metric that holds a judge's verdict, where a run has others of 0 and 1 beside it.
_VERDICT = "is_correct"


class Cells(Protocol):
    """A column that is asked for a few of its cells."""

    def __getitem__(self, place: int, /) -> str | None:
        """One of them."""


class Answers:
    """The run's answers. Of a million few are looked at, so they stay as Arrow has them."""

    def __init__(self, run: Run) -> None:
        self._column = run.rows(["answer"])["answer"]

    def __getitem__(self, place: int, /) -> str | None:
        answer: str | None = self._column[int(place)].as_py()
        return answer

    def given(self) -> npt.NDArray[np.bool_]:
        """Which rows have one."""
        return np.asarray(self._column.is_valid().to_numpy(), dtype=np.bool_)


def read_columns(run: Run, names: Sequence[str], places: Sequence[int] | None = None) -> dict[str, list[Any]]:
    """Some columns as lists, of all rows or of those at `places`; one that the run does not have is all None."""
    for needed in ("qid", "answer"):
        if needed not in run.columns:
            raise InputError(f"the run has no column {needed!r}, so there is nothing to label", file=str(run.path))
    table = run.rows(["qid", *names])
    if places is not None:
        table = table.take(list(places))
    rows = table.num_rows
    return {name: table[name].to_pylist() if name in table.column_names else [None] * rows for name in names}


def metric_named(run: Run, name: str) -> str:
    """The run's metric of this name, which may be the one that conversations use for it."""
    for known in (name, OTHER_NAMES.get(name, name)):
        if known in run.row_metrics:
            return known
    raise UnknownNameError("metric", name, run.row_metrics, hint=f"the run has {', '.join(run.row_metrics)}")


def is_binary(scores: Scores) -> bool:
    """Whether the scores are 0 and 1 alone."""
    known = scores[~np.isnan(scores)]
    return len(known) > 0 and bool(np.isin(known, (0.0, 1.0)).all())


def binary_metrics(run: Run) -> list[str]:
    """The run's metrics whose scores are 0 and 1, 1 for what is good."""
    return [
        name
        for name, measure in run.measures.items()
        if measure.binary and measure.direction == "higher" and is_binary(run.scores(name))
    ]


def verdicts(run: Run, metric: str | None, threshold: float | None) -> tuple[str, Scores]:
    """The metric that is judged against people, and its verdict on each row: 1, 0, or NaN where there is none."""
    name = _chosen(run) if metric is None else metric_named(run, metric)
    if threshold is not None and not math.isfinite(threshold):
        raise UsageError(f"a threshold of {given(threshold)} is none", hint="it is a score: 0.5 for one")
    scores = run.scores(name)
    direction = run.metrics()[name]["direction"]
    if threshold is not None:
        passed = scores <= threshold if direction == "lower" else scores >= threshold
        return name, np.where(np.isnan(scores), np.nan, passed.astype(np.float64))
    if not is_binary(scores):
        raise UsageError(
            f"{name} is not 0 or 1, so it is no verdict" if not np.isnan(scores).all() else f"{name} scored no row",
            hint=f"say from which score on an answer is correct: {option('threshold', 0.5)}",
        )
    if direction != "higher":
        raise UsageError(
            f"a 1 of {name} is bad, and the labels say which answers are good",
            hint=f"choose a metric where 1 stands for a correct answer, or add {option('threshold', 0)}",
        )
    return name, scores


def _chosen(run: Run) -> str:
    """The only metric of 0 and 1, or the judge's verdict."""
    binary = binary_metrics(run)
    if len(binary) == 1:
        return binary[0]
    if _VERDICT in binary:
        return _VERDICT
    raise UsageError(
        f"say which metric is compared with people: {', '.join(binary)} are 0 or 1"
        if binary
        else "the run has no metric of 0 and 1 to compare with people",
        hint=f"{option('metric', 'NAME')}; the run has {', '.join(run.row_metrics)}"
        + ("" if binary else f"; with {option('threshold', 0.5)}, any of them will do"),
    )
