"""Messages that say how to go on, each tried as it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Run

ANSWERS = "question,answer\nWhere is it?,Paris\nWho was it?,Ann\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.csv").write_text(ANSWERS)
    (tmp_path / "g.csv").write_text(ANSWERS.replace("answer", "reference"))
    return tmp_path


def test_the_column_that_joins_is_none_that_is_compared(ragmeter: Run, folder: Path) -> None:
    (folder / "g.csv").write_text(ANSWERS.replace("Ann", "Bob"))  # the gold answers under the title answer
    done = ragmeter("evaluate", "a.csv", "g.csv")
    assert "both have question: if it is unique, add --column qid=question" in done.stderr
    assert ragmeter("evaluate", "a.csv", "g.csv", "--column", "qid=question").returncode == 0
    (folder / "g.csv").write_text(ANSWERS.replace("question", "q"))
    assert "none to join by" in ragmeter("evaluate", "a.csv", "g.csv").stderr


def test_an_estimate_needs_a_metric_that_a_model_judges(ragmeter: Run, folder: Path) -> None:
    (folder / "ragmeter.toml").write_text('[judge]\nmodel = "m"\nprices = "prices.json"\n')
    (folder / "rows.csv").write_text("question,reference,answer\nWhere?,Paris,Rome\n")
    done = ragmeter("evaluate", "rows.csv", "--dry-run")
    assert (done.returncode, "--metrics llm_correct" in done.stderr) == (2, True), done.stderr


def test_a_run_without_causes_says_why(ragmeter: Run, folder: Path) -> None:
    (folder / "rows.csv").write_text("question,reference,answer\nWhere?,Paris,Rome\n")
    assert "where answers failed (no contexts)" in " ".join(
        ragmeter("evaluate", "rows.csv", "--run", "r").stdout.split()
    )
    done = ragmeter("gate", "r", "--fail-over", "cause:not retrieved=0.1")
    assert (done.returncode, "passages or gold documents" in done.stderr) == (2, True), done.stderr


def test_a_cause_may_be_written_as_a_table_has_it(ragmeter: Run, folder: Path) -> None:
    (folder / "rows.jsonl").write_text(
        '{"question": "Where?", "reference": "Paris", "answer": "Rome", "contexts": ["Rome is old."]}\n'
    )
    assert ragmeter("evaluate", "rows.jsonl", "--run", "r").returncode == 0
    assert "cause:not_retrieved" in ragmeter("gate", "r", "--fail-over", "cause:not retrieved=0.1").stdout


def test_a_run_is_not_called_like_an_option(ragmeter: Run, folder: Path) -> None:
    done = ragmeter("evaluate", "a.csv", "--run=-x")
    assert (done.returncode, "would be an option" in done.stderr) == (2, True), done.stderr


def test_nobody_is_told_to_compare_answers_with_themselves(ragmeter: Run, folder: Path) -> None:
    rows = "qid,question,reference,answer\n1,Where?,Paris,Rome\n"
    (folder / "rows.csv").write_text(rows)
    (folder / "others.csv").write_text(rows.replace("Rome", "Paris"))
    ragmeter("evaluate", "rows.csv", "--run", "one")
    assert "next: `ragmeter report two`" in ragmeter("evaluate", "rows.csv", "--run", "two").stdout
    assert "next: `ragmeter compare two three`" in ragmeter("evaluate", "others.csv", "--run", "three").stdout
