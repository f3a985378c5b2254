"""What may still be spent."""

from __future__ import annotations

import asyncio
import random

from ragmeter.effects.limits.budget import Budget


def test_a_number_of_calls() -> None:
    async def work() -> None:
        budget = Budget(calls=2)
        assert [await budget.reserve(0.0) for _ in range(3)] == [True, True, False]
        budget.settle(0.0, 0.0)
        assert not await budget.reserve(0.0)
        assert budget.reason() == "the limit of 2 calls was reached"
        assert await (one := Budget(calls=1)).reserve(0.0)
        assert one.reason() == "the limit of 1 call was reached"

    asyncio.run(work())


def test_money_waits_for_what_is_under_way() -> None:
    async def work() -> None:
        budget = Budget(dollars=1.0)
        assert await budget.reserve(0.6)
        waiting = asyncio.create_task(budget.reserve(0.6))
        await asyncio.sleep(0)
        assert not waiting.done()
        budget.settle(0.6, 0.1)  # it cost less than feared
        assert await waiting
        budget.settle(0.6, 0.6)
        assert budget.spent == 0.7
        assert not await budget.reserve(0.6)
        assert await budget.reserve(0.3)

    asyncio.run(work())


def test_it_is_never_overrun() -> None:
    async def work() -> None:
        chance = random.Random(7)
        budget = Budget(dollars=5.0)
        done = 0

        async def call() -> None:
            nonlocal done
            worst = chance.uniform(0.01, 0.5)
            if await budget.reserve(worst):
                await asyncio.sleep(chance.uniform(0, 0.002))
                budget.settle(worst, worst * chance.random())
                done += 1

        await asyncio.gather(*(call() for _ in range(400)))
        assert 4.4 < budget.spent <= 5.0
        assert done == budget.made

    asyncio.run(work())
