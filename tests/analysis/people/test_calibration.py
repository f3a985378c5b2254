"""What a calibration says: its numbers from the parts they are made of, and its warnings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ppi_py import ppi_mean_ci

from ragmeter import Calibration, calibrate, choose_sample, evaluate
from ragmeter.analysis.people.label_matching import match
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
    found = calibrate("demo", labels, output_dir=tmp_path / "runs")
    assert isinstance(found, Calibration)
    assert (found.metric, found.design, found.n_rows, found.n_scored) == ("exact_match", "random", 200, 200)
    said, judge = truth(), dict(zip(run.rows(["qid"])["qid"].to_pylist(), run.scores("exact_match"), strict=True))
    held = {row["qid"] for row in labels}
    people = np.array([float(said[row["qid"]]) for row in labels])
    beside = np.array([judge[row["qid"]] for row in labels])
    rest = np.array([score for qid, score in judge.items() if qid not in held])
    low, high = ppi_mean_ci(people, beside, rest, alpha=0.05)
    assert found.corrected.value == pytest.approx((low.item() + high.item()) / 2, abs=1e-9)
    assert found.corrected.standard_error == pytest.approx((high - low).item() / 2 / 1.959963984540054, abs=1e-9)
    assert found.judge.both_correct == ((people == 1) & (beside == 1)).sum()
    assert found.judge.judge_alone_correct == ((people == 0) & (beside == 1)).sum()
    assert found.judge.agreement.value == pytest.approx((people == beside).mean())
    assert found.labels_alone.value == pytest.approx(people.mean())
    assert found.raw.value == pytest.approx(np.mean(list(judge.values())))
    assert found.rogan_gladen.value is not None
    assert found.warnings == ("80 labels are few: the corrected interval is wide, and more labels make it narrower",)
    assert "exact_match says" in found.sentence
    assert found.between_people is None


@pytest.mark.parametrize(
    "more",
    [{"by": "stratified", "strata": ["domain"]}, {"by": "disagreement", "metrics": ["exact_match", "token_f1"]}],
)
def test_other_samples(tmp_path: Path, more: dict[str, Any]) -> None:
    run = make_run(tmp_path)
    found = calibrate(run, labelled(run, 120, **more), metric="exact_match")
    mean = np.mean(list(truth().values()))
    assert found.design == "stratified"
    assert found.corrected.interval is not None
    assert found.corrected.interval[0] < mean < found.corrected.interval[1]
    for each in (found.judge.sensitivity, found.judge.specificity, found.judge.kappa, found.labels_alone):
        assert each.interval is not None
        assert each.value is not None
        assert each.interval[0] <= each.value <= each.interval[1]


def test_every_row_labelled(tmp_path: Path) -> None:
    """Then the labels say all there is, and the judge is not needed."""
    run = make_run(tmp_path)
    found = calibrate(run, labelled(run, 200))
    mean = np.mean(list(truth().values()))
    assert found.corrected.value == pytest.approx(mean)
    assert found.corrected == found.labels_alone
    assert found.judge_weight is None
    stratified = calibrate(run, labelled(run, 200, by="stratified", strata=["domain"]), metric="exact_match")
    assert stratified.corrected.value == pytest.approx(mean)


def test_half_way_through_a_stratified_sample(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    labels = labelled(run, 90, by="stratified", strata=["domain"])
    half = [{**row, "label": row["label"] if number < 45 else None} for number, row in enumerate(labels)]
    found = calibrate(run, half)
    assert found.labels.blank == 45
    assert found.corrected.n == 45
    assert found.corrected.value is not None
    without = [{**row, "label": None if row["stratum"] == "law" else row["label"]} for row in labels]
    found = calibrate(run, without)
    assert found.corrected.value is None
    assert found.empty_strata == ("law",)
    assert "law" in found.sentence
    assert found.judge.both_correct > 0


def test_several_people(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    labels = labelled(run, 60)
    other = [
        {**row, "label": not row["label"] if number % 10 == 0 else row["label"]} for number, row in enumerate(labels)
    ]
    both = [{**row, "rater": "anna"} for row in labels] + [{**row, "rater": "bob"} for row in other]
    found = calibrate(run, both)
    assert found.raters == ("anna", "bob")
    assert found.labels.tied == 6
    assert found.corrected.n == 54
    assert found.between_people is not None
    assert found.between_people.agreement == pytest.approx(0.9)
    assert found.between_people.kappa is not None
    assert found.between_people.alpha.n_units == 60
    three = both + [{**row, "rater": "eve"} for row in labels]
    found = calibrate(run, three)
    assert found.labels.tied == 0
    assert found.between_people is not None
    assert found.between_people.kappa is None
    assert found.corrected == calibrate(run, labels).corrected


def test_a_threshold_makes_a_verdict(tmp_path: Path) -> None:
    run = make_run(tmp_path, metrics="token_f1,normalized_distance")
    labels = labelled(run, 60)
    with pytest.raises(UsageError, match="no metric of 0 and 1"):
        calibrate(run, labels)
    with pytest.raises(UsageError, match="token_f1 is not 0 or 1"):
        calibrate(run, labels, metric="token_f1")
    found = calibrate(run, labels, metric="token_f1", threshold=0.99)
    assert found.raw.value == pytest.approx((run.scores("token_f1") >= 0.99).mean())
    lower = calibrate(run, labels, metric="normalized_distance", threshold=0.01)
    assert lower.judge.agreement == found.judge.agreement


def test_a_metric_by_its_short_name(tmp_path: Path) -> None:
    run = make_run(tmp_path, metrics="rouge_l_score[language=es],rouge_l_score[language=en],meteor_score[language=en]")
    labels = labelled(run, 60, metrics="meteor_score")
    found = calibrate(run, labels, metric="meteor_score", threshold=0.5)
    assert found.metric == "meteor_score[language=en]"
    with pytest.raises(UsageError, match="rouge_l_score could be rouge_l_score"):
        calibrate(run, labels, metric="rouge_l_score", threshold=0.5)


def warned(found: Calibration, words: str) -> bool:
    return any(words in warning for warning in found.warnings)


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
    assert warned(calibrate(run, noise), "can't be told from chance")
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
    found = calibrate(run, [{"qid": str(i), "label": i % 3 > 0} for i in range(40)])
    assert warned(found, "the labels are of 20 such groups")
    apart = evaluate(
        [{**row, "session_id": None} for row in rows], metrics="exact_match", run="apart", output_dir=tmp_path
    )
    alone = calibrate(apart, [{"qid": str(i), "label": i % 3 > 0} for i in range(40)])
    assert (found.clustered, alone.clustered) == (True, False)
    for estimate in ("raw", "labels_alone", "corrected"):
        assert getattr(found, estimate).value == pytest.approx(getattr(alone, estimate).value)
        assert getattr(found, estimate).interval != getattr(alone, estimate).interval
    assert found.n_unscored_labels == 4
    assert warned(found, "4 labelled rows have no score")
    assert found.n_scored == 90
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
    found = calibrate(run, labelled(run, 50))
    path = found.keep(run)
    held = json.loads(path.read_text(encoding="utf-8"))
    assert path.name == "calibration.json"
    assert held["corrected"]["value"] == found.corrected.value
    assert held["labels"]["labelled"] == 50
    assert held == json.loads(json.dumps(found.as_dict()))


@pytest.mark.parametrize("more", [{}, {"by": "stratified", "strata": ["domain"]}])
@pytest.mark.parametrize("n", [6, 60])
def test_labels_that_all_say_the_same_promise_no_certainty(tmp_path: Path, more: dict[str, Any], n: int) -> None:
    """All correct, so the judge can't be weighed: 100% was said here, with an interval of no width."""
    run = make_run(tmp_path)
    labels = [{**row, "label": True} for row in labelled(run, n, **more)]
    found = calibrate("demo", labels, output_dir=tmp_path / "runs")
    assert found.corrected == found.labels_alone
    assert found.corrected.interval is not None
    assert found.corrected.interval[0] < 0.99
    assert found.judge_weight is None
    assert found.judge.kappa.interval is None
    assert any("people call no labelled answer wrong" in warning for warning in found.warnings)
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
    found, same = (calibrate("demo", each, output_dir=tmp_path / "runs") for each in (labels, small))
    assert found.design == "weighted"
    assert found.corrected.value == pytest.approx(same.corrected.value)
    assert found.judge.agreement.interval == pytest.approx(same.judge.agreement.interval)


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
    assert "10 of the run's 50 rows have no score of exact_match: they are not spoken for" in warnings


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
