"""The gate: rules as they are written, decisions worked out by hand, and texts that no reader misreads."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragmeter
from ragmeter.analysis.gating import Gate, Rule, gate
from ragmeter.errors import UnknownNameError, UsageError
from ragmeter.io.write import dumps
from ragmeter.stats.confidence import Confidence
from ragmeter.stats.intervals import difference_interval
from tests.make_runs import make_run


def rows(right: int, wrong: int, failed: int = 0, first: int = 0) -> list[dict[str, Any]]:
    """So many answers that are right, that are wrong, and that are not there."""
    answers = ["yes"] * right + ["no"] * wrong + [None] * failed
    return [
        {"qid": str(first + number), "question": f"q{first + number}", "reference": "yes", "answer": answer}
        for number, answer in enumerate(answers)
    ]


def timed(latencies: Sequence[float | None]) -> list[dict[str, Any]]:
    return [
        {"qid": str(number), "reference": "yes", "answer": "yes", "latency_ms": latency}
        for number, latency in enumerate(latencies)
    ]


def keep(folder: Path, run: str, data: list[dict[str, Any]], metrics: str = "exact_match") -> ragmeter.Evaluation:
    return ragmeter.evaluate(data, metrics=metrics, run=run, output_dir=folder)


def test_a_reason_shows_on_which_side_of_its_limit_a_score_is(tmp_path: Path) -> None:
    make_run(tmp_path / "low", {"score": [0.59998] * 40})
    (check, _) = gate("low", fail_under="score=0.6", output_dir=tmp_path).checks
    assert not check.passed
    assert check.reason.startswith("score is 0.59998 (95%: 0.560 to 0.630), n = 40: at least 0.6 is asked for")
    for name, score in (("high", 2.6), ("near", 2.589997)):  # of no known range, so there are no pseudo-rows
        make_run(tmp_path / name, {"score": [score] * 40})
    (check, *_) = gate("near", no_worse_than="high:score:0.01", output_dir=tmp_path).checks
    assert "near is 0.0100 lower than high (95%: -0.0100 to -0.0100), significantly worse" in check.reason
    assert "the whole interval is a loss of more than 0.01 (at worst 0.010003)" in check.reason


# Rules


@pytest.mark.parametrize(
    ("text", "metric", "value"),
    [
        ("token_f1=0.6", "token_f1", 0.6),
        ("ndcg@10=.5", "ndcg@10", 0.5),
        ("rouge_l_score[language=es]=0.6", "rouge_l_score[language=es]", 0.6),
        ('semantic_similarity[model="a=b",x=h:1]=1', 'semantic_similarity[model="a=b",x=h:1]', 1),
        (" token_f1 = 1e-2 ", "token_f1", 0.01),
    ],
)
def test_bounds_are_read_from_the_right(text: str, metric: str, value: float) -> None:
    assert Gate.of(fail_under=text).rules == (Rule("fail_under", metric, value),)
    assert Gate.of(fail_over={metric: value}).rules == (Rule("fail_over", metric, value),)


@pytest.mark.parametrize(
    ("text", "baseline", "metric", "margin"),
    [
        ("main:accuracy:0.02", "main", "accuracy", 0.02),
        ("runs/main:accuracy:0.02", "runs/main", "accuracy", 0.02),
        (r"C:\runs\main:ndcg@10:0", r"C:\runs\main", "ndcg@10", 0),
        ("a:b:is_correct:1", "a:b", "is_correct", 1),
        ("m:semantic_similarity[model=openai:x]:0.1", "m", "semantic_similarity[model=openai:x]", 0.1),
        ('m:semantic_similarity[model="]:a:b"]:0.1', "m", 'semantic_similarity[model="]:a:b"]', 0.1),
        ("runs/[old]:token_f1:0.1", "runs/[old]", "token_f1", 0.1),
    ],
)
def test_margins_are_read_from_the_right(text: str, baseline: str, metric: str, margin: float) -> None:
    rule = Rule("no_worse_than", metric, margin, baseline)
    assert Gate.of(no_worse_than=[text]).rules == (rule,)
    assert Gate.of(no_worse_than={baseline: {metric: margin}}).rules == (rule,)


#: With a cut-off, `@10`, the setting `k` is taken: names of one letter are left out.
_NAMES = st.from_regex(r"[a-z][a-z_0-9]{0,8}(@[1-9][0-9]?)?(\[[a-z]{2,4}=[a-z0-9:/.]{1,8}\])?", fullmatch=True)
_VALUES = st.integers(0, 10**8).map(lambda number: number / 1000)


@given(baseline=st.text(min_size=1).filter(lambda text: text == text.strip()), metric=_NAMES, value=_VALUES)
def test_a_rule_reads_back_as_it_is_printed(baseline: str, metric: str, value: float) -> None:
    margin = Rule("no_worse_than", metric, value, baseline)
    bound = Rule("fail_under", metric, value)
    read = Gate.of(
        no_worse_than=str(margin).removeprefix("--no-worse-than "), fail_under=str(bound).removeprefix("--fail-under ")
    )
    assert read.rules == (bound, margin)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"fail_under": "token_f1"}, "METRIC=VALUE"),
        ({"fail_under": "=0.6"}, "can't read fail_under =0.6"),
        ({"fail_under": "token_f1="}, "METRIC=VALUE"),
        ({"fail_under": "rouge_l_score[language=es]"}, "METRIC=VALUE"),
        ({"fail_under": "token_f1=high"}, "METRIC=VALUE"),
        ({"fail_under": "token_f1=nan"}, "the value must be a finite number"),
        ({"fail_under": "token_f1=inf"}, "the value must be a finite number"),
        ({"fail_under": "token f1=0.6"}, "not a metric's name"),
        ({"fail_under": {"token_f1": None}}, "METRIC=VALUE"),
        ({"fail_under": {"token_f1": True}}, "the value must be a finite number"),
        ({"fail_under": [0.6]}, "METRIC=VALUE"),
        ({"fail_under": 0.6}, "METRIC=VALUE"),
        ({"fail_over": {3: 0.6}}, "METRIC=VALUE"),
        ({"no_worse_than": 0.02}, "BASELINE:METRIC:MARGIN"),
        ({"no_worse_than": "accuracy:0.02"}, "BASELINE:METRIC:MARGIN"),
        ({"no_worse_than": "main:accuracy"}, "BASELINE:METRIC:MARGIN"),
        ({"no_worse_than": "main::0.02"}, "BASELINE:METRIC:MARGIN"),
        ({"no_worse_than": "main:accuracy:x"}, "BASELINE:METRIC:MARGIN"),
        ({"no_worse_than": {"main": 0.02}}, '{"main": {"token_f1": 0.02}}'),
        ({"max_failed": 1.5}, "between 0 and 1"),
        ({"max_failed": math.nan}, "between 0 and 1"),
        ({"fail_under": "token_f1=0.6", "on": "median"}, "median"),
        ({}, "nothing to check"),
    ],
)
def test_what_can_t_be_read_is_said(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        Gate.of(**asked)


def test_the_same_rule_twice_is_one() -> None:
    assert len(Gate.of(fail_under=["token_f1=0.6", "token_f1=0.60"]).rules) == 1


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        ({"fail_under": "latency_ms=10"}, UsageError, 'write fail_over={"latency_ms": 10}'),
        ({"fail_over": "exact_match=0.5"}, UsageError, 'write fail_under={"exact_match": 0.5}'),
        ({"fail_under": "exact_match=60"}, UsageError, "60 points are 0.6"),
        ({"fail_over": "latency_ms=-1"}, UsageError, "from 0 on"),
        ({"no_worse_than": "other:exact_match:2"}, UsageError, "2 points are 0.02"),
        ({"no_worse_than": "other:exact_match:-0.1"}, UsageError, "a margin must be at least 0"),
        ({"fail_under": "exact_mach=0.5"}, UnknownNameError, "did you mean exact_match"),
        ({"fail_under": "rouge_l_score=0.5"}, UsageError, "language=en] or rouge_l_score[language=es]"),
        ({"no_worse_than": "othr:exact_match:0.1"}, UnknownNameError, "did you mean other"),
        ({"no_worse_than": "other:rouge_l_score[language=en]:0.1"}, UsageError, "other has no rouge_l_score"),
        ({"no_worse_than": "this:exact_match:0.1"}, UsageError, "the run itself"),
    ],
)
def test_what_makes_no_sense_for_a_run_is_said(
    tmp_path: Path, asked: dict[str, Any], error: type[Exception], said: str
) -> None:
    data = [{**row, "latency_ms": 5.0} for row in rows(3, 1)]
    keep(tmp_path, "this", data, "exact_match,rouge_l_score[language=en],rouge_l_score[language=es]")
    keep(tmp_path, "other", data)
    with pytest.raises(error, match=re.escape(said)):
        gate("this", output_dir=tmp_path, **asked)


# Decisions


def test_a_mean_against_a_bound(tmp_path: Path) -> None:
    keep(tmp_path, "r", rows(6, 4))
    low, high = 0.3127, 0.8318  # Wilson's interval of 6 in 10
    verdict = gate("r", fail_under={"exact_match": 0.6}, output_dir=tmp_path)
    check = verdict.checks[0]
    assert verdict.passed, "just what was asked for will do"
    assert (check.kind, check.metric, check.value, check.required, check.n) == (
        "fail_under",
        "exact_match",
        0.6,
        0.6,
        10,
    )
    assert check.interval == pytest.approx((low, high), abs=1e-4)
    assert check.reason == (
        "exact_match is 0.60 (95%: 0.31 to 0.83), n = 10 (few): at least 0.6 is asked for; "
        "a true mean below that can't be ruled out"
    )
    failed = gate("r", fail_under={"exact_match": 0.61}, output_dir=tmp_path)
    assert not failed.passed
    assert failed.failed == [failed.checks[0]]
    assert failed.checks[0].reason.endswith("n = 10 (few): at least 0.61 is asked for")


def test_the_whole_interval_against_a_bound(tmp_path: Path) -> None:
    keep(tmp_path, "r", rows(6, 4))
    for bound, passed in ((0.31, True), (0.32, False), (0.6, False)):
        verdict = gate("r", fail_under={"exact_match": bound}, gate_on="interval", output_dir=tmp_path)
        assert verdict.passed is passed
        assert verdict.checks[0].reason.endswith(f"at least {bound} is asked for, by the whole interval")


def test_lower_is_better_has_a_bound_above(tmp_path: Path) -> None:
    """1, 2, 3: mean 2, standard deviation 1, and a t of 4.3027 for two degrees of freedom."""
    keep(tmp_path, "r", timed([1, 2, 3]))
    assert gate("r", fail_over="latency_ms=2", output_dir=tmp_path).passed
    assert not gate("r", fail_over="latency_ms=1.9", output_dir=tmp_path).passed
    half = 4.302652729911275 / math.sqrt(3)
    check = gate("r", fail_over="latency_ms=4.4", gate_on="interval", output_dir=tmp_path).checks[0]
    assert not check.passed
    assert check.interval == pytest.approx((0, 2 + half)), "no latency is below 0"
    assert gate("r", fail_over="latency_ms=4.5", gate_on="interval", output_dir=tmp_path).passed


def test_one_row_has_no_interval_to_pass_by(tmp_path: Path) -> None:
    keep(tmp_path, "r", timed([1]))
    check = gate("r", fail_over="latency_ms=5", gate_on="interval", output_dir=tmp_path).checks[0]
    assert (check.passed, check.interval) == (False, None)
    assert "no interval" in check.reason
    assert gate("r", fail_over="latency_ms=5", output_dir=tmp_path).passed


def test_nothing_scored_never_passes(tmp_path: Path) -> None:
    keep(tmp_path, "r", rows(0, 0, failed=3))
    for most in (None, 1.0):
        verdict = gate("r", fail_under={"exact_match": 0}, max_failed=most, output_dir=tmp_path)
        assert not verdict.passed
        assert verdict.checks[0].reason == "exact_match: no row has a score (3 no_answer)"
        assert verdict.checks[0].value is None


def test_rows_that_failed_are_no_way_to_pass(tmp_path: Path) -> None:
    keep(tmp_path, "five", rows(95, 0, failed=5))
    keep(tmp_path, "six", rows(94, 0, failed=6))
    assert gate("five", fail_under={"exact_match": 0.9}, output_dir=tmp_path).passed
    verdict = gate("six", fail_under={"exact_match": 0.9}, output_dir=tmp_path)
    assert [check.passed for check in verdict.checks] == [True, False]
    assert verdict.checks[1].reason == (
        "exact_match: 6 of 100 rows have no score (6 no_answer): at most 5% may have none"
    )
    assert (verdict.checks[1].value, verdict.checks[1].n) == (0.06, 100)
    assert gate("six", fail_under={"exact_match": 0.9}, max_failed=0.06, output_dir=tmp_path).passed
    assert not gate("five", max_failed=0, output_dir=tmp_path).passed, "alone it is for every metric"


def test_metrics_with_the_same_failures_are_one_check(tmp_path: Path) -> None:
    keep(tmp_path, "r", rows(3, 0, failed=1), "exact_match,token_f1")
    verdict = gate("r", fail_under={"exact_match": 0.5, "token_f1": 0.5}, output_dir=tmp_path)
    assert [check.metric for check in verdict.checks] == ["exact_match", "token_f1", "exact_match, token_f1"]


def test_a_short_name_finds_the_full_one(tmp_path: Path) -> None:
    keep(tmp_path, "r", rows(3, 1), "rouge_l_score[language=en]")
    assert (
        gate("r", fail_under={"rouge_l_score": 0.5}, output_dir=tmp_path).checks[0].metric
        == "rouge_l_score[language=en]"
    )


# No worse than a baseline


def test_the_interval_of_the_difference_against_a_margin(tmp_path: Path) -> None:
    """Slower by 1, 2, 3: 2 on average, up to 2 + 4.3027 / sqrt(3) = 4.484."""
    keep(tmp_path, "main", timed([10, 10, 10]))
    keep(tmp_path, "new", timed([11, 12, 13]))
    failed = gate("new", no_worse_than="main:latency_ms:4.4", output_dir=tmp_path)
    assert not failed.passed
    check = failed.checks[0]
    assert check.value == 2
    assert check.interval == pytest.approx((2 - 2.4841377, 2 + 2.4841377))
    assert check.baseline == "main"
    assert check.reason == (
        "latency_ms: new is 2.0000 higher than main (95%: -0.4841 to +4.4841), not significant (p = 0.2500, n = 3): "
        "the interval does not rule out a loss of more than 4.4; few rows, so it is rough"
    )
    passed = gate("new", no_worse_than="main:latency_ms:4.5", output_dir=tmp_path)
    assert passed.passed
    assert passed.checks[0].reason.endswith("the interval rules out a loss of more than 4.5; few rows, so it is rough")
    assert gate("main", no_worse_than="new:latency_ms:0.5", output_dir=tmp_path).passed, "faster is better"
    sure = gate("new", no_worse_than={"main": {"latency_ms": 0}}, output_dir=tmp_path)
    assert "the interval does not rule out a loss of more than 0;" in sure.checks[0].reason
    keep(tmp_path, "far", timed([20, 21, 22]))
    far = gate("far", no_worse_than={"main": {"latency_ms": 5}}, output_dir=tmp_path)
    assert far.checks[0].reason.endswith("the whole interval is a loss of more than 5; few rows, so it is rough")


def test_a_mean_inside_the_margin_is_not_enough(tmp_path: Path) -> None:
    """One question in a hundred lost is within two points; that it is not chance takes more questions."""
    before, after = rows(90, 10), rows(90, 10)
    for number, answer in ((0, "no"), (1, "no"), (2, "no"), (95, "yes"), (96, "yes")):
        after[number]["answer"] = answer
    keep(tmp_path, "main", before)
    keep(tmp_path, "new", after)
    verdict = gate("new", no_worse_than="main:exact_match:0.02", output_dir=tmp_path)
    check = verdict.checks[0]
    assert check.value == pytest.approx(-0.01)
    assert check.interval is not None
    assert check.value is not None
    assert check.interval[0] < -0.02 < check.value
    assert not check.passed
    match = re.fullmatch(
        r"exact_match: new is 0\.0100 lower than main \(95%: -[\d.]+ to \+[\d.]+\), not significant \(p = 1\.0000, "
        r"n = 100\): the interval does not rule out a loss of more than 0\.02; if they are alike, about ([\d,]+) "
        r"questions would show it",
        check.reason,
    )
    assert match is not None, check.reason
    # Five differences of 1 and -1: a variance of (5 - 1/100) / 99, (1.96 + 0.8416)² times that over 0.02².
    assert int(match[1].replace(",", "")) == pytest.approx(7.849 * 0.0504 / 0.0004, rel=0.02)
    assert verdict.sentences == [
        ragmeter.compare([tmp_path / "main", tmp_path / "new"]).pairs[0].sentence,
        "A loss of up to 6.6 points can't be ruled out, and the margin is 2 points.",
    ]
    assert gate("new", no_worse_than="main:exact_match:0.1", output_dir=tmp_path).passed
    one = gate("new", no_worse_than="main:exact_match:0.01", output_dir=tmp_path)
    assert "does not rule out a loss of more than 0.01;" in one.checks[0].reason


def test_rows_that_did_not_move_rule_out_no_loss(tmp_path: Path) -> None:
    """Three equal rows passed a margin of 0.001: their differences have no spread, and so their interval no width."""
    scores = np.random.default_rng(1).random(300)
    for n in (3, 40, 300):
        for run in ("main", "new"):
            make_run(tmp_path / f"{run}{n}", {"score": scores[:n], "slow": 1000 * scores[:n]})
    few, some = (
        gate(f"new{n}", no_worse_than=f"main{n}:score:{margin}", output_dir=tmp_path).checks[0]
        for n, margin in ((3, 0.001), (40, 0.02))
    )
    assert not few.passed
    assert "no row moved: up to 3/3 of the questions may, so the interval does not rule out" in few.reason
    assert not some.passed
    assert "no row moved: up to 3/40 of the questions may, so the interval does not rule out" in some.reason
    assert "if they are alike, about 150 questions would show it" in some.reason
    assert gate("new300", no_worse_than="main300:score:0.02", output_dir=tmp_path).passed


def test_without_a_known_range_rows_that_did_not_move_never_pass(tmp_path: Path) -> None:
    for run in ("main", "new"):
        make_run(tmp_path / run, {"score": [2.5, 3.5] * 50})
    (check, *_) = gate("new", no_worse_than="main:score:1", output_dir=tmp_path).checks
    assert not check.passed
    assert check.interval == (0.0, 0.0)
    assert "no row moved: up to 3/100 of the questions may" in check.reason


def test_a_gate_seldom_passes_by_accident(tmp_path: Path) -> None:
    """5% of the rows lose 0.4, in all the margin: it passed 58, 23 and 12 times of 100, where 2.5 are meant."""
    random = np.random.default_rng(6)
    for n in (10, 30, 100):
        passed = 0
        for trial in range(40):
            before = random.uniform(0.45, 0.9, n)
            folder = tmp_path / f"{n}-{trial}"
            make_run(folder / "main", {"score": before})
            make_run(folder / "new", {"score": before - 0.4 * (random.random(n) < 0.05)})
            passed += gate("new", no_worse_than="main:score:0.02", output_dir=folder).checks[0].passed
        assert passed <= 1


def test_the_same_means_within_the_margin_on_both_sides(tmp_path: Path) -> None:
    """One row in twenty moves: the interval of a loss or gain of 0.02 lies within 0.1, and not within 0.01."""
    random = np.random.default_rng(3)
    before = random.random(400)
    make_run(tmp_path / "main", {"score": before})
    for name, step in (("lower", -0.4), ("higher", 0.4)):
        moved = np.clip(before + step * (random.random(400) < 0.05), 0, 1)
        make_run(tmp_path / name, {"score": moved})
        (check, *_) = gate(name, same_as="main:score:0.1", output_dir=tmp_path).checks
        assert check.passed, check.reason
        assert "the interval rules out a difference of more than 0.1" in check.reason
        (check, *_) = gate(name, same_as={"main": {"score": 0.01}}, output_dir=tmp_path).checks
        assert not check.passed
        assert "does not rule out a difference of more than 0.01" in check.reason
        assert check.asked == 'same_as={"main": {"score": 0.01}}'
    assert gate("higher", no_worse_than="main:score:0.01", output_dir=tmp_path).checks[0].passed
    make_run(tmp_path / "other", {"score": before / 2})
    (check, *_) = gate("other", same_as="main:score:0.05", output_dir=tmp_path).checks
    assert "the whole interval is a difference of more than 0.05" in check.reason


def test_the_same_is_said_seldom_of_what_is_just_not(tmp_path: Path) -> None:
    """Where the true difference is the margin itself, at most one of 40 draws may pass (2.5% are meant)."""
    random = np.random.default_rng(11)
    for n in (50, 200):
        passed = 0
        for trial in range(40):
            folder = tmp_path / f"{n}-{trial}"
            before = random.uniform(0.2, 0.7, n)
            make_run(folder / "main", {"score": before})
            make_run(folder / "new", {"score": before + random.normal(0.05, 0.1, n)})
            passed += gate("new", same_as="main:score:0.05", output_dir=folder).checks[0].passed
        assert passed <= 3  # P(4 or more of 40 at 2.5%) is 0.02


def test_a_margin_of_the_same_below_zero(tmp_path: Path) -> None:
    keep(tmp_path, "main", rows(9, 1))
    with pytest.raises(UsageError, match=r"0\.02 allows a difference of two points"):
        gate("main", same_as="main:exact_match:-0.1", output_dir=tmp_path)


def test_questions_left_out_are_no_way_to_be_no_worse(tmp_path: Path) -> None:
    """The baseline has 100 questions; the run answers 90 of them, leaves out 6, and fails in 4."""
    keep(tmp_path, "main", rows(100, 0), "token_f1")
    keep(tmp_path, "new", rows(90, 0, failed=4), "token_f1")
    verdict = gate("new", no_worse_than="main:token_f1:0.1", output_dir=tmp_path)
    assert [check.passed for check in verdict.checks] == [True, True, False]
    assert verdict.checks[1].reason.startswith("token_f1: 4 of 94 rows have no score")
    assert verdict.checks[2].reason == (
        "token_f1: 10 of 100 questions that main has a score for have no score (6 not in the run, 4 with no score): "
        "at most 5% may have none"
    )
    assert gate("new", no_worse_than="main:token_f1:0.1", max_failed=0.1, output_dir=tmp_path).passed


def test_a_system_that_is_down_has_not_got_better_at_anything(tmp_path: Path) -> None:
    """It has no answer that was not retrieved, and no score of that."""
    gold = [{"qid": str(n), "question": f"What is {n}?", "reference": f"Rome {n}"} for n in range(40)]
    passages = ["Paris is in France."]
    wrong = [{**row, "answer": "Lyon", "contexts": passages} for row in gold]
    down = [{**row, "answer": None, "error": "timeout", "contexts": passages} for row in gold]
    for name, data in (("main", wrong), ("down", down)):
        keep(tmp_path, name, data, "offline_correct")
    bound = gate("down", fail_over="cause:not_retrieved=0.1", output_dir=tmp_path)
    assert [check.passed for check in bound.checks] == [True, False]
    assert "40 of 40 rows have no score (40 failed)" in bound.checks[1].reason
    margin = gate("down", no_worse_than="main:cause:not_retrieved:0.02", output_dir=tmp_path)
    assert not any(check.passed for check in margin.checks)
    assert gate("down", fail_over="cause:failed=1", output_dir=tmp_path).passed  # this one is what they have
    assert not gate("down", fail_under="cause:right=0.5", output_dir=tmp_path).checks[0].passed


def test_questions_without_an_answer_need_no_score(tmp_path: Path) -> None:
    """Half of the questions are marked; who declines those is right, who times out or invents an answer is not."""

    def data(last: str | None) -> list[dict[str, Any]]:
        known = [{**row, "relevant": ["d"], "retrieved": ["d"]} for row in rows(20, 0)]
        marked = [
            {"qid": f"u{n}", "question": "?", "answer": last, "unanswerable": "yes", "retrieved": ["d"]}
            for n in range(20)
        ]
        return known + marked

    metrics = "exact_match,recall@5,abstention_correct"
    for name, last in (("declines", "I don't know."), ("invents", "Berlin"), ("down", None)):
        keep(tmp_path, name, data(last), metrics)
    verdict = gate("declines", fail_under=["exact_match=0.9", "recall@5=0.9"], output_dir=tmp_path)
    assert verdict.passed, verdict
    assert "0 of 40 rows have no score beside 20 of questions without an answer" in verdict.checks[2].reason
    for name in ("invents", "down"):
        (bound, unscored) = gate(name, fail_under="exact_match=0.9", output_dir=tmp_path).checks
        assert (bound.passed, unscored.passed) == (True, False)
    assert gate("invents", fail_under="recall@5=0.9", output_dir=tmp_path).passed  # no gold document is to be found


def test_another_number_of_repeats_leaves_no_question_out(tmp_path: Path) -> None:
    folder = keep(tmp_path, "main", rows(9, 1), "token_f1").folder
    assert folder is not None
    once = folder.rows()
    pq.write_table(pa.concat_tables([once, once]), folder.path / "rows.parquet")
    (folder.path / "summary.json").write_text(dumps({**folder.summary().as_dict(), "n_rows": 20}))
    keep(tmp_path, "new", rows(9, 1), "token_f1")
    verdict = gate("new", no_worse_than="main:token_f1:0.5", output_dir=tmp_path)
    assert verdict.passed
    assert "0 of 10 questions" in verdict.checks[-1].reason


def test_conversations_are_what_is_few(tmp_path: Path) -> None:
    data = [{**row, "session_id": str(number // 10)} for number, row in enumerate(rows(30, 10))]
    keep(tmp_path, "main", data, "token_f1")
    keep(tmp_path, "new", data, "token_f1")
    check = gate("new", no_worse_than="main:token_f1:0.5", output_dir=tmp_path).checks[0]
    assert "n = 40 in 4 clusters): " in check.reason
    assert check.reason.endswith("; few clusters, so it is rough")


def test_questions_worded_otherwise_are_said(tmp_path: Path) -> None:
    changed = rows(4, 0)
    changed[0]["question"] = "another"
    keep(tmp_path, "main", rows(4, 0), "token_f1")
    keep(tmp_path, "new", changed, "token_f1")
    check = gate("new", no_worse_than="main:token_f1:0.5", output_dir=tmp_path).checks[0]
    assert check.reason.endswith("(and 1 of the questions are worded otherwise in main)")


def test_nothing_scored_in_both(tmp_path: Path) -> None:
    keep(tmp_path, "main", rows(3, 0), "token_f1")
    keep(tmp_path, "new", rows(0, 0, failed=3), "token_f1")
    check = gate("new", no_worse_than="main:token_f1:0.5", max_failed=1, output_dir=tmp_path).checks[0]
    assert (check.passed, check.value) == (False, None)
    assert check.reason == "token_f1: no question has a score in both main and new"


def test_rates_that_did_not_move_rule_out_no_loss(tmp_path: Path) -> None:
    """100 rows of which half are right passed a margin of 0.02: how many may move does not depend on the rate."""
    for n in (100, 200):
        for run in ("main", "new"):
            make_run(tmp_path / f"{run}{n}", {"right": np.arange(n) % 2})
    few, enough = (
        gate(f"new{n}", no_worse_than=f"main{n}:right:0.02", output_dir=tmp_path).checks[0] for n in (100, 200)
    )
    assert not few.passed
    assert "no row moved: up to 3/100 of the questions may" in few.reason
    assert enough.passed


def test_rows_that_moved_alike_say_why_they_rule_nothing_out(tmp_path: Path) -> None:
    """+10.0 to +10.0, and: the interval does not rule out a loss of more than 11."""
    for run, slow in (("main", [100, 200, 300]), ("new", [110, 210, 310])):
        make_run(tmp_path / run, {"slow": slow})
    (check, *_) = gate("new", no_worse_than="main:slow:11", output_dir=tmp_path).checks
    assert not check.passed
    why = "all rows moved alike, and how far others may is not known without a range, so the interval does not rule out"
    assert why in check.reason


def test_runs_by_folder_path_and_evaluation(tmp_path: Path) -> None:
    kept = keep(tmp_path, "main", rows(3, 1), "token_f1")
    fresh = ragmeter.evaluate(rows(3, 1), metrics="token_f1")
    assert fresh.folder is None
    for run in (fresh, kept, kept.folder, tmp_path / "main", str(tmp_path / "main")):
        assert run is not None
        verdict = ragmeter.gate(run, fail_under={"token_f1": 0.75})
        assert verdict.passed
        assert verdict.checks[0].n == 4
    beside = ragmeter.gate(fresh, no_worse_than={str(tmp_path / "main"): {"token_f1": 0.9}})
    assert beside.passed
    assert beside.run == "this evaluation"


def test_failures_are_shown_before_what_passed(tmp_path: Path) -> None:
    keep(tmp_path, "r", rows(3, 1), "exact_match,token_f1")
    verdict = gate("r", fail_under={"token_f1": 0.1, "exact_match": 0.9}, output_dir=tmp_path)
    assert [check.passed for check in verdict.checks] == [True, False, True]
    assert [check.passed for check in verdict.failed_first] == [False, True, True]
    assert repr(verdict).splitlines()[1].startswith("FAILED: exact_match")


def test_a_verdict_for_scripts_and_for_a_notebook(tmp_path: Path) -> None:
    keep(tmp_path, "r", rows(3, 1))
    verdict = gate("r", fail_under={"exact_match": 0.9}, output_dir=tmp_path)
    document = verdict.as_dict()
    assert (document["run"], document["passed"]) == ("r", False)
    assert [check["passed"] for check in document["checks"]] == [False, True]
    assert document["metrics"]["exact_match"]["n_scored"] == 4
    assert repr(verdict).startswith("<Verdict on r: failed>\nFAILED: exact_match is 0.75")


@pytest.mark.parametrize("rule", ["main:cause:not_retrieved:0.05", {"main": {"cause:not_retrieved": 0.05}}])
def test_a_margin_may_be_for_the_share_of_a_cause(rule: Any) -> None:
    (kept,) = Gate.of(no_worse_than=rule).rules
    assert (kept.baseline, kept.metric, kept.value) == ("main", "cause:not_retrieved", 0.05)
    (kept,) = Gate.of(no_worse_than="s3:runs/main:token_f1:0.05").rules
    assert (kept.baseline, kept.metric) == ("s3:runs/main", "token_f1")


def retrieving(folder: Path, run: str, missed: int, metrics: str = "exact_match") -> None:
    """80 questions; the first `missed` have no gold document among the retrieved, and a wrong answer."""
    rows = [
        {
            "qid": str(n), "question": f"q{n}", "reference": "yes", "answer": "no" if n < missed else "yes",
            "relevant": ["gold"], "retrieved": ["other" if n < missed else "gold"],
        }
        for n in range(80)
    ]  # fmt: skip
    ragmeter.evaluate(rows, metrics=metrics, run=run, output_dir=folder)


def test_the_share_of_a_cause_against_a_baseline(tmp_path: Path) -> None:
    """Paired by question: 20 and 24 of 80 answers are not retrieved, and 20 of them are the same."""
    retrieving(tmp_path, "main", 20)
    retrieving(tmp_path, "new", 24)
    retrieving(tmp_path, "far", 60)
    before, after = ((np.arange(80) < missed).astype(np.float64) for missed in (20, 24))
    expected, _ = difference_interval(before, after, Confidence(), binary=True)
    verdict = gate("new", no_worse_than="main:cause:not_retrieved:0.2", output_dir=tmp_path)
    assert verdict.passed
    check = verdict.checks[0]
    assert check.value == pytest.approx(0.05)
    assert check.n == 80
    assert check.interval == expected
    assert check.reason.startswith("cause:not_retrieved: new is 0.0500 higher than main (95%: ")
    assert verdict.metrics["cause:not_retrieved"].mean == 0.3
    assert not gate("new", no_worse_than="main:cause:not_retrieved:0.01", output_dir=tmp_path).passed
    far = gate("far", no_worse_than={"main": {"cause:not_retrieved": 0.1, "cause:right": 0.1}}, output_dir=tmp_path)
    assert [check.passed for check in far.checks[:2]] == [False, False]
    assert "significantly worse" in far.checks[0].reason
    assert gate("main", no_worse_than="far:cause:not_retrieved:0.05", output_dir=tmp_path).passed, "less is better"
    result = ragmeter.compare(["main", "far"], metrics="cause:not_retrieved", output_dir=tmp_path)[
        "cause:not_retrieved"
    ]
    assert (result.verdict, result.binary, result.better, result.worse) == ("worse", True, 0, 40)
    assert "cause:not_retrieved" not in ragmeter.compare(["main", "far"], output_dir=tmp_path).pairs[0].metrics


def test_causes_told_by_other_metrics_are_not_compared(tmp_path: Path) -> None:
    retrieving(tmp_path, "main", 20)
    retrieving(tmp_path, "new", 24, metrics="offline_correct")
    retrieving(tmp_path, "bare", 24, metrics="recall@5")
    with pytest.raises(UsageError, match="the causes are told by exact_match in main and by offline_correct in new"):
        gate("new", no_worse_than="main:cause:not_retrieved:0.2", output_dir=tmp_path)
    with pytest.raises(UsageError, match="bare has no cause:not_retrieved"):
        gate("main", no_worse_than="bare:cause:not_retrieved:0.2", output_dir=tmp_path)
