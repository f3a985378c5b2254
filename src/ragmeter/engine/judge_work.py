"""Filling the columns that a judge fills: what it would take, and the asking itself."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ragmeter.asked import AskedColumn
from ragmeter.effects.caller import Caller
from ragmeter.effects.calls import run_calls
from ragmeter.effects.journal import Journal
from ragmeter.engine.filling import Batches, Filled, mark_of
from ragmeter.engine.judging import ColumnFiller
from ragmeter.judges.judge import Judge
from ragmeter.judges.probes import Check, calls_to_check, check_judge
from ragmeter.show.progress import Advance


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
                        so_far = replace(batch, columns={**batch.columns, **columns})
                        columns |= await filler.fill(so_far, start, caller, client, done)
                    filled.append(columns)
                    marks.append(mark_of(batch, shown))
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
                if filler.asked.guess is not None:  # what the next columns are filled from
                    batches = partial(filler.guessed, batches, journal)
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


def _show_nothing(rows: int) -> None:
    """Of several columns, the first shows the progress."""
