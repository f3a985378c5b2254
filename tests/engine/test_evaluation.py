"""`evaluate()` as a notebook calls it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragmeter import Run, evaluate
from ragmeter.engine.executors import Threads
from ragmeter.engine.scoring import score_batches
from ragmeter.errors import AllFailedError, InputError
from ragmeter.registry import get_all
from ragmeter.table import Batch
from tests.conftest import load_rows

ROWS: list[dict[str, Any]] = [
    {"qid": "1", "answer": "Paris", "reference": ["Paris", "the city of Paris"], "domain": "geo"},
    {"qid": "2", "answer": "I think Rome", "reference": ["Rome"], "domain": "geo"},
    {"qid": "3", "answer": None, "reference": ["x"], "domain": "misc"},
]


def test_what_comes_back() -> None:
    evaluation = evaluate(ROWS, metrics=["token_f1", "exact_match"])
    assert evaluation["token_f1"].mean == 0.75
    assert evaluation["exact_match"].interval_method == "wilson"
    assert evaluation.folder is None
    assert evaluation.rows.column("domain").to_pylist() == ["geo", "geo", "misc"]
    assert evaluation.rows.column("reference").to_pylist()[0] == ["Paris", "the city of Paris"]
    assert "token_f1: 0.75 [" in repr(evaluation)
    assert "n = 2 of 3" in repr(evaluation)


def test_a_summary_by_the_name_that_was_asked_for() -> None:
    evaluation = evaluate(ROWS, metrics="rouge_l_score,token_f1", language="es")
    assert evaluation["rouge_l_score"] is evaluation["rouge_l_score[language=es]"]
    assert list(evaluation) == ["rouge_l_score[language=es]", "token_f1"]
    assert "token_f1" in evaluation
    with pytest.raises(KeyError, match=r"this evaluation has rouge_l_score\[language=es\], token_f1"):
        _ = evaluation["map"]
    assert list(evaluate(ROWS, metrics="rouge_l_score", language="none")) == ["rouge_l_score"]


def test_nothing_in() -> None:
    for results, reference in (([], None), ([], ROWS), (ROWS, [])):
        with pytest.raises(InputError, match="the list has no rows"):
            evaluate(results, reference, metrics="token_f1")


def test_a_column_called_like_a_metric_gives_way() -> None:
    evaluation = evaluate([{"answer": "a", "reference": "a", "token_f1": "mine"}], metrics="token_f1")
    assert evaluation.rows.column("token_f1").to_pylist() == [1.0]
    assert evaluation.rows.column("input.token_f1").to_pylist() == ["mine"]


def test_frames_in() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    results: Any = {"qid": [1, 2], "answer": ["a", "b"]}
    gold: Any = {"qid": [2, 1], "ground_truth": ["b", "x"]}
    for library in (pandas, polars):
        evaluation = evaluate(library.DataFrame(results), library.DataFrame(gold), metrics="exact_match")
        assert evaluation["exact_match"].mean == 0.5


def test_a_run_is_kept_and_read_back(tmp_path: Path) -> None:
    evaluation = evaluate(ROWS, metrics="token_f1", run="mine", output_dir=tmp_path)
    folder = Run.at(tmp_path / "mine")
    assert evaluation.folder == folder
    assert folder.name == "mine"
    assert folder.summary() == evaluation.summary
    assert folder.manifest().metrics[0].name == "token_f1"
    np.testing.assert_array_equal(folder.scores("token_f1"), [1.0, 0.5, np.nan])
    assert evaluation.rows.num_rows == 3
    with pytest.raises(InputError, match="not a run folder"):
        Run.at(tmp_path)


def test_a_later_run_of_the_same_name_takes_its_place(tmp_path: Path) -> None:
    evaluate(ROWS, metrics="token_f1", run="mine", output_dir=tmp_path)
    evaluate(ROWS, metrics="exact_match", run="mine", output_dir=tmp_path)
    assert list(Run.at(tmp_path / "mine").summary().metrics) == ["exact_match"]
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_column_that_appears_late_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragmeter.io.batches.ROWS", 2)
    evaluation = evaluate([*ROWS, {"qid": "4", "answer": "x", "reference": ["x"], "late": "!"}], metrics="token_f1")
    assert evaluation.rows.column_names.count("late") == 0
    assert evaluation.summary.n_rows == 4
    assert evaluation.summary.columns_left_out == {"late": 2}


def test_an_error_that_appears_late_still_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragmeter.io.batches.ROWS", 2)
    failed = {"qid": "4", "answer": "Error: 500", "reference": ["x"], "error": "HTTP 500"}
    evaluation = evaluate([*ROWS, failed], metrics="token_f1")
    assert evaluation["token_f1"].n_not_scored == {"no_answer": 1, "target_error": 1}


def test_batches_and_threads_change_nothing() -> None:
    rows = load_rows("evouna.jsonl")
    columns = {name: [row[name] for row in rows] for name in ("reference", "answer")}
    metrics = get_all("edit_distance,exact_match,token_f1,rouge_l_score,meteor_score,cosine_similarity", language="en")
    whole = list(score_batches([Batch(columns)], metrics, executor=Threads(1)))
    parts = [
        Batch({name: column[begin : begin + 7] for name, column in columns.items()}) for begin in range(0, len(rows), 7)
    ]
    pieces = list(score_batches(parts, metrics, executor=Threads(3)))
    for metric in metrics:
        joined = np.concatenate([piece.scores[metric.name][0] for piece in pieces])
        np.testing.assert_array_equal(joined, whole[0].scores[metric.name][0])


def test_a_failure_in_the_middle_ends_the_run_and_leaves_nothing(tmp_path: Path) -> None:
    rows = [*ROWS, {"qid": "1", "answer": "again", "reference": ["x"]}]
    with pytest.raises(InputError, match="second time"):
        evaluate(rows, metrics="token_f1", run="r", output_dir=tmp_path / "runs")
    assert list(tmp_path.iterdir()) == []


def test_a_run_without_any_score_does_not_replace_one_with_scores(tmp_path: Path) -> None:
    evaluate([{"qid": "1", "answer": "a", "reference": "a"}], metrics="exact_match", run="r", output_dir=tmp_path)
    nothing = [{"qid": "1", "answer": None, "reference": "a", "error": "timeout"}]
    with pytest.raises(AllFailedError, match=r"no row has a score, mostly .*; the run r stays as it was"):
        evaluate(nothing, metrics="exact_match", run="r", output_dir=tmp_path)
    assert Run(tmp_path / "r").summary().metrics["exact_match"].mean == 1.0
    assert evaluate(nothing, metrics="exact_match", run="s", output_dir=tmp_path)["exact_match"].n_scored == 0
