"""`ragmeter calibrate` as a person runs it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from tests.analysis.people.helpers import make_run, truth
from tests.compat.crag.helpers import turn
from tests.conftest import Run
from tests.judge_server import JudgeServer


def fill(path: Path, to: Path, said: dict[str, bool], *, flip: int = 0) -> None:
    """Fill in a blank file; every so many labels are the other way round."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows):
        row["label"] = "correct" if said[row["qid"]] != bool(flip and number % flip == 0) else "wrong"
    with to.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_from_a_run_to_its_corrected_accuracy(ragmeter: Run, tmp_path: Path) -> None:
    make_run(tmp_path)
    assert ragmeter("label", "demo", "--n", "100", "--blank").returncode == 0
    fill(tmp_path / "labels.csv", tmp_path / "anna.csv", truth())
    done = ragmeter("calibrate", "demo", "--labels", "anna.csv", "--output", "out.json")
    assert done.returncode == 0, done.stderr
    for words in ("Cohen's kappa", "sensitivity", "specificity", "corrected (PPI++)", "Rogan–Gladen", "labels alone"):
        assert words in done.stdout
    assert "The share of answers that people would call correct is 0." in done.stdout
    assert "beware" not in done.stdout
    assert max(map(len, done.stdout.split("with the judge")[0].splitlines())) <= 80
    kept = json.loads((tmp_path / "runs/demo/calibration.json").read_text())
    assert kept == json.loads((tmp_path / "out.json").read_text())
    printed = json.loads(ragmeter("calibrate", "demo", "--labels", "anna.csv", "--json", "--no-keep").stdout)
    assert printed == kept
    assert kept["design"] == "random"
    # More metrics leave it where it is.
    assert ragmeter("evaluate", "--run", "demo", "--metrics", "token_recall").returncode == 0
    assert (tmp_path / "runs/demo/calibration.json").exists()


def test_two_people(ragmeter: Run, tmp_path: Path) -> None:
    make_run(tmp_path)
    ragmeter("label", "demo", "--n", "60", "--by", "stratified", "--strata", "domain", "--blank")
    fill(tmp_path / "labels.csv", tmp_path / "anna.csv", truth())
    fill(tmp_path / "labels.csv", tmp_path / "bob.csv", truth(), flip=6)
    done = ragmeter("calibrate", "demo", "--labels", "anna.csv", "bob.csv", "--no-keep")
    assert done.returncode == 0, done.stderr
    assert "people: 2 (anna, bob)" in done.stdout
    assert "Krippendorff's alpha: 0." in done.stdout
    assert "split evenly, and left out: 10" in done.stdout
    assert "beware: 50 labels are few" in done.stdout
    assert not (tmp_path / "runs/demo/calibration.json").exists()


def test_a_spreadsheet_s_own_csv(ragmeter: Run, tmp_path: Path) -> None:
    make_run(tmp_path)
    ragmeter("label", "demo", "--n", "20", "--blank")
    fill(tmp_path / "labels.csv", tmp_path / "anna.csv", truth())
    with (tmp_path / "anna.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    weight = rows[0].index("weight")
    for row in rows[1:]:
        row[weight] = row[weight].replace(".", ",")
    with (tmp_path / "excel.csv").open("w", newline="", encoding="cp1252") as file:
        csv.writer(file, delimiter=";").writerows(rows)
    done = ragmeter("calibrate", "demo", "--labels", "excel.csv")
    assert done.returncode == 2
    assert "--delimiter" in done.stderr
    done = ragmeter("calibrate", "demo", "--labels", "excel.csv", "--delimiter", ";", "--encoding", "cp1252")
    assert done.returncode == 0, done.stderr


def test_hostile_raters_and_errors(ragmeter: Run, tmp_path: Path) -> None:
    make_run(tmp_path)
    (tmp_path / "l.csv").write_text("qid,label,rater\nq001,1,\x1b[2Jeve\nq001,0,bob\nq002,1,bob\nq003,0,bob\n")
    done = ragmeter("calibrate", "demo", "--labels", "l.csv")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert "beware: the labels have no column `weight`" in done.stdout
    (tmp_path / "l.csv").write_text("qid,label\nq001,perhaps\n")
    done = ragmeter("calibrate", "demo", "--labels", "l.csv")
    assert done.returncode == 2
    assert "l.csv, line 2" in done.stderr
    assert ragmeter("calibrate", "demo").returncode == 2
    assert "there is no such file" in ragmeter("calibrate", "demo", "--labels", "none.csv").stderr


def test_judged_conversations(ragmeter: Run, tmp_path: Path) -> None:
    """A run of `ragmeter crag evaluate`: its verdict is what is meant, though it has other metrics of 0 and 1."""
    rows = [turn(f"s{i}", 0, f"gold {i}", f"it is gold {i}" if i % 3 else f"not so {i}") for i in range(60)]
    (tmp_path / "turns.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with JudgeServer() as server:
        done = ragmeter(
            "crag", "evaluate", "--turns", "turns.jsonl", "--judge-model", "m", "--base-url", server.url,
            "--no-judge-check", "--output-dir", "runs/judged",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    done = ragmeter("label", "judged", "--n", "30", "--by", "stratified", "--strata", "accuracy", "--blank")
    assert done.returncode == 0, done.stderr
    with (tmp_path / "labels.csv").open(newline="", encoding="utf-8") as file:
        said = {row["qid"]: row["answer"].startswith("it") for row in csv.DictReader(file)}
    fill(tmp_path / "labels.csv", tmp_path / "anna.csv", said, flip=5)
    calibration = json.loads(ragmeter("calibrate", "runs/judged", "--labels", "anna.csv", "--json").stdout)
    assert calibration["metric"] == "accuracy"
    assert calibration["judge"]["both_correct"] + calibration["judge"]["both_wrong"] == 24
    assert calibration["raw"]["value"] == 40 / 60
    again = json.loads(ragmeter("calibrate", "judged", "--labels", "anna.csv", "--metric", "accuracy", "--json").stdout)
    assert again == calibration
    wrong = json.loads(
        ragmeter("calibrate", "judged", "--labels", "anna.csv", "--metric", "hallucination_rate", "--json").stdout
    )
    assert wrong["counts_wrong"]
    assert [wrong[key]["value"] for key in ("raw", "corrected")] == [
        1 - calibration[key]["value"] for key in ("raw", "corrected")
    ]
    assert "people would call wrong" in wrong["sentence"]
