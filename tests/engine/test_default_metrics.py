"""What is measured where nobody names metrics."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import ragmeter
from ragmeter import FakeProvider, Judge
from ragmeter.engine import default_metrics
from ragmeter.engine.default_metrics import DEFAULT_METRICS, MetricChoice, choose_by_columns
from ragmeter.errors import ColumnError
from ragmeter.io.batches import ROWS
from ragmeter.io.data import Data
from ragmeter.registry import get
from tests.conftest import Run

TEXTS = {"question": "Where?", "reference": "Paris", "answer": "In Paris."}
PASSAGES = {"contexts": ["Paris is the capital."]}
DOCUMENTS = {"relevant": ["d1"], "retrieved": ["d1", "d2"]}
LONG = "Paris is the capital of France and its largest city. It lies on the Seine, in the north of the country."


@pytest.mark.parametrize("default", DEFAULT_METRICS, ids=lambda default: default.name)
def test_the_table_says_what_the_metrics_themselves_need(default: Any) -> None:
    metric = get(default.name)
    assert set(metric.reads) <= set(default.needs)
    assert set(default.needs) - set(metric.reads) == set()
    assert set(default.marks) <= set(metric.needs)


def test_the_documented_table_is_this_one() -> None:
    text = (Path(__file__).parents[2] / "docs" / "input.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\S+)` \| ((?:`\w+`(?:, )?)+) \|", text.partition("## What is measured")[2], re.MULTILINE)
    documented = [(name, tuple(re.findall(r"\w+", needs))) for name, needs in rows]
    assert documented == [(metric.name, metric.needs) for metric in DEFAULT_METRICS]


@pytest.mark.parametrize(
    ("row", "metrics"),
    [
        (TEXTS, ["offline_correct", "token_f1"]),
        ({**TEXTS, "question": None}, ["token_f1"]),
        ({**TEXTS, "reference": LONG}, ["offline_quality", "token_f1"]),
        ({**TEXTS, **PASSAGES}, ["offline_correct", "token_f1", "offline_hallucinated"]),
        ({"answer": "In Paris.", **PASSAGES}, ["offline_hallucinated"]),
        (DOCUMENTS, ["recall@5", "ndcg@10"]),
        ({**TEXTS, **DOCUMENTS}, ["offline_correct", "token_f1", "recall@5", "ndcg@10"]),
        ({**TEXTS, "is_impossible": "false"}, ["offline_correct", "token_f1", "abstention_correct"]),
    ],
)
def test_the_columns_that_are_there_say_what_is_measured(row: dict[str, Any], metrics: list[str]) -> None:
    evaluation = ragmeter.evaluate([{"qid": "1", **row}, {"qid": "2", **row}])
    assert list(evaluation.summary.metrics) == metrics
    assert [summary.n_scored for summary in evaluation.summary.metrics.values()] == [2] * len(metrics)
    [note] = evaluation.summary.notes
    assert note.startswith(f"results: chosen by its columns: {', '.join(metrics)}")


def test_what_was_left_out_has_its_columns() -> None:
    choice = MetricChoice.of({"reference", "answer", "retrieved"})
    assert choice.sentence() == (
        "chosen by its columns: token_f1; left out: offline_correct (no question); offline_hallucinated (no contexts); "
        "recall@5 and ndcg@10 (no relevant); where answers failed (no metric says which answers are right); "
        "name `metrics` to choose others"
    )


def test_answers_that_are_all_missing_are_measured_and_have_a_cause() -> None:
    evaluation = ragmeter.evaluate([{**TEXTS, **PASSAGES, "qid": str(n), "answer": None} for n in range(3)])
    assert list(evaluation.summary.metrics) == ["offline_correct", "token_f1", "offline_hallucinated"]
    assert evaluation.summary.cause is not None
    assert evaluation.summary.cause.shares["failed"].mean == 1


def test_a_retriever_with_an_empty_column_of_answers_is_measured_by_its_ids() -> None:
    evaluation = ragmeter.evaluate([{**TEXTS, **DOCUMENTS, "answer": None}])
    assert list(evaluation.summary.metrics) == ["recall@5", "ndcg@10"]
    assert "offline_correct and token_f1 (answer is empty)" in evaluation.summary.notes[0]


@pytest.mark.parametrize("column", ["answer", "reference", "contexts"])
def test_a_column_that_begins_late_counts(column: str) -> None:
    row = {**TEXTS, **PASSAGES}
    rows = [{**row, "qid": str(n), column: None if n < ROWS + 10 else row[column]} for n in range(ROWS + 12)]
    choice = choose_by_columns(Data.open(rows))
    assert choice.metrics == ("offline_correct", "token_f1", "offline_hallucinated")
    gold = [{"qid": cells["qid"], "reference": cells.pop("reference")} for cells in rows]
    assert choose_by_columns(Data.open(rows, gold)).metrics == choice.metrics


def test_so_many_rows_are_looked_at_and_the_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(default_metrics, "_LOOKED_AT", ROWS)
    rows = [{**TEXTS, "qid": str(n), "contexts": None if n < ROWS + 10 else ["Paris."]} for n in range(ROWS + 12)]
    assert f"(contexts is empty in the first {ROWS:,} rows)" in choose_by_columns(Data.open(rows)).sentence()


def test_a_reference_of_another_file_counts() -> None:
    gold = [{"qid": "1", "question": "Where?", "reference": LONG, "relevant": ["d1"]}]
    answers = [{"qid": "1", "answer": "Paris", "retrieved": ["d1"], "reference": "short", "question": ""}]
    chosen = ragmeter.evaluate(answers, gold).summary.metrics
    assert list(chosen) == ["offline_quality", "token_f1", "recall@5", "ndcg@10"]


def test_a_judge_that_is_named_judges(tmp_path: Path) -> None:
    judge = Judge(provider=FakeProvider("correct"), check=False)
    evaluation = ragmeter.evaluate([TEXTS], judge=judge, output_dir=tmp_path)
    assert list(evaluation.summary.metrics) == ["llm_correct", "offline_correct", "token_f1"]


def test_an_embedding_model_that_is_named_is_used() -> None:
    evaluation = ragmeter.evaluate([TEXTS], embedding_model="wordllama")
    assert "semantic_similarity[model=wordllama]" in evaluation.summary.metrics


@pytest.mark.parametrize(
    ("row", "hint"),
    [
        ({"question": "Where?", "answer": "Paris"}, r"add gold answers .*answer_relevance"),
        ({"question": "Where?", "reference": "Paris"}, r"the system's answers .* are missing: ask\(\)"),
    ],
)
def test_nothing_to_measure(row: dict[str, Any], hint: str) -> None:
    with pytest.raises(ColumnError, match=rf"nothing can be measured by the columns question, [\s\S]*{hint}"):
        ragmeter.evaluate([row])


def test_other_names_are_proposed_all_at_once(ragmeter: Run, tmp_path: Path) -> None:
    row = {"Prompt": "Where?", "output": "Paris", "gold": "Paris", "my ctxs": "x", "ctxs": ["Paris."]}
    write(tmp_path / "other.jsonl", row)
    done = ragmeter("evaluate", "other.jsonl")
    [command] = re.findall(r"ragmeter (evaluate .*?);", done.stderr)
    assert command == (
        "evaluate other.jsonl --column question=Prompt --column answer=output --column reference=gold "
        "--column contexts=ctxs"
    )
    again = ragmeter(*command.split())
    assert "offline_correct, token_f1, offline_hallucinated" in again.stdout
    named = ragmeter("evaluate", "other.jsonl", "--metrics", "token_f1")
    assert "--column reference=gold --column answer=output --column question=Prompt" in named.stderr


def test_a_file_without_known_names_has_all_of_them_asked_for_at_once() -> None:
    with pytest.raises(ColumnError) as raised:
        ragmeter.evaluate([{"a": "Where?", "b": "Paris"}])
    flags = "--column question=ITS_NAME --column reference=ITS_NAME --column answer=ITS_NAME"
    assert flags in raised.value.for_command_line()


def test_a_column_by_another_name_is_proposed_where_others_are_measured() -> None:
    evaluation = ragmeter.evaluate([{"question": "Where?", "answer": "Paris", **PASSAGES, "gold": "Paris"}])
    assert "to read 'gold' as reference: add " in evaluation.summary.notes[0]


QUESTIONS = [{"question": "Where?", "reference": "Paris", "relevant": ["d1"]}]


@pytest.mark.parametrize(
    ("reply", "metrics", "left_out"),
    [
        ("Paris", ["offline_correct", "token_f1"], "recall@5 and ndcg@10 (no retrieved)"),
        ({"answer": "Paris", "retrieved": []}, ["offline_correct", "token_f1", "recall@5", "ndcg@10"], "(no contexts)"),
        ({"answer": "Paris", "contexts": ["Paris."]}, ["offline_correct", "token_f1", "offline_hallucinated"], ""),
    ],
)
def test_what_a_system_returns_says_what_is_measured(
    reply: Any, metrics: list[str], left_out: str, tmp_path: Path
) -> None:
    service = ragmeter.ask(QUESTIONS, lambda question: reply, output_dir=tmp_path)
    assert list(service.summary.metrics) == metrics
    [note] = service.summary.notes
    assert note.startswith(f"dataset: chosen by its columns: {', '.join(metrics)}")
    assert left_out in note


def test_where_all_calls_failed_the_answers_metrics_are_shown_without_scores(tmp_path: Path) -> None:
    def fails(question: str) -> str:
        raise ValueError("no")

    service = ragmeter.ask(QUESTIONS, fails, output_dir=tmp_path, retries=0, allow_failures=True)
    assert list(service.summary.metrics) == ["offline_correct", "token_f1"]
    assert {summary.n_scored for summary in service.summary.metrics.values()} == {0}


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_files_by_position(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", {"qid": "1", "answer": "Paris"})
    write(tmp_path / "gold.jsonl", {"qid": "1", "question": "Where?", "answer": "Paris"})
    done = ragmeter("evaluate", "a.jsonl", "gold.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    assert list(json.loads(done.stdout)["metrics"]) == ["offline_correct", "token_f1"]
    done = ragmeter("evaluate", "--metrics", "exact_match", "--reference", "gold.jsonl", "--json", "a.jsonl")
    assert list(json.loads(done.stdout)["metrics"]) == ["exact_match"]
    done = ragmeter("evaluate", "a.jsonl", "--results", "a.jsonl")
    assert "a.jsonl and --results a.jsonl: which is it?" in done.stderr
    done = ragmeter("evaluate", "--metrics", "exact_match", "a.jsonl")
    assert "a.jsonl is a file, and no metric" in done.stderr
    assert "name it first: ragmeter evaluate a.jsonl" in done.stderr


def test_without_a_file(ragmeter: Run) -> None:
    done = ragmeter("evaluate")
    assert done.returncode == 2
    assert "which file holds the system's answers?" in done.stderr


def test_a_metric_that_a_gate_may_name_is_kept(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path / "qa.jsonl", {"question": "Where?", "reference": "Paris", "relevant": ["d1"]})
    (tmp_path / "here.py").write_text("def answer(question):\n    return 'Paris'\n")
    command = ("ask", "--dataset", "qa.jsonl", "--target", "here:answer", "--fail-under", "ndcg@10=0.5")
    done = ragmeter(*command)
    assert done.returncode == 1
    assert "ndcg@10: no row has a score (1 no_retrieved)" in done.stderr


def test_a_results_json_has_its_own_metrics_too(ragmeter: Run, tmp_path: Path) -> None:
    write(tmp_path / "qa.jsonl", {"question": "Where?", "reference": "Paris"})
    (tmp_path / "mine.py").write_text("def answer(question):\n    return 'Paris'\n")
    done = ragmeter("ask", "--dataset", "qa.jsonl", "--target", "mine:answer", "--output", "results.json")
    assert done.returncode == 0, done.stderr
    shown = json.loads((tmp_path / "results.json").read_text())["metrics"]
    assert list(shown) == [
        "offline_correct", "token_f1", "semantic_similarity", "response_coverage_rate", "satisfaction_score"
    ]  # fmt: skip


def test_what_python_prints_begins_with_missing_answers_and_the_headline() -> None:
    evaluation = ragmeter.evaluate([{**TEXTS, "qid": "1"}, {**TEXTS, "qid": "2", "answer": None}])
    assert repr(evaluation).splitlines()[1:3] == [
        "1 of 2 questions have an answer",
        "100% right (21 to 100), on 1 of 2 questions",
    ]
    assert "1 of 2 questions have an answer" in evaluation._repr_html_()
