"""Rows judged one by one through all their columns, where a limit may end the judging before the last row.

Column by column, a limit would be spent on the first column of all rows, and no row would have a score.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial

from ragmeter.effects.limits.budget import Budget
from ragmeter.effects.replies.journal import Journal
from ragmeter.engine.judging.column_run import ColumnRun
from ragmeter.judges.asking.column_judge import most_of_a_call
from ragmeter.judges.asking.judge import Judge
from ragmeter.table import Batch


def estimated_effort(
    column_runs: Sequence[ColumnRun], batches: Callable[[], Iterable[Batch]], journal: Journal, start: int = 0
) -> Mapping[str, int]:
    """About how many rows, calls and tokens filling these columns takes. `start` is the number of the first row."""
    total = Counter(rows=0, calls=0, recorded=0, prompt_tokens=0, completion_tokens=0)
    seen: set[str] = set()
    for column_run in column_runs:
        for name, number in column_run.estimate(batches, journal, seen, start).items():
            total[name] = max(total[name], number) if name == "rows" else total[name] + number
        if column_run.declaration.guess is not None:  # what the next columns are filled from
            batches = partial(column_run.guessed, batches, journal)
    return total


class RowLimits:
    """Lets a row begin if what is left of a budget is enough for it and for the rows under way, or none is under way.

    So what is left goes to the rows that were begun, and they are finished. Rows begin in their order.
    """

    def __init__(self, budget: Budget, judge: Judge) -> None:
        self._budget, self._judge = budget, judge
        self._under_way: Counter[str] = Counter()
        self._turn = asyncio.Lock()
        self._ended = asyncio.Event()

    @asynccontextmanager
    async def row(self, effort: Mapping[str, int]) -> AsyncIterator[None]:
        """A row that takes about so many calls and tokens, from its begin to its end."""
        needed = Counter(rows=1, **{name: effort[name] for name in ("calls", "prompt_tokens", "completion_tokens")})
        async with self._turn:
            while self._under_way["rows"] and not self._is_enough(self._under_way + needed):
                self._ended.clear()
                await self._ended.wait()
            self._under_way += needed
        try:
            yield
        finally:
            self._under_way -= needed
            self._ended.set()

    def _is_enough(self, needed: Mapping[str, int]) -> bool:
        calls, tokens = needed["calls"], needed["prompt_tokens"]
        dollars = 0.0
        if calls and self._judge.price is not None:  # the last call begins only if it may cost the most that it can
            most = most_of_a_call(self._judge, tokens / calls)
            dollars = self._judge.price.of(tokens, needed["completion_tokens"]) + most
        return self._budget.allows(calls, dollars)
