"""Runs side by side: by hand, against scipy, and where things are missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from ragmeter import choose_sample, compare, evaluate, gate
from ragmeter.errors import UnknownNameError, UsageError
from ragmeter.planning import plan_from_pilot
from ragmeter.slicing import summarise_run
from ragmeter.stats.paired import McNemar, randomisation_p
from tests.runs import make_run

NAN = float("nan")
RANDOM = np.random.default_rng(12)
A = RANDOM.random(200)
B = np.clip(A + RANDOM.normal(0.05, 0.1, 200), 0, 1)


def test_one_metric_whole(tmp_path: Path) -> None:
    make_run(tmp_path / "a", {"score": A})
    make_run(tmp_path / "b", {"score": B})
    found = compare(["a", "b"], output_dir=tmp_path)
    (pair,) = found.pairs
    each = pair.metrics["score"]
    d = B - A
    assert (pair.a, pair.b, pair.n_paired, each.n) == ("a", "b", 200, 200)
    assert each.difference == pytest.approx(d.mean(), abs=1e-12)
    assert (each.mean_a, each.mean_b) == pytest.approx((A.mean(), B.mean()), abs=1e-12)
    oracle = stats.ttest_rel(B, A).confidence_interval()
    assert each.interval == pytest.approx((oracle.low, oracle.high), abs=1e-9)
    assert each.p == randomisation_p(d)
    assert each.p_holm == each.p_bh == each.p
    assert each.effect_size == pytest.approx(d.mean() / d.std(ddof=1), abs=1e-12)
    assert (each.better, each.worse, each.same) == (int((d > 0).sum()), int((d < 0).sum()), int((d == 0).sum()))
    assert each.verdict == "better"
    assert each.needed == pytest.approx((1.959964 + 0.841621) ** 2 * d.var(ddof=1) / 0.01**2, abs=1)
    largest = int(np.abs(d).argmax())
    assert each.movers[0].qid == str(largest)
    assert [abs(mover.difference) for mover in each.movers] == sorted(np.abs(d))[::-1][:5]


def test_right_and_wrong(tmp_path: Path) -> None:
    right_a, right_b = np.repeat([1, 1, 0, 0], [40, 5, 20, 35]), np.repeat([1, 0, 1, 0], [40, 5, 20, 35])
    make_run(tmp_path / "a", {"right": right_a})
    make_run(tmp_path / "b", {"right": right_b})
    for test in ("randomisation", "mcnemar"):
        each = compare(["a", "b"], test=test, output_dir=tmp_path).pairs[0].metrics["right"]
        assert each.p == pytest.approx(McNemar(5, 20).exact_p, rel=1e-12)
        assert (each.interval_method, each.better, each.worse, each.same) == ("newcombe", 20, 5, 75)


@pytest.mark.parametrize("test", ["bootstrap", "t"])
def test_other_tests_agree(tmp_path: Path, test: str) -> None:
    make_run(tmp_path / "a", {"score": A})
    make_run(tmp_path / "b", {"score": A + np.random.default_rng(7).normal(0.01, 0.1, 200)})
    usual, other = (
        compare(["a", "b"], test=each, output_dir=tmp_path).pairs[0].metrics["score"]
        for each in ("randomisation", test)
    )
    assert other.test == test
    assert other.p == pytest.approx(usual.p, abs=0.03)


def test_lower_may_be_better(tmp_path: Path) -> None:
    make_run(tmp_path / "a", {"slowness": A})
    make_run(tmp_path / "b", {"slowness": B})
    each = compare(["a", "b"], output_dir=tmp_path).pairs[0].metrics["slowness"]
    assert each.verdict == "worse"
    assert each.worse > each.better


def test_rows_are_paired_by_qid_whatever_their_order(tmp_path: Path) -> None:
    order = np.random.default_rng(7).permutation(200)
    make_run(tmp_path / "a", {"score": A})
    make_run(tmp_path / "b", {"score": B[order]}, {"qid": [str(row) for row in order]})
    each = compare(["a", "b"], output_dir=tmp_path).pairs[0].metrics["score"]
    assert each.difference == pytest.approx((B - A).mean(), abs=1e-12)


def test_rows_in_one_run_only_and_rows_that_one_run_has_not_scored(tmp_path: Path) -> None:
    make_run(tmp_path / "a", {"score": [0.1, 0.2, NAN, 0.4]}, {"qid": ["1", "2", "3", "4"]})
    make_run(tmp_path / "b", {"score": [0.2, NAN, 0.5, 0.9]}, {"qid": ["1", "2", "3", "5"]})
    (pair,) = compare(["a", "b"], output_dir=tmp_path).pairs
    each = pair.metrics["score"]
    assert (pair.only_a, pair.only_b) == ({"count": 1, "qids": ["4"]}, {"count": 1, "qids": ["5"]})
    assert (pair.n_paired, each.n, each.scored_only_a, each.scored_only_b) == (3, 1, 1, 1)
    assert (each.interval, each.p, each.verdict) == (None, None, "no evidence")


def test_questions_that_were_asked_several_times(tmp_path: Path) -> None:
    """The first goes with the first; and repeats of a question are one cluster, not so many questions."""
    make_run(tmp_path / "a", {"score": [0.0, 0.2, 0.5, 0.7]}, {"qid": ["1", "1", "2", "3"]})
    make_run(tmp_path / "b", {"score": [0.6, 0.1, 0.3, 0.9]}, {"qid": ["2", "1", "1", "3"]})
    found = compare(["a", "b"], output_dir=tmp_path)
    each = found.pairs[0].metrics["score"]
    assert found.cluster == "qid"
    assert (each.n, each.n_clusters) == (4, 3)
    assert sorted(mover.difference for mover in each.movers) == pytest.approx([0.1, 0.1, 0.1, 0.2])


def test_turns_of_a_conversation_belong_together(tmp_path: Path) -> None:
    sessions = np.repeat(np.arange(50), 4).astype(str).tolist()
    make_run(tmp_path / "a", {"score": A}, {"session_id": sessions})
    make_run(tmp_path / "b", {"score": B}, {"session_id": sessions})
    found = compare(["a", "b"], output_dir=tmp_path)
    each = found.pairs[0].metrics["score"]
    assert (found.cluster, each.n_clusters, each.interval_method) == ("session_id", 50, "student_t_clustered")
    apart = compare(["a", "b"], cluster=None, output_dir=tmp_path)
    assert (apart.cluster, apart.pairs[0].metrics["score"].n_clusters) == (None, None)
    with pytest.raises(UsageError, match="McNemar's test takes rows for independent"):
        compare(["a", "b"], test="mcnemar", output_dir=tmp_path)


def test_one_cluster_is_refused(tmp_path: Path) -> None:
    for name in "ab":
        make_run(tmp_path / name, {"score": [0.1, 0.2]}, {"user": ["u", "u"]})
    with pytest.raises(UsageError, match="fewer than two clusters"):
        compare(["a", "b"], cluster="user", output_dir=tmp_path)
    with pytest.raises(UnknownNameError, match="unknown column 'usr': did you mean user"):
        compare(["a", "b"], cluster="usr", output_dir=tmp_path)


def test_more_metrics_and_runs_are_corrected_together(tmp_path: Path) -> None:
    random = np.random.default_rng(9)
    for name in "abc":
        make_run(tmp_path / name, {f"m{i}": random.random(100) for i in range(4)})
    found = compare(["a", "b", "c"], output_dir=tmp_path)
    assert [(pair.a, pair.b) for pair in found.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    every = [each for pair in found.pairs for each in pair.metrics.values()]
    least = min(every, key=lambda each: each.p or 1)
    assert least.p_holm == pytest.approx(min(1.0, 12 * (least.p or 1)))


def test_slices_that_turn_around(tmp_path: Path) -> None:
    kinds = ["usual"] * 160 + ["odd"] * 40
    b = A + np.where(np.array(kinds) == "usual", 0.2, -0.2) + np.random.default_rng(7).normal(0, 0.05, 200)
    make_run(tmp_path / "a", {"score": A}, {"kind": kinds, "text": [str(row) for row in range(200)]})
    make_run(tmp_path / "b", {"score": b})
    (pair,) = compare(["a", "b"], output_dir=tmp_path).pairs
    assert pair.metrics["score"].verdict == "better"
    assert [(each.column, each.value, each.turns, each.n) for each in pair.slices] == [
        ("kind", "usual", False, 160),
        ("kind", "odd", True, 40),
    ]
    odd = pair.slices[1]
    d = (b - A)[160:]
    assert odd.p == pytest.approx(stats.ttest_1samp(d, 0).pvalue, rel=1e-9)
    assert odd.p_adjusted == pytest.approx(odd.p * 2 if odd.p < pair.slices[0].p else odd.p, rel=1e-9)


def test_two_columns_make_slices_too(tmp_path: Path) -> None:
    columns = {"kind": ["x", "y"] * 100, "size": ["big"] * 100 + ["small"] * 100}
    for name, values in (("a", A), ("b", B)):
        make_run(tmp_path / name, {"score": values}, columns)
    (pair,) = compare(["a", "b"], slices=["kind,size"], output_dir=tmp_path).pairs
    assert [(each.value, each.n) for each in pair.slices] == [
        ("x, big", 50), ("y, big", 50), ("x, small", 50), ("y, small", 50)
    ]  # fmt: skip


def test_movers_have_their_texts(tmp_path: Path) -> None:
    for name, answers in (("a", ["Rome", "Paris"]), ("b", ["Rome", "I can't say"])):
        rows = [{"qid": str(i), "question": f"q{i}", "answer": answer} for i, answer in enumerate(answers)]
        gold = [{"qid": "0", "reference": "Rome"}, {"qid": "1", "reference": ["Paris", "Lutetia"]}]
        evaluate(rows, gold, metrics="token_f1", run=name, output_dir=tmp_path)
    (mover,) = compare(["a", "b"], output_dir=tmp_path).pairs[0].metrics["token_f1"].movers
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
    with pytest.raises(UsageError, match="no metric in common"):
        compare(["a", "b"], output_dir=tmp_path)
    with pytest.raises(UsageError, match="no qid in common"):
        compare(["a", "c"], output_dir=tmp_path)
    with pytest.raises(UsageError, match="two runs or more"):
        compare(["a"], output_dir=tmp_path)
    with pytest.raises(UnknownNameError, match="unknown run 'd'") as caught:
        compare(["a", "d"], output_dir=tmp_path)
    assert "there are a, b, c" in caught.value.hint
    with pytest.raises(UnknownNameError, match="unknown metric 'scor': did you mean score"):
        compare(["a", "a"], metrics="scor", output_dir=tmp_path)
    with pytest.raises(UsageError, match="unknown test"):
        compare(["a", "c"], test="vibes", output_dir=tmp_path)


def test_the_sentence(tmp_path: Path) -> None:
    n, random = 1_000, np.random.default_rng(3)
    right = (random.random(n) < 0.6).astype(float)
    better = np.where(random.random(n) < 0.1, 1.0, right)
    noise = random.random(n)
    make_run(tmp_path / "old", {"right": right, "score": noise})
    make_run(tmp_path / "new", {"right": better, "score": noise + random.normal(0, 0.2, n)})
    (pair,) = compare(["old", "new"], output_dir=tmp_path).pairs
    each = pair.metrics["right"]
    assert each.interval is not None
    low, high = each.interval
    assert pair.sentence == (
        f"new is better than old on right by {100 * (each.difference or 0):.1f} points "
        f"(95%: {100 * low:.1f} to {100 * high:.1f}), n = 1,000; on the rest there is no evidence either way: "
        "to see a difference of 1 point you need about 3,200 questions."
    )


def test_the_same_run_twice_is_no_evidence(tmp_path: Path) -> None:
    make_run(tmp_path / "a", {"right": np.ones(20), "score": A[:20]})
    (pair,) = compare(["a", tmp_path / "a"], output_dir=tmp_path).pairs
    assert {each.verdict for each in pair.metrics.values()} == {"no evidence"}
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
    made = compare(["plain", "plain", "turns"], output_dir=tmp_path).pairs
    assert [pair.metrics["score"].n_clusters for pair in made] == [None, 20, 20]


def test_what_a_system_made_is_no_slice(tmp_path: Path) -> None:
    """Where the first was wrong the second looks better, and the other way round, even if they are alike."""
    columns = {"kind": ["x", "y"] * 100, "note": [str(value > 0.5) for value in A]}
    make_run(tmp_path / "a", {"score": A}, columns)
    make_run(tmp_path / "b", {"score": B}, {**columns, "note": [str(value > 0.5) for value in B]})
    (pair,) = compare(["a", "b"], output_dir=tmp_path).pairs
    assert {each.column for each in pair.slices} == {"kind"}
    (pair,) = compare(["a", "b"], slices=["note"], output_dir=tmp_path).pairs
    assert {each.column for each in pair.slices} == {"note"}


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


def test_a_sentence_names_no_more_than_can_be_read(tmp_path: Path) -> None:
    make_run(tmp_path / "a", {f"m{number}": A for number in range(30)})
    make_run(tmp_path / "b", {f"m{number}": B for number in range(30)})
    (pair,) = compare(["a", "b"], output_dir=tmp_path).pairs
    assert "on m7 by" in pair.sentence
    assert "m8" not in pair.sentence
    assert ", and on 22 more, n = 200" in pair.sentence


def test_conversations_scores_by_the_names_of_their_table(tmp_path: Path) -> None:
    make_run(tmp_path / "a", {"is_correct": A})
    make_run(tmp_path / "b", {"is_correct": B})
    assert list(compare(["a", "b"], metrics="accuracy", output_dir=tmp_path).pairs[0].metrics) == ["is_correct"]
    assert list(summarise_run("a", metrics="accuracy", output_dir=tmp_path).metrics) == ["is_correct"]
    assert plan_from_pilot(["a", "b"], "accuracy", output_dir=tmp_path).metric == "is_correct"
    verdict = gate("b", fail_under={"accuracy": 0.1}, no_worse_than="a:accuracy:0.02", output_dir=tmp_path)
    assert verdict.passed
    assert {check.metric for check in verdict.checks} == {"is_correct"}
    with pytest.raises(UnknownNameError, match="unknown metric 'missing'"):
        gate("b", fail_under={"missing": 0.1}, output_dir=tmp_path)


def test_one_text_where_several_may_stand(tmp_path: Path) -> None:
    """A text is not its letters."""
    make_run(tmp_path / "a", {"score": A}, {"kind": ["x", "y"] * 100, "answer": ["a"] * 200})
    make_run(tmp_path / "b", {"score": B}, {"kind": ["x", "y"] * 100})
    assert compare(["a", "b"], slices="kind", output_dir=tmp_path).pairs[0].slices
    assert [each.column for each in summarise_run("a", slices="kind", output_dir=tmp_path).slices] == ["kind", "kind"]
    drawn = choose_sample("a", 10, by="stratified", strata="kind", metrics="score", output_dir=tmp_path)
    assert {row.stratum for row in drawn.rows} == {"x", "y"}
    with pytest.raises(UsageError, match="two runs or more"):
        compare("a", output_dir=tmp_path)
