"""Runs side by side: by hand, against scipy, and where things are missing."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from ragmeter import choose_sample, compare, evaluate, gate
from ragmeter.analysis.comparing import MetricDifference, differing_slices
from ragmeter.analysis.comparing.significance import verdict
from ragmeter.analysis.power import plan_from_pilot
from ragmeter.analysis.slices import summarise_run
from ragmeter.documents.comparison import NumberOfTests
from ragmeter.documents.summary import Unmatched
from ragmeter.errors import UnknownNameError, UsageError
from ragmeter.show.markdown import comparison_as_markdown
from ragmeter.stats.confidence import Confidence
from ragmeter.stats.intervals import difference_interval
from ragmeter.stats.paired_tests import McNemar, randomisation_p
from ragmeter.wording.comparison import Wording
from tests.make_runs import make_run

NAN = float("nan")
RANDOM = np.random.default_rng(12)
A = RANDOM.random(200)
B = np.clip(A + RANDOM.normal(0.05, 0.1, 200), 0, 1)


def test_one_metric_whole(tmp_path: Path) -> None:
    make_run(tmp_path / "a", {"score": A})
    make_run(tmp_path / "b", {"score": B})
    comparison = compare(["a", "b"], movers=5, output_dir=tmp_path)
    (pair,) = comparison.pairs
    score = pair.metrics["score"]
    d = B - A
    assert (pair.a, pair.b, pair.n_paired, score.n) == ("a", "b", 200, 200)
    assert score.difference == pytest.approx(d.mean(), abs=1e-12)
    assert (score.mean_a, score.mean_b) == pytest.approx((A.mean(), B.mean()), abs=1e-12)
    oracle = stats.ttest_rel(B, A).confidence_interval()
    assert score.interval == pytest.approx((oracle.low, oracle.high), abs=1e-9)
    assert score.p == randomisation_p(d)
    assert score.p_holm == score.p_bh == score.p
    assert score.effect_size == pytest.approx(d.mean() / d.std(ddof=1), abs=1e-12)
    assert (score.better, score.worse, score.same) == (int((d > 0).sum()), int((d < 0).sum()), int((d == 0).sum()))
    assert score.verdict == "better"
    assert score.needed == pytest.approx((1.959964 + 0.841621) ** 2 * d.var(ddof=1) / 0.01**2, abs=1)
    largest = int(np.abs(d).argmax())
    assert score.movers[0].qid == str(largest)
    assert [abs(mover.difference) for mover in score.movers] == sorted(np.abs(d))[::-1][:5]


def test_right_and_wrong(tmp_path: Path) -> None:
    right_a, right_b = np.repeat([1, 1, 0, 0], [40, 5, 20, 35]), np.repeat([1, 0, 1, 0], [40, 5, 20, 35])
    make_run(tmp_path / "a", {"right": right_a})
    make_run(tmp_path / "b", {"right": right_b})
    for test in ("randomisation", "mcnemar"):
        right = compare(["a", "b"], test=test, output_dir=tmp_path).pairs[0].metrics["right"]
        assert right.p == pytest.approx(McNemar(5, 20).exact_p, rel=1e-12)
        assert (right.interval_method, right.better, right.worse, right.same) == (
            "newcombe_with_pseudo_rows", 20, 5, 75,
        )  # fmt: skip


@pytest.mark.parametrize("test", ["bootstrap", "t"])
def test_other_tests_agree(tmp_path: Path, test: str) -> None:
    make_run(tmp_path / "a", {"score": A})
    make_run(tmp_path / "b", {"score": A + np.random.default_rng(7).normal(0.01, 0.1, 200)})
    usual, other = (
        compare(["a", "b"], test=test_name, output_dir=tmp_path).pairs[0].metrics["score"]
        for test_name in ("randomisation", test)
    )
    assert other.test == test
    assert other.p == pytest.approx(usual.p, abs=0.03)


def test_lower_may_be_better(tmp_path: Path) -> None:
    make_run(tmp_path / "a", {"slowness": A})
    make_run(tmp_path / "b", {"slowness": B})
    slowness = compare(["a", "b"], output_dir=tmp_path).pairs[0].metrics["slowness"]
    assert slowness.verdict == "worse"
    assert slowness.worse > slowness.better


def test_rows_are_paired_by_qid_whatever_their_order(tmp_path: Path) -> None:
    order = np.random.default_rng(7).permutation(200)
    make_run(tmp_path / "a", {"score": A})
    make_run(tmp_path / "b", {"score": B[order]}, {"qid": [str(row) for row in order]})
    score = compare(["a", "b"], output_dir=tmp_path).pairs[0].metrics["score"]
    assert score.difference == pytest.approx((B - A).mean(), abs=1e-12)


def test_rows_in_one_run_only_and_rows_that_one_run_has_not_scored(tmp_path: Path) -> None:
    make_run(tmp_path / "a", {"score": [0.1, 0.2, NAN, 0.4]}, {"qid": ["1", "2", "3", "4"]})
    make_run(tmp_path / "b", {"score": [0.2, NAN, 0.5, 0.9]}, {"qid": ["1", "2", "3", "5"]})
    (pair,) = compare(["a", "b"], output_dir=tmp_path).pairs
    score = pair.metrics["score"]
    assert (pair.only_a, pair.only_b) == (Unmatched(1, ["4"]), Unmatched(1, ["5"]))
    assert (pair.n_paired, score.n, score.scored_only_a, score.scored_only_b) == (3, 1, 1, 1)
    assert (score.interval, score.p, score.verdict) == (None, None, "no verdict")
    assert score.sentence == "score: b is 0.1000 higher than a, too few questions for a test (n = 1)"


def test_questions_that_were_asked_several_times(tmp_path: Path) -> None:
    """The first goes with the first; and repeats of a question are one cluster, not so many questions."""
    make_run(tmp_path / "a", {"score": [0.0, 0.2, 0.5, 0.7]}, {"qid": ["1", "1", "2", "3"]})
    make_run(tmp_path / "b", {"score": [0.6, 0.1, 0.3, 0.9]}, {"qid": ["2", "1", "1", "3"]})
    comparison = compare(["a", "b"], movers=5, output_dir=tmp_path)
    score = comparison.pairs[0].metrics["score"]
    assert comparison.cluster == "qid"
    assert (score.n, score.n_clusters) == (4, 3)
    assert sorted(mover.difference for mover in score.movers) == pytest.approx([0.1, 0.1, 0.1, 0.2])


def test_turns_of_a_conversation_belong_together(tmp_path: Path) -> None:
    sessions = np.repeat(np.arange(50), 4).astype(str).tolist()
    make_run(tmp_path / "a", {"score": A}, {"session_id": sessions})
    make_run(tmp_path / "b", {"score": B}, {"session_id": sessions})
    comparison = compare(["a", "b"], output_dir=tmp_path)
    score = comparison.pairs[0].metrics["score"]
    assert (comparison.cluster, score.n_clusters, score.interval_method) == ("session_id", 50, "student_t_clustered")
    apart = compare(["a", "b"], cluster=None, output_dir=tmp_path)
    assert (apart.cluster, apart.pairs[0].metrics["score"].n_clusters) == (None, None)
    with pytest.raises(UsageError, match="McNemar's test needs independent rows"):
        compare(["a", "b"], test="mcnemar", output_dir=tmp_path)


def test_one_cluster_is_refused(tmp_path: Path) -> None:
    for name in "ab":
        make_run(tmp_path / name, {"score": [0.1, 0.2]}, {"user": ["u", "u"]})
    with pytest.raises(UsageError, match="fewer than two clusters"):
        compare(["a", "b"], cluster="user", output_dir=tmp_path)
    with pytest.raises(UnknownNameError, match="unknown column 'usr': did you mean user"):
        compare(["a", "b"], cluster="usr", output_dir=tmp_path)


def test_the_headline_metric_is_corrected_over_pairs_of_runs_and_the_others_among_themselves(tmp_path: Path) -> None:
    random = np.random.default_rng(9)
    for name in "abc":
        make_run(tmp_path / name, {f"m{i}": random.random(100) for i in range(4)})
    comparison = compare(["a", "b", "c"], all_pairs=True, output_dir=tmp_path)
    assert [(pair.a, pair.b) for pair in comparison.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert comparison.tests == NumberOfTests(3, 9)
    headline = [pair.metrics["m0"] for pair in comparison.pairs]
    others = [result for pair in comparison.pairs for name, result in pair.metrics.items() if name != "m0"]
    for results, tests in ((headline, 3), (others, 9)):
        least = min(results, key=lambda value: value.p or 1)
        assert least.p_holm == pytest.approx(min(1.0, tests * (least.p or 1)))


def test_slices_that_turn_around(tmp_path: Path) -> None:
    kinds = ["usual"] * 160 + ["odd"] * 40
    b = A + np.where(np.array(kinds) == "usual", 0.2, -0.2) + np.random.default_rng(7).normal(0, 0.05, 200)
    make_run(tmp_path / "a", {"score": A}, {"kind": kinds, "text": [str(row) for row in range(200)]})
    make_run(tmp_path / "b", {"score": b})
    (pair,) = compare(["a", "b"], output_dir=tmp_path).pairs
    assert pair.metrics["score"].verdict == "better"
    assert [(part.column, part.value, part.turns, part.n) for part in pair.slices] == [
        ("kind", "usual", False, 160),
        ("kind", "odd", True, 40),
    ]
    odd = pair.slices[1]
    assert odd.interval is not None
    assert odd.sentence == (
        f"the other way round where kind is odd: score {odd.difference:+.4f} "
        f"(95%: {odd.interval[0]:+.4f} to {odd.interval[1]:+.4f}), significant after correction over 2 tests "
        "(Holm p < 0.0001, n = 40)"
    )
    d = (b - A)[160:]
    assert odd.p == randomisation_p(d), "the test of all rows"
    assert odd.p_adjusted == pytest.approx(odd.p * 2 if odd.p < pair.slices[0].p else odd.p, rel=1e-9)


def test_slices_that_differ_from_the_other_rows(tmp_path: Path) -> None:
    """Seven slices of 40 rows gain 0.1, one gains 0.4, and one of 15 rows is too small to be listed."""
    random = np.random.default_rng(11)
    topics = [f"t{number}" for number in range(8) for _ in range(40)] + ["tiny"] * 15
    base = random.random(335) * 0.4
    gain = np.where(np.array(topics) == "t3", 0.4, 0.1) + random.normal(0, 0.05, 335)
    make_run(tmp_path / "a", {"score": base, "slow": base}, {"topic": topics})
    make_run(tmp_path / "b", {"score": base + gain, "slow": base})
    comparison = compare(["a", "b"], output_dir=tmp_path)
    (pair,) = comparison.pairs
    assert pair.headline == "score"
    listed = pair.headline_slices["topic"]
    assert {part.value for part in listed} == {f"t{number}" for number in range(8)}
    first = listed[0]
    assert (first.value, first.n, first.verdict, first.differs) == ("t3", 40, "better", True)
    assert (first.mean_a, first.mean_b) == pytest.approx((base[120:160].mean(), (base + gain)[120:160].mean()))
    assert first.difference == pytest.approx(first.mean_b - first.mean_a)
    assert sorted(part.difference for part in listed) == [part.difference for part in reversed(listed)]
    assert {part.p_differs is None for part in pair.slices if part.metric == "slow" or part.value == "tiny"} == {True}
    inside, outside = gain[120:160], np.delete(gain, np.s_[120:160])
    alike = stats.ttest_ind(inside, outside, equal_var=False)
    assert 8 * alike.pvalue < (first.p_differs or 0) < 0.001, "the whole's spread, which has the slice in it, is wider"
    shown = differing_slices(pair)
    assert shown[0] == first
    assert len(shown) == 5, "one above the whole, and four of the seven below it"
    text = comparison_as_markdown(comparison)
    assert "| topic: t3 | ≠ differs from the other rows | 0." in text
    assert "Holm-corrected over 8 slices of at least 20 rows" in text


def test_slices_of_a_metric_of_which_less_is_better(tmp_path: Path) -> None:
    random = np.random.default_rng(12)
    topics = [f"t{number}" for number in range(3) for _ in range(40)]
    base = random.random(120) * 0.4 + 0.5
    gain = np.repeat([-0.3, 0.0, 0.01], 40) + random.normal(0, 0.05, 120)
    make_run(tmp_path / "a", {"slow": base}, {"topic": topics})
    make_run(tmp_path / "b", {"slow": base + gain})
    (pair,) = compare(["a", "b"], output_dir=tmp_path).pairs
    assert [part.value for part in pair.headline_slices["topic"]] == ["t0", "t1", "t2"]
    assert [part.value for part in differing_slices(pair, 1)] == ["t0", "t2"]
    make_run(tmp_path / "c", {"slow": base}, {"topic": ["one"] * 120})
    make_run(tmp_path / "d", {"slow": base + gain})
    (pair,) = compare(["c", "d"], slices="topic", output_dir=tmp_path).pairs
    assert pair.headline_slices == {}, "there are no other rows"
    assert "Where?" not in comparison_as_markdown(compare(["c", "d"], slices="topic", output_dir=tmp_path))


def test_two_columns_make_slices_too(tmp_path: Path) -> None:
    columns = {"kind": ["x", "y"] * 100, "size": ["big"] * 100 + ["small"] * 100}
    for name, values in (("a", A), ("b", B)):
        make_run(tmp_path / name, {"score": values}, columns)
    (pair,) = compare(["a", "b"], slices=["kind,size"], output_dir=tmp_path).pairs
    assert [(part.value, part.n) for part in pair.slices] == [
        ("x, big", 50), ("y, big", 50), ("x, small", 50), ("y, small", 50)
    ]  # fmt: skip


def test_movers_have_their_texts(tmp_path: Path) -> None:
    for name, answers in (("a", ["Rome", "Paris"]), ("b", ["Rome", "I can't say"])):
        rows = [{"qid": str(i), "question": f"q{i}", "answer": answer} for i, answer in enumerate(answers)]
        gold = [{"qid": "0", "reference": "Rome"}, {"qid": "1", "reference": ["Paris", "Lutetia"]}]
        evaluate(rows, gold, metrics="token_f1", run=name, output_dir=tmp_path)
    (mover,) = compare(["a", "b"], movers=5, output_dir=tmp_path).pairs[0].metrics["token_f1"].movers
    assert (mover.qid, mover.question, mover.reference) == ("1", "q1", ["Paris", "Lutetia"])
    assert (mover.a, mover.b, mover.answer_a, mover.answer_b) == (1.0, 0.0, "Paris", "I can't say")


def test_other_questions_under_the_same_qid_are_counted(tmp_path: Path) -> None:
    make_run(tmp_path / "a", {"score": [0.1, 0.2]}, {"question": ["who?", "when?"]})
    make_run(tmp_path / "b", {"score": [0.1, 0.2]}, {"question": ["who?", "where?"]})
    assert compare(["a", "b"], output_dir=tmp_path).pairs[0].questions_differ == 1


def test_what_can_not_be_compared(tmp_path: Path) -> None:
    make_run(tmp_path / "a", {"score": [0.1, 0.2]})
    make_run(tmp_path / "b", {"other": [0.1, 0.2]})
    make_run(tmp_path / "c", {"score": [0.1, 0.2]}, {"qid": ["x", "y"]})
    make_run(tmp_path / "more", {"score": [0.1, 0.2]})
    with pytest.raises(UsageError, match="no metric in common"):
        compare(["a", "b"], output_dir=tmp_path)
    make_run(tmp_path / "bare", {"score": [0.1, 0.2]})
    (tmp_path / "bare" / "summary.json").write_text('{"n_rows": 2, "metrics": {}}')
    with pytest.raises(UsageError, match="no metric in common") as nothing:
        compare(["a", "bare"], output_dir=tmp_path)
    assert nothing.value.hint == "a has score; bare has no metrics"
    with pytest.raises(UsageError, match="no qid in common"):
        compare(["a", "c"], output_dir=tmp_path)
    with pytest.raises(UsageError, match="two runs or more"):
        compare(["a"], output_dir=tmp_path)
    with pytest.raises(UnknownNameError, match="unknown run 'd'") as caught:
        compare(["a", "d"], output_dir=tmp_path)
    assert "there are a, b, bare, c, more" in caught.value.hint
    with pytest.raises(UnknownNameError, match="unknown metric 'scor': did you mean score"):
        compare(["a", "more"], metrics="scor", output_dir=tmp_path)
    with pytest.raises(UsageError, match="a is named twice: it is one run") as caught_twice:
        compare(["a", tmp_path / "." / "a"], output_dir=tmp_path)
    assert caught_twice.value.hint == "name each run once"
    with pytest.raises(UsageError, match="unknown test"):
        compare(["a", "c"], test="vibes", output_dir=tmp_path)


def test_a_metric_by_its_short_name(tmp_path: Path) -> None:
    rows = [{"qid": str(i), "answer": "la casa", "reference": "la casa roja"} for i in range(6)]
    for run, metrics in (
        ("a", "rouge_l_score[language=es],rouge_l_score[language=en]"),
        ("b", "rouge_l_score[language=es]"),
        ("c", "rouge_l_score[language=en]"),
        ("d", "rouge_l_score[language=es],rouge_l_score[language=en]"),
    ):
        evaluate(rows, metrics=metrics, run=run, output_dir=tmp_path)

    def compared(a: str, b: str) -> list[str]:
        return list(compare([tmp_path / a, tmp_path / b], metrics="rouge_l_score").pairs[0].metrics)

    assert compared("a", "b") == ["rouge_l_score[language=es]"]
    assert compared("c", "a") == ["rouge_l_score[language=en]"]
    with pytest.raises(UsageError, match=r"rouge_l_score is rouge_l_score\[language=es\] in b, and .*=en\] in c"):
        compared("b", "c")
    with pytest.raises(UsageError, match=r"could be rouge_l_score\[language=es\] or rouge_l_score\[language=en\]"):
        compared("a", "d")


def test_the_sentence(tmp_path: Path) -> None:
    n, random = 1_000, np.random.default_rng(3)
    right = (random.random(n) < 0.6).astype(float)
    better = np.where(random.random(n) < 0.1, 1.0, right)
    noise = random.random(n)
    make_run(tmp_path / "old", {"right": right, "score": noise})
    make_run(tmp_path / "new", {"right": better, "score": np.clip(noise + random.normal(0, 0.2, n), 0, 1)})
    (pair,) = compare(["old", "new"], output_dir=tmp_path).pairs
    right_or_wrong, score = pair.metrics["right"], pair.metrics["score"]
    assert right_or_wrong.interval is not None
    assert score.interval is not None
    low, high = right_or_wrong.interval
    assert right_or_wrong.sentence == (
        f"right: new is {right_or_wrong.difference:.4f} higher than old (95%: {low:+.4f} to {high:+.4f}), "
        "significantly better (p < 0.0001, n = 1,000)"
    )
    low, high = score.interval
    way = "higher" if (score.difference or 0) > 0 else "lower"
    assert score.sentence == (
        f"score: new is {abs(score.difference or 0):.4f} {way} than old (95%: {low:+.4f} to {high:+.4f}), "
        f"not significant (p = {score.p:.4f}, n = 1,000)"
    )
    assert score.needed == pytest.approx(2_400, rel=0.03), "the only other metric has alpha for itself"
    assert pair.headline == "right"
    assert re.fullmatch(
        r"new is better on right: \d\d% instead of \d\d% \(\+\d points, 95%: \+\d to \+\d, 1,000 questions\)\.",
        pair.sentence,
    )
    assert pair.remarks == ["Of 2 metrics: 1 better, 0 worse, 1 not significant."]


def test_an_interval_without_zero_and_a_corrected_test_may_disagree(tmp_path: Path) -> None:
    """Seven questions, six of them better: p is 0.03 for the headline metric, and 0.06 for one of two others."""
    gains = np.array([0.7, 0.6, 0.5, 0.4, 0.3, 0.25, -0.05])
    names = ("score", "other", "third")
    make_run(tmp_path / "a", {name: np.full(7, 0.3) for name in names})
    make_run(tmp_path / "b", dict.fromkeys(names, 0.3 + gains))
    (pair,) = compare(["a", "b"], output_dir=tmp_path).pairs
    other = pair.metrics["other"]
    assert other.interval is not None
    assert other.interval[0] > 0
    assert other.p is not None
    assert other.p < 0.05 < (other.p_holm or 0)
    assert other.verdict == "no verdict"
    words = "the interval excludes 0, and the test, corrected over 2 tests, does not (Holm p = 0.0625, n = 7)"
    assert words in other.sentence
    assert pair.metrics["score"].sentence.endswith("significantly better (p = 0.0313, n = 7)")
    assert pair.sentence.startswith("b is better on score: ")
    first = compare(["a", "b"], metrics="third,score,other", output_dir=tmp_path).pairs[0]
    assert first.headline == "third", "the order of the metrics that are named says which one it is"
    strict = compare(["a", "b"], metrics="score", alpha=0.01, output_dir=tmp_path).pairs[0].metrics["score"]
    assert strict.excludes_zero, "the interval of 99%"
    too_few = "7 questions can't give a p below 0.015625; at least 8 are needed (p = 0.0313, n = 7)"
    assert strict.sentence.endswith(too_few)
    assert (strict.needed, strict.smallest) == (None, None), "no power is promised that the test can't have"


@pytest.mark.parametrize("no_worse_than", [["a:score:0.05"], ["a:score:0.05", "a:other:0.05"], ["a:score:0.9"]])
def test_the_gate_judges_as_the_comparison_does(tmp_path: Path, no_worse_than: list[str]) -> None:
    """It said `better` where the comparison saw nothing, for it had looked at one metric alone."""
    gains = np.array([0.7, 0.6, 0.5, 0.4, 0.3, 0.25, -0.05])
    names = ("first", "score", "other")
    make_run(tmp_path / "a", {name: np.full(7, 0.3) for name in names})
    make_run(tmp_path / "b", dict.fromkeys(names, 0.3 + gains))
    (pair,) = compare(["a", "b"], output_dir=tmp_path).pairs
    verdict = gate("b", no_worse_than=no_worse_than, output_dir=tmp_path)
    assert verdict.passed, "the margin is held against the interval, whatever the judgement"
    for check in verdict.checks[: len(no_worse_than)]:
        assert check.reason.startswith(f"{pair.metrics[check.metric].sentence}: the interval rules out a loss of more")
        assert "better" not in check.reason
    assert verdict.sentences == [pair.sentence]


def measured(
    *, difference: float, interval: tuple[float, float], excludes_zero: bool, p: float, margin: float | None = None
) -> MetricDifference:
    """The difference of a metric without a direction, on nine rows."""
    return MetricDifference(
        direction="none", n=9, n_questions=9, n_clusters=None, mean_a=1.0, mean_b=1.0 + difference,
        difference=difference, standard_error=0.2, shown_error=0.2, interval=interval, interval_method="t",
        excludes_zero=excludes_zero, p=p, p_holm=p, p_bh=p, test="t", effect_size=None,
        better=0, worse=0, same=0, scored_only_a=0, scored_only_b=0,
        margin=margin, verdict="no verdict", movers=[],
    )  # fmt: skip


def test_neither_way_is_better() -> None:
    difference = measured(difference=1.0, interval=(0.5, 1.5), excludes_zero=True, p=0.001)
    assert verdict(difference, 0.05) == "different"
    assert Wording(0.95, 0.05, 1).difference("docs", "a", "b", replace(difference, verdict="different")) == (
        "docs: b is 1.0000 higher than a (95%: +0.5000 to +1.5000), significantly different (p = 0.0010, n = 9)"
    )


def test_intervals_of_differences_stay_within_what_is_possible(tmp_path: Path) -> None:
    kinds = {"kind": ["x", "y"] * 10}
    make_run(tmp_path / "a", {"score": [0.0] * 19 + [1.0], "slow": [0.0, 900.0] * 10}, kinds)
    make_run(tmp_path / "b", {"score": [1.0, 0.95] * 10, "slow": [800.0, 0.0] * 10}, kinds)
    two = {
        name: make_run(tmp_path / f"two-{name}", {"score": values}) for name, values in (("a", [0, 1]), ("b", [1, 1]))
    }
    assert compare(list(two.values())).pairs[0].metrics["score"].interval_method == "newcombe"
    (pair,) = compare(["a", "b"], output_dir=tmp_path).pairs
    for part in pair.slices:
        if part.metric == "score":
            assert part.interval is not None
            assert -1 <= part.interval[0] <= part.interval[1] <= 1
    slow = pair.metrics["slow"].interval
    assert slow is not None
    assert slow[0] < -200, "latencies have no upper end, so their differences have none"


def test_two_runs_with_the_same_scores_do_not_differ(tmp_path: Path) -> None:
    for name in "ab":
        make_run(tmp_path / name, {"right": np.ones(20), "score": A[:20]})
    (pair,) = compare(["a", "b"], output_dir=tmp_path).pairs
    assert {metric.verdict for metric in pair.metrics.values()} == {"not significant"}
    assert "have the same mean (95%: -0.1377 to +0.1377), not significant" in pair.metrics["score"].sentence
    assert pair.metrics["right"].interval is not None
    assert pair.metrics["right"].interval[1] > 0.1  # twenty alike rows don't prove that the systems are alike


def test_clusters_are_those_of_whichever_run_has_them(tmp_path: Path) -> None:
    """A baseline that was kept without its session_id does not make turns independent."""
    turns = {"session_id": [f"s{row // 10}" for row in range(200)]}
    make_run(tmp_path / "plain", {"score": A})
    make_run(tmp_path / "turns", {"score": B}, turns)
    one, other = (
        compare(runs, output_dir=tmp_path).pairs[0].metrics["score"]
        for runs in (["plain", "turns"], ["turns", "plain"])
    )
    assert one.n_clusters == other.n_clusters == 20
    assert one.interval is not None
    assert other.interval == pytest.approx((-one.interval[1], -one.interval[0]))
    make_run(tmp_path / "again", {"score": A})
    made = compare(["plain", "again", "turns"], all_pairs=True, output_dir=tmp_path).pairs
    assert [pair.metrics["score"].n_clusters for pair in made] == [None, 20, 20]


def test_runs_with_different_clusters_are_mirror_images(tmp_path: Path) -> None:
    """Rows that share a cluster in either run are together, whichever is the baseline."""
    make_run(tmp_path / "pairs", {"score": A}, {"session_id": [f"s{row // 2}" for row in range(200)]})
    make_run(tmp_path / "shifted", {"score": B}, {"session_id": [f"s{(row + 1) // 20}" for row in range(200)]})
    one, other = (
        compare(runs, output_dir=tmp_path).pairs[0].metrics["score"]
        for runs in (["pairs", "shifted"], ["shifted", "pairs"])
    )
    assert one.n_clusters == other.n_clusters == 1  # each ten is tied to the next by a pair
    make_run(tmp_path / "tens", {"score": B}, {"session_id": [f"s{row // 10}" for row in range(200)]})
    one, other = (
        compare(runs, output_dir=tmp_path).pairs[0].metrics["score"] for runs in (["pairs", "tens"], ["tens", "pairs"])
    )
    assert one.n_clusters == other.n_clusters == 20
    assert one.p == other.p
    assert one.interval is not None
    assert other.interval == pytest.approx((-one.interval[1], -one.interval[0]))


def test_runs_of_a_single_conversation_have_a_difference_and_no_verdict(tmp_path: Path) -> None:
    turns = {"session_id": ["s"] * 200}
    make_run(tmp_path / "a", {"score": A}, turns)
    make_run(tmp_path / "b", {"score": B}, turns)
    pair = compare(["a", "b"], output_dir=tmp_path).pairs[0]
    score = pair.metrics["score"]
    assert (score.n_clusters, score.interval, score.p, score.verdict) == (1, None, None, "no verdict")
    assert score.difference == pytest.approx(float(np.mean(B - A)))
    assert pair.sentence.startswith("No verdict between b and a on score")
    assert pair.sentence.endswith("200 questions in 1 cluster); all rows are in one cluster, so chance can't be told.")
    with pytest.raises(UsageError, match="fewer than two clusters"):  # asked for
        compare(["a", "b"], cluster="session_id", output_dir=tmp_path)


@pytest.mark.parametrize("unit", ["questions", "clusters"])
def test_so_few_that_no_test_can_be_significant(tmp_path: Path, unit: str) -> None:
    each = 1 if unit == "questions" else 20
    columns = {} if each == 1 else {"session_id": [f"s{row // each}" for row in range(5 * each)]}
    gains = np.repeat(np.linspace(0.2, 0.4, 5), each)
    make_run(tmp_path / "a", {"score": np.full(5 * each, 0.3)}, columns)
    make_run(tmp_path / "b", {"score": 0.3 + gains}, columns)
    pair = compare(["a", "b"], output_dir=tmp_path).pairs[0]
    score = pair.metrics["score"]
    assert (score.verdict, score.least_p, score.needed, score.smallest) == ("no verdict", 0.0625, None, None)
    assert pair.sentence.endswith(f"; 5 {unit} can't give a p below 0.0625; at least 6 are needed.")
    make_run(tmp_path / "c", {"score": 0.3 + gains * np.repeat([1, -1, 1, -1, 1], each)}, columns)
    unsure = compare(["a", "c"], output_dir=tmp_path).pairs[0]
    assert unsure.metrics["score"].verdict == "not significant"
    assert unsure.sentence.endswith(f"; 5 {unit} can't give a p below 0.0625; at least 6 are needed.")
    by_t = compare(["a", "b"], test="t", output_dir=tmp_path).pairs[0].metrics["score"]
    assert (by_t.verdict, by_t.least_p) == ("better", None)
    assert by_t.smallest is not None


def test_of_equal_runs_nobody_knows_how_many_questions_it_takes(tmp_path: Path) -> None:
    for name in "ab":
        make_run(tmp_path / name, {"score": A})
    pair = compare(["a", "b"], output_dir=tmp_path).pairs[0]
    assert pair.metrics["score"].needed is None
    assert "No row has moved, so how many questions would show a difference can't be told." in pair.remarks


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"worse": -1}, "worse=... must be at least 0"), ({"better": -1}, "at least 0"), ({"movers": -2}, "at least 0"),
        ({"metrics": ""}, "no metric was named"), ({"metrics": []}, "no metric was named"),
    ],
)  # fmt: skip
def test_settings_that_make_no_sense(tmp_path: Path, settings: dict[str, Any], message: str) -> None:
    make_run(tmp_path / "a", {"score": A})
    make_run(tmp_path / "b", {"score": B})
    with pytest.raises(UsageError, match=message):
        compare(["a", "b"], output_dir=tmp_path, **settings)


def test_alpha_is_named_where_the_interval_has_another_level(tmp_path: Path) -> None:
    make_run(tmp_path / "a", {"score": np.linspace(0.2, 0.5, 40)})
    make_run(tmp_path / "b", {"score": np.linspace(0.2, 0.5, 40) + np.tile([0.2, -0.1, 0.1, 0.0], 10)})
    strict = compare(["a", "b"], alpha=0.001, output_dir=tmp_path).pairs[0].sentence
    assert strict.startswith("No difference seen between b and a on score at alpha 0.001: ")
    wide = compare(["a", "b"], level=0.999, output_dir=tmp_path).pairs[0].sentence
    assert wide.startswith("b is better on score at alpha 0.05: ")
    usual = compare(["a", "b"], output_dir=tmp_path).pairs[0].sentence
    assert usual.startswith("b is better on score: ")


def test_what_a_system_made_is_no_slice(tmp_path: Path) -> None:
    """Where the first was wrong the second looks better, and the other way round, even if they are alike."""
    columns = {"kind": ["x", "y"] * 100, "note": [str(value > 0.5) for value in A]}
    make_run(tmp_path / "a", {"score": A}, columns)
    make_run(tmp_path / "b", {"score": B}, {**columns, "note": [str(value > 0.5) for value in B]})
    (pair,) = compare(["a", "b"], output_dir=tmp_path).pairs
    assert {part.column for part in pair.slices} == {"kind"}
    (pair,) = compare(["a", "b"], slices=["note"], output_dir=tmp_path).pairs
    assert {part.column for part in pair.slices} == {"note"}


@pytest.mark.parametrize("asked", [{"draws": 0}, {"draws": -5}, {"seed": -1}, {"draws": 998}])
def test_draws_and_seeds_that_are_none(tmp_path: Path, asked: dict[str, int]) -> None:
    """Minus five draws made every p negative, and every verdict sure."""
    make_run(tmp_path / "a", {"score": A})
    make_run(tmp_path / "b", {"score": B})
    with pytest.raises(UsageError):
        compare(["a", "b"], output_dir=tmp_path, **asked)  # type: ignore[arg-type]


def test_a_run_by_the_folder_that_one_is_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_run(tmp_path / "a", {"score": A})
    make_run(tmp_path / "b", {"score": B})
    monkeypatch.chdir(tmp_path / "a")
    assert compare([".", "../b"]).runs == ["a", "b"]


def test_of_many_metrics_all_are_counted(tmp_path: Path) -> None:
    make_run(tmp_path / "a", {f"m{number}": A for number in range(30)})
    make_run(tmp_path / "b", {f"m{number}": B for number in range(30)})
    (pair,) = compare(["a", "b"], output_dir=tmp_path).pairs
    assert pair.sentence.startswith("b is better on m0: ")
    assert pair.remarks == ["Of 30 metrics: 30 better, 0 worse."]


def test_a_metric_by_the_name_that_another_tool_has_for_it(tmp_path: Path) -> None:
    make_run(tmp_path / "a", {"exact_answer": A})
    make_run(tmp_path / "b", {"exact_answer": B})
    assert list(compare(["a", "b"], metrics="exact_match", output_dir=tmp_path).pairs[0].metrics) == ["exact_answer"]
    assert list(summarise_run("a", metrics="exact_match", output_dir=tmp_path).metrics) == ["exact_answer"]
    assert plan_from_pilot(["a", "b"], "exact_match", output_dir=tmp_path).metric == "exact_answer"
    verdict = gate("b", fail_under={"exact_match": 0.1}, no_worse_than="a:exact_match:0.02", output_dir=tmp_path)
    assert verdict.passed
    assert {check.metric for check in verdict.checks} == {"exact_answer"}
    with pytest.raises(UnknownNameError, match="unknown metric 'missing'"):
        gate("b", fail_under={"missing": 0.1}, output_dir=tmp_path)


def test_one_text_where_several_may_stand(tmp_path: Path) -> None:
    """A text is not its letters."""
    make_run(tmp_path / "a", {"score": A}, {"kind": ["x", "y"] * 100, "answer": ["a"] * 200})
    make_run(tmp_path / "b", {"score": B}, {"kind": ["x", "y"] * 100})
    assert compare(["a", "b"], slices="kind", output_dir=tmp_path).pairs[0].slices
    assert [part.column for part in summarise_run("a", slices="kind", output_dir=tmp_path).slices] == ["kind", "kind"]
    drawn = choose_sample("a", 10, by="stratified", strata="kind", metrics="score", output_dir=tmp_path)
    assert {row.stratum for row in drawn.rows} == {"x", "y"}
    with pytest.raises(UsageError, match="two runs or more"):
        compare("a", output_dir=tmp_path)


def test_where_interval_and_test_disagree_there_is_no_verdict(tmp_path: Path) -> None:
    """Fifteen of 200 rows lose: it said of an interval from -0.013 to +0.0002 `significantly worse` (p = 0.0001)."""
    random = np.random.default_rng(3913)
    lost = np.round(np.where(random.random(200) < 0.05, -random.exponential(0.1, 200), 0), 4)
    make_run(tmp_path / "a", {"score": np.full(200, 0.7)})
    make_run(tmp_path / "b", {"score": 0.7 + lost})
    (pair,) = compare(["a", "b"], margin="score=0", output_dir=tmp_path).pairs
    score = pair.metrics["score"]
    assert score.interval is not None
    assert score.interval[0] < 0 < score.interval[1]
    assert (score.p or 1) < 0.001
    assert score.verdict == "no verdict"
    assert score.sentence.endswith("the interval and the test disagree: a few rows decide (p < 0.0001, n = 200)")
    make_run(tmp_path / "c", {"right": np.repeat([1, 0, 0], [50, 5, 45])})
    make_run(tmp_path / "d", {"right": np.repeat([1, 1, 0], [50, 5, 45])})
    five = compare(["c", "d"], output_dir=tmp_path)["right"]
    assert five.interval is not None
    assert five.interval[0] < 0, "an interval that is not surer than the test"
    assert five.p == pytest.approx(0.0625), "five rows have no smaller p"
    assert five.verdict == "not significant"


def test_a_difference_that_does_not_matter_is_small(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    values = random.random(2_000) * 0.8
    make_run(tmp_path / "a", {"score": values, "slow": values})
    make_run(tmp_path / "b", {"score": values + random.normal(0.006, 0.01, 2_000), "slow": values + 0.02})
    comparison = compare(["a", "b"], output_dir=tmp_path)
    small = comparison["score"]
    assert (small.verdict, small.margin) == ("significant, but small", 0.01)
    assert ", significant, but small (p <" in small.sentence
    assert small.sentence.endswith("n = 2,000; small: less than 0.01, 1% of the metric's range)")
    assert comparison["slow"].verdict == "worse"
    for margin in ("score=0.005", ["score=0.005", "slow=0.5"], {"score": 0.005}):
        assert compare(["a", "b"], margin=margin, output_dir=tmp_path)["score"].verdict == "better"
    large = compare(["a", "b"], margin="slow=0.5,score=0", output_dir=tmp_path)
    assert [metric.verdict for metric in large.pairs[0].metrics.values()] == ["better", "significant, but small"]
    assert large["slow"].sentence.endswith("n = 2,000; small: less than 0.5)")
    assert large["score"].needed is None, "no number of questions shows a difference of nothing"


@pytest.mark.parametrize(
    ("margin", "said"),
    [
        ("score", "can't read margin score"),
        ("score=much", "can't read margin score=much"),
        ("score=-0.1", "at least 0"),
        ("score=nan", "finite"),
        ({"score": True}, "finite"),
        ("score=5", "a difference is at most 1; 5 points are 0.05"),
        ("scor=0.1", "unknown metric 'scor': did you mean score"),
    ],
)
def test_margins_that_are_none(tmp_path: Path, margin: str, said: str) -> None:
    for name in "ab":
        make_run(tmp_path / name, {"score": A})
    with pytest.raises(UsageError, match=said):
        compare(["a", "b"], margin=margin, output_dir=tmp_path)


def test_the_verdict_needs_both() -> None:
    sure = {"difference": 1.0, "interval": (0.5, 1.5)}
    for excludes, p, margin, expected in [
        (True, 0.001, None, "different"),
        (True, 0.001, 2.0, "significant, but small"),
        (False, 0.001, None, "no verdict"),
        (True, 0.2, None, "no verdict"),
        (False, 0.2, None, "not significant"),
    ]:
        difference = measured(**sure, excludes_zero=excludes, p=p, margin=margin)  # type: ignore[arg-type]
        assert verdict(difference, 0.05) == expected
    corrected = measured(**sure, excludes_zero=True, p=0.04)  # type: ignore[arg-type]
    assert verdict(replace(corrected, p_holm=0.08), 0.05) == "no verdict", "one basis for both"


def test_equal_differences_have_no_t(tmp_path: Path) -> None:
    """They had p = 0 and an effect size of -2e15."""
    make_run(tmp_path / "a", {"score": np.linspace(0.3, 0.6, 30)})
    make_run(tmp_path / "b", {"score": np.linspace(0.3, 0.6, 30) - 0.1})
    by_t = compare(["a", "b"], test="t", output_dir=tmp_path)["score"]
    assert (by_t.p, by_t.effect_size, by_t.verdict) == (None, None, "no verdict")
    assert by_t.sentence.endswith("no test: all differences are the same, and a spread of nothing has no t (n = 30)")
    assert compare(["a", "b"], output_dir=tmp_path)["score"].p == pytest.approx(2 / 2**30)


def test_slices_are_tested_as_the_whole_is(tmp_path: Path) -> None:
    """Student's test on two conversations had p = 0 where the exact one has 0.5."""
    random = np.random.default_rng(5)
    sessions = [f"s{row // 10}" for row in range(240)]
    kinds = ["odd"] * 20 + ["usual"] * 120 + ["many"] * 100
    right = (random.random(240) < 0.5).astype(float)
    gain = np.where(np.array(kinds) == "odd", -0.2, 0.2) + random.normal(0, 0.02, 240)
    make_run(
        tmp_path / "a", {"score": A.repeat(2)[:240] * 0.5, "right": right}, {"session_id": sessions, "kind": kinds}
    )
    better = np.where(random.random(240) < 0.3, 1.0, right)
    make_run(tmp_path / "b", {"score": A.repeat(2)[:240] * 0.5 + gain, "right": better})
    (pair,) = compare(["a", "b"], output_dir=tmp_path).pairs
    parts = {(part.value, part.metric): part for part in pair.slices}
    assert {value for value, _ in parts} == {"usual", "many"}, "two conversations are not tested"
    assert parts["many", "score"].n_clusters == 10
    (apart,) = compare(["a", "b"], cluster=None, output_dir=tmp_path).pairs
    rates = {part.value: part.interval for part in apart.slices if part.metric == "right"}
    alone, _ = difference_interval(right[140:], better[140:], Confidence(), binary=True)
    assert rates["many"] == alone
    (turned,) = (part for part in apart.slices if part.turns)
    assert (turned.value, turned.n, turned.n_clusters) == ("odd", 20, None)


def test_what_could_be_seen_goes_by_the_interval(tmp_path: Path) -> None:
    """500 rows better by 0.005 score, and the interval has 0 in it. It said: a difference of 0.0000 would probably have
    been seen, and a few rows decide.
    """
    scores = np.random.default_rng(1).random(500) * 0.5
    make_run(tmp_path / "a", {"score": scores})
    make_run(tmp_path / "b", {"score": scores + 0.005})
    (pair,) = compare(["a", "b"], output_dir=tmp_path).pairs
    score = pair.metrics["score"]
    assert score.verdict == "no verdict"
    assert "the interval and the test disagree (p < 0.0001, n = 500)" in score.sentence
    assert score.interval is not None
    assert score.shown_error == pytest.approx((score.interval[1] - score.interval[0]) / 2 / stats.t.ppf(0.975, 499))
    assert score.smallest == pytest.approx(2.801585 * (score.shown_error or 0))
    assert (score.smallest or 0) > 0.005, "which was not seen"
    assert score.needed is not None
    assert 300 < score.needed < 500
    assert pair.remarks == [f"A difference of {float(f'{score.smallest:.2g}')} would probably have been seen."]
    make_run(tmp_path / "c", {"slow": 1000 + scores * 0})
    make_run(tmp_path / "d", {"slow": 1000.3 + scores * 0})
    slow = compare(["c", "d"], output_dir=tmp_path)["slow"]
    assert (slow.needed, slow.smallest) == (None, None), "rounding is no spread"


def test_what_the_whole_does_not_know_no_slice_turns(tmp_path: Path) -> None:
    """Of a whole of -0.001 (p = 0.95) a slice was said to be the other way round."""
    kinds = ["up"] * 100 + ["down"] * 100
    random = np.random.default_rng(4)
    make_run(tmp_path / "a", {"score": A * 0.5 + 0.2}, {"kind": kinds})
    make_run(tmp_path / "b", {"score": A * 0.5 + 0.2 + np.repeat([0.1, -0.1], 100) + random.normal(0, 0.05, 200)})
    (pair,) = compare(["a", "b"], output_dir=tmp_path).pairs
    assert pair.metrics["score"].verdict == "not significant"
    assert all(part.p_adjusted < 0.001 for part in pair.slices)
    assert not any(part.turns or part.sentence for part in pair.slices)


def test_a_slice_says_its_clusters(tmp_path: Path) -> None:
    columns = {"session_id": [f"s{row // 2}" for row in range(200)], "kind": ["usual"] * 160 + ["odd"] * 40}
    gain = np.where(np.array(columns["kind"]) == "odd", -0.2, 0.2)
    make_run(tmp_path / "a", {"score": A * 0.5 + 0.2}, columns)
    make_run(tmp_path / "b", {"score": A * 0.5 + 0.2 + gain + np.random.default_rng(7).normal(0, 0.05, 200)})
    (pair,) = compare(["a", "b"], output_dir=tmp_path).pairs
    (turned,) = (part for part in pair.slices if part.turns)
    assert turned.n_clusters == 20
    assert "n = 40 in 20 clusters)" in turned.sentence


def test_numbers_that_are_no_metrics_are_compared_if_named(tmp_path: Path) -> None:
    """Two metrics and a latency were three tests, and the latency's rows filled the movers."""
    slow = {"latency_ms": list(np.linspace(100, 900, 200))}
    fast = {"latency_ms": list(np.linspace(10, 90, 200))}
    make_run(tmp_path / "a", {"score": A, "other": B}, slow)
    make_run(tmp_path / "b", {"score": B, "other": A}, fast)
    comparison = compare(["a", "b"], output_dir=tmp_path)
    assert (comparison.tests, list(comparison.pairs[0].metrics)) == (NumberOfTests(1, 1), ["score", "other"])
    named = compare(["a", "b"], metrics="score,latency_ms", output_dir=tmp_path)
    assert (named.tests, named["latency_ms"].verdict, named["latency_ms"].margin) == (
        NumberOfTests(1, 1),
        "better",
        None,
    )
    checked = gate("b", no_worse_than={"a": {"latency_ms": 5}}, output_dir=tmp_path)
    assert checked.passed
    assert "significantly better after correction over 2 tests" in checked.checks[0].reason


def test_what_could_be_seen_knows_alpha_the_correction_and_repeats(tmp_path: Path) -> None:
    """Asked three times, the same questions were said to be three times as many; the power was 51% instead of 80."""
    random = np.random.default_rng(4)
    first, second = random.random((2, 100)) * 0.5
    needed = []
    for times in (1, 3, 5):
        for name, scores in (("a", first), ("b", second)):
            qids = {"qid": [str(row) for row in range(100)] * times}
            make_run(tmp_path / f"{name}{times}", {"score": np.tile(scores, times)}, qids)
        score = compare([f"a{times}", f"b{times}"], output_dir=tmp_path)["score"]
        assert score.n_questions == 100
        needed.append(score.needed)
    assert needed[1:] == pytest.approx([needed[0]] * 2, abs=1)
    runs = ["a1", "b1"]
    usual, strict = (compare(runs, alpha=alpha, output_dir=tmp_path)["score"] for alpha in (0.05, 0.001))
    assert (strict.smallest or 0) / (usual.smallest or 1) == pytest.approx((3.290527 + 0.841621) / 2.801585)
    for name, scores in (("m", first), ("n", second)):
        make_run(tmp_path / name, {f"m{number}": scores for number in range(6)})
    of_six = compare(["m", "n"], output_dir=tmp_path)
    assert of_six["m0"].smallest == pytest.approx(usual.smallest), "the headline metric, as `power` plans for"
    assert (of_six["m1"].smallest or 0) / (usual.smallest or 1) == pytest.approx((2.575829 + 0.841621) / 2.801585)
