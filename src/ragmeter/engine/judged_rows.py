"""Before a judge is asked: what judging would take, and which rows there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragmeter.definition import Metric
from ragmeter.engine.extending import run_batches
from ragmeter.engine.filling import Asking
from ragmeter.errors import UsageError
from ragmeter.hints import by_caller
from ragmeter.io.data import Data
from ragmeter.io.source import Reading
from ragmeter.judges.judge import Judge
from ragmeter.runs.finding import RunLike, find_run
from ragmeter.table import QID, Batch


def rows_to_judge(
    results: Any, reference: Any = None, *, columns: Mapping[str, str] | None = None, **reading: Any
) -> tuple[list[str], list[str | None]]:
    """The qids and answers of a file, which people's labels are matched with."""
    data = Data.open(results, reference, columns=columns, reading=Reading(**reading))
    return _qids_and_answers(data.batches())


def rows_of_run(run: RunLike) -> tuple[list[str], list[str | None]]:
    """The same of a run that was kept."""
    return _qids_and_answers(run_batches(find_run(run)))


def _qids_and_answers(batches: Iterable[Batch]) -> tuple[list[str], list[str | None]]:
    qids: list[str] = []
    answers: list[str | None] = []
    for batch in batches:
        qids += batch.columns[QID]
        answers += batch.columns.get("answer") or [None] * len(batch)
    return qids, answers


def estimate_judging(
    results: Any,
    reference: Any = None,
    *,
    metrics: Sequence[Metric],
    judge: Judge | None,
    output_dir: str | Path,
    columns: Mapping[str, str] | None = None,
    **reading: Any,
) -> dict[str, Any]:
    """About how many calls, tokens and dollars the judge takes for a file. Asks nothing."""
    data = Data.open(results, reference, columns=columns, reading=Reading(**reading))
    return _estimate(metrics, data.reader(metrics), judge, Path(output_dir))


def estimate_adding(
    run: RunLike, metrics: Sequence[Metric], *, judge: Judge | None, output_dir: str | Path
) -> dict[str, Any]:
    """The same for metrics that are to be added to a run."""
    folder = find_run(run, output_dir)
    return _estimate(metrics, lambda: run_batches(folder), judge, Path(output_dir))


def _estimate(
    metrics: Sequence[Metric], batches: Callable[[], Iterable[Batch]], judge: Judge | None, folder: Path
) -> dict[str, Any]:
    asking = Asking(judge, folder)
    columns = asking.missing(metrics, batches)
    if judge is None:
        raise UsageError(
            "there is nothing to estimate without a judge", hint=by_caller("name its model with --judge-model", "")
        )
    return asking.filling(columns).estimate(batches)
