"""Columns that a judge fills: which ones a list of metrics needs, what filling them would take, and filling them.

The table is read twice: once to ask, once to score. Only what was filled is kept in between, so memory stays flat, and
every reply is in the journal before it counts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ragmeter.asked import AskedColumn
from ragmeter.definition import Metric
from ragmeter.effects.caller import Caller
from ragmeter.effects.calls import run_calls
from ragmeter.effects.journal import Journal
from ragmeter.engine.judging import ColumnFiller
from ragmeter.errors import UsageError
from ragmeter.hints import by_caller
from ragmeter.judges.judge import Judge
from ragmeter.judges.probes import Check, calls_to_check, check_judge
from ragmeter.show.progress import Advance, Progress, progress_bar
from ragmeter.table import Batch

#: Where a judge's replies are kept unless somebody says otherwise: for every run of a folder, since they are the same
#: for the same texts.
JUDGE_JOURNAL = "judge.journal.sqlite"

Batches = Callable[[], Iterable[Batch]]


@dataclass(frozen=True)
class Filled:
    """What was filled: for each batch the new columns, and what the run's documents say about it."""

    batches: list[dict[str, list[Any]]] | None = None
    manifest: dict[str, Any] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)

    def joined(self, batches: Iterable[Batch], *, replace_columns: bool = False) -> Iterator[Batch]:
        """The same batches with the new columns. A column of the user's that has such a name gives way.

        With `replace_columns` the table's columns are those of an earlier filling, and are replaced.
        """
        if self.batches is None:
            yield from batches
            return
        for batch, filled in zip(batches, self.batches, strict=True):
            renamed = {} if replace_columns else {name: f"input.{name}" for name in filled}
            own = {renamed.get(name, name): column for name, column in batch.columns.items()}
            yield replace(batch, columns={**own, **filled}, plain=False)


def asked_columns(metrics: Iterable[Metric]) -> list[AskedColumn]:
    """The columns that a judge has to fill for these metrics, each once."""
    return list({column.name: column for metric in metrics for column in metric.asks}.values())


@dataclass(frozen=True)
class Asking:
    """Who fills the columns that metrics ask for, and where its replies are kept: in a folder's shared journal."""

    judge: Judge | None = None
    folder: Path | None = None
    retry_failed: bool = False
    progress: Progress = None

    def fill(self, metrics: Sequence[Metric], batches: Batches, total: int | None = None) -> Filled:
        """Fill what the metrics ask for. Without a judge, a table that has these columns is taken as it is."""
        columns = self.missing(metrics, batches)
        if not columns:
            return Filled()
        return self.fill_columns(columns, batches, total)

    def fill_columns(
        self, columns: Sequence[AskedColumn], batches: Batches, total: int | None, *, reuse: bool = False
    ) -> Filled:
        """Fill these columns; `reuse` keeps the verdicts that the table has already."""
        with progress_bar(self.progress, "judging", total=total) as advance:
            return replace(self.filling(columns), reuse=reuse).fill(batches, advance)

    def missing(self, metrics: Sequence[Metric], batches: Batches) -> list[AskedColumn]:
        """The columns that are to be filled, or an error if nobody can."""
        columns = asked_columns(metrics)
        if self.judge is None and columns:
            first = next(iter(batches()), None)
            missing = [column.name for column in columns if first is not None and column.name not in first.columns]
            if not missing:
                return []
            needing = next(metric.name for metric in metrics for column in metric.asks if column.name in missing)
            raise UsageError(
                f"{needing} needs a judge",
                hint=by_caller("name its model with --judge-model", "for example judge=Judge(model='gpt-4o')"),
            )
        if self.judge is not None and not isinstance(self.judge, Judge):
            raise UsageError(f"judge is a {type(self.judge).__name__}", hint="for example judge=Judge(model='gpt-4o')")
        if self.judge is not None and not columns:
            raise UsageError("none of the metrics needs a judge", hint="llm_correct does, for example")
        if self.judge is not None and self.judge.words is not None and len(columns) > 1:
            raise UsageError("a prompt of your own is for one judgement", hint="run the metrics one after another")
        return columns

    def filling(self, columns: Sequence[AskedColumn]) -> Filling:
        """With the journal that the judge names, or else that of the folder."""
        assert self.judge is not None  # noqa: S101 - `missing` has seen to it
        journal = self.judge.journal or (None if self.folder is None else self.folder / JUDGE_JOURNAL)
        return Filling(columns, self.judge, journal, self.retry_failed)


@dataclass
class Filling:
    """Columns to be filled by a judge, and the journal that its replies are kept in.

    `retry_failed` asks anew about rows whose recorded replies are no verdicts.
    """

    columns: Sequence[AskedColumn]
    judge: Judge
    journal: Path | None
    retry_failed: bool = False
    reuse: bool = False

    def fill(self, batches: Batches, advance: Advance) -> Filled:
        """Ask, and return what was filled; `advance` is called with the number of rows that are done."""
        self.judge.endpoint.check()
        fillers = self._fillers()
        for filler in fillers:
            filler.prepare(batches)
        filled: list[dict[str, list[Any]]] = []

        async def work(caller: Caller) -> dict[str, Any]:
            async with self.judge.client() as client:
                check = await self._check(caller, client)
                start = 0
                for batch in batches():
                    columns: dict[str, list[Any]] = {}
                    for number, filler in enumerate(fillers):
                        shown = advance if number == 0 else _show_nothing
                        columns |= await filler.fill(batch, start, caller, client, shown)
                    filled.append(columns)
                    start += len(batch)
                return self._documents(fillers, caller, sorted(client.dropped), check)

        with Journal(self.journal) as journal:
            documents = run_calls(work, self.judge.limits, journal, self._scope(batches))
        return Filled(filled, **documents)

    def estimate(self, batches: Batches) -> dict[str, Any]:
        """About how many calls, tokens and dollars filling takes. Asks nothing."""
        fillers = self._fillers()
        total = {"rows": 0, "calls": 0, "recorded": 0, "prompt_tokens": 0, "completion_tokens": 0}
        there = self.journal is not None and self.journal.exists()
        with Journal(self.journal if there else None) as journal:
            for filler in fillers:
                filler.prepare(batches)
                for name, number in filler.estimate(batches, journal).items():
                    total[name] = max(total[name], number) if name == "rows" else total[name] + number
            checks = self._check_calls(journal)
        price = self.judge.price
        cost = None if price is None else price.of(total["prompt_tokens"], total["completion_tokens"])
        return {**total, "check_calls": checks, "cost_usd": cost}

    def _check_calls(self, journal: Journal) -> int:
        column = self._checked_column()
        return 0 if column is None else calls_to_check(self.judge.on(column.asked), journal)

    def _checked_column(self) -> AskedColumn | None:
        """The column whose judge is tried on known cases, if one is."""
        if not self.judge.check:
            return None
        return next((column for column in self.columns if column.asked.name == "verdict"), None)

    def _fillers(self) -> list[ColumnFiller]:
        return [
            ColumnFiller(self.judge, column, retry_failed=self.retry_failed, reuse=self.reuse)
            for column in self.columns
        ]

    async def _check(self, caller: Caller, client: Any) -> Check | None:
        """Try the judge before it is trusted, where there are cases for what it is asked."""
        column = self._checked_column()
        return None if column is None else await check_judge(self.judge.on(column.asked), caller, client)

    def _scope(self, batches: Batches) -> str:
        """A name for the judging of just these rows by this judge, which a budget is kept for, over crashes too."""
        if self.judge.budget is None and self.judge.max_calls is None:
            return ""
        digest = hashlib.sha256()
        for column in self.columns:
            digest.update(self.judge.spec(column.asked).encode())
        needs = {name for column in self.columns for name in self.judge.asked(column.asked).needs}
        for batch in batches():
            for name in sorted(needs):
                digest.update(repr(batch.columns.get(name)).encode("utf-8", "replace"))
        return digest.hexdigest()

    def _documents(
        self, fillers: Sequence[ColumnFiller], caller: Caller, dropped: Sequence[str], check: Check | None
    ) -> dict[str, Any]:
        """What the manifest and the summary say."""
        judge = self.judge
        effort = {**asdict(caller.effort), "latency_ms": caller.usage.latency()}
        asked = {filler.column.name: filler.signature() for filler in fillers}
        summaries = {filler.column.name: filler.summary() for filler in fillers}
        checked = {} if check is None else {"check": check.as_dict()}
        return {
            "manifest": {
                "asked": asked,
                "judging": {**effort, "workers": judge.workers, "parameters_the_server_refused": list(dropped)},
            },
            "summary": {"judges": summaries, "judge_usage": caller.usage.as_dict(), **checked},
        }


def _show_nothing(rows: int) -> None:
    """Of several columns, the first shows the progress."""
