"""Columns that a judge fills: which ones a list of metrics needs, who fills them, and the table with them.

The table is read twice: once to ask, once to score. Only what was filled is kept in between, so memory stays flat, and
every reply is in the journal before it counts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs

from ragmeter.definition import Metric
from ragmeter.definition.judge_columns import OFFLINE, BoundColumn
from ragmeter.documents.judging import JudgeCheck, JudgeSummary
from ragmeter.documents.manifest import Manifest
from ragmeter.documents.summary import Summary
from ragmeter.documents.usage import Calls
from ragmeter.engine.row_reader import RowReader
from ragmeter.errors import InputError, UsageError
from ragmeter.hints import by_caller, parameter
from ragmeter.io.locations import Location, location
from ragmeter.io.progress import Progress, progress_bar
from ragmeter.io.write import RUNS
from ragmeter.naming import Signature
from ragmeter.table import Batch

if TYPE_CHECKING:  # an evaluation without a judge does not wait for these
    from ragmeter.engine.judging.judge_run import JudgeRun
    from ragmeter.judges.asking.judge import Judge

#: Where a judge's replies are kept unless somebody says otherwise: for every run of a folder, since they are the same
#: for the same texts.
JUDGE_JOURNAL = "judge.journal.sqlite"
#: The journal in the folder of a run that has one to itself.
OWN_JOURNAL = "journal.sqlite"

BatchDone = Callable[[Batch, Mapping[str, list[Any]]], None]


@dataclass(frozen=True)
class JudgeResult:
    """What was filled: for each batch the new columns, and what the run's documents say about it.

    `marks` tell whether the batches that come later are those that were judged, by the columns that were `shown`;
    `numbers` are those of the new columns that are no texts. `judged_columns` is what each column depends on,
    `judges` what came of it; `calls` is what all of it has taken, None where nothing was filled.
    """

    batches: list[dict[str, list[Any]]] | None = None
    marks: list[int] = field(default_factory=list)
    shown: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    judged_columns: dict[str, Signature] = field(default_factory=dict)
    judges: dict[str, JudgeSummary] = field(default_factory=dict)
    check: JudgeCheck | None = None
    calls: Calls | None = None
    workers: int = 0

    def in_manifest(self, manifest: Manifest) -> Manifest:
        """A manifest that says what the columns depend on."""
        if self.calls is None:
            return manifest
        return structs.replace(
            manifest,
            judged_columns=self.judged_columns,
            judging=structs.replace(self.calls.effort, workers=self.workers),
        )

    def in_summary(self, summary: Summary) -> Summary:
        """A summary that says what came of them."""
        if self.calls is None:
            return summary
        check = summary.judge_check if self.check is None else self.check
        return structs.replace(summary, judges=self.judges, judge_usage=self.calls.usage, judge_check=check)

    def joined(self, batches: Iterable[Batch], replaced: Collection[str] = ()) -> Iterator[Batch]:
        """The batches with the new columns added. A column of the user's that has the name of one gives way.

        Those that are to be `replaced` are from an earlier filling.
        """
        if self.batches is None:
            yield from batches
            return
        for batch, filled, mark in zip_longest(batches, self.batches, self.marks):
            if batch is None or mark != mark_of(batch, self.shown):
                raise rows_have_changed()
            yield with_columns(batch, filled, self.numbers, replaced)


def with_columns(
    batch: Batch, filled: Mapping[str, list[Any]], numbers: Collection[str], replaced: Collection[str] = ()
) -> Batch:
    """A batch with columns that were filled. A column of the user's that has such a name gives way."""
    own = {own_name(name, filled, replaced): column for name, column in batch.columns.items()}
    return replace(batch, columns={**own, **filled}, numbers={*batch.numbers, *numbers})


def own_name(name: str, filled: Collection[str], replaced: Collection[str] = ()) -> str:
    """The name of a user's column in a table with these filled ones."""
    return f"input.{name}" if name in filled and name not in replaced else name


def rows_have_changed() -> InputError:
    """The error that the rows that were judged are not those that are to be scored."""
    again = by_caller("run the same command again", "make the same call again")
    return InputError(
        "the rows have changed while the judge was asked about them",
        file="the table",
        hint=f"{again}: what was asked is recorded",
    )


@dataclass(frozen=True)
class JudgeSetup:
    """The judge that fills the columns of metrics, and where its replies are kept: in a folder's shared journal.

    `run` is what is being judged, for those who look on.
    """

    judge: Judge | None = None
    folder: Path | None = None
    retry_failed: bool = False
    progress: Progress = None
    run: Location | None = None

    def with_judge(self) -> JudgeSetup:
        """The settings themselves; an error where no judge is set, since there is nothing to estimate then."""
        if self.judge is None:
            raise UsageError(
                "there is nothing to estimate without a judge",
                hint=by_caller(
                    "name a metric that a model judges, and the model: --metrics llm_correct --judge-model MODEL", ""
                ),
            )
        return self

    def of(self, run: Location | None) -> JudgeSetup:
        """A copy of these settings for this run."""
        return replace(self, run=run)

    def fill(self, metrics: Sequence[Metric], rows: RowReader) -> JudgeResult:
        """Fill what the metrics ask for. Without a judge, a table that has these columns is taken as it is."""
        columns = self.missing(metrics, rows)
        return self.fill_columns(columns, rows) if columns else JudgeResult()

    def fill_columns(
        self,
        columns: Sequence[BoundColumn],
        rows: RowReader,
        *,
        reuse: Collection[str] = (),
        batch_done: BatchDone = lambda batch, filled: None,
    ) -> JudgeResult:
        """Fill these columns; of those in `reuse`, the verdicts that the table has already are kept.

        `batch_done` is called with each batch and its new columns.
        """
        from ragmeter.engine.judging.observers import JudgingWatch

        watch = JudgingWatch()
        total = rows.count() if self.progress is True else rows.n_rows  # to read it takes no time beside the calls
        with progress_bar(self.progress, watch.title, total=total) as advance, watch.over(self.run, total):
            return self.judge_run(columns, reuse=reuse).fill(rows, advance, watch, batch_done)

    def missing(self, metrics: Sequence[Metric], rows: RowReader, filled: Collection[str] = ()) -> list[BoundColumn]:
        """The columns that are to be filled, or an error if nobody can; `filled` are those that a judge has filled."""
        columns = columns_of(metrics)
        present = rows.columns if columns else ()
        if self.judge is None and columns:
            missing = [column.name for column in columns if present and column.name not in present]
            if not missing:
                return []
            raise _no_judge(metrics, missing)
        if self.judge is not None and not _is_judge(self.judge):
            raise UsageError(f"judge is a {type(self.judge).__name__}", hint="for example judge=Judge(model='gpt-4o')")
        if self.judge is not None and not columns:
            raise UsageError("none of the metrics needs a judge", hint="llm_correct does, for example")
        if self.judge is not None and self.judge.words is not None and len(columns) > 1:
            raise _several_judgements(metrics)
        if self.judge is not None and self.judge.wordings == 2 and not any(c.declaration.rephrased for c in columns):
            name = parameter("wordings", of="judge")
            raise UsageError(f"{name} has no effect on these metrics", hint="it is for llm_correct; leave it out")
        given = set(present) - set(filled)
        return [column for column in columns if not (column.declaration.given and column.name in given)]

    def needs(self, metrics: Sequence[Metric]) -> dict[str, str]:
        """The columns that the table must have to be judged, each with a metric that needs it.

        Those of a user's own words are not among them: `check` names the line of the file.
        """
        if self.judge is None or not _is_judge(self.judge) or self.judge.words is not None:
            return {}
        columns = [(metric.name, column) for metric in metrics for column in metric.judge_columns]
        filled = {column.name for _, column in columns}
        required = ((name, metric) for metric, column in columns for name in column.declaration.required)
        return {name: metric for name, metric in required if name not in filled}

    def check(self, columns: Sequence[BoundColumn], names: Sequence[str]) -> set[str]:
        """Refuse columns that can't be filled, before any answer is there. `names` are the columns of the later table.

        Returns the names of the columns that the judge is shown.
        """
        if not columns or self.judge is None:
            return set()
        judge_run = self.judge_run(columns)
        column_runs = judge_run.column_runs()
        for column_run in column_runs:
            column_run.judge.chat_model.check()
        judge_run.check_journal()
        for column_run in column_runs:
            column_run.check(names)
        return {name for column_run in column_runs for name in column_run.declaration.needs}

    def judge_run(self, columns: Sequence[BoundColumn], *, reuse: Collection[str] = ()) -> JudgeRun:
        """The filling of these columns, with the journal that the judge names, or else that of the folder."""
        from ragmeter.engine.judging.judge_run import JudgeRun

        assert self.judge is not None  # noqa: S101 - `missing` has seen to it
        journal = self.judge.journal
        if journal is None and self.folder is not None:
            own = self.folder / OWN_JOURNAL
            journal = own if own.exists() else self.folder / JUDGE_JOURNAL
        return JudgeRun(columns, self.judge, journal, self.retry_failed, reuse)


def columns_of(metrics: Sequence[Metric]) -> list[BoundColumn]:
    """The columns that a judge must fill for these metrics, each after those that it is filled from."""
    columns = {column.name: column for metric in metrics for column in metric.judge_columns}
    of_rows = {column.name for metric in metrics if not metric.by_session for column in metric.judge_columns}
    return [replace(column, by_session=name not in of_rows) for name, column in columns.items()]


def journals_of(output_dir: str | Location) -> Path:
    """The folder of the judge's journal: that of the runs, or the usual one where they are in a store."""
    folder = location(output_dir)
    return folder if isinstance(folder, Path) else RUNS


def mark_of(batch: Batch, shown: Collection[str]) -> int:
    """A number that tells whether what was shown of a batch is still the same."""
    return hash((len(batch), *(repr(batch.columns.get(name)) for name in sorted(shown))))


def _no_judge(metrics: Sequence[Metric], missing: Sequence[str]) -> UsageError:
    metric, column = next(
        (metric, column) for metric in metrics for column in metric.judge_columns if column.name in missing
    )
    hint = by_caller("name its model with --judge-model", "for example judge=Judge(model='gpt-4o')")
    if metric.accepts("judge", OFFLINE) and metric.settings["judge"] != OFFLINE:
        offline = metric.with_settings(judge=OFFLINE)
        hint += f"; {offline.name} needs none"
    elif column.declaration.given:
        hint += f"; a table with a column {column.name} needs none"
    elif column.declaration.instead:
        hint += f"; {column.declaration.instead}"
    return UsageError(f"{metric.name} needs a judge", hint=hint)


def _several_judgements(metrics: Sequence[Metric]) -> UsageError:
    names = [metric.name for metric in metrics if metric.judge_columns]
    hint = f"{names[0]} takes several: leave the prompt out"
    if len(names) > 1:
        add = by_caller("`evaluate --run NAME --metrics ...`", "add_metrics()")
        hint = f"name {' or '.join(names)}, and add the other to the run that you keep, with {add}"
    return UsageError("a prompt of your own is for one judgement", hint=hint)


def _is_judge(given: object) -> bool:
    from ragmeter.judges.asking.judge import Judge

    return isinstance(given, Judge)
