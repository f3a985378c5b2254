"""More metrics for a run that is there already.

What is missing is computed, and metrics of the user's own code, which may have changed. Nothing is asked again.
"""

from __future__ import annotations

import shutil
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa
from msgspec import structs

from ragmeter import registry
from ragmeter.definition import Metric, is_builtin, of_script
from ragmeter.definition.judge_columns import BoundColumn
from ragmeter.documents.manifest import Manifest, MetricEntry
from ragmeter.documents.summary import Summary
from ragmeter.documents.usage import Calls, total_usage
from ragmeter.embedders.embedder import Embedders
from ragmeter.engine.causes import changes_causes, correctness_of, without_causes
from ragmeter.engine.executors import Executor
from ragmeter.engine.judging.offline import described as offline_described
from ragmeter.engine.judging.setup import OWN_JOURNAL, JudgeResult, JudgeSetup, journals_of
from ragmeter.engine.metric_choice import with_models
from ragmeter.engine.row_reader import RowReader
from ragmeter.engine.scoring import score_batches
from ragmeter.errors import BusyError, UsageError
from ragmeter.hints import by_caller
from ragmeter.io.batches import ROWS as ROWS_AT_ONCE
from ragmeter.io.locations import Location, StorePath
from ragmeter.naming import Signature
from ragmeter.runs.judges import changed
from ragmeter.runs.layout import PARTS, ROWS
from ragmeter.runs.run import Run
from ragmeter.runs.stored_run import new_run
from ragmeter.runs.temporary_run import TemporaryRun
from ragmeter.runs.writer import RowsWriter
from ragmeter.stats.confidence import Confidence
from ragmeter.table import NO_RESULT, SKIPPED_BUDGET, TARGET_ERROR, TIMEOUT, Batch, outcome_column
from ragmeter.wording.metrics import first_of

if TYPE_CHECKING:
    from ragmeter.engine.judging.column_run import ColumnRun

#: Outcomes that are the row's, not a metric's: they hold for every metric that comes later. A judge may have failed
#: with the last two as well, but then there is an answer.
_OF_ROWS = frozenset({NO_RESULT, TARGET_ERROR, TIMEOUT, SKIPPED_BUDGET})


@dataclass(frozen=True, eq=False)
class Addition:
    """Metrics to be added to a run, who judges for them, and who computes."""

    run: Run
    metrics: Sequence[Metric]
    judging: JudgeSetup
    executor: Executor

    @classmethod
    def of(
        cls,
        run: Run,
        metrics: Sequence[Metric],
        judging: JudgeSetup,
        executor: Executor,
        output_dir: str | Location,
    ) -> Self:
        """The plan for a run of this folder, with the journal that its judge's replies are in."""
        setup = replace(judging, folder=journal_folder(run, output_dir))
        return cls(run, with_models(metrics, run.metrics()), setup, executor)

    def estimate(self) -> dict[str, Any]:
        """About how many calls, tokens and dollars the judge takes; columns that the run has cost nothing."""
        setup = self.judging.with_judge()
        columns = columns_to_fill(self.run, self.metrics, setup)
        judge_run = setup.judge_run(list(columns.values()), reuse=columns_to_reuse(self.run, columns, setup))
        return {**judge_run.estimate(RowReader(lambda: run_batches(self.run))), "rows": self.run.n_rows}


def extend(
    addition: Addition,
    embedders: Embedders,
    described: Sequence[MetricEntry],
    watched: Location | None,
) -> tuple[Run, Calls | None]:
    """Add metrics to a run; returns it, and what a judge's calls took if it was asked.

    A metric of the user's own code is computed again if the run has it: the code may have changed. `described` is what
    the manifest says of the metrics, in the same order. `embedders` are the embedding models that they may use; the
    manifest says what came of that. `watched` is where those who look on see how far the judge is.
    """
    run, metrics, setup = addition.run, addition.metrics, addition.judging.of(watched)
    manifest, summary = run.manifest(), run.summary()
    _refuse_other_sources(run, metrics)
    _refuse_other_support_models(run, metrics)
    columns = columns_to_fill(run, metrics, setup)
    own = {metric.name for metric in metrics if not metric.is_builtin}
    metrics = [*metrics, *_others_over(columns, summary.metrics, metrics)]
    stale = own | {metric.name for metric in metrics if {column.name for column in metric.judge_columns} & set(columns)}
    unchanged = [name for name in summary.metrics if name not in stale]
    missing = [metric for metric in metrics if metric.name not in unchanged]
    if not missing:
        return run, None
    filled = JudgeResult()
    if columns:
        read = partial(_batches, run, list(summary.metrics), missing)
        rows = RowReader(lambda: read(deque()), summary.n_rows)
        filled = setup.fill_columns(list(columns.values()), rows, reuse=columns_to_reuse(run, columns, setup))
    before = [column for name, column in columns.items() if name in manifest.judged_columns]
    replaced = [name for column in before for name in (*column.columns, outcome_column(column.name))]
    waiting: deque[dict[str, pa.Array]] = deque()
    with new_run(run.location, inside=True) as new:
        with RowsWriter(new.folder / ROWS, missing) as writer:
            batches = filled.joined(_batches(run, unchanged, missing, waiting, dropped=stale), replaced)
            correctness = _correctness(missing, unchanged)
            if correctness is not None and summary.cause is not None:
                batches = map(without_causes, batches)
            for scored in score_batches(
                batches, missing, embedders=embedders, executor=addition.executor, correctness=correctness
            ):
                writer.write(scored, waiting.popleft())
        if Run(run.location).manifest() != manifest:
            again = by_caller("run the command again", "make the call again")
            raise BusyError(f"another process has changed the run {run.name} meanwhile", hint=again)
        added = writer.summary(Confidence.of(manifest.statistics), is_own=True)
        entries = {entry.name: entry for entry in [*manifest.metrics, *described]}
        run.close()  # some systems move no folder with an open file in it
        kept = [entries[name] for name in entries if name in added.metrics or name in unchanged]
        extended = new.finish(
            structs.replace(_with_models(filled.in_manifest(manifest), manifest, missing, embedders), metrics=kept),
            structs.replace(
                _with_judges(filled.in_summary(summary), summary),
                metrics={**summary.metrics, **added.metrics},
                abstained=added.abstained or summary.abstained,
                document_ids=added.document_ids or summary.document_ids,
                rightly_declined=_rightly_declined(summary, added),
                cause=added.cause,
                **writer.cautions(),
            ),
        )
        if manifest.parts and isinstance(new.path, Path):  # its table is one file now
            shutil.rmtree(new.path / PARTS, ignore_errors=True)
        return extended, filled.calls


def _with_models(now: Manifest, before: Manifest, metrics: Sequence[Metric], embedders: Embedders) -> Manifest:
    """A manifest with the embedding models and the filled columns of both, and with those of these metrics."""
    models = [*before.embeddings, *embedders.used()]
    judged_columns = {**before.judged_columns, **now.judged_columns}
    offline = {**before.offline, **offline_described(metrics)}
    return structs.replace(now, embeddings=models, judged_columns=judged_columns, offline=offline, parts=[])


def _with_judges(now: Summary, before: Summary) -> Summary:
    """A summary of the columns that were filled before, and of those that are filled now.

    Where a column took more calls before, their replies are not in this journal: they were paid for all the same.
    """
    if now.judges is before.judges:
        return now
    earlier, later = before.judges, now.judges
    judges = {**earlier, **later}
    for name in earlier.keys() & later.keys():
        if earlier[name].usage.calls > later[name].usage.calls:
            usage = total_usage([earlier[name].usage, later[name].usage])
            judges[name] = structs.replace(later[name], usage=usage)
    return structs.replace(now, judges=judges, judge_usage=total_usage(judge.usage for judge in judges.values()))


def _rightly_declined(before: Summary, added: Summary) -> int:
    """The count that belongs to the metric of right answers."""
    metrics = {**before.metrics, **added.metrics}
    return (added if metrics and first_of(list(metrics)) in added.metrics else before).rightly_declined


def _correctness(missing: Sequence[Metric], unchanged: Iterable[str]) -> Metric | None:
    """The metric that says which answers are right, where new metrics change the run's causes."""
    if not changes_causes(missing):
        return None
    known = list(missing)
    for name in unchanged:
        with suppress(UsageError):  # a metric of a package that is not there any more
            known.append(registry.get(name))
    return correctness_of(known)


def _refuse_other_sources(run: Run, metrics: Sequence[Metric]) -> None:
    """Refuse a metric under a name whose scores another metric has computed."""
    sources = {entry.name: entry.source for entry in run.manifest().metrics}
    for metric in metrics:
        source = sources.get(metric.name) or metric.source
        has_moved = is_builtin(source) and metric.is_builtin  # into another module of ragmeter's
        if of_script(source) != of_script(metric.source) and not has_moved:
            raise UsageError(
                f"the run {run.name} has another metric {metric.name!r}: {source}, not {metric.source}",
                hint="give the new one another name, or score the rows as a run of their own: " + _anew(run),
            )


def _refuse_other_support_models(run: Run, metrics: Sequence[Metric]) -> None:
    """Refuse a support model whose files are no more those that have judged the run."""
    before = run.manifest().offline
    for name, now in offline_described(metrics).items():
        if name in before and (differing := changed(before[name].as_dict(), now.as_dict())):
            raise UsageError(
                f"{name} of the run {run.name} was filled by other files of this model ({', '.join(differing)})",
                hint=f"judge its rows as a run of their own: {_anew(run)}",
            )


def journal_folder(run: Run, output_dir: str | Location) -> Path:
    """Where the replies of a run's judge are kept: beside the run, or in `output_dir` if the run was not kept.

    A run of conversations has a journal of its own.
    """
    if isinstance(run, TemporaryRun):
        return journals_of(output_dir)
    path = run.location
    if isinstance(path, StorePath):
        return journals_of(output_dir)
    return path if (path / OWN_JOURNAL).exists() else path.parent


def columns_to_fill(run: Run, metrics: Sequence[Metric], setup: JudgeSetup) -> dict[str, BoundColumn]:
    """The columns that a judge has to fill, by name: those that the run lacks, or all of them to retry what failed.

    One that is to have more repeats than it had is filled anew; the journal has the first ones.
    """
    described = run.manifest().judged_columns
    columns = setup.missing(metrics, RowReader(lambda: _first_rows(run)), described)
    if setup.judge is None:
        return {}
    to_fill: dict[str, BoundColumn] = {}
    for column_run in setup.judge_run(columns).column_runs():
        name = column_run.column.name
        before = described.get(name, {})
        differing = changed(before, column_run.signature()) if before else []
        more_repeats = differing == ["repeats"] and setup.judge.repeats > before["repeats"]
        if differing and not more_repeats:
            raise _other_judge(run, column_run, before, differing)
        if not before or more_repeats or setup.retry_failed:
            to_fill[name] = column_run.column
    return to_fill


def columns_to_reuse(run: Run, columns: Collection[str], setup: JudgeSetup) -> list[str]:
    """The columns whose verdicts stay when only rows without one are asked again: those with as many repeats."""
    described = run.manifest().judged_columns
    repeats = None if setup.judge is None else setup.judge.repeats
    return [name for name in columns if setup.retry_failed and described.get(name, {}).get("repeats") == repeats]


def _other_judge(run: Run, column_run: ColumnRun, before: Signature, differing: Sequence[str]) -> UsageError:
    is_other = not column_run.judge.chat_model.signature().keys().isdisjoint(differing)
    who = "another judge" if is_other else "this judge with other settings"
    return UsageError(
        f"{column_run.column.name} of the run {run.name} was filled by {who} ({', '.join(differing)})",
        hint=f"{column_run.as_before(before, differing)}judge its rows as a run of their own: {_anew(run)}",
    )


def _anew(run: Run) -> str:
    if isinstance(run, TemporaryRun):
        return "evaluate the same data again"
    rows = run.rows_path
    return by_caller(f"--results {rows} --run NAME", f"evaluate({str(rows)!r}, ...)")


def _others_over(columns: Collection[str], names: Iterable[str], metrics: Sequence[Metric]) -> Iterator[Metric]:
    """The run's other metrics over columns that are filled anew: their scores are to be computed again too."""
    for name in names if columns else ():
        if all(name != metric.name for metric in metrics):
            with suppress(UsageError):  # a metric of a package that is not there any more
                metric = registry.get(name)
                if any(column.name in columns for column in metric.judge_columns):
                    yield metric


def run_batches(run: Run) -> Iterator[Batch]:
    """A run's rows as they were before they were scored."""
    return _batches(run, list(run.metrics()), (), deque())


def _first_rows(run: Run) -> Iterator[Batch]:
    """The run's first rows, to see which columns there are."""
    for batch in run.batches(1):
        yield Batch(dict(zip(batch.schema.names, (column.to_pylist() for column in batch.columns), strict=True)))
        return


def _batches(
    run: Run,
    computed: Sequence[str],
    missing: Sequence[Metric],
    waiting: deque[dict[str, pa.Array]],
    dropped: Collection[str] = (),
) -> Iterator[Batch]:
    """The run's rows as they were before they were scored; their scores go into `waiting`, batch by batch.

    The scores of the metrics that are `dropped` are left out: they are computed anew.
    """
    scores = {column for name in computed for column in (name, outcome_column(name))}
    left_out = {column for name in dropped for column in (name, outcome_column(name))}
    whole = any(metric.by_session for metric in missing)
    for batch in run.rows().combine_chunks().to_batches() if whole else run.batches(ROWS_AT_ONCE):
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        _check(columns, missing, run)
        waiting.append({name: column for name, column in columns.items() if name in scores})
        rows = {name: column.to_pylist() for name, column in columns.items() if name not in scores | left_out}
        outcomes = [columns[name] for name in map(outcome_column, [*computed, *dropped]) if name in columns]
        causes = _causes(outcomes, rows.get("answer") or [None] * batch.num_rows)
        numbers = [name for name in rows if pa.types.is_floating(columns[name].type)]
        yield Batch(rows, causes=causes, numbers=numbers)


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


def _check(columns: Collection[str], missing: Sequence[Metric], run: Run) -> None:
    for metric in missing:
        for needed in metric.needs_of_table:
            if needed not in columns:
                raise UsageError(
                    f"{metric.name} needs the column {needed!r}, and the run {run.name} has none",
                    hint=f"it has {', '.join(columns)}",
                )
