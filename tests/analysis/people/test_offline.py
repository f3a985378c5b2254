"""The offline judge adapted to labels of one's own, or left alone."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragmeter import Cascade, CRAGEvaluator, Run, evaluate, explain, get_metric
from ragmeter.analysis.explanation import settings_of
from ragmeter.analysis.people.offline import Recalibration, recalibrate
from ragmeter.errors import InputError, OutputError
from tests.compat.crag.helpers import turn
from tests.conftest import DATA
from tests.conftest import Run as Command


def rows() -> list[dict[str, Any]]:
    """Real answers with a person's verdict each."""
    with gzip.open(DATA / "evouna_people.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) | {"qid": str(number)} for number, line in enumerate(lines)]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("runs")
    kept = [{name: row[name] for name in ("qid", "question", "reference", "answer")} for row in rows()]
    evaluation = evaluate(kept, metrics="exact_match", run="chat", output_dir=folder)
    assert evaluation.folder is not None
    return evaluation.folder


def labels(n: int, *, strict: bool = False) -> list[dict[str, Any]]:
    """People's verdicts; strict people call every other right answer wrong."""
    return [
        {"qid": row["qid"], "label": int(bool(row["correct"]) and not (strict and int(row["qid"]) % 2))}
        for row in rows()[:n]
    ]


def test_people_who_judge_otherwise_are_learnt_from(run: Run, tmp_path: Path) -> None:
    recalibration = recalibrate(run, labels(200, strict=True))
    assert recalibration.helps
    assert recalibration.gain.log_loss_after < recalibration.gain.log_loss_before
    assert recalibration.gain.calibration_error_after < recalibration.gain.calibration_error_before
    recalibration.write(tmp_path / "mine.json")
    bent = get_metric(f'offline_correct_probability[calibration="{tmp_path}/mine.json"]')
    plain = get_metric("offline_correct_probability")
    given: Any = (["who wrote it?"] * 2, [["Cervantes"]] * 2, ["Miguel de Cervantes", "Lope de Vega"])
    assert bent(*given) == pytest.approx(recalibration.curve(np.asarray(plain(*given))))
    assert bent(*given)[0] < plain(*given)[0]


def test_conversations_are_explained_with_the_calibration_of_their_judge(run: Run, tmp_path: Path) -> None:
    path = str(tmp_path / "mine.json")
    recalibrate(run, labels(200, strict=True)).write(path)
    evaluator = CRAGEvaluator(cascade=Cascade(calibration=path), journal=None)
    results = evaluator.evaluate_agent_responses([turn("a", 0, "Cervantes", "It was Miguel de Cervantes.")])
    evaluator.save_results(*results, tmp_path / "talk")
    assert settings_of(Run(tmp_path / "talk")) == {"calibration": path}
    (explanation,) = explain(tmp_path / "talk", "a-0")
    assert explanation.calibration == path


def test_labels_count_for_as_many_rows_as_they_stand_for(run: Run) -> None:
    plain = recalibrate(run, labels(200, strict=True))
    weighted = [{**row, "weight": 1 + 4 * row["label"]} for row in labels(200, strict=True)]
    assert recalibrate(run, weighted).curve(np.array([0.9]))[0] > plain.curve(np.array([0.9]))[0] + 0.1
    strata = [
        {**row, "stratum": f"label {row['label']}", "stratum_rows": 200 if row["label"] else 150} for row in labels(100)
    ]
    assert recalibrate(run, strata).gain.log_loss_before != recalibrate(run, labels(100)).gain.log_loss_before


def test_answers_of_a_conversation_are_never_on_both_sides(tmp_path: Path) -> None:
    table = [
        {**{name: row[name] for name in ("qid", "question", "reference", "answer")}, "session_id": f"s{place // 4}"}
        for place, row in enumerate(rows()[:120])
    ]
    turns = evaluate(table, metrics="offline_correct[language=es]", run="turns", output_dir=tmp_path)
    assert turns.folder is not None
    recalibration = recalibrate(turns.folder, labels(120, strict=True))
    assert recalibration.gain.n_groups <= 30
    assert recalibration.metric == "offline_correct_probability[language=es]"  # as the run's own metric
    assert recalibration.verdicts_with("a.json") == "offline_correct[language=es,calibration=a.json]"
    english = recalibrate(turns.folder, labels(120, strict=True), language="en")
    assert english.gain.log_loss_before != recalibration.gain.log_loss_before


def test_what_would_make_it_worse_is_refused(run: Run, tmp_path: Path) -> None:
    """Verdicts by the judge's own chances, with luck: there is nothing to learn, and what is learnt is luck."""
    random = np.random.default_rng(0)
    first_rows = rows()[:60]
    chances = np.asarray(
        get_metric("offline_correct_probability")(
            [row["question"] for row in first_rows],
            [row["reference"] for row in first_rows],
            [row["answer"] for row in first_rows],
        )
    )
    refused = 0
    for _ in range(10):
        said = (random.random(60) < chances).astype(int).tolist()
        recalibration = recalibrate(
            run, [{"qid": row["qid"], "label": label} for row, label in zip(first_rows, said, strict=True)]
        )
        if not recalibration.helps:
            refused += 1
            with pytest.raises(OutputError, match="not make the offline judge significantly better"):
                recalibration.write(tmp_path / "worse.json")
    assert refused >= 5
    assert not (tmp_path / "worse.json").exists()


def test_too_few_or_all_alike(run: Run) -> None:
    with pytest.raises(InputError, match=r"49 labels .* too few"):
        recalibrate(run, labels(49))
    with pytest.raises(InputError, match="all labels are the same"):
        recalibrate(run, [{"qid": str(number), "label": 1} for number in range(60)])


def test_on_the_command_line(run: Run, ragmeter: Command, tmp_path: Path) -> None:
    said = labels(200, strict=True)
    text = "qid,label\n" + "".join(f"{row['qid']},{row['label']}\n" for row in said)
    (tmp_path / "labels.csv").write_text(text, encoding="utf-8")
    done = ragmeter("calibrate", run.path, "--offline-judge", "--labels", "labels.csv", "--output", "mine.json")
    assert done.returncode == 0, done.stderr
    assert "adapted" in done.stdout
    assert "written: mine.json" in done.stdout
    kept = json.loads((tmp_path / "mine.json").read_text(encoding="utf-8"))
    assert kept["curve"]["kind"] == "platt"
    assert isinstance(recalibrate(run, said), Recalibration)
    done = ragmeter("calibrate", run.path, "--offline-judge", "--labels", "labels.csv", "--metric", "exact_match")
    assert done.returncode == 2
    assert "has no effect with --offline-judge" in done.stderr
