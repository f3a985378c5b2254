"""Before a judge is asked: what judging would take, and which rows there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ragmeter.definition import Metric
from ragmeter.engine.added_metrics import columns_to_fill, columns_to_reuse, journal_folder, run_batches
from ragmeter.engine.judging.setup import JudgeSetup, journals_of
from ragmeter.errors import UsageError
from ragmeter.hints import by_caller
from ragmeter.io.data import Data
from ragmeter.io.locations import Location
from ragmeter.io.reading import Reading
from ragmeter.runs.finding import RunLike, find_run
from ragmeter.table import QID, Batch

if TYPE_CHECKING:
    from ragmeter.judges.judge import Judge


def rows_to_judge(
    results: Any, reference: Any = None, *, columns: Mapping[str, str] | None = None, **reading: Any
) -> tuple[list[str], list[str | None]]:
    """The qids and answers of a file, which people's labels are matched with."""
    data = Data.open(results, reference, columns=columns, reading=Reading(**reading))
    return _qids_and_answers(data.batches())


def rows_of_run(run: RunLike) -> tuple[list[str], list[str | None]]:
    """The qids and answers of a run that was kept."""
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
    output_dir: str | Location,
    columns: Mapping[str, str] | None = None,
    retry_failed: bool = False,
    **reading: Any,
) -> dict[str, Any]:
    """About how many calls, tokens and dollars the judge takes for a file. Asks nothing."""
    data = Data.open(results, reference, columns=columns, reading=Reading(**reading))
    setup = _setup(judge, output_dir, retry_failed)
    batches = partial(data.batches, metrics, setup.needs(metrics))
    return setup.judge_run(setup.missing(metrics, batches)).estimate(batches)


def estimate_adding(
    run: RunLike,
    metrics: Sequence[Metric],
    *,
    judge: Judge | None,
    output_dir: str | Location,
    retry_failed: bool = False,
) -> dict[str, Any]:
    """The estimate for metrics that are to be added to a run; columns that it has cost nothing."""
    folder = find_run(run, output_dir)
    setup = _setup(judge, journal_folder(folder, output_dir), retry_failed)
    columns = columns_to_fill(folder, metrics, setup)
    judge_run = setup.judge_run(list(columns.values()), reuse=columns_to_reuse(folder, columns, setup))
    estimate = judge_run.estimate(lambda: run_batches(folder))
    return {**estimate, "rows": folder.n_rows}


def _setup(judge: Judge | None, output_dir: str | Location, retry_failed: bool) -> JudgeSetup:
    if judge is None:
        raise UsageError(
            "there is nothing to estimate without a judge", hint=by_caller("name its model with --judge-model", "")
        )
    return JudgeSetup(judge, journals_of(output_dir), retry_failed)
