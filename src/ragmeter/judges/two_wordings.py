"""A judge that is asked for each verdict in two wordings: their mistakes differ, so that together they make fewer."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ragmeter.asked import Asked
from ragmeter.effects.caller import Caller
from ragmeter.effects.journal import Journal
from ragmeter.judges.column_judge import ColumnJudge
from ragmeter.judges.judgement import Judgement, of_two_wordings
from ragmeter.judges.providers.port import ChatProvider

if TYPE_CHECKING:
    from ragmeter.judges.judge import Judge


class TwoWordings(ColumnJudge):
    """A judge of one column in two wordings, each with calls of its own.

    What the journal has of the first wording serves a judge that is asked in this one alone as well.
    """

    def __init__(self, judge: Judge, node: Asked, rephrased: Asked) -> None:
        super().__init__(judge, node)
        self._both = (ColumnJudge(judge, node), ColumnJudge(judge, rephrased))
        assert node.rephrased is not None  # noqa: S101 - else there is no second wording
        self._in_doubt = node.rephrased.in_doubt

    async def ask(
        self, caller: Caller, client: ChatProvider, values: Mapping[str, str], *, retry: bool = False
    ) -> Judgement:
        """Judge one row in both wordings."""
        first, second = await asyncio.gather(*(asks.ask(caller, client, values, retry=retry) for asks in self._both))
        return of_two_wordings(first, second, self._in_doubt)

    def recall(self, journal: Journal, values: Mapping[str, str], repeat: int = 0) -> Judgement | None:
        """What recorded replies say of a row; None if it is still to be asked about in one of the wordings."""
        first, second = (asks.recall(journal, values, repeat) for asks in self._both)
        return None if first is None or second is None else of_two_wordings(first, second, self._in_doubt)

    def estimate_all(
        self, rows: Iterable[Mapping[str, str]], journal: Journal, *, retry: bool = False, seen: set[str] | None = None
    ) -> dict[str, int]:
        """About how many calls and tokens these rows take in both wordings."""
        total = Counter(calls=0, recorded=0, prompt_tokens=0, completion_tokens=0)
        seen = set() if seen is None else seen
        for values in rows:
            for asks in self._both:
                total.update(asks.estimate_all([values], journal, retry=retry, seen=seen))
        return dict(total)

    def cost(self, values: Mapping[str, str]) -> float:
        """About what the calls for a row cost, in dollars; 0 where the price is not known."""
        return sum(asks.cost(values) for asks in self._both)

    def most(self, values: Mapping[str, str]) -> float:
        """The most that one call can cost, in dollars."""
        return max(asks.most(values) for asks in self._both)
