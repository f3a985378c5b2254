"""More metrics for a run that is there already."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ragmeter import BaseScorer, CRAGEvaluator, LLMJudge, Run, evaluate
from ragmeter.definition import METRICS
from ragmeter.engine.evaluation import add_metrics
from ragmeter.errors import InputError, UnknownNameError, UsageError
from tests.compat.crag.helpers import turn
from tests.conftest import Run as Command
from tests.conftest import load_rows

ROWS = [
    {
        "qid": "1",
        "question": "q",
        "answer": "Paris it is",
        "reference": ["Paris"],
        "latency_ms": 12.5,
        "retrieved": ["a"],
    },
    {"qid": "2", "question": "q", "answer": None, "reference": ["Rome"], "error": "it broke", "retrieved": None},
    {"qid": "3", "question": "q", "answer": "Rome", "reference": [], "domain": "cities", "retrieved": []},
]


class Counting(BaseScorer):
    """Counts how often it was asked."""

    calls = 0

    def calculate_score(self, reference: str, candidate: str) -> float:
        Counting.calls += 1
        return 0.5

    def get_score_name(self) -> str:
        return "counting"


def test_the_same_as_if_all_had_been_asked_for_at_once(tmp_path: Path) -> None:
    rows = load_rows("evouna.jsonl")
    evaluate(rows, metrics="token_f1", run="steps", output_dir=tmp_path)
    add_metrics("steps", "rouge_l_score,exact_match", output_dir=tmp_path, language="en")
    whole = evaluate(rows, metrics="token_f1,rouge_l_score[language=en],exact_match", run="whole", output_dir=tmp_path)
    steps = Run.at(tmp_path / "steps")
    assert whole.folder is not None
    assert steps.rows().equals(whole.folder.rows())
    assert steps.summary().metrics == whole.folder.summary().metrics
    names = [metric.name for metric in steps.manifest().metrics]
    assert names == ["token_f1", "rouge_l_score[language=en]", "exact_match"]


def test_causes_of_rows_stay(tmp_path: Path) -> None:
    evaluate(
        ROWS[:1],
        [{"qid": "1", "reference": "Paris"}, {"qid": "9", "reference": "x"}],
        metrics="token_f1",
        run="r",
        output_dir=tmp_path,
    )
    evaluation = add_metrics("r", "exact_match", output_dir=tmp_path)
    assert evaluation["exact_match"].n_not_scored == {"no_result": 1}


def test_a_judges_failure_is_not_the_rows(tmp_path: Path) -> None:
    made = CRAGEvaluator(judge=LLMJudge("k", "m", "http://127.0.0.1:9/v1"), max_calls=0, journal=None)
    turns = [turn("a", 0, "red", "red"), turn("b", 0, "red", "it is red"), turn("c", 0, "red", None, error="broke")]
    made.save_results(*made.evaluate_agent_responses(turns), tmp_path / "r")
    evaluation = add_metrics("r", "token_f1", output_dir=tmp_path)
    assert evaluation["accuracy"].n_not_scored == {"skipped_budget": 1, "target_error": 1}
    assert evaluation["token_f1"].n_not_scored == {"target_error": 1}
    assert (tmp_path / "r" / "scores_dictionary.json").exists()


def test_what_is_there_is_not_computed_again(tmp_path: Path) -> None:
    evaluate(ROWS, metrics=["exact_match", Counting], run="r", output_dir=tmp_path)
    before = Counting.calls
    stamp = (tmp_path / "r" / "rows.parquet").stat().st_mtime_ns
    add_metrics("r", "exact_match", output_dir=tmp_path)
    assert (tmp_path / "r" / "rows.parquet").stat().st_mtime_ns == stamp
    evaluation = add_metrics("r", "exact_match,token_f1", output_dir=tmp_path)
    assert Counting.calls == before
    assert list(evaluation.metrics) == ["exact_match", "counting", "token_f1"]
    assert evaluation.rows["latency_ms"].to_pylist() == [12.5, None, None]


@pytest.mark.parametrize("run", ["r", None])
def test_a_metric_of_the_users_is_computed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: str) -> None:
    first = evaluate(ROWS, metrics=[Counting, "token_f1"], run=run, output_dir=tmp_path)
    monkeypatch.setattr(Counting, "calculate_score", lambda *_: 0.75)
    again = add_metrics(first, [Counting], output_dir=tmp_path)
    assert again["counting"].mean == 0.75
    assert again.rows["counting"].to_pylist()[0] == 0.75
    assert again.rows["counting.outcome"].to_pylist() == ["scored", "target_error", "no_reference"]
    assert list(again.metrics) == ["counting", "token_f1"]
    assert again["token_f1"] == first["token_f1"]
    assert again.rows.column_names.count("counting") == 1


def test_another_metric_of_the_same_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Other(Counting):
        """Another scorer, which has the same name for its score."""

    evaluate(ROWS, metrics=[Counting], run="r", output_dir=tmp_path)
    monkeypatch.delitem(METRICS, "counting")
    with pytest.raises(UsageError, match=r"the run r has another metric 'counting': .*\.Counting, not .*\.Other"):
        add_metrics("r", [Other], output_dir=tmp_path)
    monkeypatch.delitem(METRICS, "counting")


def test_other_files_of_the_folder_stay(tmp_path: Path) -> None:
    evaluate(ROWS, metrics="token_f1", run="r", output_dir=tmp_path)
    (tmp_path / "r" / "notes.txt").write_text("mine")
    (tmp_path / "r" / "more").mkdir()
    (tmp_path / "r" / "more" / "x").write_text("x")
    add_metrics("r", "exact_match", output_dir=tmp_path)
    assert (tmp_path / "r" / "notes.txt").read_text() == "mine"
    assert (tmp_path / "r" / "more" / "x").read_text() == "x"


def test_lists_in_a_column_of_another_name(tmp_path: Path) -> None:
    rows = [{"qid": "1", "answer": "a", "reference": "a", "contexts": ["x", "y"]}]
    run = evaluate(rows, metrics="exact_match", run="r", output_dir=tmp_path).folder
    assert run is not None
    table = pq.read_table(run.path / "rows.parquet")
    names = ["notes" if name == "contexts" else name for name in table.column_names]
    pq.write_table(table.rename_columns(names), run.path / "rows.parquet")
    extended = add_metrics(Run.at(run.path), "token_f1")
    assert extended.rows["notes"].to_pylist() == [["x", "y"]]


def test_what_a_run_does_not_have(tmp_path: Path) -> None:
    evaluate(ROWS, metrics="token_f1", run="r", output_dir=tmp_path)
    with pytest.raises(UsageError, match="needs the column 'relevant', and the run r has none"):
        add_metrics("r", "ndcg@10", output_dir=tmp_path)
    with pytest.raises(UnknownNameError, match="unknown run 'nothing'") as caught:
        add_metrics("nothing", "token_f1", output_dir=tmp_path)
    assert caught.value.hint.endswith("there are r")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="not a run folder"):
        add_metrics("empty", "token_f1", output_dir=tmp_path)
    (tmp_path / "empty").rmdir()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r"]


@pytest.mark.parametrize(
    "given",
    [
        "--reference other.jsonl", "--column answer=Other", "--delimiter ;", "--encoding latin-1", "--no-quotes",
        "--max-field 256", "--split test", "--keep-columns all", "--interval auto", "--cluster none", "--level 0.95",
        "--seed 0", "--skip-bad-parts", "--replace", "--output-prefix p", "--output-format tsv",
        "--no-formula-guard",
    ],
)  # fmt: skip
def test_options_of_a_run_that_is_there_are_its_own(ragmeter: Command, given: str) -> None:
    done = ragmeter("evaluate", "--run", "r", "--metrics", "exact_match", *given.split())
    assert done.returncode == 2
    assert f"{given.split()[0]} has no effect without --results: metrics are added" in done.stderr


def test_the_command(ragmeter: Command, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    ragmeter("evaluate", "--metrics", "token_f1", "--results", "rows.jsonl", "--run", "r")
    done = ragmeter("evaluate", "--metrics", "exact_match", "--run", "r")
    assert done.returncode == 0, done.stderr
    assert "token_f1" in done.stdout
    assert "exact_match" in done.stdout
    assert ragmeter("evaluate", "--metrics", "exact_match").returncode == 2
