"""More metrics for a run that is there already: only what is missing is computed, and nothing is asked again."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ragmeter.asked import AskedColumn
from ragmeter.definition import Metric
from ragmeter.embedders.embedder import Embedders
from ragmeter.engine.executors import Executor
from ragmeter.engine.filling import Asking, Filled
from ragmeter.engine.scoring import score_batches
from ragmeter.errors import BusyError, UsageError
from ragmeter.hints import by_caller
from ragmeter.io.batches import ROWS as ROWS_AT_ONCE
from ragmeter.runs.files import ROWS
from ragmeter.runs.run import Run
from ragmeter.runs.writer import NewRun, RowsWriter
from ragmeter.stats.confidence import Confidence
from ragmeter.table import NO_RESULT, SKIPPED_BUDGET, TARGET_ERROR, TIMEOUT, Batch, outcome_column

#: Outcomes that are the row's, not a metric's: they hold for every metric that comes later. A judge may have failed
#: with the last two as well, but then there is an answer.
_OF_ROWS = frozenset({NO_RESULT, TARGET_ERROR, TIMEOUT, SKIPPED_BUDGET})


def extend(
    run: Run,
    metrics: Sequence[Metric],
    described: Sequence[dict[str, Any]],
    embedders: Embedders,
    asking: Asking = Asking(),  # noqa: B008 - frozen
    executor: Executor | None = None,
) -> Run:
    """Add metrics to a run. `described` is what the manifest says of them, in the same order.

    `embedders` are the embedding models that they may use; the manifest says what came of that. `asking` says who fills
    the columns that only a judge can fill.
    """
    manifest, summary = run.manifest(), run.summary()
    columns = _columns_to_fill(run, manifest, metrics, asking)
    stale = {metric.name for metric in metrics if {column.name for column in metric.asks} & set(columns)}
    held = [name for name in summary["metrics"] if name not in stale]
    missing = [metric for metric in metrics if metric.name not in held]
    if not missing:
        return run
    filled = Filled()
    if columns:
        total = int(summary["n_rows"])
        read = partial(_batches, run, list(summary["metrics"]), missing)
        filled = asking.fill_columns(list(columns.values()), lambda: read(deque()), total, reuse=asking.retry_failed)
    waiting: deque[dict[str, Any]] = deque()
    with NewRun(run.path) as new:
        with RowsWriter(new.folder / ROWS, missing) as writer:
            batches = filled.joined(_batches(run, held, missing, waiting, dropped=stale), replace_columns=True)
            for scored in score_batches(batches, missing, embedders=embedders, executor=executor):
                writer.write(scored, waiting.popleft())
        new.keep(run)
        if run.manifest() != manifest:
            again = by_caller("run the command again", "make the call again")
            raise BusyError(f"another process has changed the run {run.name} meanwhile", hint=again)
        how = Confidence(**manifest.get("statistics", {}))
        found = {name: each.as_dict() for name, each in writer.summaries(how)[1].items()}
        added = [each for each in described if each["name"] in found]
        models = [*manifest.get("embeddings", []), *embedders.used()]
        more: dict[str, Any] = {"embeddings": models} if models else {}
        asked = {**manifest.get("asked", {}), **filled.manifest.pop("asked", {})}
        more |= {"asked": asked, **filled.manifest} if asked else {}
        before = [entry for entry in manifest.get("metrics", []) if entry["name"] not in stale]
        judges = {**summary.get("judges", {}), **filled.summary.pop("judges", {})}
        return new.finish(
            {**manifest, "metrics": [*before, *added], **more},
            {**summary, "metrics": {**summary["metrics"], **found}, **({"judges": judges} if judges else {})}
            | filled.summary,
        )


def _columns_to_fill(
    run: Run, manifest: Mapping[str, Any], metrics: Sequence[Metric], asking: Asking
) -> dict[str, AskedColumn]:
    """The columns that a judge has to fill, by name: those that the run lacks, or all of them to retry what failed."""
    judge = asking.judge
    described = manifest.get("asked", {})
    if judge is None:
        asking.missing(metrics, lambda: _first_rows(run))
        return {}
    columns = {column.name: column for column in asking.missing(metrics, lambda: _first_rows(run))}
    for name, column in columns.items():
        own = {**judge.signature(column.asked), "repeats": judge.repeats}
        if name in described and any(described[name].get(key) != value for key, value in own.items()):
            raise UsageError(
                f"{name} of the run {run.name} was filled by another judge, or with other settings",
                hint="judge its rows as a run of their own: "
                + by_caller(f"--results {run.path / ROWS} --run NAME", f"evaluate({str(run.path / ROWS)!r}, ...)"),
            )
    return {name: column for name, column in columns.items() if name not in described or asking.retry_failed}


def run_batches(run: Run) -> Iterator[Batch]:
    """A run's rows as they were before they were scored."""
    return _batches(run, list(run.summary()["metrics"]), (), deque())


def _first_rows(run: Run) -> Iterator[Batch]:
    """The run's first rows, to see which columns there are."""
    for batch in run.batches(1):
        yield Batch(dict(zip(batch.schema.names, (column.to_pylist() for column in batch.columns), strict=True)))
        return


def _batches(
    run: Run,
    held: Sequence[str],
    missing: Sequence[Metric],
    waiting: deque[dict[str, Any]],
    dropped: Collection[str] = (),
) -> Iterator[Batch]:
    """The run's rows as they were before they were scored; their scores go into `waiting`, batch by batch.

    The scores of the metrics that are `dropped` are left out: they are computed anew.
    """
    scores = {column for name in held for column in (name, outcome_column(name))}
    left_out = {column for name in dropped for column in (name, outcome_column(name))}
    for batch in run.batches(ROWS_AT_ONCE):
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        _check(columns, missing, run)
        waiting.append({name: column for name, column in columns.items() if name in scores})
        rows = {name: column.to_pylist() for name, column in columns.items() if name not in scores | left_out}
        outcomes = [columns[name] for name in map(outcome_column, held) if name in columns]
        yield Batch(rows, causes=_causes(outcomes, rows.get("answer") or [None] * batch.num_rows))


def _causes(outcomes: Sequence[Any], answers: Sequence[str | None]) -> Sequence[str | None]:
    """Why each row without an answer has failed, from the outcomes of the metrics that the run has.

    One metric does not tell: it may score rows that failed.
    """
    causes: list[str | None] = [None] * len(answers)
    unanswered = [place for place, answer in enumerate(answers) if answer is None]
    for column in outcomes if unanswered else ():
        outcomes_of_rows = column.to_pylist()
        for place in unanswered:
            if causes[place] is None and outcomes_of_rows[place] in _OF_ROWS:
                causes[place] = outcomes_of_rows[place]
    return causes if any(causes) else ()


def _check(columns: dict[str, Any], missing: Sequence[Metric], run: Run) -> None:
    for metric in missing:
        asked = {column.name for column in metric.asks}
        for needed in metric.needs:
            if needed not in columns and needed not in asked:
                raise UsageError(
                    f"{metric.name} needs the column {needed!r}, and the run {run.name} has none",
                    hint=f"it has {', '.join(columns)}",
                )
