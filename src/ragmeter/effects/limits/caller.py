"""Makes calls: one per key at a time, at the current pace, within the budget, with retries."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from ragmeter.effects.limits.budget import Budget
from ragmeter.effects.limits.pace import Pace, Retries
from ragmeter.effects.limits.patience import GIVE_UP_AFTER, Patience
from ragmeter.effects.replies.journal import Journal, Reply
from ragmeter.effects.replies.usage import EffortCounts, UsageCounter
from ragmeter.errors import EndpointError
from ragmeter.hints import by_caller, for_python, option
from ragmeter.io.cells import whole
from ragmeter.table import SKIPPED_BUDGET, STOPPED

_POLL = 0.05
Send = Callable[[], Awaitable[Reply]]


class TryAgain(Exception):
    """A call failed in a way that may pass: the adapter raises it, and the caller retries.

    `partial_answer` is what had arrived of the answer.

    `outcome` is the row's outcome if all retries fail. `overloaded`: the server is busy, and asks for a pause of
    `after` seconds if that is known. `slow`: it has not replied in time. `billed`: it may have cost something.
    `at_once`: retry immediately; not counted as a failure. `fatal`: the server can't be reached; this error ends the
    run if no call has succeeded so far.
    """

    def __init__(
        self,
        outcome: str,
        cause: str,
        *,
        overloaded: bool = False,
        slow: bool = False,
        after: float | None = None,
        billed: bool = False,
        at_once: bool = False,
        fatal: Exception | None = None,
    ) -> None:
        super().__init__(cause)
        self.outcome = outcome
        self.cause = whole(cause)
        self.overloaded = overloaded
        self.slow = slow
        self.after = after
        self.billed = billed
        self.at_once = at_once
        self.fatal = fatal
        self.partial_answer: str | None = None


class GiveUp(Exception):
    """A call failed, and would fail again. `fatal` ends the run if no call has succeeded so far."""

    def __init__(self, outcome: str, cause: str, *, fatal: Exception | None = None) -> None:
        super().__init__(cause)
        self.outcome = outcome
        self.cause = whole(cause)
        self.fatal = fatal
        self.partial_answer: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """A call without a reply, and why. It is written to the run, so it names parameters as Python does.

    `partial_answer` is what had arrived of a reply that broke off; `written` is the cause with flags as well.
    """

    outcome: str
    cause: str
    partial_answer: str | None = None
    written: str = field(default="", init=False, repr=False, compare=False)

    @classmethod
    def of(cls, problem: TryAgain | GiveUp) -> Failure:
        """The failure that a call's last problem is."""
        return cls(problem.outcome, problem.cause, problem.partial_answer)

    def __post_init__(self) -> None:
        object.__setattr__(self, "written", self.cause)
        object.__setattr__(self, "cause", for_python(self.cause))


class Caller:
    """Makes calls, and records the replies in the journal.

    `scope` names the run that the budget is for: what the journal says was spent on it before counts. The run stops
    when no call has succeeded for `give_up_after` seconds; `give_up_option` is how the user may change that.
    """

    def __init__(
        self,
        journal: Journal,
        pace: Pace,
        budget: Budget | None = None,
        retries: Retries = Retries(),  # noqa: B008 - frozen
        scope: str = "",
        give_up_after: float = GIVE_UP_AFTER,
        give_up_option: str = option("give_up_after"),
    ) -> None:
        self.journal = journal
        self.pace = pace
        self.budget = budget or Budget()
        self.scope = scope
        spent = journal.spent(scope)
        self.budget.spent, self.budget.made = spent.cost, spent.calls
        self.retries = retries
        self.effort = EffortCounts()
        self.usage = UsageCounter()
        self._under_way: dict[str, asyncio.Future[Reply | Failure]] = {}
        self._replied: set[str] = set()  # the keys of replies that were made now or counted as recorded
        self._worked = False
        self._waiting_for_others = 0
        self._failed_in_a_row = 0
        self._outage: Failure | None = None
        self._stop = asyncio.Event()
        self._patience = Patience(give_up_after, lambda: self.pace.inside > 0, self._give_up)
        self._give_up_option = give_up_option
        self._gave_up = False

    def recorded(self, key: str) -> Reply | None:
        """The reply recorded under `key`, if there is one. It counts as a success: later errors are not fatal."""
        reply = self.journal.get(key)
        if reply is not None:
            self.effort.from_journal += key not in self._replied
            self._replied.add(key)
            self._worked = True
        return reply

    async def ask(self, key: str, send: Send, *, worst: float = 0.0) -> Reply | Failure:
        """The reply under `key`: from the journal, from a call of the same key that is under way, or from a new one.

        `worst` is the most that it can cost.
        """
        if (cached_reply := self.recorded(key)) is not None:
            self.usage.add(key, cached_reply)
            return cached_reply
        if key in self._under_way:
            return await asyncio.shield(self._under_way[key])
        self._under_way[key] = asyncio.get_running_loop().create_future()
        try:
            result = await self.attempt(send, worst=worst)
            if isinstance(result, Reply):
                await self.journal.record(key, result)
                self._replied.add(key)
                self.usage.add(key, result)
            self._under_way[key].set_result(result)
            return result
        except BaseException as error:
            self._under_way[key].set_exception(error)
            self._under_way[key].exception()  # marks it as retrieved: maybe nobody else waits for it
            raise
        finally:
            del self._under_way[key]

    async def attempt(self, send: Send, *, worst: float = 0.0, last_resort: bool = True) -> Reply | Failure:
        """Call until there is a reply or the retries are used up. The reply is not recorded.

        With `last_resort=False` a failure is not counted: the caller has another way to get the reply.
        """
        attempts = refusals = immediate = 0
        result: Reply | TryAgain | GiveUp | None = None
        while True:
            if not await self.budget.reserve(worst):
                return await self._not_begun(result)
            if not await self._enter(worst):
                return await self._not_begun(result)
            started = self.pace.now()
            attempts += 1
            try:
                result = await self._once(send, worst, attempts)
                if not isinstance(result, Reply) and result.fatal is not None:
                    await self._until_another_works()
            finally:
                self.pace.leave()
            if isinstance(result, Reply):
                self._worked = True
                self._failed_in_a_row = 0
                self._patience.succeeded()
                self.pace.went_well(started)
                return result
            if isinstance(result, GiveUp):
                if result.fatal is not None and not self._worked:
                    raise result.fatal
                self._patience.failed(result.cause)
                self.effort.failed += last_resort
                return Failure.of(result)
            if result.at_once and immediate < 10:
                immediate += 1
                continue
            self._patience.failed(result.cause)
            if result.slow:
                self.pace.timed_out(started)
            if result.overloaded:
                self.pace.too_much(started)
                refusals += 1
            if result.after is not None:
                self.pace.pause(result.after)
            if refusals > self.retries.refusals or attempts - refusals - immediate > self.retries.failures:
                if result.fatal is not None and not self._worked:
                    raise result.fatal
                return self._lost(result)
            self.effort.retried += 1
            await self._wait(self.retries.wait(attempts - 1))

    async def _until_another_works(self) -> None:
        """Wait, in the slot, for the calls under way: where one of them works, this error is of its row only.

        Without it, what a run comes to would depend on which of its first calls ends first.
        """
        self._waiting_for_others += 1
        try:
            while not self._worked and self.pace.inside > self._waiting_for_others:
                await asyncio.sleep(_POLL)
        finally:
            self._waiting_for_others -= 1

    async def _enter(self, worst: float) -> bool:
        """Wait for a slot; without one, the reserved budget is released."""
        try:
            entered = await self.pace.enter()
        except BaseException:
            self.budget.release(worst)
            raise
        if not entered:
            self.budget.release(worst)
        return entered

    async def _not_begun(self, problem: Reply | TryAgain | GiveUp | None) -> Failure:
        """The result of a call that may not begin; `problem` is what came of it before.

        Where the run gave up, a row that was tried has failed; one that was not is still to be asked, by the next run.
        """
        if not self.pace.closed:
            return Failure(SKIPPED_BUDGET, self.budget.reason())
        if not self._gave_up:
            return self._outage or Failure(STOPPED, "stopped")
        if isinstance(problem, TryAgain) and self._worked:
            self.effort.failed += 1
            return Failure.of(problem)
        while self.pace.inside:  # the error cancels all tasks, and a call under way may have been paid for
            await asyncio.sleep(_POLL)
        again = by_caller("run the same command again", "make the same call again")
        patience = self._patience
        raise EndpointError(
            f"stopped: no call has succeeded for {patience.seconds:g} s, the last one: {patience.last_cause}",
            hint=f"replies so far are recorded: {again} to go on; {self._give_up_option} waits longer",
        )

    async def _once(self, send: Send, worst: float, attempt: int) -> Reply | TryAgain | GiveUp:
        cost = worst  # a call that was cancelled may have cost its maximum
        try:
            self.journal.begin_call(self.scope, worst, limited=self.budget.is_limited)
            self.effort.made += 1
            begun = time.perf_counter()
            reply = await send()
            cost = worst if reply.cost is None else reply.cost
            latency = (time.perf_counter() - begun) * 1000
            tokens = reply.prompt_tokens, reply.completion_tokens
            return Reply(reply.body, *tokens, reply.cost, latency, attempt)
        except TryAgain as problem:
            cost = worst if problem.billed else 0.0
            return problem
        except GiveUp as problem:
            cost = 0.0
            return problem
        finally:
            self.budget.settle(worst, cost)
            self.journal.end_call(self.scope, worst, cost)

    def _lost(self, problem: TryAgain) -> Failure:
        """Count a failure. After many in a row without a success the server is down: stop calling."""
        self.effort.failed += 1
        self._failed_in_a_row += 1
        if self._outage is None and self._failed_in_a_row >= max(10, 2 * self.pace.most):
            failed = f"{self._failed_in_a_row} calls in a row have failed"
            self._outage = Failure(problem.outcome, f"not asked: {failed}, the last: {problem.cause}")
            self.stop()
        return Failure.of(problem)

    def _give_up(self) -> None:
        if not self.pace.closed:
            self._gave_up = True
            self.stop()

    def stop(self) -> None:
        """Begin no further calls; those under way may finish."""
        self.pace.close()
        self.budget.close()
        self._stop.set()

    async def _wait(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._stop.wait(), seconds)
        except TimeoutError:
            return
