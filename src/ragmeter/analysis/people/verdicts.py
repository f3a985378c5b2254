"""What labelling and calibration read from a run: its answers, and a metric's verdict on each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ragmeter import registry
from ragmeter.errors import InputError, UsageError
from ragmeter.hints import option, parameter
from ragmeter.runs.run import Run, full_name
from ragmeter.table import Scores
from ragmeter.wording.numbers import given


class Cells(Protocol):
    """A column of texts that is read cell by cell."""

    def __getitem__(self, place: int, /) -> str | None:
        """The cell of one row."""


class Answers:
    """The run's answers. Only a few are read, so the column stays in Arrow."""

    def __init__(self, run: Run) -> None:
        self._column = run.rows(["answer"])["answer"]

    def __getitem__(self, place: int, /) -> str | None:
        answer: str | None = self._column[int(place)].as_py()
        return answer

    def present(self) -> npt.NDArray[np.bool_]:
        """The rows that have an answer, as flags."""
        return np.asarray(self._column.is_valid().to_numpy(), dtype=np.bool_)


def read_columns(run: Run, names: Sequence[str], places: Sequence[int] | None = None) -> dict[str, list[Any]]:
    """Some columns as lists, of all rows or of those at `places`; a column that the run does not have is all None."""
    for needed in ("qid", "answer"):
        if needed not in run.columns:
            raise InputError(f"the run has no column {needed!r}, so there is nothing to label", file=str(run.location))
    table = run.rows(["qid", *names])
    if places is not None:
        table = table.take(list(places))
    rows = table.num_rows
    return {name: table[name].to_pylist() if name in table.column_names else [None] * rows for name in names}


def metric_named(run: Run, name: str) -> str:
    """The run's metric of this name, or of a short one."""
    return full_name(name, run.row_metrics, "the run")


def is_binary(scores: Scores) -> bool:
    """Whether all scores are 0 or 1."""
    scored = scores[~np.isnan(scores)]
    return len(scored) > 0 and bool(np.isin(scored, (0.0, 1.0)).all())


def binary_metrics(run: Run) -> list[str]:
    """The run's metrics whose scores are 0 and 1, where 1 is good."""
    return [
        name
        for name, measure in run.measures.items()
        if measure.binary and measure.direction == "higher" and is_binary(run.scores(name))
    ]


def _counting_wrong(run: Run) -> list[str]:
    """The run's metrics whose scores are 0 and 1, where 1 is bad."""
    return [
        name
        for name, measure in run.measures.items()
        if measure.binary and measure.direction == "lower" and is_binary(run.scores(name))
    ]


def verdicts(run: Run, metric: str | None, threshold: float | None) -> tuple[str, Scores]:
    """The metric that is compared with people, and its verdict on each row: 1 for correct, 0, or NaN for no verdict."""
    name = _default_metric(run) if metric is None else metric_named(run, metric)
    if threshold is not None and not math.isfinite(threshold):
        raise UsageError(
            f"{parameter('threshold')} must be a finite number, got {given(threshold)}", hint="0.5 is usual"
        )
    scores = run.scores(name)
    direction = run.metrics()[name].direction
    if threshold is not None:
        passed = scores <= threshold if direction == "lower" else scores >= threshold
        return name, np.where(np.isnan(scores), np.nan, passed.astype(np.float64))
    if not is_binary(scores):
        raise UsageError(
            f"{name} is not 0 or 1, so it is not a verdict" if not np.isnan(scores).all() else f"{name} scored no row",
            hint=f"set the score from which an answer is correct: {option('threshold', 0.5)}",
        )
    if direction == "none":
        raise UsageError(
            f"neither a 1 nor a 0 of {name} means a correct answer",
            hint="choose a metric that says which answers are correct, or which are wrong",
        )
    return name, scores if direction == "higher" else 1 - scores


def counts_wrong(run: Run, name: str, threshold: float | None) -> bool:
    """Whether a metric's verdicts are about what is wrong: its mean is the share of such rows."""
    return threshold is None and run.metrics()[name].direction == "lower"


def _default_metric(run: Run) -> str:
    """The only metric of 0 and 1, or the judge's verdict."""
    binary = binary_metrics(run) or _counting_wrong(run)
    if len(binary) == 1:
        return binary[0]
    verdicts_of_judge = [name for name in binary if (metric := registry.declared(name)) and metric.is_verdict]
    if verdicts_of_judge:
        return verdicts_of_judge[0]
    raise UsageError(
        f"choose the metric to compare with people: {', '.join(binary)} are 0 or 1"
        if binary
        else "the run has no metric of 0 and 1, so there is none to compare with people",
        hint=f"{option('metric', 'NAME')}; the run has {', '.join(run.row_metrics)}"
        + ("" if binary else f"; with {option('threshold', 0.5)}, any of them will do"),
    )
