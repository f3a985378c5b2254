"""Columns that a judge fills: which ones a list of metrics needs, what filling them would take, and filling them.

The table is read twice: once to ask, once to score. Only what was filled is kept in between, so memory stays flat, and
every reply is in the journal before it counts.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from ragmeter.asked import AskedColumn
from ragmeter.definition import Metric
from ragmeter.effects.caller import Caller
from ragmeter.effects.calls import run_calls
from ragmeter.effects.journal import Journal
from ragmeter.engine.judging import ColumnFiller
from ragmeter.errors import InputError, UsageError
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
    """What was filled: for each batch the new columns, and what the run's documents say about it.

    `marks` tell whether the batches that come later are those that were judged, by the columns that were `shown`;
    `numbers` are those of the new columns that are no texts.
    """

    batches: list[dict[str, list[Any]]] | None = None
    marks: list[int] = field(default_factory=list)
    shown: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    manifest: dict[str, Any] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)

    def joined(self, batches: Iterable[Batch], replaced: Collection[str] = ()) -> Iterator[Batch]:
        """The same batches with the new columns. A column of the user's that has such a name gives way.

        Those that are to be `replaced` are from an earlier filling.
        """
        if self.batches is None:
            yield from batches
            return
        for batch, filled, mark in zip_longest(batches, self.batches, self.marks):
            if batch is None or mark != _mark(batch, self.shown):
                raise InputError(
                    "the rows have changed while the judge was asked about them",
                    file="the table",
                    hint=by_caller("run the same command again", "make the same call again")
                    + ": what was asked is recorded",
                )
            own = {
                f"input.{name}" if name in filled and name not in replaced else name: column
                for name, column in batch.columns.items()
            }
            yield replace(batch, columns={**own, **filled}, plain=False, numbers={*batch.numbers, *self.numbers})


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
            return self.filling(columns, reuse=reuse).fill(batches, advance)

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

    def needs(self, metrics: Sequence[Metric]) -> dict[str, str]:
        """The columns that the table must have to be judged, each with a metric that needs it.

        Those of a user's own words are not among them: `check` names the line of the file.
        """
        if not isinstance(self.judge, Judge) or self.judge.words is not None:
            return {}
        return {name: metric.name for metric in metrics for column in metric.asks for name in column.asked.required}

    def check(self, metrics: Sequence[Metric], batches: Batches, names: Sequence[str]) -> set[str]:
        """Before answers are there: refuse what can't be judged. `names` are the columns that the table will have.

        Returns those that the judge is shown.
        """
        columns = self.missing(metrics, batches)
        if not columns or self.judge is None:
            return set()
        self.judge.client().check()
        fillers = self.filling(columns).fillers()
        for filler in fillers:
            filler.check(names)
        return {name for filler in fillers for name in filler.asked.needs}

    def filling(self, columns: Sequence[AskedColumn], *, reuse: bool = False) -> Filling:
        """With the journal that the judge names, or else that of the folder."""
        assert self.judge is not None  # noqa: S101 - `missing` has seen to it
        journal = self.judge.journal or (None if self.folder is None else self.folder / JUDGE_JOURNAL)
        return Filling(columns, self.judge, journal, self.retry_failed, reuse)


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
        self.judge.client().check()
        fillers = self.fillers()
        for filler in fillers:
            filler.prepare(batches)
        filled: list[dict[str, list[Any]]] = []
        marks: list[int] = []
        shown = frozenset(name for filler in fillers for name in filler.asked.needs)

        async def work(caller: Caller) -> dict[str, Any]:
            async with self.judge.client() as client:
                check = await self._check(caller, client)
                start = 0
                for batch in batches():
                    columns: dict[str, list[Any]] = {}
                    for number, filler in enumerate(fillers):
                        done = advance if number == 0 else _show_nothing
                        columns |= await filler.fill(batch, start, caller, client, done)
                    filled.append(columns)
                    marks.append(_mark(batch, shown))
                    start += len(batch)
                return self._documents(fillers, caller, sorted(client.dropped), check)

        with Journal(self.journal) as journal:
            if notice := self._unused(journal, fillers, batches):
                print(notice, file=sys.stderr)
            documents = run_calls(work, self.judge.limits, journal, self._scope(batches))
        documents["manifest"]["judging"] |= {"journal_notice": notice} if notice else {}
        numbers = frozenset(name for filler in fillers for name in filler.numbers)
        return Filled(filled, marks, shown, numbers, **documents)

    def _unused(self, journal: Journal, fillers: Sequence[ColumnFiller], batches: Batches) -> str:
        """Why nothing of a journal that the judge names is used, if that is so. A folder's has many judges' replies."""
        if self.judge.journal is None:
            return ""
        return journal.unused_notice(key for filler in fillers for key in filler.keys(batches))

    def estimate(self, batches: Batches) -> dict[str, Any]:
        """About how many calls, tokens and dollars filling takes. Asks nothing."""
        fillers = self.fillers()
        total = {"rows": 0, "calls": 0, "recorded": 0, "prompt_tokens": 0, "completion_tokens": 0}
        there = self.journal is not None and self.journal.exists()
        seen: set[str] = set()
        with Journal(self.journal if there else None) as journal:
            for filler in fillers:
                filler.prepare(batches)
                for name, number in filler.estimate(batches, journal, seen).items():
                    total[name] = max(total[name], number) if name == "rows" else total[name] + number
            total |= self._check_calls(journal, total)
            notice = self._unused(journal, fillers, batches)
        price = self.judge.price
        cost = None if price is None else price.of(total["prompt_tokens"], total["completion_tokens"])
        return {**total, "cost_usd": cost, **({"journal_notice": notice} if notice else {})}

    def _check_calls(self, journal: Journal, total: Mapping[str, int]) -> dict[str, int]:
        """The calls that try the judge, and the tokens with theirs."""
        column = self._checked_column()
        calls, prompt, completion = (0, 0, 0)
        if column is not None:
            calls, prompt, completion = calls_to_check(self.judge.on(column.asked), journal)
        return {
            "check_calls": calls,
            "prompt_tokens": total["prompt_tokens"] + prompt,
            "completion_tokens": total["completion_tokens"] + completion,
        }

    def _checked_column(self) -> AskedColumn | None:
        """The column whose judge is tried on known cases, if one is."""
        if not self.judge.check:
            return None
        return next((column for column in self.columns if column.asked.name == "verdict"), None)

    def fillers(self) -> list[ColumnFiller]:
        """One for each column."""
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
        checked = {} if check is None else {"judge_check": check.as_dict()}
        return {
            "manifest": {
                "asked": asked,
                "judging": {**effort, "workers": judge.workers, "parameters_the_server_refused": list(dropped)},
            },
            "summary": {"judges": summaries, "judge_usage": caller.usage.as_dict(), **checked},
        }


def _mark(batch: Batch, shown: Collection[str]) -> int:
    """A number that tells whether what was shown of a batch is still the same."""
    return hash((len(batch), *(repr(batch.columns.get(name)) for name in sorted(shown))))


def _show_nothing(rows: int) -> None:
    """Of several columns, the first shows the progress."""
