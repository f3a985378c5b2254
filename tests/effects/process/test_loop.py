"""Asynchronous work for those who are not."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import sys

import pytest

from ragmeter.effects.process.loop import Stoppable, for_each, run
from ragmeter.errors import Interrupted
from tests.command import PATIENCE


def test_it_returns_and_raises() -> None:
    async def good(stop: Stoppable) -> int:
        await asyncio.sleep(0)
        return 7

    async def bad(stop: Stoppable) -> int:
        raise KeyError("x")

    assert run(good) == 7
    with pytest.raises(KeyError):
        run(bad)


def test_a_notebook_has_a_loop_already() -> None:
    async def inner(stop: Stoppable) -> int:
        return 7

    async def notebook() -> int:
        return run(inner)

    assert asyncio.run(notebook()) == 7


def test_a_second_ctrl_c_while_the_first_is_answered_stops_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    class Impatient(io.StringIO):
        def write(self, text: str) -> int:
            if "press Ctrl-C again" in text:
                signal.raise_signal(signal.SIGINT)
            return super().write(text)

    async def work(stop: Stoppable) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.Event().wait()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(sys, "stderr", Impatient())
    ended: BaseException | None = None
    try:
        run(work)
    except BaseException as error:
        ended = error
    finally:
        assert signal.signal(signal.SIGINT, before) is signal.default_int_handler
    assert isinstance(ended, Interrupted)


def test_each_item_once_and_so_many_at_a_time() -> None:
    seen: list[int] = []
    inside = peak = 0
    full = asyncio.Event()

    async def work(item: int) -> None:
        nonlocal inside, peak
        inside += 1
        peak = max(peak, inside)
        if peak == 4:
            full.set()
        await asyncio.wait_for(full.wait(), PATIENCE)
        await asyncio.sleep(0)
        inside -= 1
        seen.append(item)

    asyncio.run(for_each(range(30), work, 4))
    assert sorted(seen) == list(range(30))
    assert peak == 4


def test_the_first_error_comes_out_as_itself() -> None:
    async def work(item: int) -> None:
        await asyncio.sleep(0)
        raise ValueError(item)

    with pytest.raises(ValueError, match="0"):
        asyncio.run(for_each(range(5), work, 2))
