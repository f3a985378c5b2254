"""When nothing works any more: how long a run goes on, and what becomes of its rows."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from ragmeter.effects.limits.caller import Caller, Failure, GiveUp, TryAgain
from ragmeter.effects.limits.calls import Limits
from ragmeter.effects.limits.pace import LONGEST_PAUSE, Pace, Retries
from ragmeter.effects.limits.patience import Patience
from ragmeter.effects.process.loop import for_each
from ragmeter.effects.replies.journal import Journal, Reply
from ragmeter.errors import EndpointError, UsageError
from tests.command import PATIENCE

OFTEN = Retries(failures=1_000_000, refusals=1_000_000, base=0.001)


def run(scenario: Callable[[Caller], Awaitable[Any]], *, workers: int = 1, path: Path | None = None) -> Any:
    async def work() -> Any:
        with Journal(path) as journal:
            caller = Caller(journal, Pace(workers), None, OFTEN, give_up_after=0.1)
            return await asyncio.wait_for(scenario(caller), PATIENCE)

    return asyncio.run(work())


async def works() -> Reply:
    return Reply('"good"')


def fails(**keywords: Any) -> Callable[[], Awaitable[Reply]]:
    async def send() -> Reply:
        raise TryAgain("judge_error", "HTTP 429", **keywords)

    return send


async def ask_all(caller: Caller, send: Callable[[], Awaitable[Reply]]) -> None:
    for number in range(1_000_000):
        await caller.ask(str(number), send)


@pytest.mark.parametrize(
    "keywords",
    [{}, {"overloaded": True}, {"overloaded": True, "after": LONGEST_PAUSE}],
    ids=["failures", "429", "429 with Retry-After"],
)
def test_a_run_without_a_success_stops(keywords: dict[str, Any]) -> None:
    async def scenario(caller: Caller) -> None:
        with pytest.raises(EndpointError) as error:
            await caller.ask("k", fails(**keywords))
        assert error.value.message == "stopped: no call has succeeded for 0.1 s, the last one: HTTP 429"
        assert "give_up_after=..." in error.value.hint
        assert "--give-up-after" in error.value.for_command_line()

    run(scenario)


def test_what_will_not_pass_is_no_success() -> None:
    async def refuses() -> Reply:
        await asyncio.sleep(0.01)
        raise GiveUp("judge_error", "HTTP 400")

    async def scenario(caller: Caller) -> None:
        with pytest.raises(EndpointError, match="HTTP 400"):
            await ask_all(caller, refuses)

    run(scenario)


def test_the_last_rows_have_failed_and_the_run_is_complete() -> None:
    async def scenario(caller: Caller) -> None:
        assert isinstance(await caller.ask("good", works), Reply)
        assert await caller.ask("bad", fails()) == Failure("judge_error", "HTTP 429")
        assert caller.effort.failed == 1

    run(scenario)


def test_rows_that_were_never_asked_stop_it() -> None:
    async def scenario(caller: Caller) -> None:
        assert isinstance(await caller.ask("good", works), Reply)
        with pytest.raises(EndpointError, match="no call has succeeded"):
            await ask_all(caller, fails())

    run(scenario)


def test_calls_under_way_are_recorded_before_it_stops(tmp_path: Path) -> None:
    async def scenario(caller: Caller) -> None:
        running = asyncio.Event()

        async def slow() -> Reply:
            running.set()
            while not caller.pace.closed:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.2)
            return Reply('"late"')

        async def ask(number: int) -> None:
            if number:
                await running.wait()
            await caller.ask(str(number), fails() if number else slow)

        with pytest.raises(EndpointError):
            await for_each(range(10), ask, 5)

    path = tmp_path / "journal.sqlite"
    run(scenario, workers=2, path=path)
    with Journal(path) as journal:
        assert "0" in journal


def test_a_success_gives_all_the_time_again() -> None:
    async def work() -> None:
        over: list[int] = []
        patience = Patience(0.01, lambda: False, lambda: over.append(1))
        patience.failed("x")
        patience.succeeded()
        await asyncio.sleep(0.1)
        assert not over
        patience.failed("x")
        while not over:
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(work(), PATIENCE))


@pytest.mark.parametrize(("ending", "stops"), [("succeeded", False), ("failed", True)])
def test_calls_under_way_decide_when_the_time_is_over(ending: str, stops: bool) -> None:
    async def work() -> None:
        over: list[int] = []
        asked = asyncio.Event()

        def is_calling() -> bool:
            asked.set()
            return True

        patience = Patience(0.01, is_calling, lambda: over.append(1))
        patience.failed("first")
        await asyncio.wait_for(asked.wait(), PATIENCE)
        assert not over
        patience.succeeded() if ending == "succeeded" else patience.failed("second")
        assert bool(over) == stops

    asyncio.run(work())


@pytest.mark.parametrize("seconds", [0, -1, math.nan])
def test_a_time_that_is_none(seconds: float) -> None:
    with pytest.raises(UsageError, match="give_up_after must be above 0"):
        Limits(give_up_after=seconds)
