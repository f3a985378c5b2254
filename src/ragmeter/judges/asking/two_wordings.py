"""A judge that is asked for a verdict in two wordings: their mistakes differ, so that together they make fewer."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ragmeter.definition.judge_columns import JudgeColumn
from ragmeter.effects.limits.caller import Caller
from ragmeter.effects.replies.journal import Journal
from ragmeter.judges.asking.column_judge import ColumnJudge
from ragmeter.judges.asking.judgement import Judgement, majority, of_two_wordings
from ragmeter.models.port import ChatProvider
from ragmeter.table import SKIPPED_BUDGET

if TYPE_CHECKING:
    from ragmeter.judges.asking.judge import Judge

#: A verdict is sure if its probability is at least this far from even; otherwise the second wording is asked too.
SURE = 0.4


class TwoWordings(ColumnJudge):
    """A judge of one column in two wordings, the second always, or where the first is not sure.

    What the journal has of the first wording serves a judge that is asked in this one alone as well.
    """

    def __init__(self, judge: Judge, declaration: JudgeColumn, rephrased: JudgeColumn) -> None:
        super().__init__(judge, declaration)
        self._first, self._second = self._both = (ColumnJudge(judge, declaration), ColumnJudge(judge, rephrased))
        self._always = judge.wordings == 2
        assert declaration.rephrased is not None  # noqa: S101 - else there is no second wording
        self._in_doubt = declaration.rephrased.in_doubt

    async def ask(
        self, caller: Caller, client: ChatProvider, values: Mapping[str, str], *, retry: bool = False
    ) -> Judgement:
        """Judge one row in both wordings, or in the first if it is enough."""
        if self._always:
            first, second = await asyncio.gather(
                *(column_judge.ask(caller, client, values, retry=retry) for column_judge in self._both)
            )
            return of_two_wordings(first, second, self._in_doubt)
        first = await self._first.ask(caller, client, values, retry=retry)
        if self._is_enough(first):
            return first
        second = await self._second.ask(caller, client, values, retry=retry)
        if second.outcome == SKIPPED_BUDGET:
            return replace(first, is_half=True)  # what was paid for is not lost for want of a second opinion
        return of_two_wordings(first, second, self._in_doubt)

    def _is_enough(self, first: Judgement) -> bool:
        """Whether the first wording alone decides: it is sure, has no verdict, or does not say how sure it is."""
        if self._always:
            return False
        return first.verdict is None or first.probability is None or abs(first.probability - 0.5) >= SURE

    def recorded_judgement(self, journal: Journal, values: Mapping[str, str], repeat: int = 0) -> Judgement | None:
        """What recorded replies say of a row; None if it is still to be asked about in one of the wordings."""
        first = self._first.recorded_judgement(journal, values, repeat)
        if first is None or self._is_enough(first):
            return first
        second = self._second.recorded_judgement(journal, values, repeat)
        return None if second is None else of_two_wordings(first, second, self._in_doubt)

    def n_recorded_replies(self, journal: Journal, values: Mapping[str, str]) -> int:
        """How many replies about a row a journal has, in both wordings."""
        return sum(column_judge.n_recorded_replies(journal, values) for column_judge in self._both)

    def n_recorded_repeats(self, journal: Journal, values: Mapping[str, str], *, retry: bool = False) -> int:
        """How many of a row's repeats take no call in either wording, because of what a journal has."""
        in_first = self._first.n_recorded_repeats(journal, values, retry=retry)
        if in_first == self.judge.repeats and self._is_first_enough(journal, values):
            return in_first
        return min(in_first, self._second.n_recorded_repeats(journal, values, retry=retry))

    def _is_first_enough(self, journal: Journal, values: Mapping[str, str]) -> bool:
        """Whether all repeats of the first wording are recorded, and together need no second."""
        repeats = [self._first.recorded_judgement(journal, values, repeat) for repeat in range(self.judge.repeats)]
        judgements = [judgement for judgement in repeats if judgement is not None]
        return len(judgements) == len(repeats) and self._is_enough(majority(judgements, self.declaration.form.agreed))

    def estimate_all(
        self, rows: Iterable[Mapping[str, str]], journal: Journal, *, retry: bool = False, seen: set[str] | None = None
    ) -> dict[str, int]:
        """About how many calls and tokens these rows take, and how many more if the first wording is in doubt."""
        total = Counter(calls=0, recorded=0, prompt_tokens=0, completion_tokens=0, if_in_doubt=0)
        seen = set() if seen is None else seen
        for values in rows:
            first = self._first.estimate_all([values], journal, retry=retry, seen=seen)
            total.update(first)
            if not first["calls"] and self._is_first_enough(journal, values):
                continue
            second = self._second.estimate_all([values], journal, retry=retry, seen=seen)
            if self._always or not first["calls"]:
                total.update(second)
            else:
                tokens = {f"{name}_if_in_doubt": second[name] for name in ("prompt_tokens", "completion_tokens")}
                total.update(if_in_doubt=second["calls"], **tokens)
        return dict(total)

    def cost(self, values: Mapping[str, str]) -> float:
        """About what the calls for a row cost at least, in dollars; 0 where the price is not known."""
        return sum(column_judge.cost(values) for column_judge in (self._both if self._always else self._both[:1]))

    def most(self, values: Mapping[str, str]) -> float:
        """The most that one call can cost, in dollars."""
        return max(column_judge.most(values) for column_judge in self._both)
