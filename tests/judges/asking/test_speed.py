"""How fast a server judges: by its clock, and what follows for the time limit and the workers."""

from __future__ import annotations

import pytest

from ragmeter.errors import RagmeterError
from ragmeter.judges.asking.speed import AT_ONCE, Speed, measure_speed
from tests.judge_server import Action, JudgeServer


@pytest.mark.parametrize(
    ("alone", "slowest", "slots", "timeout"),
    [(25.0, 200.0, 1, 400), (25.0, 52.0, 4, 110), (0.5, 0.5, 8, 60), (0.5, 0.4, 8, 60), (0.1, 3.0, 1, 60)],
)
def test_what_follows_from_two_times(alone: float, slowest: float, slots: int, timeout: int) -> None:
    speed = Speed(alone, slowest)
    assert (speed.slots, speed.timeout) == (slots, timeout)


def test_it_takes_ten_calls_of_which_eight_are_made_at_once() -> None:
    with JudgeServer(latency=0.2) as server:
        speed = measure_speed("m", server.url)
        assert (server.count, server.peak) == (2 + AT_ONCE, AT_ONCE)
        assert speed.alone > 0
        assert speed.slowest > 0


def test_a_server_that_fails_is_an_error() -> None:
    with JudgeServer(lambda request, number: Action(500, {"error": "out of order"})) as server:
        with pytest.raises(RagmeterError, match="out of order"):
            measure_speed("m", server.url)
        assert server.count == 1
