"""`ragmeter documents`, and causes on the command line, as a person sees them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.conftest import Run

PASSAGES = {"fr": "Paris is the capital of France.", "=1+1": "Rome is the capital of Italy."}


def _row(qid: int, answer: str, *ids: str) -> dict[str, object]:
    return {
        "qid": f"q{qid}",
        "question": "What is the capital of France?",
        "reference": "Paris",
        "answer": answer,
        "relevant": ["fr"],
        "retrieved": list(ids),
        "contexts": [PASSAGES[name] for name in ids],
    }


ROWS = [_row(1, "Paris", "fr"), _row(2, "Rome", "=1+1"), _row(3, "Rome", "fr", "=1+1"), _row(4, "I don't know.", "fr")]


@pytest.fixture(autouse=True)
def _run(tmp_path: Path, ragmeter: Run) -> None:
    (tmp_path / "results.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    done = ragmeter("evaluate", "--metrics", "offline_correct", "--results", "results.jsonl", "--run", "r")
    assert done.returncode == 0, done.stderr
    shown = " ".join(done.stdout.split())
    assert "retrieved, misread or misled 25% 5% to 70% 1 ids of gold documents" in shown


def test_shows_the_documents_and_the_lists(ragmeter: Run, tmp_path: Path) -> None:
    (tmp_path / "docs.jsonl").write_text('{"_id": "fr"}\n{"_id": "es"}\n')
    done = ragmeter("documents", "r", "--corpus", "docs.jsonl")
    assert done.returncode == 0, done.stderr
    shown = " ".join(done.stdout.split())
    assert "fr 3 4 1 3 1.00 33% 3" in shown
    assert "documents: 2, of 4 questions" in shown
    assert "gold, never retrieved: 0" in shown
    assert "retrieved, never useful: 1 (=1+1)" in shown
    assert "never retrieved, of 2 in the corpus: 1 (es)" in shown


def test_the_lists_are_as_long_as_asked(ragmeter: Run, tmp_path: Path) -> None:
    (tmp_path / "docs.jsonl").write_text("".join(f'{{"_id": "d{place:02}"}}\n' for place in range(40)))
    corpus = ("documents", "r", "--corpus", "docs.jsonl")
    shown = " ".join(ragmeter(*corpus).stdout.split())
    assert "useful: for so many questions it was retrieved and is a gold document" in shown
    assert "in the corpus: 40 (d00, " in shown
    assert "d19, … 20 more with --top or --json)" in shown
    shown = " ".join(ragmeter(*corpus, "--top", "40").stdout.split())
    assert "d38, d39)" in shown
    shown = " ".join(ragmeter(*corpus, "--top", "0").stdout.split())
    assert "in the corpus: 40 (… 40 more" in shown


def test_json_and_csv_have_all_of_them(ragmeter: Run, tmp_path: Path) -> None:
    done = ragmeter("documents", "r", "--json", "--top", "1", "--csv", "d.csv")
    found = json.loads(done.stdout)
    assert [document["id"] for document in found["documents"]] == ["fr", "=1+1"]
    assert found["never_useful"] == ["=1+1"]
    with (tmp_path / "d.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == ["fr", "'=1+1"]  # a spreadsheet would run the formula
    ragmeter("documents", "r", "--csv", "d.csv", "--no-formula-guard")


def test_a_missing_file_or_run_is_an_error(ragmeter: Run) -> None:
    assert ragmeter("documents", "nobody").returncode == 2
    done = ragmeter("documents", "r", "--corpus", "nothing.jsonl")
    assert (done.returncode, "there is no such file" in done.stderr) == (2, True)


def test_the_gate_takes_the_share_of_a_cause(ragmeter: Run) -> None:
    assert ragmeter("gate", "r", "--fail-over", "cause:not_retrieved=0.3").returncode == 0
    done = ragmeter("gate", "r", "--fail-over", "cause:not_retrieved=0.1")
    assert (done.returncode, "cause:not_retrieved is 0.25 (95%" in done.stderr) == (1, True)
    done = ragmeter("gate", "r", "--fail-over", "cause:not_retreived=0.1")
    assert (done.returncode, "did you mean cause:not_retrieved?" in done.stderr) == (2, True)
    done = ragmeter("gate", "r", "--fail-over", "cause:right=0.1")
    assert "higher is better" in done.stderr
    arguments = ("--metrics", "offline_correct", "--results", "results.jsonl", "--run", "again")
    assert ragmeter("evaluate", *arguments, "--fail-over", "cause:failed=0").returncode == 0
    assert ragmeter("gate", "r", "--max-failed", "0").returncode == 0


def test_explain_compare_and_summary_say_it(ragmeter: Run) -> None:
    done = ragmeter("explain", "r", "q4")
    assert "q4: cause: declined though retrieved" in done.stdout
    record = json.loads(ragmeter("explain", "r", "q2", "--json").stdout)[0]
    assert (record["cause"], record["cause_evidence"]) == ("not_retrieved", "gold_documents")
    assert "declined though retrieved" in ragmeter("summary", "r", "--slice", "cause").stdout


def test_compare_says_what_moved(ragmeter: Run, tmp_path: Path) -> None:
    better = [_row(2, "Paris", "fr") if row["qid"] == "q2" else row for row in ROWS]
    (tmp_path / "better.jsonl").write_text("\n".join(map(json.dumps, better)))
    ragmeter("evaluate", "--metrics", "offline_correct", "--results", "better.jsonl", "--run", "b")
    done = ragmeter("compare", "r", "b")
    assert "right: 0 → 1" in done.stdout or "not retrieved: 1 → 0" in done.stdout
    assert json.loads(ragmeter("compare", "r", "b", "--json").stdout)["pairs"][0]["causes"]["by_retrieval"] == 1
