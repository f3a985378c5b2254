"""Filling the columns that a judge fills: what it would take, and the asking itself."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import structs

from ragmeter.definition.judge_columns import BoundColumn
from ragmeter.documents.judging import JudgeCheck
from ragmeter.documents.usage import Calls, Effort, Usage
from ragmeter.effects.limits.caller import Caller
from ragmeter.effects.limits.calls import Limits, run_calls
from ragmeter.effects.process.loop import for_each
from ragmeter.effects.replies.charges import Spent
from ragmeter.effects.replies.journal import Journal, journal_to_read
from ragmeter.effects.replies.usage import UsageCounter
from ragmeter.engine.judging.column_run import ColumnRun
from ragmeter.engine.judging.observers import JudgingWatch
from ragmeter.engine.judging.row_by_row import RowLimits, estimated_effort
from ragmeter.engine.judging.sessions import SessionRun
from ragmeter.engine.judging.setup import BatchDone, JudgeResult, mark_of
from ragmeter.engine.row_reader import RowReader
from ragmeter.errors import BusyError, UsageError
from ragmeter.hints import option
from ragmeter.io.progress import Advance, both, show_notice
from ragmeter.io.write import check_writable
from ragmeter.judges.asking.column_judge import ColumnJudge, most_of_a_call
from ragmeter.judges.asking.judge import Judge
from ragmeter.judges.asking.probes import NOT_ASKED, calls_to_check, check_judge, recorded_cases
from ragmeter.judges.verdict import verdict
from ragmeter.models.port import ChatProvider
from ragmeter.table import Batch, outcome_column

#: What the estimates of jurors are added up by.
_SUMMED = frozenset(
    {"calls", "recorded", "prompt_tokens", "completion_tokens", "if_in_doubt", "check_calls", "most_calls", "cost_usd"}
    | {"most_cost_usd"}
)
FillColumns = Callable[[Batch, int], Awaitable[dict[str, list[Any]]]]


@dataclass(frozen=True)
class JudgeCalls:
    """A judge's calls about some rows, and the journal that its replies are kept in.

    `keys` are what the first reply about each row is kept under, to say why nothing of a journal is used. Without them
    nothing is said: a journal that runs share has the replies of many judges. The judge that is `tried` on known cases
    first is not if `is_asked` says that there is no row to ask it about.
    """

    judge: Judge
    limits: Limits
    journal: Path | None
    keys: Iterable[str] | None
    tried: ColumnJudge | None
    is_asked: Callable[[], bool]

    def make(
        self,
        work: Callable[[Caller, ChatProvider], Awaitable[None]],
        scope: str,
        watch: JudgingWatch,
        trying: UsageCounter | None = None,
    ) -> tuple[JudgeCheck | None, Usage, Effort]:
        """Have `work` ask the judge; returns how it did on known cases, if it is tried, the usage and the effort.

        `scope` is what a budget is kept for, over crashes too; what the known cases take counts in `trying` as well.
        """

        async def ask(caller: Caller) -> tuple[JudgeCheck | None, Usage, Effort]:
            caller.usage.price = self.judge.price_of_tokens
            async with self.judge.client() as client:
                with caller.usage.counting(trying):
                    check = await self._check(caller, client, watch)
                await work(caller, client)
            refused = sorted(client.dropped)
            effort = caller.effort.with_latency(caller.usage.latency(), parameters_the_server_refused=refused)
            return check, self._usage(caller), effort

        with Journal(self.journal) as journal:
            notice = self._notice(journal)
            if notice:
                show_notice(notice)
            check, usage, effort = run_calls(ask, self.limits, journal, scope)
        return check, usage, structs.replace(effort, journal_notice=notice) if notice else effort

    def _usage(self, caller: Caller) -> Usage:
        """What the replies took; with a budget, also what was charged to it."""
        usage = caller.usage.total()
        if self.judge.price is None and not usage.calls and caller.effort.made:
            usage = structs.replace(usage, cost_usd=None)  # what calls without a reply have cost is not known either
        return usage if self.limits.budget is None else structs.replace(usage, charged_usd=caller.budget.spent)

    async def _check(self, caller: Caller, client: ChatProvider, watch: JudgingWatch) -> JudgeCheck | None:
        if self.tried is None:
            return None
        if not self.is_asked():
            return JudgeCheck(self.judge.model, skipped=NOT_ASKED)
        with watch.trying() as tried:
            return await check_judge(self.tried, caller, client, tried)

    def estimate(self, count: Callable[[Journal], Mapping[str, int]], scope: str) -> dict[str, Any]:
        """About how many calls, tokens and dollars the calls take, as `count` finds by the journal. Asks nothing.

        Those that try the judge first are `check_calls`; their tokens and second wordings are counted in. `most_calls`
        and `most_cost_usd` have all second wordings in them. `scope` as in `make`.
        """
        with journal_to_read(self.journal) as journal:
            total = Counter(count(journal))
            check, skipped = self._calls_to_check(journal)
            for name in {*total, *check, "if_in_doubt"} - {"rows", "calls", "recorded"}:
                total[name] += check[name]
            total["check_calls"] = check["calls"]
            notice = self._notice(journal)
            spent = journal.spent(scope)
        in_doubt = [total.pop(f"{name}_if_in_doubt", 0) for name in ("prompt_tokens", "completion_tokens")]
        price = self.judge.price
        cost = None if price is None else price.of(total["prompt_tokens"], total["completion_tokens"])
        most = None if price is None or cost is None else cost + price.of(*in_doubt)
        all_calls = total["calls"] + total["check_calls"]
        return {
            **total,
            "cost_usd": cost,
            "prices_as_of": price.as_of or None if price else None,
            "most_calls": all_calls + total["if_in_doubt"],
            "most_cost_usd": most,
            **self._limited(all_calls, total["prompt_tokens"], cost or 0.0, spent),
            **({"check_skipped": skipped} if skipped else {}),
            **({"journal_notice": notice} if notice else {}),
        }

    def _limited(self, calls: int, prompt_tokens: int, cost: float, spent: Spent) -> dict[str, Any]:
        """How many calls the limits still allow, and which limit that is; nothing without limits.

        A call begins only if the most that it can cost is left of the budget.
        """
        allowed: dict[str, int] = {}
        if self.limits.max_calls is not None:
            allowed["max_calls"] = max(0, self.limits.max_calls - spent.calls)
        if self.limits.budget is not None and cost:
            left = self.limits.budget - spent.cost - most_of_a_call(self.judge, prompt_tokens / calls)
            allowed["budget"] = 0 if left < 0 else int(left * calls / cost) + 1
        if not allowed:
            return {}
        limit = min(allowed, key=lambda name: allowed[name])
        return {"calls_left": allowed[limit], "limited_by": limit, "limit": getattr(self.limits, limit)}

    def _calls_to_check(self, journal: Journal) -> tuple[Mapping[str, int], str]:
        """What trying the judge takes, and why it is not tried, if it should be."""
        if self.tried is None:
            return Counter(), ""
        return calls_to_check(self.tried, journal) if self.is_asked() else (Counter(), NOT_ASKED)

    def _notice(self, journal: Journal) -> str:
        """A notice of why nothing of the journal is used; an empty text if that is not so."""
        of_cases = 0 if self.tried is None else recorded_cases(self.tried, journal)
        return "" if self.keys is None else journal.unused_notice(self.keys, of_cases)


@dataclass
class JudgeRun:
    """Columns to be filled by a judge, and the journal that its replies are kept in.

    `retry_failed` asks anew about rows whose recorded replies are no verdicts; of the columns in `reuse`, the verdicts
    that are in the table already are kept.
    """

    columns: Sequence[BoundColumn]
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
        """The filled columns whose values are numbers."""
        return frozenset(name for column_run in self.column_runs() for name in column_run.numbers)

    def fill(
        self,
        rows: RowReader,
        advance: Advance,
        watch: JudgingWatch | None = None,
        batch_done: BatchDone = lambda batch, filled: None,
    ) -> JudgeResult:
        """Ask, and return what was filled.

        `advance` is called with the number of rows that are done, `batch_done` with each batch and its new columns.
        """
        watch = watch or JudgingWatch()
        column_runs = self.column_runs()
        for column_run in column_runs:
            column_run.judge.chat_model.check()
            column_run.prepare(rows)
        filled: list[dict[str, list[Any]]] = []
        marks: list[int] = []
        shown = frozenset(name for column_run in column_runs for name in column_run.declaration.needs)
        usages = {run.column.name: UsageCounter(run.judge.price_of_tokens) for run in column_runs}

        async def work(caller: Caller, client: ChatProvider) -> None:
            async with self._tried_jurors(column_runs, caller, usages) as jurors:
                await judge_rows(caller, {self.judge.name: client, **jurors})

        async def judge_rows(caller: Caller, clients: Mapping[str, ChatProvider]) -> None:
            start = 0
            watch.begin(caller)

            async def fill_columns(batch: Batch, start: int) -> dict[str, list[Any]]:
                columns: dict[str, list[Any]] = {}
                for number, column_run in enumerate(column_runs):  # of several columns, the first shows the progress
                    done: Advance = both(advance, watch.advance) if number == 0 else lambda rows: None
                    so_far = replace(batch, columns={**batch.columns, **columns})
                    heard = partial(watch.judged, column_run.column.name)
                    with caller.usage.counting(usages[column_run.column.name]):
                        client = clients[column_run.judge.name]
                        columns |= await column_run.fill(so_far, start, caller, client, done, heard)
                return columns

            for batch in rows():
                if len(column_runs) > 1 and caller.budget.is_limited:
                    columns = await self._fill_rows(column_runs, batch, start, caller, fill_columns)
                else:
                    columns = await fill_columns(batch, start)
                for column_run in column_runs:
                    column_run.count()
                if any(column_run.is_stopped for column_run in column_runs):
                    return  # nobody will look at the rest
                batch_done(batch, columns)
                filled.append(columns)
                marks.append(mark_of(batch, shown))
                start += len(batch)

        calls = self._calls(column_runs, rows)
        trying = next((usages[run.column.name] for run in column_runs if run.column_judge is calls.tried), None)
        check, usage, effort = calls.make(work, self._scope(rows), watch, trying)
        judged_columns = {
            column_run.column.name: {**column_run.signature(), **column_run.journal_keys()}
            for column_run in column_runs
        }
        judges = {
            column_run.column.name: column_run.summary(usages[column_run.column.name].total())
            for column_run in column_runs
        }
        calls_made = Calls(usage, effort)
        return JudgeResult(
            filled, marks, shown, self.numbers, judged_columns, judges, check, calls_made, workers=self.judge.workers
        )

    async def _fill_rows(
        self, column_runs: Sequence[ColumnRun], batch: Batch, start: int, caller: Caller, fill_columns: FillColumns
    ) -> dict[str, list[Any]]:
        """Fill the columns row by row, each row to its end."""
        limits = RowLimits(caller.budget, self.judge)
        filled: dict[int, dict[str, list[Any]]] = {}

        async def fill_row(place: int) -> None:
            row = batch.part(place, place + 1)
            async with limits.row(estimated_effort(column_runs, lambda: [row], caller.journal, start + place)):
                filled[place] = await fill_columns(row, start + place)

        await for_each(range(len(batch)), fill_row, 2 * self.judge.workers)
        in_order = [filled[place] for place in range(len(batch))]
        return {name: [row[name][0] for row in in_order] for name in (in_order[0] if in_order else ())}

    def _calls(self, column_runs: Sequence[ColumnRun], rows: RowReader) -> JudgeCalls:
        own_journal = self.judge.journal is not None
        keys = (key for column_run in column_runs for key in column_run.keys(rows)) if own_journal else None
        # there are known cases for verdicts alone
        verdicts = [
            run for run in column_runs if run.column.declaration.name == verdict.name and run.judge is self.judge
        ]
        tried = verdicts[0].column_judge if verdicts and self.judge.check else None
        return JudgeCalls(
            self.judge,
            self.judge.limits,
            self.journal,
            keys,
            tried,
            lambda: any(run.asks_anything(rows()) for run in verdicts),
        )

    def estimate(self, rows: RowReader) -> dict[str, Any]:
        """About how many calls, tokens and dollars filling takes, in all and by each juror. Asks nothing."""
        column_runs = self.column_runs()
        if len({column_run.judge.name for column_run in column_runs}) > 1:
            return self._estimate_of_jurors(column_runs, rows)
        for column_run in column_runs:
            column_run.prepare(rows)
        count = partial(estimated_effort, column_runs, rows)
        return self._calls(column_runs, rows).estimate(count, self._scope(rows))

    def _estimate_of_jurors(self, column_runs: Sequence[ColumnRun], rows: RowReader) -> dict[str, Any]:
        """Those of each juror, and their sums: a cost that is not known of one is not known."""
        by_juror = {
            juror.name: replace(
                self, judge=juror, columns=[run.column for run in column_runs if run.judge is juror]
            ).estimate(rows)
            for juror in dict.fromkeys(column_run.judge for column_run in column_runs)
        }
        first, *others = by_juror.values()
        total = dict(first)
        for name in (name for name in total if name in _SUMMED):
            values = [estimate[name] for estimate in (first, *others)]
            total[name] = None if None in values else sum(values)
        return {**total, "jurors": by_juror}

    @asynccontextmanager
    async def _tried_jurors(
        self, column_runs: Sequence[ColumnRun], caller: Caller, usages: Mapping[str, UsageCounter]
    ) -> AsyncIterator[dict[str, ChatProvider]]:
        """The connections of further jurors, each tried on known cases first, if it is to be."""
        of_jurors = [column_run for column_run in column_runs if column_run.judge is not self.judge]
        async with AsyncExitStack() as stack:
            jurors = dict.fromkeys(column_run.judge for column_run in of_jurors)
            clients = {juror.name: await stack.enter_async_context(juror.client()) for juror in jurors}
            for column_run in of_jurors:
                if column_run.judge.check and column_run.column.declaration.name == verdict.name:
                    with caller.usage.counting(usages[column_run.column.name]):
                        await check_judge(column_run.column_judge, caller, clients[column_run.judge.name])
            yield clients

    def check_journal(self) -> None:
        """Refuse a journal that can't be used, before anything is asked. One that is in use may be free later."""
        if self.journal is not None and self.journal.exists():
            with suppress(BusyError), Journal(self.journal):
                pass
        elif self.journal is not None:
            check_writable(self.journal.parent, option("journal", of="judge"))

    def column_runs(self) -> list[ColumnRun]:
        """One for each column."""
        return [
            (SessionRun if column.by_session else ColumnRun)(
                self._judge_of(column), column, retry_failed=self.retry_failed, reuse=column.name in self.reuse
            )
            for column in self.columns
        ]

    def _judge_of(self, column: BoundColumn) -> Judge:
        """The juror that a column names; the judge where it names none."""
        name = column.settings.get("juror")
        juror = self.judge if name in (None, self.judge.name) else self.judge.jurors.get(str(name))
        if juror is None:
            hint = (
                f"there is {', '.join(name for name, juror in self.judge.jurors.items() if juror) or self.judge.name}"
            )
            raise UsageError(f"nobody is called {name!r}, as {column.name} wants it", hint=hint)
        return juror

    def _scope(self, rows: RowReader) -> str:
        """A name for the judging of just these rows by this judge, which a budget is kept for, over crashes too."""
        if self.judge.budget is None and self.judge.max_calls is None:
            return ""
        digest = hashlib.sha256()
        for column in self.columns:
            digest.update(self._judge_of(column).call_key(column.declaration).encode())
        needs = {name for column in self.columns for name in self.judge.worded(column.declaration).needs}
        for batch in rows():
            for name in sorted(needs):
                digest.update(repr(batch.columns.get(name)).encode("utf-8", "replace"))
        return digest.hexdigest()
