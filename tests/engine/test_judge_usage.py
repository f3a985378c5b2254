"""What a run's judging took: the sum over its columns, and in words what was done now and what in all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragmeter import Evaluation, FakeProvider, Judge, Run, add_metrics, evaluate
from ragmeter.effects.limits.caller import TryAgain
from ragmeter.effects.limits.pace import Retries
from ragmeter.judges.asking.probes import PROBES
from ragmeter.models.prices import Price
from ragmeter.runs.catalogue import RunEntry
from ragmeter.wording.judging import judge_lines
from tests.judge_rows import by_rule, fake, judge, rows, scripted

PRICE = Price(1000.0, 1000.0)


def lines(evaluation: Evaluation) -> list[str]:
    """What a command says of its own calls, and of the run's."""
    said = judge_lines(evaluation.summary, evaluation.manifest, evaluation.judging)
    return [line.partition("; latency")[0] for line, _ in said if "calls: " in line]


def patient(provider: FakeProvider) -> Judge:
    """A judge that asks once more after a failure, at once."""
    one = judge(provider)
    one.retries = Retries(failures=1, base=0.001)
    return one


def kept_lines(path: Path) -> list[str]:
    run = Run(path)
    return [
        line.partition("; latency")[0] for line, _ in judge_lines(run.summary(), run.manifest()) if "calls: " in line
    ]


def test_the_cost_is_that_of_all_columns(tmp_path: Path) -> None:
    strict, grader = fake(by_rule, model="strict", price=PRICE), fake("3", model="grader", price=PRICE)
    first = evaluate(rows(*"abc"), metrics="llm_correct", judge=judge(strict), run="r", output_dir=tmp_path)
    second = add_metrics("r", "llm_grade", judge=judge(grader), output_dir=tmp_path)
    costs = [result.judging.usage.cost_usd or 0.0 for result in (first, second) if result.judging]
    judges = second.summary.judges
    assert [judges[name].usage.cost_usd for name in ("verdict", "grade")] == costs
    total = second.summary.judge_usage
    assert (total.calls, total.cost_usd) == (6, pytest.approx(sum(costs)))
    assert RunEntry.of(tmp_path / "r").cost_usd == total.cost_usd
    now, *in_all = lines(second)
    assert now.startswith("calls: 3 (0 recorded before, 3 made now); tokens: ")
    assert [line.partition(";")[0] for line in in_all] == [
        "strict (verdict): calls: 3", "grader (grade): calls: 3", "in all: calls: 6",
    ]  # fmt: skip
    assert kept_lines(tmp_path / "r") == in_all


def test_a_column_that_is_filled_again_counts_once(tmp_path: Path) -> None:
    provider = scripted(a=["hm", "hm", "hm", "Yes"], b="No")
    one = judge(provider)
    evaluate(rows(*"ab"), metrics="llm_correct", judge=one, run="r", output_dir=tmp_path)
    add_metrics("r", "llm_grade", judge=judge(fake("3")), output_dir=tmp_path)
    evaluation = add_metrics("r", "llm_correct", judge=one, output_dir=tmp_path, retry_failed=True)
    assert evaluation.summary.judges["verdict"].usage.calls == 5
    assert evaluation.summary.judge_usage.calls == 7


def test_columns_that_are_filled_together(tmp_path: Path) -> None:
    one = Judge(provider=fake(lambda prompt: "3" if "answer to grade" in prompt else "Yes"), check=False)
    evaluation = evaluate(rows(*"ab"), metrics="llm_correct,llm_grade", judge=one, run="r", output_dir=tmp_path)
    assert [judge.usage.calls for judge in evaluation.summary.judges.values()] == [2, 2]
    assert [line.partition(";")[0] for line in lines(evaluation)] == ["calls: 4 (0 recorded before, 4 made now)"]
    assert [line.partition(";")[0] for line in kept_lines(tmp_path / "r")] == ["calls: 4"]


def test_replies_without_a_price_are_said(tmp_path: Path) -> None:
    def priced(price: Price | None) -> Judge:
        one = judge(provider)
        one.price = price
        return one

    provider = FakeProvider(by_rule, price=None)
    given: dict[str, Any] = {"metrics": "llm_correct", "run": "r", "output_dir": tmp_path}
    first = evaluate(rows(*"ab"), judge=priced(None), **given)
    assert first.summary.judge_usage.cost_usd is None
    usage = evaluate(rows(*"ab"), judge=priced(PRICE), **given).summary.judge_usage
    assert usage.cost_usd == PRICE.of(usage.prompt_tokens, usage.completion_tokens)
    second = add_metrics("r", "llm_grade", judge=judge(fake("3", price=None)), output_dir=tmp_path)
    assert lines(second)[-1].endswith(", and 2 calls whose price is not known")


def test_the_judge_that_was_tried_is_named_where_there_are_several(tmp_path: Path) -> None:
    verdicts = {(probe.question, probe.answer): "Yes" if probe.verdict == "CORRECT" else "No" for probe in PROBES}
    knowing = fake(lambda question, answer: verdicts.get((question, answer), "Yes"), model="strict")
    one = Judge(provider=knowing)
    first = evaluate(rows(*"ab"), metrics="llm_correct", judge=one, run="r", output_dir=tmp_path)
    assert first.summary.judge_check.model == "strict"
    assert "this judge got 24 of 24" in next(judge_lines(first.summary, first.manifest))[0]
    second = add_metrics("r", "llm_grade", judge=judge(fake("3", model="grader")), output_dir=tmp_path)
    assert "the judge strict got 24 of 24" in next(judge_lines(second.summary, second.manifest))[0]


def test_the_same_texts_are_one_call(tmp_path: Path) -> None:
    evaluation = evaluate(
        rows(*["same"] * 50), metrics="llm_correct", judge=judge(fake(), workers=4), output_dir=tmp_path
    )
    assert lines(evaluation)[0].startswith("calls: 1 (0 recorded before, 1 made now); ")


def test_the_parts_add_up_where_calls_fail(tmp_path: Path) -> None:
    down = TryAgain("judge_error", "HTTP 500")
    provider = scripted(a="Yes", b=[down, "Yes"], c=down)
    evaluation = evaluate(rows(*"abc"), metrics="llm_correct", judge=patient(provider), output_dir=tmp_path)
    assert lines(evaluation)[0].startswith("calls: 2 (0 recorded before, 2 made now, and 3 more that failed); ")
    again = evaluate(rows(*"ab"), metrics="llm_correct", judge=judge(provider), output_dir=tmp_path)
    assert lines(again)[0].startswith("calls: 2 (2 recorded before, 0 made now); ")
    assert add_metrics(again, "token_f1", output_dir=tmp_path).judging is None
