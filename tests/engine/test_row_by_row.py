"""A limit of calls or dollars is spent on whole rows: those that are begun get all of their columns."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from ragmeter import Evaluation, evaluate
from ragmeter.effects.limits.budget import Budget
from ragmeter.engine.judging.row_by_row import RowLimits
from ragmeter.models.fake import FakeProvider, fenced_texts
from ragmeter.models.prices import Price
from tests.judge_rows import fake, judge

#: One call for the claims and one for each passage.
ROWS = [
    {"qid": str(number), "question": "q", "answer": f"Fact {number}.", "contexts": ["one", f"two {number}"]}
    for number in range(1, 13)
]


def reply(prompt: str) -> str:
    texts = fenced_texts(prompt)
    return "Supported" if "text" in {name.casefold() for name in texts} else f"- {texts['answer']}"


def judged(folder: Path, provider: FakeProvider, **settings: Any) -> Evaluation:
    return evaluate(
        ROWS,
        metrics="faithfulness",
        judge=judge(provider, **settings),
        output_dir=folder,
        run="r",
        replace=True,
    )


@pytest.mark.parametrize("workers", [1, 8])
def test_a_limit_of_calls_is_spent_row_by_row(tmp_path: Path, workers: int) -> None:
    provider = fake(reply)
    found = judged(tmp_path, provider, max_calls=14, workers=workers)
    assert (found["faithfulness"].n_scored, len(provider.prompts)) == (4, 14)
    assert found["faithfulness"].n_not_scored == {"skipped_budget": 8}
    assert found.rows["faithfulness.outcome"].to_pylist() == ["scored"] * 4 + ["skipped_budget"] * 8


@pytest.mark.parametrize("workers", [1, 8])
def test_a_limit_of_dollars_is_spent_row_by_row(tmp_path: Path, workers: int) -> None:
    provider = FakeProvider(reply, price=Price(100.0, 100.0))
    found = judged(tmp_path, provider, budget=0.2, max_tokens=8, workers=workers)
    assert 0 < found["faithfulness"].n_scored < len(ROWS)
    assert found["faithfulness"].n_scored == len(provider.prompts) // 3


def test_what_a_limit_left_is_done_later_and_the_summary_is_the_same(tmp_path: Path) -> None:
    whole = judged(tmp_path / "whole", fake(reply))
    provider = fake(reply)
    judged(tmp_path / "limited", provider, max_calls=14)
    again = judged(tmp_path / "limited", provider, max_calls=36)
    assert len(provider.prompts) == 36
    assert again.rows["faithfulness"].to_pylist() == whole.rows["faithfulness"].to_pylist()
    for name, column in whole.summary.judges.items():
        other = again.summary.judges[name]
        assert (other.judged_by, other.causes, other.warnings) == (column.judged_by, column.causes, column.warnings)
        assert other.usage.calls == column.usage.calls


def test_rows_begin_in_their_order_and_only_if_what_is_left_is_enough() -> None:
    async def main() -> list[str]:
        limits = RowLimits(Budget(calls=5), judge(fake(reply)))
        happened: list[str] = []
        ends = {number: asyncio.Event() for number in (1, 2, 3)}
        effort = {"calls": 3, "prompt_tokens": 0, "completion_tokens": 0}

        async def row(number: int) -> None:
            async with limits.row(effort):
                happened.append(f"begin {number}")
                await ends[number].wait()
                happened.append(f"end {number}")

        tasks = [asyncio.ensure_future(row(number)) for number in (1, 2, 3)]
        for number in (1, 2, 3):
            for _ in range(5):
                await asyncio.sleep(0)
            ends[number].set()
        await asyncio.gather(*tasks)
        return happened

    assert asyncio.run(main()) == ["begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3"]
