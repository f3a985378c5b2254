"""Many calls within limits: journal, pace, budget, retries and Ctrl-C, put together in one place."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from ragmeter.effects.argument_checks import check_above_zero, check_number, check_whole
from ragmeter.effects.limits.budget import Budget
from ragmeter.effects.limits.caller import Caller
from ragmeter.effects.limits.pace import Pace, Retries
from ragmeter.effects.limits.patience import GIVE_UP_AFTER
from ragmeter.effects.process.loop import Stoppable, run
from ragmeter.effects.replies.journal import Journal
from ragmeter.hints import option, parameter

Result = TypeVar("Result")


@dataclass(frozen=True)
class Limits:
    """How many calls at once, how often again after a failure, how many in all, and the most dollars to spend.

    After `give_up_after` seconds in which no call has succeeded, the run stops, and names `give_up_option`.
    """

    workers: int = 4
    retries: int | Retries = 3
    max_calls: int | None = None
    budget: float | None = None
    give_up_after: float = GIVE_UP_AFTER
    give_up_option: str = option("give_up_after")

    def __post_init__(self) -> None:
        check_whole(parameter("workers"), self.workers, 1)
        if not isinstance(self.retries, Retries):
            check_whole(parameter("retries"), self.retries, 0)
        check_whole(parameter("max_calls"), self.max_calls, 0, optional=True)
        check_number(parameter("budget"), self.budget, optional=True)
        check_above_zero(parameter("give_up_after"), self.give_up_after)


def run_calls(
    work: Callable[[Caller], Coroutine[Any, Any, Result]],
    limits: Limits,
    journal: Journal | None = None,
    scope: str = "",
) -> Result:
    """Run `work` with a caller that keeps the limits. Without a journal, no reply outlives the call.

    `scope` names the run that the budget is kept for: what the journal says was spent on it before counts. Ctrl-C lets
    calls under way end and begins no other.
    """
    if journal is None:
        with Journal(None) as in_memory:
            return run_calls(work, limits, in_memory, scope)
    retries = limits.retries if isinstance(limits.retries, Retries) else Retries.of(limits.retries)

    async def main(stop: Stoppable) -> Result:
        budget = Budget(limits.budget, limits.max_calls)
        pace, patience = Pace(limits.workers), (limits.give_up_after, limits.give_up_option)
        caller = Caller(journal, pace, budget, retries, scope, *patience)
        stop.calls(caller.stop)
        return await work(caller)

    return run(main)
