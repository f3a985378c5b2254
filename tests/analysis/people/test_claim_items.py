"""People label claims, and their labels correct a metric over claims."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragmeter import calibrate, choose_sample, evaluate
from ragmeter.analysis.people.claim_items import Claims, claims_of_run
from ragmeter.analysis.people.sheets import Sheet
from ragmeter.cli.label_session import Session
from ragmeter.errors import InputError, UsageError
from ragmeter.runs.run import Run
from tests.conftest import Run as Command

YES, NO = "supported", "not mentioned"


def answers(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Answers of one to six claims; the judge misses a quarter of what is supported. `truth` is what people say."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        truth = rng.random(rng.integers(1, 7)) < rng.beta(3, 1)
        judged = truth & (rng.random(len(truth)) < 0.75)
        rows.append(
            {
                "qid": f"q{number:03}",
                "question": f"What is {number}?",
                "answer": f"It is {number}.",
                "reference": "It is.",
                "contexts": [f"page {number}", "blank"],
                "claims": [f"claim {place} of {number}" for place in range(len(truth))],
                "support_by_passages": [[NO, YES if flag else NO] for flag in judged],
                "truth": truth.tolist(),
            }
        )
    return rows


def make_run(folder: Path, count: int = 150, metrics: str = "faithfulness") -> Run:
    rows = [{key: value for key, value in row.items() if key != "truth"} for row in answers(count)]
    run = evaluate(rows, metrics=metrics, run="demo", output_dir=folder / "runs").folder
    assert run is not None
    return run


def labelled(run: Run, n: int, **settings: Any) -> list[dict[str, Any]]:
    truth = {row["qid"]: row["truth"] for row in answers(run.n_rows)}
    return [
        {"qid": row.qid, "claim": row.claim, "label": truth[row.qid][(row.claim or 0) - 1], "metric": "faithfulness",
         "stratum": row.stratum, "stratum_rows": row.stratum_rows}
        for row in choose_sample(run, n, claims=True, **settings)
    ]  # fmt: skip


def test_claims_of_a_run(tmp_path: Path) -> None:
    run = make_run(tmp_path, 20)
    claims = claims_of_run(run)
    rows = answers(20)
    assert claims.metric == "faithfulness"
    assert len(claims) == sum(len(row["claims"]) for row in rows)
    assert claims.keys[0] == "q000#1"
    assert claims.texts[0] == "claim 0 of 0"
    assert claims.of_rows.tolist() == pytest.approx(run.scores("faithfulness").tolist())


def test_a_sample_of_claims(tmp_path: Path) -> None:
    run = make_run(tmp_path, 40)
    sample = choose_sample(run, 30, claims=True, seed=3)
    assert len({(row.qid, row.claim) for row in sample}) == 30
    assert sample.population == len(claims_of_run(run))
    assert {row.stratum_rows for row in sample} == {sample.population}
    assert len({row.qid for row in sample}) == 30  # one claim of a row first
    assert len({row.qid for row in choose_sample(run, 60, claims=True)}) == 40
    assert sample.rows == choose_sample(run, 30, claims=True, seed=3).rows
    assert "claims to label" in sample._repr_html_()
    assert sample.to_pandas()["claim"].min() == 1
    with pytest.raises(UsageError, match="drawn at random"):
        choose_sample(run, 30, claims=True, by="disagreement")


def test_labels_correct_the_metric(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    result = calibrate(run, labelled(run, 150))
    of_people = np.mean([np.mean(row["truth"]) for row in answers(150)])
    assert result.unit == "claim"
    assert result.labels.labelled == 150
    assert result.raw.value == pytest.approx(run.metrics()["faithfulness"].mean)
    assert result.raw.value == pytest.approx(0.75 * of_people, abs=0.05)
    assert result.corrected.interval is not None
    assert result.corrected.interval[0] < of_people < result.corrected.interval[1]
    assert result.judge.specificity.value == 1.0
    assert result.judge.sensitivity.value == pytest.approx(0.75, abs=0.1)
    assert "By people, faithfulness is 0." in result.sentence
    assert "too strict" in result.sentence


def test_all_claims_labelled_is_what_people_say(tmp_path: Path) -> None:
    run = make_run(tmp_path, 30)
    result = calibrate(run, labelled(run, 10_000))
    of_people = np.mean([np.mean(row["truth"]) for row in answers(30)])
    assert result.corrected.value == pytest.approx(of_people)


def test_the_command_from_a_file_to_the_result(ragmeter: Command, tmp_path: Path) -> None:
    make_run(tmp_path)
    done = ragmeter("label", "demo", "--claims", "--n", "80")
    assert done.returncode == 0, done.stderr
    assert "to be labelled: 80 claims" in done.stdout
    path = tmp_path / "labels.csv"
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [
        "qid", "claim", "metric", "claim_text", "question", "contexts", "label", "rater", "note",
        "stratum", "stratum_rows", "weight", "answer_hash",
    ]  # fmt: skip
    assert "support_by" not in path.read_text(encoding="utf-8")
    assert "labelled: 0 of 80 claims" in ragmeter("label", "demo", "--claims", "--n", "80").stdout
    truth = {row["qid"]: row["truth"] for row in answers(150)}
    sheet = Sheet.read(path)
    for place, row in enumerate(list(sheet.rows)):
        assert sheet.record(place, "correct" if truth[row["qid"]][int(row["claim"]) - 1] else "wrong", "")
    assert "unsupported" in path.read_text(encoding="utf-8")
    done = ragmeter("calibrate", "demo", "--labels", "labels.csv")
    assert done.returncode == 0, done.stderr
    assert "labels: 80 of 80 claims" in done.stdout
    assert "people: supported" in done.stdout
    assert "By people, faithfulness is" in done.stdout


def test_keys_in_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = make_run(tmp_path, 10)
    sheet = Sheet.of(choose_sample(run, 3, claims=True), tmp_path / "labels.csv")
    keys = iter("yns")
    assert Session(run, sheet, "ann", read_key=lambda: next(keys, "")).run() == 0
    shown = capsys.readouterr().out
    assert "y supported" in shown
    assert "context 1 of 2" in shown  # what it is to be supported by is always shown
    assert "supported: 1, unsupported: 1, skipped: 1" in shown
    assert [row["label"] for row in Sheet.read(tmp_path / "labels.csv").rows] == ["correct", "wrong", "skip"]
    assert ",supported,ann," in (tmp_path / "labels.csv").read_text(encoding="utf-8")


def test_labels_that_do_not_fit(tmp_path: Path) -> None:
    run = make_run(tmp_path, 10)
    label = labelled(run, 1)[0]
    with pytest.raises(InputError, match="the run has no claim 99 of qid"):
        calibrate(run, [{**label, "claim": 99}])
    with pytest.raises(InputError, match="this line is of no claim"):
        calibrate(run, [label, {"qid": "q003", "label": "yes"}])
    with pytest.raises(UsageError, match="no effect on labels of claims"):
        calibrate(run, [label], threshold=0.5)
    with pytest.raises(InputError, match="claim must be the claim's number"):
        calibrate(run, [{**label, "claim": 0}])
    with pytest.raises(InputError, match="labels are of other answers"):
        calibrate(run, [{**label, "answer_hash": "sha256:0000"}])


def test_a_run_without_claims(tmp_path: Path) -> None:
    run = evaluate([{"qid": "1", "answer": "a", "reference": "a"}], metrics="token_f1", run="a", output_dir=tmp_path)
    with pytest.raises(UsageError, match="no metric over claims"):
        choose_sample(run, 1, claims=True)
    with pytest.raises(UsageError, match="no share of claims"):
        choose_sample(run, 1, claims=True, metrics="token_f1")


@pytest.mark.slow
def test_the_interval_holds_what_people_would_find() -> None:
    """New questions every time; claims of one answer are alike, which the interval must allow for."""
    rng = np.random.default_rng(0)
    hits, runs = 0, 2_000
    for _ in range(runs):
        counts = rng.integers(1, 8, 200)
        row = np.repeat(np.arange(200), counts)
        people = (rng.random(len(row)) < rng.beta(2, 1, 200)[row]).astype(float)
        judge = np.where(rng.random(len(row)) < 0.8, people, 1 - people)
        claims = Claims("", "", np.arange(200), row, row, [], [""] * len(row), judge)
        chosen = np.array(claims.order(rng)[:250])
        low, high = claims.powered(chosen, people[chosen], 0.95).estimate.interval or (1, 0)
        hits += low <= 2 / 3 <= high
    assert 0.935 <= hits / runs <= 0.965
