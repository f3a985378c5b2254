"""When a page that was opened is ready for a question, without a browser and with a clock that is made up."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from ragmeter.targets.web import growth
from ragmeter.targets.web.looks import Signs
from ragmeter.targets.web.traffic import Traffic

BOX = {"boxes": 1, "fields": 1, "elements": 100}


@pytest.mark.parametrize(
    ("later", "expected"),
    [
        ([BOX], 0.625),  # no change for 0.3 s
        ([{**BOX, "fields": 0}], 2.0),  # it has no box
        ([{**BOX, "elements": count} for count in range(4)], 1.0),  # it still adds elements
    ],
)
def test_ready_once_it_has_a_box_and_does_not_change(
    later: list[Signs], expected: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(growth, "time", SimpleNamespace(monotonic=lambda: clock.now, perf_counter=lambda: clock.now))
    looks: list[list[Signs]] = [[], [{"fields": 0, "elements": 10}], *([sign] for sign in later)]

    async def signs() -> list[Signs]:
        return looks.pop(0) if len(looks) > 1 else looks[0]

    async def opened() -> float:
        watch = growth.Growth(signs, Traffic(heard_at=-1.0))
        while not await watch.is_quiet_for(0.3, has_box=True) and clock.now < 2:
            clock.now += 0.125
        return float(clock.now)

    assert asyncio.run(opened()) == pytest.approx(expected)
