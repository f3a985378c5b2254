"""Calls: again where that may help, once for each key, and stopped when nothing works."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from ragmeter.effects.limits.budget import Budget
from ragmeter.effects.limits.caller import Caller, Failure, GiveUp, TryAgain
from ragmeter.effects.limits.pace import Pace, Retries
from ragmeter.effects.process.loop import for_each
from ragmeter.effects.replies.journal import Journal, Reply
from ragmeter.errors import EndpointError
from ragmeter.table import SKIPPED_BUDGET, STOPPED
from tests.command import PATIENCE

QUICK = Retries(failures=3, refusals=5, base=0.001)
Scenario = Callable[[Caller], Awaitable[Any]]


def run(scenario: Scenario, *, workers: int = 4, budget: Budget | None = None, path: Path | None = None) -> Any:
    async def work() -> Any:
        with Journal(path) as journal:
            return await scenario(Caller(journal, Pace(workers), budget, QUICK))

    return asyncio.run(work())


class Script:
    """Answers what it was told to, one after another, and then well."""

    def __init__(self, *steps: Exception) -> None:
        self.steps = list(steps)
        self.calls = 0

    async def __call__(self) -> Reply:
        self.calls += 1
        if self.steps:
            raise self.steps.pop(0)
        return Reply('"good"', 10, 5, 0.01)


def again(**keywords: Any) -> TryAgain:
    return TryAgain("judge_error", "it broke", **keywords)


def test_it_tries_again_until_it_works() -> None:
    async def scenario(caller: Caller) -> None:
        send = Script(again(), again(), again())
        reply = await caller.ask("k", send)
        assert isinstance(reply, Reply)
        assert reply.attempts == send.calls == 4
        assert caller.effort.retried == 3

    run(scenario)


def test_it_gives_up_after_so_many_failures() -> None:
    async def scenario(caller: Caller) -> None:
        send = Script(*(again() for _ in range(9)))
        assert await caller.ask("k", send) == Failure("judge_error", "it broke")
        assert send.calls == 4
        assert caller.journal.get("k") is None  # a failure is asked again next time

    run(scenario)


def test_a_busy_server_is_asked_more_often_and_less_at_once() -> None:
    async def scenario(caller: Caller) -> None:
        send = Script(*(again(overloaded=True, after=0.001) for _ in range(5)))
        assert isinstance(await caller.ask("k", send), Reply)
        assert send.calls == 6
        assert caller.pace.limit < 4
        assert isinstance(await caller.ask("l", Script(*(again(overloaded=True) for _ in range(6)))), Failure)

    run(scenario)


def test_what_will_not_pass_is_not_tried_again() -> None:
    async def scenario(caller: Caller) -> None:
        send = Script(GiveUp("judge_error", "no"))
        assert await caller.ask("k", send) == Failure("judge_error", "no")
        assert send.calls == 1

    run(scenario)


def test_a_wrong_key_ends_the_run_unless_something_has_worked() -> None:
    async def scenario(caller: Caller) -> None:
        refused = GiveUp("judge_error", "401", fatal=EndpointError("wrong key"))
        with pytest.raises(EndpointError):
            await caller.ask("a", Script(refused))
        await caller.ask("b", Script())
        assert isinstance(await caller.ask("c", Script(refused)), Failure)

    run(scenario)


def test_a_fatal_error_waits_for_the_calls_that_are_under_way() -> None:
    async def scenario(caller: Caller, other: Script) -> list[Any]:
        release = asyncio.Event()

        async def slow() -> Reply:
            await release.wait()
            return await other()

        refused = GiveUp("judge_error", "403", fatal=EndpointError("flagged"))
        calls = [caller.ask("slow", slow), *(caller.ask(key, Script(refused)) for key in "ab")]
        tasks = [asyncio.ensure_future(call) for call in calls]
        done, _ = await asyncio.wait(tasks, timeout=0.2)
        assert not done
        release.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    worked, *refusals = run(lambda caller: scenario(caller, Script()))
    assert isinstance(worked, Reply)
    assert refusals == [Failure("judge_error", "403")] * 2
    failed, *refusals = run(lambda caller: scenario(caller, Script(GiveUp("judge_error", "too long"))))
    assert failed == Failure("judge_error", "too long")
    assert [str(refusal) for refusal in refusals] == ["flagged"] * 2


def test_the_journal_answers_first(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"

    async def first(caller: Caller) -> None:
        await caller.ask("k", Script())

    async def second(caller: Caller) -> None:
        send = Script()
        reply = await caller.ask("k", send)
        assert isinstance(reply, Reply)
        assert (reply.body, reply.cost, send.calls, caller.effort.from_journal) == ('"good"', 0.01, 0, 1)

    run(first, path=path)
    run(second, path=path)


def test_the_same_key_is_asked_once_at_a_time() -> None:
    async def scenario(caller: Caller) -> None:
        send = Script(again())
        replies = await asyncio.gather(*(caller.ask("k", send) for _ in range(10)))
        assert send.calls == 2
        assert len({reply.body for reply in replies if isinstance(reply, Reply)}) == 1
        assert caller.usage.total().calls == 1

    run(scenario)


def test_no_more_than_the_workers_at_once() -> None:
    async def scenario(caller: Caller) -> None:
        inside = peak = 0
        full = asyncio.Event()

        async def send() -> Reply:
            nonlocal inside, peak
            inside += 1
            peak = max(peak, inside)
            if peak == 4:
                full.set()
            await asyncio.wait_for(full.wait(), PATIENCE)
            await asyncio.sleep(0)
            inside -= 1
            return Reply("1")

        await asyncio.gather(*(caller.ask(str(i), send) for i in range(50)))
        assert peak == 4

    run(scenario)


def test_the_budget_stops_it() -> None:
    async def scenario(caller: Caller) -> None:
        results = await asyncio.gather(*(caller.ask(str(i), Script(), worst=0.05) for i in range(100)))
        asked = [result for result in results if isinstance(result, Reply)]
        skipped = [result for result in results if isinstance(result, Failure)]
        assert {result.outcome for result in skipped} == {SKIPPED_BUDGET}
        assert caller.budget.spent == pytest.approx(0.01 * len(asked))
        assert 0.05 <= caller.budget.spent <= 0.1

    run(scenario, budget=Budget(dollars=0.1))


def test_every_attempt_is_a_call_for_the_limit() -> None:
    async def scenario(caller: Caller) -> None:
        send = Script(again(), again(), again())
        assert await caller.ask("k", send) == Failure(SKIPPED_BUDGET, "the limit of 2 calls was reached")
        assert send.calls == 2

    run(scenario, budget=Budget(calls=2))


def test_an_outage_stops_it() -> None:
    async def scenario(caller: Caller) -> None:
        sends = [Script(*(again() for _ in range(9))) for _ in range(200)]
        results: list[Reply | Failure] = []

        async def call(send: Script) -> None:
            results.append(await caller.ask(str(id(send)), send))

        await for_each(sends, call, 8)
        assert all(isinstance(result, Failure) and result.outcome == "judge_error" for result in results)
        assert sum(send.calls for send in sends) < 150  # not 800
        causes = {result.cause for result in results if isinstance(result, Failure) and "not asked: " in result.cause}
        assert causes == {"not asked: 10 calls in a row have failed, the last: it broke"}  # also if more fail later

    run(scenario)


def test_calls_that_fail_after_an_outage_do_not_change_what_is_said_of_it() -> None:
    async def scenario(caller: Caller) -> None:
        caller.retries = Retries(failures=0)
        release = asyncio.Event()

        async def fail_together() -> Reply:
            await release.wait()
            raise again()

        for number in range(9):
            await caller.ask(str(number), Script(again()))
        tasks = [asyncio.create_task(caller.ask(f"together {number}", fail_together)) for number in range(3)]
        while caller.pace.inside < 3:
            await asyncio.sleep(0.001)
        release.set()
        await asyncio.gather(*tasks)
        cause = "not asked: 10 calls in a row have failed, the last: it broke"
        assert await caller.ask("next", Script()) == Failure("judge_error", cause)

    run(scenario)


def test_a_stop_lets_what_is_under_way_finish() -> None:
    async def scenario(caller: Caller) -> None:
        release = asyncio.Event()

        async def slow() -> Reply:
            await release.wait()
            return Reply("1")

        tasks = [asyncio.create_task(caller.ask(str(i), slow)) for i in range(10)]
        while caller.pace.inside < 4:
            await asyncio.sleep(0.001)
        caller.stop()
        release.set()
        results = await asyncio.gather(*tasks)
        assert [isinstance(result, Reply) for result in results].count(True) == 4
        assert {result.outcome for result in results if isinstance(result, Failure)} == {STOPPED}
        assert len(caller.journal) == 4

    run(scenario)


def test_a_stop_ends_a_wait() -> None:
    async def scenario(caller: Caller) -> None:
        caller.retries = Retries(base=1000.0, cap=1000.0)
        task = asyncio.create_task(caller.ask("k", Script(again())))
        await asyncio.sleep(0.01)
        caller.stop()
        assert await asyncio.wait_for(task, PATIENCE) == Failure(STOPPED, "stopped")

    run(scenario)


def test_a_misunderstanding_is_no_failure() -> None:
    async def scenario(caller: Caller) -> None:
        send = Script(*(again(at_once=True) for _ in range(4)), again(), again(), again())
        assert isinstance(await caller.ask("k", send), Reply)
        assert send.calls == 8

    run(scenario)


def test_what_is_refused_is_no_outage() -> None:
    async def scenario(caller: Caller) -> None:
        for number in range(30):
            assert isinstance(await caller.ask(str(number), Script(GiveUp("judge_error", "HTTP 400"))), Failure)
        assert isinstance(await caller.ask("good", Script()), Reply)

    run(scenario, workers=1)


def test_what_worked_before_shows_that_it_can_work(tmp_path: Path) -> None:
    async def first(caller: Caller) -> None:
        await caller.ask("good", Script())

    async def second(caller: Caller) -> None:
        await caller.ask("good", Script())
        refused = GiveUp("judge_error", "403", fatal=EndpointError("flagged"))
        assert isinstance(await caller.ask("bad", Script(refused)), Failure)

    run(first, path=tmp_path / "journal.sqlite")
    run(second, path=tmp_path / "journal.sqlite")


def test_a_limit_is_the_runs_and_failed_calls_count(tmp_path: Path) -> None:
    made = []

    async def scenario(caller: Caller) -> None:
        send = Script(*(again() for _ in range(99)))
        await caller.ask("k", send)
        made.append(send.calls)

    for _ in range(3):
        run(scenario, budget=Budget(calls=5), path=tmp_path / "journal.sqlite")
    assert made == [4, 1, 0]


def test_who_waits_for_money_holds_no_place_and_hears_a_stop() -> None:
    async def scenario(caller: Caller) -> None:
        release = asyncio.Event()

        async def slow() -> Reply:
            await release.wait()
            return Reply("1", 1, 1, 0.01)

        tasks = [asyncio.create_task(caller.ask(str(i), slow, worst=0.06)) for i in range(4)]
        await asyncio.sleep(0.02)
        assert caller.pace.inside == 1
        caller.stop()
        release.set()
        results = await asyncio.gather(*tasks)
        assert [result.outcome for result in results if isinstance(result, Failure)] == [STOPPED] * 3

    run(scenario, budget=Budget(dollars=0.1))


def test_a_pause_of_nothing_does_not_switch_the_waiting_off() -> None:
    async def scenario(caller: Caller) -> None:
        caller.retries = Retries(failures=3, refusals=5, base=1000.0, cap=1000.0)
        task = asyncio.create_task(caller.ask("k", Script(again(overloaded=True, after=0.0))))
        await asyncio.sleep(0.05)
        assert not task.done()
        caller.stop()
        await task

    run(scenario)


def test_what_may_have_been_billed_counts_against_the_budget() -> None:
    async def scenario(caller: Caller) -> None:
        await caller.ask("k", Script(again(billed=True), again()), worst=0.2)
        assert caller.budget.spent == pytest.approx(0.2 + 0.0 + 0.01)

    run(scenario, budget=Budget(dollars=1.0))
