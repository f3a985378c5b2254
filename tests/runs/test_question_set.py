"""Which questions a run is about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragmeter import ask, evaluate
from ragmeter.runs.catalogue import RunEntry

ROWS = [
    {"qid": "1", "question": "Who?", "reference": ["Ada", "Lovelace"], "answer": "Ada"},
    {"qid": "2", "question": "Where?", "reference": ["here"], "answer": "there"},
    {"qid": "3", "question": "When?", "reference": ["now"], "answer": "then"},
]


def entry_of(folder: Path, name: str, rows: list[dict[str, Any]]) -> RunEntry:
    evaluate(rows, metrics="token_f1", run=name, output_dir=folder)
    return RunEntry.of(folder / name)


@pytest.fixture
def before(tmp_path: Path) -> RunEntry:
    return entry_of(tmp_path, "before", ROWS)


def test_order_and_answers_do_not_count(tmp_path: Path, before: RunEntry) -> None:
    other = [{**row, "answer": "?"} for row in reversed(ROWS)]
    assert entry_of(tmp_path, "after", other).questions == before.questions


def test_a_question_that_was_asked_twice_counts_once(tmp_path: Path, before: RunEntry) -> None:
    dataset = [{name: cell for name, cell in row.items() if name != "answer"} for row in ROWS]
    ask(dataset, lambda question: "?", metrics="token_f1", repeats=2, run="asked", output_dir=tmp_path)
    entry = RunEntry.of(tmp_path / "asked")
    assert entry.questions == before.questions
    assert (entry.n_rows, entry.n_questions) == (6, 3)


@pytest.mark.parametrize(
    "change", [{"qid": "9"}, {"question": "Whom?"}, {"reference": ["Ada"]}, {"reference": ["Ada Lovelace"]}]
)
def test_another_qid_question_or_reference_is_another_set(
    tmp_path: Path, before: RunEntry, change: dict[str, Any]
) -> None:
    assert entry_of(tmp_path, "other", [{**ROWS[0], **change}, *ROWS[1:]]).questions != before.questions


def test_some_of_the_questions_are_another_set(tmp_path: Path, before: RunEntry) -> None:
    entry = entry_of(tmp_path, "fewer", ROWS[:2])
    assert (entry.questions != before.questions, entry.n_questions) == (True, 2)


def test_an_older_run_has_the_fingerprint_that_a_new_one_has(tmp_path: Path, before: RunEntry) -> None:
    evaluate([{**row, "system_name": "bm25"} for row in ROWS], metrics="token_f1", run="old", output_dir=tmp_path)
    path = tmp_path / "old" / "summary.json"
    summary = json.loads(path.read_text())
    assert (summary.pop("questions"), summary.pop("system")) == ({"fingerprint": before.questions, "n": 3}, "bm25")
    path.write_text(json.dumps(summary))
    entry = RunEntry.of(tmp_path / "old")
    assert entry.questions != before.questions
    entry = entry.with_fingerprint()
    assert (entry.questions, entry.n_questions, entry.system) == (before.questions, 3, "bm25")


def test_questions_without_a_text_are_known_by_their_gold_documents(tmp_path: Path) -> None:
    rows = [{"qid": "1", "retrieved": ["a"], "relevant": ["a"]}, {"qid": "2", "retrieved": ["a"], "relevant": ["b"]}]
    other = [rows[0], {**rows[1], "relevant": ["a"]}]
    entries = []
    for name, own in (("a", rows), ("b", other), ("c", [{**row, "retrieved": ["b"]} for row in rows])):
        evaluate(own, metrics="recall@1", run=name, output_dir=tmp_path)
        entries.append(RunEntry.of(tmp_path / name).questions)
    assert entries[0] == entries[2] != entries[1]


def test_the_system_is_what_all_rows_say(tmp_path: Path) -> None:
    rows = [{**row, "system_name": name} for row, name in zip(ROWS, ["x", "x", "y"], strict=True)]
    assert entry_of(tmp_path, "one", [{**rows[0]}, rows[1], {**ROWS[2]}]).system == "x"
    assert entry_of(tmp_path, "two", rows).system == ""


@pytest.mark.parametrize("kept_bytes", [0, 100, -1])
def test_a_cut_table_is_damage(tmp_path: Path, before: RunEntry, kept_bytes: int) -> None:
    table = before.path / "rows.parquet"
    table.write_bytes(table.read_bytes()[:kept_bytes])
    entry = RunEntry.of(before.path)
    assert "rows.parquet" in entry.error
    assert entry.n_rows == 3
