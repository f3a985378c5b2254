"""What a calibration says: its numbers from the parts they are made of, and its warnings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ppi_py import ppi_mean_ci

from ragmeter import Calibration, calibrate, choose_sample, evaluate
from ragmeter.analysis.people.label_matches import match
from ragmeter.analysis.people.labels import Label, answer_hash
from ragmeter.errors import InputError, UnknownNameError, UsageError
from ragmeter.runs.run import Run
from tests.analysis.people.helpers import make_run, truth


def labelled(run: Run, n: int, **more: Any) -> list[dict[str, Any]]:
    """Labels of a sample, by the truth."""
    said = truth()
    return [
        {"qid": row.qid, "label": said[row.qid], "stratum": row.stratum, "stratum_rows": row.stratum_rows}
        for row in choose_sample(run, n, **more).rows
    ]


def test_a_random_sample(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    labels = labelled(run, 80)
    calibration = calibrate("demo", labels, output_dir=tmp_path / "runs")
    assert isinstance(calibration, Calibration)
    assert (calibration.metric, calibration.design, calibration.n_rows, calibration.n_scored) == (
        "exact_match",
        "random",
        200,
        200,
    )
    said, judge = truth(), dict(zip(run.rows(["qid"])["qid"].to_pylist(), run.scores("exact_match"), strict=True))
    labelled_qids = {row["qid"] for row in labels}
    people = np.array([float(said[row["qid"]]) for row in labels])
    beside = np.array([judge[row["qid"]] for row in labels])
    rest = np.array([score for qid, score in judge.items() if qid not in labelled_qids])
    low, high = ppi_mean_ci(people, beside, rest, alpha=0.05)
    assert calibration.corrected.value == pytest.approx((low.item() + high.item()) / 2, abs=1e-9)
    assert calibration.corrected.standard_error == pytest.approx((high - low).item() / 2 / 1.959963984540054, abs=1e-9)
    assert calibration.judge.both_correct == ((people == 1) & (beside == 1)).sum()
    assert calibration.judge.judge_alone_correct == ((people == 0) & (beside == 1)).sum()
    assert calibration.judge.agreement.value == pytest.approx((people == beside).mean())
    assert calibration.labels_alone.value == pytest.approx(people.mean())
    assert calibration.raw.value == pytest.approx(np.mean(list(judge.values())))
    assert calibration.rogan_gladen.value is not None
    assert calibration.warnings == (
        "80 labels are few: the corrected interval is wide, and more labels make it narrower",
    )
    assert "exact_match says" in calibration.sentence
    assert calibration.between_people is None


@pytest.mark.parametrize(
    "more",
    [{"by": "stratified", "strata": ["domain"]}, {"by": "disagreement", "metrics": ["exact_match", "token_f1"]}],
)
def test_other_samples(tmp_path: Path, more: dict[str, Any]) -> None:
    run = make_run(tmp_path)
    calibration = calibrate(run, labelled(run, 120, **more), metric="exact_match")
    mean = np.mean(list(truth().values()))
    assert calibration.design == "stratified"
    assert calibration.corrected.interval is not None
    assert calibration.corrected.interval[0] < mean < calibration.corrected.interval[1]
    for estimate in (
        calibration.judge.sensitivity,
        calibration.judge.specificity,
        calibration.judge.kappa,
        calibration.labels_alone,
    ):
        assert estimate.interval is not None
        assert estimate.value is not None
        assert estimate.interval[0] <= estimate.value <= estimate.interval[1]


def test_every_row_labelled(tmp_path: Path) -> None:
    """Then the labels say all there is, and the judge is not needed."""
    run = make_run(tmp_path)
    calibration = calibrate(run, labelled(run, 200))
    mean = np.mean(list(truth().values()))
    assert calibration.corrected.value == pytest.approx(mean)
    assert calibration.corrected == calibration.labels_alone
    assert calibration.judge_weight is None
    stratified = calibrate(run, labelled(run, 200, by="stratified", strata=["domain"]), metric="exact_match")
    assert stratified.corrected.value == pytest.approx(mean)


def test_half_way_through_a_stratified_sample(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    labels = labelled(run, 90, by="stratified", strata=["domain"])
    half = [{**row, "label": row["label"] if number < 45 else None} for number, row in enumerate(labels)]
    calibration = calibrate(run, half)
    assert calibration.labels.blank == 45
    assert calibration.corrected.n == 45
    assert calibration.corrected.value is not None
    without = [{**row, "label": None if row["stratum"] == "law" else row["label"]} for row in labels]
    calibration = calibrate(run, without)
    assert calibration.corrected.value is None
    assert calibration.empty_strata == ("law",)
    assert "law" in calibration.sentence
    assert calibration.judge.both_correct > 0


def test_several_people(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    labels = labelled(run, 60)
    other = [
        {**row, "label": not row["label"] if number % 10 == 0 else row["label"]} for number, row in enumerate(labels)
    ]
    both = [{**row, "rater": "anna"} for row in labels] + [{**row, "rater": "bob"} for row in other]
    calibration = calibrate(run, both)
    assert calibration.raters == ("anna", "bob")
    assert calibration.labels.tied == 6
    assert calibration.corrected.n == 54
    assert calibration.between_people is not None
    assert calibration.between_people.agreement == pytest.approx(0.9)
    assert calibration.between_people.kappa is not None
    assert calibration.between_people.alpha.n_units == 60
    three = both + [{**row, "rater": "eve"} for row in labels]
    calibration = calibrate(run, three)
    assert calibration.labels.tied == 0
    assert calibration.between_people is not None
    assert calibration.between_people.kappa is None
    assert calibration.corrected == calibrate(run, labels).corrected


def test_a_threshold_makes_a_verdict(tmp_path: Path) -> None:
    run = make_run(tmp_path, metrics="token_f1,normalized_distance")
    labels = labelled(run, 60)
    with pytest.raises(UsageError, match="no metric of 0 and 1"):
        calibrate(run, labels)
    with pytest.raises(UsageError, match="token_f1 is not 0 or 1"):
        calibrate(run, labels, metric="token_f1")
    calibration = calibrate(run, labels, metric="token_f1", threshold=0.99)
    assert calibration.raw.value == pytest.approx((run.scores("token_f1") >= 0.99).mean())
    lower = calibrate(run, labels, metric="normalized_distance", threshold=0.01)
    assert lower.judge.agreement == calibration.judge.agreement


def test_a_metric_by_its_short_name(tmp_path: Path) -> None:
    run = make_run(tmp_path, metrics="rouge_l_score[language=es],rouge_l_score[language=en],meteor_score[language=en]")
    labels = labelled(run, 60, metrics="meteor_score")
    calibration = calibrate(run, labels, metric="meteor_score", threshold=0.5)
    assert calibration.metric == "meteor_score[language=en]"
    with pytest.raises(UsageError, match="rouge_l_score could be rouge_l_score"):
        calibrate(run, labels, metric="rouge_l_score", threshold=0.5)


def warned(calibration: Calibration, words: str) -> bool:
    return any(words in warning for warning in calibration.warnings)


def test_warnings_where_labels_don_t_help(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    labels = labelled(run, 100)
    assert calibrate(run, labels).warnings == ()
    assert warned(calibrate(run, labels[:20]), "20 labels are few")
    bare = [{"qid": row["qid"], "label": row["label"]} for row in labels]
    assert warned(calibrate(run, bare), "simple random sample")
    judge = dict(zip(run.rows(["qid"])["qid"].to_pylist(), run.scores("exact_match"), strict=True))
    same = [{**row, "label": int(judge[row["qid"]])} for row in labels]
    assert warned(calibrate(run, same), "rule of three")
    rng = np.random.default_rng(1)
    noise = [{**row, "label": int(rng.random() < 0.5)} for row in labels]
    assert calibrate(run, noise).sentence.endswith("can't be told from chance: that number means little.")
    assert warned(calibrate(run, noise), "not make the interval narrower")
    changed = [{**row, "answer_hash": answer_hash("other")} if n < 3 else row for n, row in enumerate(labels)]
    assert warned(calibrate(run, changed), "3 labels belong to answers that have changed")
    skipped = [{**row, "label": "skip"} if n < 30 else row for n, row in enumerate(labels)]
    assert warned(calibrate(run, skipped), "30 rows were skipped")
    right = [row for row in labels if row["label"]]
    assert warned(
        calibrate(run, [*right, *[row for row in labels if not row["label"]][:5]]), "only 5 labelled answers wrong"
    )
    assert calibrate(run, right).rogan_gladen.value is None


def test_rows_that_are_not_independent_or_not_scored(tmp_path: Path) -> None:
    rows = [
        {
            "qid": str(i),
            "answer": "x" if i % 3 else "y",
            "reference": "x" if i % 10 else None,
            "session_id": str(i // 2),
        }
        for i in range(100)
    ]
    run = evaluate(rows, metrics="exact_match", run="talk", output_dir=tmp_path).folder
    assert run is not None
    calibration = calibrate(run, [{"qid": str(i), "label": i % 3 > 0} for i in range(40)])
    assert warned(calibration, "the labels are of 20 such groups")
    apart = evaluate(
        [{**row, "session_id": None} for row in rows], metrics="exact_match", run="apart", output_dir=tmp_path
    )
    alone = calibrate(apart, [{"qid": str(i), "label": i % 3 > 0} for i in range(40)])
    assert (calibration.clustered, alone.clustered) == (True, False)
    for estimate in ("raw", "labels_alone", "corrected"):
        assert getattr(calibration, estimate).value == pytest.approx(getattr(alone, estimate).value)
        assert getattr(calibration, estimate).interval != getattr(alone, estimate).interval
    assert calibration.n_unscored_labels == 4
    assert warned(calibration, "4 labelled rows have no score")
    assert calibration.n_scored == 90
    with pytest.raises(InputError, match="no score on any labelled row"):
        calibrate(run, [{"qid": "10", "label": 1}])


def test_labels_that_are_refused(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    with pytest.raises(InputError, match="nothing is labelled yet"):
        calibrate(run, [{"qid": "q001", "label": ""}])
    with pytest.raises(InputError, match="no row with qid '1'"):
        calibrate(run, [{"qid": 1, "label": 1}])
    with pytest.raises(UnknownNameError, match="did you mean exact_match"):
        calibrate(run, [{"qid": "q001", "label": 1}], metric="exact_mach")
    with pytest.raises(UsageError, match="level"):
        calibrate(run, [{"qid": "q001", "label": 1}], level=95)


def test_which_metric_is_meant(tmp_path: Path) -> None:
    rows = [{"qid": str(i), "answer": "x", "reference": "x", "relevant": ["d"], "retrieved": ["d"]} for i in range(9)]
    run = evaluate(rows, metrics="exact_match,hit@1", run="two", output_dir=tmp_path).folder
    assert run is not None
    with pytest.raises(UsageError, match="exact_match, hit@1 are 0 or 1"):
        calibrate(run, [{"qid": "1", "label": 1}])


def test_it_is_kept(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    calibration = calibrate(run, labelled(run, 50))
    path = calibration.keep(run)
    document = json.loads(path.read_text(encoding="utf-8"))
    assert path.name == "calibration.json"
    assert document["corrected"]["value"] == calibration.corrected.value
    assert document["labels"]["labelled"] == 50
    assert document == json.loads(json.dumps(calibration.as_dict()))


@pytest.mark.parametrize("more", [{}, {"by": "stratified", "strata": ["domain"]}])
@pytest.mark.parametrize("n", [6, 60])
def test_labels_that_all_say_the_same_promise_no_certainty(tmp_path: Path, more: dict[str, Any], n: int) -> None:
    """All correct, so the judge can't be weighed: 100% was said here, with an interval of no width."""
    run = make_run(tmp_path)
    labels = [{**row, "label": True} for row in labelled(run, n, **more)]
    calibration = calibrate("demo", labels, output_dir=tmp_path / "runs")
    assert calibration.corrected == calibration.labels_alone
    assert calibration.corrected.interval is not None
    assert calibration.corrected.interval[0] < 0.99
    assert calibration.judge_weight is None
    assert calibration.judge.kappa.interval is None
    assert any("people call no labelled answer wrong" in warning for warning in calibration.warnings)
    one = calibrate("demo", labels[:1] if not more else labels, output_dir=tmp_path / "runs").corrected
    assert one.interval is not None
    assert one.interval[0] < one.interval[1]


def test_huge_weights(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    labels = [
        {"qid": row["qid"], "label": row["label"], "weight": 1e308 if place % 2 else 5e307}
        for place, row in enumerate(labelled(run, 80))
    ]
    small = [{**row, "weight": row["weight"] / 5e307} for row in labels]
    result, same = (calibrate("demo", estimate, output_dir=tmp_path / "runs") for estimate in (labels, small))
    assert result.design == "weighted"
    assert result.corrected.value == pytest.approx(same.corrected.value)
    assert result.judge.agreement.interval == pytest.approx(same.judge.agreement.interval)


def test_rows_without_a_score_are_not_spoken_for(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"qid": str(i), "question": "q", "reference": "a", "answer": "a" if i % 3 else "b"} for i in range(40)
    ]
    rows += [{"qid": f"none{i}", "question": "q", "reference": "a", "answer": None} for i in range(10)]
    run = evaluate(rows, metrics="exact_match", run="demo", output_dir=tmp_path / "runs").folder
    assert run is not None
    labels = [
        {"qid": row.qid, "label": row.index % 2, "stratum": row.stratum, "stratum_rows": row.stratum_rows}
        for row in choose_sample(run, 20).rows
    ]
    warnings = calibrate(run, labels).warnings
    assert "10 of the run's 50 rows have no score of exact_match: the result does not cover them" in warnings


def test_zeros_that_a_spreadsheet_dropped(tmp_path: Path) -> None:
    rows = [{"qid": f"{i:03}", "question": "q", "reference": "a", "answer": "a"} for i in range(40)]
    run = evaluate(rows, metrics="exact_match", run="demo", output_dir=tmp_path / "runs").folder
    with pytest.raises(InputError, match="the run has '007': a spreadsheet has dropped the zeros"):
        calibrate(run, [{"qid": "7", "label": 1}])  # type: ignore[arg-type]
    keys: list[Any] = [None, "007"]  # as in a damaged table
    with pytest.raises(InputError, match="the run has '007'"):
        match([Label("7", "correct")], keys, [])


@pytest.mark.parametrize("threshold", [float("nan"), float("inf")])
def test_a_threshold_that_is_none(tmp_path: Path, threshold: float) -> None:
    run = make_run(tmp_path)
    with pytest.raises(UsageError, match="threshold must be a finite number"):
        calibrate(run, labelled(run, 20), metric="exact_match", threshold=threshold)
