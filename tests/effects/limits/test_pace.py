"""How much goes on at once, and how long to wait."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter.effects.limits.pace import LONGEST_PAUSE, Pace, Retries, retry_after
from tests.command import PATIENCE

NOON = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("0", 0.0),
        ("2", 2.0),
        ("1.5", 1.5),
        ("-5", 0.0),
        ("999999999", LONGEST_PAUSE),
        ("inf", LONGEST_PAUSE),
        ("nan", None),
        ("soon", None),
        ("", None),
        ("Thu, 01 Jan 2026 12:00:07 GMT", 7.0),
        ("Thu, 01 Jan 2026 11:00:00 GMT", 0.0),
        ("Fri, 01 Jan 2100 00:00:00 GMT", LONGEST_PAUSE),
        ("Thu, 99 Jan 2026 99:00:00 GMT", None),
    ],
)
def test_retry_after(value: str | None, seconds: float | None) -> None:
    assert retry_after(value, NOON) == seconds


@given(st.text(max_size=40))
def test_no_header_breaks_it(value: str) -> None:
    seconds = retry_after(value, NOON)
    assert seconds is None or 0 <= seconds <= LONGEST_PAUSE


def test_waits_have_full_jitter_and_an_end() -> None:
    retries = Retries(base=1.0, cap=8.0)
    for attempt, most in ((0, 1), (1, 2), (2, 4), (3, 8), (4, 8), (1000, 8)):
        waits = [retries.wait(attempt) for _ in range(500)]
        assert 0 <= min(waits) < most / 10
        assert most * 0.9 < max(waits) <= most


def test_additive_increase_and_multiplicative_decrease() -> None:
    async def work() -> None:
        now = 100.0
        pace = Pace(64, lambda: now)
        pace.limit = 64.0
        pace.too_much(99.0)
        assert pace.limit == 32
        now = 101.0
        pace.too_much(99.5)  # it began before the last cut, and says nothing new
        assert pace.limit == 32
        pace.too_much(100.5)
        assert pace.limit == 16
        for _ in range(16):
            pace.went_well(now)
        assert 16.9 < pace.limit <= 17.0
        for _ in range(5000):
            pace.went_well(now)
        assert pace.limit == 64
        for start in range(200, 220):
            now = float(start)
            pace.too_much(start - 0.5)
        assert pace.limit == 1

    asyncio.run(work())


def test_a_reply_that_takes_as_long_as_one_that_never_came_opens_no_slot() -> None:
    now = 100.0
    pace = Pace(8, lambda: now)
    pace.timed_out(40.0)
    pace.timed_out(40.0)  # of the same eight calls
    assert pace.limit == 4
    pace.went_well(40.0)
    assert pace.limit == 4
    pace.went_well(41.0)
    assert pace.limit == 4.25


def test_no_more_than_the_limit_get_in() -> None:
    async def work() -> None:
        pace = Pace(5)
        peak = 0
        full = asyncio.Event()

        async def call() -> None:
            nonlocal peak
            assert await pace.enter()
            peak = max(peak, pace.inside)
            if peak == 5:
                full.set()
            await asyncio.wait_for(full.wait(), PATIENCE)
            await asyncio.sleep(0)
            pace.leave()

        await asyncio.gather(*(call() for _ in range(100)))
        assert peak == 5
        assert pace.inside == 0

    asyncio.run(work())


def test_a_pause_holds_everybody_back() -> None:
    async def work() -> None:
        pace = Pace(4)
        pace.pause(0.1)
        began = pace.now()
        assert all(await asyncio.gather(*(pace.enter() for _ in range(2))))
        assert pace.now() - began >= 0.099

    asyncio.run(work())


def test_it_opens_one_place_after_another() -> None:
    async def work() -> None:
        pace = Pace(64)
        entered = [asyncio.create_task(pace.enter()) for _ in range(64)]
        await asyncio.sleep(0)
        assert pace.inside < 20
        await asyncio.gather(*entered)
        assert pace.inside == pace.limit == 64

    asyncio.run(work())


def test_a_place_that_nobody_takes_goes_to_the_next() -> None:
    async def work() -> None:
        pace = Pace(1)
        assert await pace.enter()
        first, second = asyncio.create_task(pace.enter()), asyncio.create_task(pace.enter())
        await asyncio.sleep(0)
        pace.leave()
        first.cancel()
        assert await asyncio.wait_for(second, PATIENCE)
        assert pace.inside == 1

    asyncio.run(work())


def test_who_comes_first_gets_in_first() -> None:
    async def work() -> None:
        pace = Pace(2)
        order: list[int] = []

        async def call(number: int) -> None:
            for _ in range(3):
                await pace.enter()
                order.append(number)
                await asyncio.sleep(0)
                pace.leave()

        await asyncio.gather(*(call(number) for number in range(6)))
        assert sorted(order[:6]) == list(range(6))

    asyncio.run(work())


def test_a_closed_gate_lets_nobody_in() -> None:
    async def work() -> None:
        pace = Pace(1)
        assert await pace.enter()
        waiting = [asyncio.create_task(pace.enter()) for _ in range(3)]
        await asyncio.sleep(0)
        pace.close()
        assert await asyncio.gather(*waiting) == [False] * 3

    asyncio.run(work())
