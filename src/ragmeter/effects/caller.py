"""Makes calls: one at a time for each key, at the pace that holds, within the budget, again where that may help."""

from __future__ import annotations

import asyncio
import math
import time
from array import array
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from ragmeter.effects.budget import Budget
from ragmeter.effects.journal import Journal, Reply
from ragmeter.effects.pace import Pace, Retries
from ragmeter.hints import for_python
from ragmeter.io.cells import whole
from ragmeter.table import SKIPPED_BUDGET

#: The outcome of a call that was not made because a person stopped the run. It ends up in no file.
STOPPED = "stopped"
Send = Callable[[], Awaitable[Reply]]


class TryAgain(Exception):
    """A call failed in a way that may pass: the adapter says so, and the caller owns the loop.

    `outcome` is what it comes to if it does not pass. `overloaded`: the other side has too much to do, and asks for a
    pause of `after` seconds if that is known. `billed`: it may have cost something all the same. `at_once`: it was a
    misunderstanding, which is cleared up, and no failure. `fatal`: nobody is there; that error ends the run if nothing
    has worked so far.
    """

    def __init__(
        self,
        outcome: str,
        cause: str,
        *,
        overloaded: bool = False,
        after: float | None = None,
        billed: bool = False,
        at_once: bool = False,
        fatal: Exception | None = None,
    ) -> None:
        super().__init__(cause)
        self.outcome = outcome
        self.cause = whole(cause)
        self.overloaded = overloaded
        self.after = after
        self.billed = billed
        self.at_once = at_once
        self.fatal = fatal


class GiveUp(Exception):
    """A call failed, and would fail again. If nothing has worked so far, `fatal` ends the run with that error."""

    def __init__(self, outcome: str, cause: str, *, fatal: Exception | None = None) -> None:
        super().__init__(cause)
        self.outcome = outcome
        self.cause = whole(cause)
        self.fatal = fatal


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that came to nothing, and why. It is kept in the run, so it names parameters as Python does."""

    outcome: str
    cause: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "cause", for_python(self.cause))


@dataclass(slots=True)
class Effort:
    """What this process did: calls found in the journal, made, tried again, and failed for good."""

    from_journal: int = 0
    made: int = 0
    retried: int = 0
    failed: int = 0


class Usage:
    """What the replies of a run have cost, whoever asked for them and when. Each key counts once."""

    def __init__(self) -> None:
        self._keys: set[str] = set()
        self._costs = array("d")
        self.latencies = array("d")
        self.prompt_tokens = self.completion_tokens = 0
        self.without_tokens = self.without_cost = 0

    def add(self, key: str, reply: Reply) -> None:
        """Count a reply, unless it was counted before."""
        if key in self._keys:
            return
        self._keys.add(key)
        self.latencies.append(reply.latency_ms)
        self.prompt_tokens += reply.prompt_tokens or 0
        self.completion_tokens += reply.completion_tokens or 0
        self.without_tokens += reply.prompt_tokens is None or reply.completion_tokens is None
        self.without_cost += reply.cost is None
        self._costs.append(reply.cost or 0.0)

    def as_dict(self) -> dict[str, Any]:
        """Calls, tokens and dollars, the same whatever the order of calls. Without a price the cost is None."""
        calls = len(self._keys)
        return {
            "calls": calls,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "calls_without_token_counts": self.without_tokens,
            "cost_usd": None if calls and self.without_cost == calls else math.fsum(self._costs),
        }

    def latency(self) -> dict[str, float] | None:
        """Percentiles of the calls' milliseconds."""
        if not self.latencies:
            return None
        ordered = sorted(self.latencies)
        last = len(ordered) - 1
        return {f"p{p}": round(ordered[round(last * p / 100)], 1) for p in (50, 95, 99)} | {
            "max": round(ordered[-1], 1)
        }


class Caller:
    """Asks, and keeps what was answered.

    `scope` names the run that a budget is kept for: what the journal says was spent on it before counts.
    """

    def __init__(
        self,
        journal: Journal,
        pace: Pace,
        budget: Budget | None = None,
        retries: Retries = Retries(),  # noqa: B008 - frozen
        scope: str = "",
    ) -> None:
        self.journal = journal
        self.pace = pace
        self.budget = budget or Budget()
        self.scope = scope
        spent = journal.spent(scope)
        self.budget.spent, self.budget.made = spent.cost, spent.calls
        self.retries = retries
        self.effort = Effort()
        self.usage = Usage()
        self._flying: dict[str, asyncio.Future[Reply | Failure]] = {}
        self._worked = False
        self._failed_in_a_row = 0
        self._outage: Failure | None = None
        self._stop = asyncio.Event()

    def recorded(self, key: str) -> Reply | None:
        """The reply under `key` that an earlier run has kept, if there is one. It shows that this can work."""
        known = self.journal.get(key)
        if known is not None:
            self.effort.from_journal += 1
            self._worked = True
        return known

    async def ask(self, key: str, send: Send, *, worst: float = 0.0) -> Reply | Failure:
        """The reply under `key`: from the journal, from a call of the same key that is under way, or from a new one.

        `worst` is the most that it can cost.
        """
        if (known := self.recorded(key)) is not None:
            self.usage.add(key, known)
            return known
        if key in self._flying:
            return await asyncio.shield(self._flying[key])
        self._flying[key] = asyncio.get_running_loop().create_future()
        try:
            found = await self.attempt(send, worst=worst)
            if isinstance(found, Reply):
                await self.journal.record(key, found)
                self.usage.add(key, found)
            self._flying[key].set_result(found)
            return found
        except BaseException as error:
            self._flying[key].set_exception(error)
            self._flying[key].exception()  # nobody else may be waiting for it
            raise
        finally:
            del self._flying[key]

    async def attempt(self, send: Send, *, worst: float = 0.0, last_resort: bool = True) -> Reply | Failure:
        """Call until there is a reply, or no sense in going on. Nothing is kept of it.

        Where there is another way if it fails, it is not the `last_resort`, and its failure does not count.
        """
        attempts = refusals = misunderstood = 0
        while True:
            if not await self.budget.reserve(worst):
                return self._stopped() if self.pace.closed else Failure(SKIPPED_BUDGET, self.budget.reason())
            if not await self._enter(worst):
                return self._stopped()
            started = self.pace.now()
            attempts += 1
            try:
                found = await self._once(send, worst, attempts)
            finally:
                self.pace.leave()
            if isinstance(found, Reply):
                self._worked = True
                self._failed_in_a_row = 0
                self.pace.went_well()
                return found
            if isinstance(found, GiveUp):
                if found.fatal is not None and not self._worked:
                    raise found.fatal
                self.effort.failed += last_resort
                return Failure(found.outcome, found.cause)
            if found.at_once and misunderstood < 10:
                misunderstood += 1
                continue
            if found.overloaded:
                self.pace.too_much(started)
                refusals += 1
            if found.after is not None:
                self.pace.pause(found.after)
            if refusals > self.retries.refusals or attempts - refusals - misunderstood > self.retries.failures:
                if found.fatal is not None and not self._worked:
                    raise found.fatal
                return self._lost(found)
            self.effort.retried += 1
            await self._wait(self.retries.wait(attempts - 1))

    async def _enter(self, worst: float) -> bool:
        """Get a place; the money that was set aside for it is free again if there is none."""
        try:
            entered = await self.pace.enter()
        except BaseException:
            self.budget.release(worst)
            raise
        if not entered:
            self.budget.release(worst)
        return entered

    def _stopped(self) -> Failure:
        return self._outage or Failure(STOPPED, "stopped")

    async def _once(self, send: Send, worst: float, attempt: int) -> Reply | TryAgain | GiveUp:
        cost = worst  # what was cut off in the middle may have cost the most
        begun = time.perf_counter()
        self.effort.made += 1
        try:
            reply = await send()
            cost = worst if reply.cost is None else reply.cost
            return replace(reply, latency_ms=(time.perf_counter() - begun) * 1000, attempts=attempt)
        except TryAgain as problem:
            cost = worst if problem.billed else 0.0
            return problem
        except GiveUp as problem:
            cost = 0.0
            return problem
        finally:
            self.budget.settle(worst, cost)
            self.journal.charge(self.scope, cost)

    def _lost(self, problem: TryAgain) -> Failure:
        """Count a failure. Where one follows another and nothing works, the other side is down: stop asking."""
        self.effort.failed += 1
        self._failed_in_a_row += 1
        if self._outage is None and self._failed_in_a_row >= max(10, 2 * self.pace.most):
            row = f"{self._failed_in_a_row} calls in a row have failed"
            self._outage = Failure(problem.outcome, f"not asked: {row}, the last: {problem.cause}")
            self.stop()
        return Failure(problem.outcome, problem.cause)

    def stop(self) -> None:
        """Begin nothing more; what is under way may come to its end."""
        self.pace.close()
        self.budget.close()
        self._stop.set()

    async def _wait(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._stop.wait(), seconds)
        except TimeoutError:
            return
