"""Filling the columns of several judges: one judge after the other, each with its own limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from msgspec import structs

from ragmeter.definition.judge_columns import BoundColumn
from ragmeter.documents.judging import JudgeCheck
from ragmeter.documents.usage import Calls, Effort, total_usage
from ragmeter.engine.judging.column_run import ColumnRun
from ragmeter.engine.judging.judge_run import JudgeRun
from ragmeter.engine.judging.observers import JudgingWatch
from ragmeter.engine.judging.setup import BatchDone, JudgeResult, mark_of, rows_have_changed
from ragmeter.engine.row_reader import RowReader
from ragmeter.errors import UsageError
from ragmeter.io.progress import Advance
from ragmeter.judges.asking.judge import Judge
from ragmeter.table import Batch

#: What an estimate has in dollars, what each judge has of its own in it, and what is no sum over judges.
_DOLLARS, _OWN = ("cost_usd", "most_cost_usd"), ("limited_by", "limit", "calls_left")
_SHARED = {"rows", *_OWN}


def by_judge(judge: Judge, columns: Sequence[BoundColumn]) -> list[tuple[Judge, list[BoundColumn]]]:
    """The judges that are asked, each with its columns. One that names no juror is the first judge's."""
    jurors = judge.jurors or {judge.name: judge}
    columns_by_name: dict[str, list[BoundColumn]] = {}
    for column in columns:
        name = column.settings.get("juror")
        if name is not None and jurors.get(name) is None:
            models = ", ".join(name for name, juror in jurors.items() if juror)
            raise UsageError(f"nobody is called {name!r}, as {column.name} wants it", hint=f"there is {models}")
        columns_by_name.setdefault(name or judge.name, []).append(column)
    return [(jurors[name] or judge, own) for name, own in columns_by_name.items()] or [(judge, [])]


@dataclass
class JuryRun:
    """The filling of columns by several judges, as `JudgeRun` is that by one."""

    runs: Sequence[JudgeRun]

    @property
    def n_judges(self) -> int:
        """How many models are asked about each row."""
        return len(self.runs)

    @property
    def journal(self) -> Path | None:
        """The journal of the first judge."""
        return self.runs[0].journal

    @property
    def names(self) -> list[str]:
        """The columns that a table gets."""
        return list(dict.fromkeys(name for run in self.runs for name in run.names))

    @property
    def numbers(self) -> frozenset[str]:
        """The filled columns whose values are numbers."""
        return frozenset[str]().union(*(run.numbers for run in self.runs))

    def check(self) -> None:
        """Refuse models that can't be asked."""
        for run in self.runs:
            run.check()

    def check_journal(self) -> None:
        """Refuse journals that can't be used, before anything is asked."""
        for run in self.runs:
            run.check_journal()

    def column_runs(self) -> list[ColumnRun]:
        """One for each column."""
        return [column_run for run in self.runs for column_run in run.column_runs()]

    def fill(
        self,
        rows: RowReader,
        advance: Advance,
        watch: JudgingWatch | None = None,
        batch_done: BatchDone = lambda batch, filled: None,
    ) -> JudgeResult:
        """Ask one judge after the other, and return what all of them filled."""
        self.check()
        results: list[JudgeResult] = []
        shown = frozenset(name for run in self.column_runs() for name in run.declaration.needs)
        marks: list[list[int]] = []
        for number, run in enumerate(self.runs, 1):
            own: list[int] = []

            def done(batch: Batch, filled: Mapping[str, list[Any]], number: int = number, own: list[int] = own) -> None:
                place = len(own)
                own.append(mark_of(batch, shown))
                if any(len(before) <= place or before[place] != own[-1] for before in marks):
                    raise rows_have_changed()
                if number == len(self.runs):  # the others have filled theirs
                    earlier = {name: cells for result in results for name, cells in _batch(result, place).items()}
                    batch_done(batch, {**earlier, **filled})

            results.append(run.fill(rows, advance, watch, done))
            marks.append(own)
        return self._joined(results, marks[-1], shown)

    def _joined(self, results: Sequence[JudgeResult], marks: list[int], shown: Collection[str]) -> JudgeResult:
        batches = [{k: v for result in results for k, v in _batch(result, n).items()} for n in range(len(marks))]
        return replace(
            results[0],
            batches=batches,
            marks=marks,
            shown=frozenset(shown),
            numbers=self.numbers,
            judged_columns={name: signed for result in results for name, signed in result.judged_columns.items()},
            judges={name: summary for result in results for name, summary in result.judges.items()},
            check=_worst([result.check for result in results if result.check is not None]),
            calls=_total([result.calls for result in results if result.calls is not None]),
        )

    def estimate(self, rows: RowReader) -> dict[str, Any]:
        """About how many calls, tokens and dollars filling takes, in all and by each juror. Asks nothing."""
        estimates = {run.judge.name: run.estimate(rows) for run in self.runs}
        total: dict[str, Any] = {**next(iter(estimates.values()))}
        for name in _OWN:
            total.pop(name, None)
        counts = Counter[str]()
        for estimate in estimates.values():
            counts.update({name: n for name, n in estimate.items() if isinstance(n, int) and name not in _SHARED})
        for name in _DOLLARS:
            costs = [estimate[name] for estimate in estimates.values()]
            total[name] = None if None in costs else sum(costs)
        by_juror = {
            name: {key: estimate[key] for key in ("calls", *_DOLLARS, *_OWN) if key in estimate}
            for name, estimate in estimates.items()
        }
        return {**total, **counts, "jurors": by_juror}


def _batch(result: JudgeResult, place: int) -> Mapping[str, list[Any]]:
    return (result.batches or [])[place]


def _worst(checks: Sequence[JudgeCheck]) -> JudgeCheck | None:
    """The check of the juror that got the fewest cases right, among those that were tried."""
    return min(checks, key=lambda check: (bool(check.skipped), check.right), default=None)


def _total(calls: Sequence[Calls]) -> Calls:
    usage = total_usage([made.usage for made in calls])
    charged = [made.usage.charged_usd for made in calls if isinstance(made.usage.charged_usd, float)]
    efforts = [made.effort for made in calls]
    refused = sorted({name for effort in efforts for name in effort.parameters_the_server_refused or ()})
    counts = {name: sum(getattr(effort, name) for effort in efforts) for name in _EFFORT}
    notices = [effort.journal_notice for effort in efforts if effort.journal_notice]
    effort = Effort(**counts, latency_ms=None, parameters_the_server_refused=refused)
    if notices:
        effort = structs.replace(effort, journal_notice="; ".join(notices))
    return Calls(structs.replace(usage, charged_usd=sum(charged)) if charged else usage, effort)


#: What an effort counts.
_EFFORT = ("from_journal", "made", "retried", "failed")
