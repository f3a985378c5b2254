"""Filling the columns that a judge fills: what it would take, and the asking itself."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ragmeter.asked import AskedColumn
from ragmeter.effects.caller import Caller
from ragmeter.effects.calls import Limits, run_calls
from ragmeter.effects.journal import Journal, journal_to_read
from ragmeter.effects.usage import Usage
from ragmeter.engine.filling import BatchDone, Batches, Filled, mark_of
from ragmeter.engine.judging import ColumnFiller
from ragmeter.engine.watching import JudgingWatch
from ragmeter.judges.column_judge import ColumnJudge
from ragmeter.judges.judge import Judge
from ragmeter.judges.probes import Check, calls_to_check, check_judge, recorded_cases
from ragmeter.judges.providers.port import ChatProvider
from ragmeter.judges.verdict import verdict
from ragmeter.show.progress import Advance, both, show_notice
from ragmeter.table import outcome_column


@dataclass(frozen=True)
class JudgeCalls:
    """A judge's calls about some rows, and the journal that its replies are kept in.

    `keys` are what the first reply about each row is kept under, to say why nothing of a journal is used. Without them
    nothing is said: a journal that runs share has the replies of many judges.
    """

    judge: Judge
    limits: Limits
    journal: Path | None
    keys: Iterable[str] | None

    def make(
        self,
        work: Callable[[Caller, ChatProvider], Awaitable[None]],
        scope: str,
        tried: ColumnJudge | None,
        trying: Usage | None = None,
    ) -> tuple[Check | None, dict[str, Any], dict[str, Any]]:
        """Have `work` ask the judge; returns how it did on known cases, if it is `tried`, the usage and the effort.

        `scope` is what a budget is kept for, over crashes too; what the known cases take counts in `trying` as well.
        """

        async def ask(caller: Caller) -> tuple[Check | None, dict[str, Any], dict[str, Any]]:
            caller.usage.price, caller.usage.part = self.judge.price_of_tokens, trying
            async with self.judge.client() as client:
                check = None if tried is None else await check_judge(tried, caller, client)
                await work(caller, client)
            effort = {**asdict(caller.effort), "latency_ms": caller.usage.latency()}
            return check, caller.usage.as_dict(), {**effort, "parameters_the_server_refused": sorted(client.dropped)}

        with Journal(self.journal) as journal:
            notice = self._notice(journal, tried)
            for text in notice.values():
                show_notice(text)
            check, usage, effort = run_calls(ask, self.limits, journal, scope)
        return check, usage, effort | notice

    def estimate(self, count: Callable[[Journal], Mapping[str, int]], tried: ColumnJudge | None) -> dict[str, Any]:
        """About how many calls, tokens and dollars the calls take, as `count` finds by the journal. Asks nothing.

        Those that try the judge first are `check_calls`; their tokens and second wordings are counted in.
        """
        with journal_to_read(self.journal) as journal:
            total = Counter(count(journal))
            check = Counter[str]() if tried is None else Counter(calls_to_check(tried, journal))
            for name in ("prompt_tokens", "completion_tokens", "if_in_doubt"):
                total[name] += check[name]
            total["check_calls"] = check["calls"]
            notice = self._notice(journal, tried)
        price = self.judge.price
        cost = None if price is None else price.of(total["prompt_tokens"], total["completion_tokens"])
        return {**total, "cost_usd": cost, "prices_as_of": price.as_of or None if price else None, **notice}

    def _notice(self, journal: Journal, tried: ColumnJudge | None) -> dict[str, str]:
        """Why nothing of the journal is used, if that is so."""
        of_cases = 0 if tried is None else recorded_cases(tried, journal)
        notice = "" if self.keys is None else journal.unused_notice(self.keys, of_cases)
        return {"journal_notice": notice} if notice else {}


@dataclass
class Filling:
    """Columns to be filled by a judge, and the journal that its replies are kept in.

    `retry_failed` asks anew about rows whose recorded replies are no verdicts; of the columns in `reuse`, the verdicts
    that are in the table already are kept.
    """

    columns: Sequence[AskedColumn]
    judge: Judge
    journal: Path | None
    retry_failed: bool = False
    reuse: Collection[str] = ()

    @property
    def names(self) -> list[str]:
        """The columns that a table gets."""
        own = ((column.name, outcome_column(column.name), *column.columns) for column in self.columns)
        return list(dict.fromkeys(name for names in own for name in names))

    @property
    def numbers(self) -> frozenset[str]:
        """Those that are no texts."""
        return frozenset(name for filler in self.fillers() for name in filler.numbers)

    def fill(
        self,
        batches: Batches,
        advance: Advance,
        watch: JudgingWatch | None = None,
        batch_done: BatchDone = lambda batch, filled: None,
    ) -> Filled:
        """Ask, and return what was filled.

        `advance` is called with the number of rows that are done, `batch_done` with each batch and its new columns.
        """
        self.judge.client().check()
        watch = watch or JudgingWatch()
        fillers = self.fillers()
        for filler in fillers:
            filler.prepare(batches)
        filled: list[dict[str, list[Any]]] = []
        marks: list[int] = []
        shown = frozenset(name for filler in fillers for name in filler.asked.needs)
        usages = {filler.column.name: Usage(self.judge.price_of_tokens) for filler in fillers}

        async def work(caller: Caller, client: ChatProvider) -> None:
            start = 0
            watch.begin(caller)
            for batch in batches():
                columns: dict[str, list[Any]] = {}
                for number, filler in enumerate(fillers):  # of several columns, the first shows the progress
                    done: Advance = both(advance, watch.advance) if number == 0 else lambda rows: None
                    so_far = replace(batch, columns={**batch.columns, **columns})
                    heard = partial(watch.judged, filler.column.name)
                    caller.usage.part = usages[filler.column.name]
                    columns |= await filler.fill(so_far, start, caller, client, done, heard)
                batch_done(batch, columns)
                filled.append(columns)
                marks.append(mark_of(batch, shown))
                start += len(batch)

        calls = self._calls(key for filler in fillers for key in filler.keys(batches))
        tried = self._tried_column()
        trying = None if tried is None else usages[tried.name]
        check, usage, effort = calls.make(work, self._scope(batches), self._tried(), trying)
        asked = {filler.column.name: {**filler.signature(), **filler.filed()} for filler in fillers}
        manifest = {"asked": asked, "judging": {**effort, "workers": self.judge.workers}}
        judges = {
            filler.column.name: {**filler.summary(), "usage": usages[filler.column.name].as_dict()}
            for filler in fillers
        }
        summary: dict[str, Any] = {"judges": judges, "judge_usage": usage}
        if check is not None:
            summary["judge_check"] = check.as_dict()
        judging = {"usage": usage, "effort": effort}
        return Filled(filled, marks, shown, self.numbers, manifest, summary, judging)

    def _calls(self, keys: Iterable[str]) -> JudgeCalls:
        return JudgeCalls(self.judge, self.judge.limits, self.journal, None if self.judge.journal is None else keys)

    def estimate(self, batches: Batches) -> dict[str, Any]:
        """About how many calls, tokens and dollars filling takes. Asks nothing."""
        fillers = self.fillers()

        def count(journal: Journal) -> Mapping[str, int]:
            nonlocal batches
            total = Counter(rows=0, calls=0, recorded=0, prompt_tokens=0, completion_tokens=0)
            seen: set[str] = set()
            for filler in fillers:
                filler.prepare(batches)
                for name, number in filler.estimate(batches, journal, seen).items():
                    total[name] = max(total[name], number) if name == "rows" else total[name] + number
                if filler.asked.guess is not None:  # what the next columns are filled from
                    batches = partial(filler.guessed, batches, journal)
            return total

        calls = self._calls(key for filler in fillers for key in filler.keys(batches))
        return calls.estimate(count, self._tried())

    def _tried(self) -> ColumnJudge | None:
        """The judge of the column that it is tried for on known cases, if there are cases for what it is asked."""
        column = self._tried_column()
        return None if column is None else self.judge.on(column.asked)

    def _tried_column(self) -> AskedColumn | None:
        columns = self.columns if self.judge.check else ()
        return next((column for column in columns if column.asked.name == verdict.name), None)

    def fillers(self) -> list[ColumnFiller]:
        """One for each column."""
        return [
            ColumnFiller(self.judge, column, retry_failed=self.retry_failed, reuse=column.name in self.reuse)
            for column in self.columns
        ]

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
