"""Judges behind servers that work on one call at a time: healthy, slow, and with a queue longer than the time limit."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from ragmeter import Judge, evaluate
from tests.judge_rows import rows
from tests.judge_server import Action, JudgeServer, verdict

#: Seconds for a call, and those that a judge waits at first: two calls fit in, and eight are begun at once.
CALL, TIMEOUT = 0.25, 0.6


class OneSlot:
    """Works on one call after another, also on those that nobody waits for any more."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.free_from = 0.0

    def __call__(self, request: dict[str, Any], number: int) -> Action:
        now = time.monotonic()
        self.free_from = max(now, self.free_from) + self.seconds
        return Action(body=verdict(request), delay=self.free_from - now)


def test_a_slow_server_with_one_slot_loses_no_row(tmp_path: Path) -> None:
    """Before: 2 of 17, and eight calls at once to the end."""
    table = rows(*(f"expected {number}" for number in range(17)))
    with JudgeServer(OneSlot(CALL)) as server:
        judge = Judge("m", server.url, check=False, wordings=1, timeout=TIMEOUT)
        evaluation = evaluate(table, metrics="llm_correct", judge=judge, output_dir=tmp_path)
    assert (evaluation["llm_correct"].n_scored, evaluation["llm_correct"].n_not_scored) == (17, {})


@pytest.mark.parametrize("retries", [0, 1])
def test_a_server_that_says_nothing_is_waited_for_no_longer_than_four_times(tmp_path: Path, retries: int) -> None:
    with JudgeServer() as server:
        server.answers = 0
        judge = Judge("m", server.url, check=False, wordings=1, timeout=0.05, retries=retries, workers=1)
        evaluation = evaluate(rows("as expected"), metrics="llm_correct", judge=judge, output_dir=tmp_path)
        server.release()
    assert evaluation["llm_correct"].n_not_scored == {"timeout": 1}
    assert server.count == retries + 1
    (cause,) = evaluation.summary.judges["verdict"].causes
    assert cause == f"timeout: no answer within {0.05 * 2**retries:g} s"
