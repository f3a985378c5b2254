"""More metrics for a run that is there already: only what is missing is computed, and nothing is asked again."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ragmeter.definition import Metric
from ragmeter.engine.scoring import score_batches
from ragmeter.errors import BusyError, UsageError
from ragmeter.hints import by_caller
from ragmeter.io.batches import ROWS as ROWS_AT_ONCE
from ragmeter.runs.files import ROWS, outcome_column
from ragmeter.runs.run import Run
from ragmeter.runs.writer import NewRun, RowsWriter
from ragmeter.stats.confidence import Confidence
from ragmeter.table import NO_RESULT, SKIPPED_BUDGET, TARGET_ERROR, TIMEOUT, Batch

#: Outcomes that are the row's, not a metric's: they hold for every metric that comes later. A judge may have failed
#: with the last two as well, but then there is an answer.
_OF_ROWS = frozenset({NO_RESULT, TARGET_ERROR, TIMEOUT, SKIPPED_BUDGET})


def extend(
    run: Run,
    metrics: Sequence[Metric],
    described: Sequence[dict[str, Any]],
    embeddings: Callable[[], list[dict[str, Any]]] = list,
) -> Run:
    """Add metrics to a run. `described` is what the manifest says of them, in the same order.

    `embeddings` tells, when all is done, what it says of the embedding models that they used.
    """
    manifest, summary = run.manifest(), run.summary()
    held = list(summary["metrics"])
    missing = [metric for metric in metrics if metric.name not in held]
    if not missing:
        return run
    waiting: deque[dict[str, Any]] = deque()
    with NewRun(run.path) as new:
        with RowsWriter(new.folder / ROWS, missing) as writer:
            for scored in score_batches(_batches(run, held, missing, waiting), missing):
                writer.write(scored, waiting.popleft())
        new.keep(run)
        if run.manifest() != manifest:
            again = by_caller("run the command again", "make the call again")
            raise BusyError(f"another process has changed the run {run.name} meanwhile", hint=again)
        how = Confidence(**manifest.get("statistics", {}))
        found = {name: each.as_dict() for name, each in writer.summaries(how)[1].items()}
        added = [each for each in described if each["name"] in found]
        models = [*manifest.get("embeddings", []), *embeddings()]
        more = {"embeddings": models} if models else {}
        return new.finish(
            {**manifest, "metrics": [*manifest.get("metrics", []), *added], **more},
            {**summary, "metrics": {**summary["metrics"], **found}},
        )


def _batches(
    run: Run, held: Sequence[str], missing: Sequence[Metric], waiting: deque[dict[str, Any]]
) -> Iterator[Batch]:
    """The run's rows as they were before they were scored; their scores go into `waiting`, batch by batch."""
    scores = {column for name in held for column in (name, outcome_column(name))}
    for batch in run.batches(ROWS_AT_ONCE):
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        _check(columns, missing, run)
        waiting.append({name: column for name, column in columns.items() if name in scores})
        rows = {name: column.to_pylist() for name, column in columns.items() if name not in scores}
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
        for needed in metric.needs:
            if needed not in columns:
                raise UsageError(
                    f"{metric.name} needs the column {needed!r}, and the run {run.name} has none",
                    hint=f"it has {', '.join(columns)}",
                )
