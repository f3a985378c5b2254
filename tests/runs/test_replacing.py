"""What a judge was paid for is not replaced by mistake, and its journal never."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ragmeter
from ragmeter import CRAGEvaluator, RunFolder
from ragmeter.effects.journal import Journal
from ragmeter.errors import UsageError
from tests.compat.crag.helpers import turn
from tests.conftest import Run
from tests.judge_rows import ROWS, fake, judge


def replies(path: Path) -> int:
    with Journal(path) as journal:
        return len(journal)


@pytest.fixture
def conversations(tmp_path: Path) -> Path:
    """A judged run of conversations, with its journal."""
    folder = tmp_path / "talk"
    made = CRAGEvaluator(judge=judge(fake()), journal=folder / "journal.sqlite")
    made.save_results(*made.evaluate_agent_responses([turn("s", 0, "gold", "it is gold")]), folder)
    return folder


def test_conversations(conversations: Path, tmp_path: Path) -> None:
    before = {file.name: file.read_bytes() for file in conversations.iterdir()}
    with pytest.raises(UsageError, match=r"the run talk exists already, and has a judge's replies in journal\.sqlite"):
        ragmeter.evaluate(ROWS, metrics="token_f1", run="talk", output_dir=tmp_path)
    assert {file.name: file.read_bytes() for file in conversations.iterdir()} == before
    ragmeter.evaluate(ROWS, metrics="token_f1", run="talk", output_dir=tmp_path, replace=True)
    assert list(RunFolder(conversations).metrics()) == ["token_f1"]
    assert {file.name for file in conversations.iterdir()} == {
        "journal.sqlite", "manifest.json", "rows.parquet", "summary.json",
    }  # fmt: skip
    assert replies(conversations / "journal.sqlite") == 1


def test_conversations_without_their_journal(conversations: Path, tmp_path: Path) -> None:
    (conversations / "journal.sqlite").unlink()
    ragmeter.evaluate(ROWS, metrics="token_f1", run="other", output_dir=tmp_path)
    with pytest.raises(UsageError, match="has a judge's verdicts"):
        ragmeter.evaluate(ROWS, metrics="token_f1", run="talk", output_dir=tmp_path)


def test_columns_that_a_judge_has_filled(tmp_path: Path) -> None:
    provider = fake()
    ragmeter.evaluate(ROWS, metrics="llm_correct", judge=judge(provider), run="r", output_dir=tmp_path)
    with pytest.raises(UsageError, match=r"has a judge's replies in it \(verdict\)\n.*replace=True"):
        ragmeter.evaluate(ROWS, metrics="token_f1", run="r", output_dir=tmp_path)
    ragmeter.add_metrics("r", "token_f1", output_dir=tmp_path)  # which replaces nothing
    assert "llm_correct" in RunFolder(tmp_path / "r").metrics()
    ragmeter.evaluate(ROWS, metrics="token_f1", run="r", output_dir=tmp_path, replace=True)
    assert "llm_correct" not in RunFolder(tmp_path / "r").metrics()


def test_a_live_system_that_was_judged(tmp_path: Path) -> None:
    dataset = [{"qid": "1", "question": "q", "reference": "gold"}]

    def ask(metrics: str = "llm_correct", **more: Any) -> None:
        ragmeter.ask(dataset, lambda question: "it is gold", metrics=metrics, run="r", output_dir=tmp_path, **more)

    ask(judge=judge(fake()))
    ask(judge=judge(fake()))  # judged again: the replies are in the folder's journal
    with pytest.raises(UsageError, match="exists already"):
        ask("token_f1")
    ask(resume=True, judge=judge(fake()))
    ask(retry_failed=True, judge=judge(fake()))
    ask("token_f1", replace=True)


def test_what_nobody_was_paid_for_is_replaced(tmp_path: Path) -> None:
    for metric in ("token_f1", "exact_match"):
        ragmeter.evaluate(ROWS, metrics=metric, run="r", output_dir=tmp_path)
    assert list(RunFolder(tmp_path / "r").metrics()) == ["exact_match"]


def test_a_damaged_run_is_replaced(tmp_path: Path) -> None:
    ragmeter.evaluate(ROWS, metrics="token_f1", run="r", output_dir=tmp_path)
    (tmp_path / "r" / "manifest.json").write_text("{")
    ragmeter.evaluate(ROWS, metrics="token_f1", run="r", output_dir=tmp_path)
    assert RunFolder(tmp_path / "r").manifest()["run"] == "r"


def test_the_command(conversations: Path, ragmeter: Run, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("qid,answer,reference\n1,a,a\n")
    command = ["evaluate", "--results", "rows.csv", "--metrics", "token_f1", "--output-dir", ".", "--run", "talk"]
    done = ragmeter(*command)
    assert done.returncode == 2
    assert "choose another name with --run, or replace the run with --replace: its journal stays" in done.stderr
    assert ragmeter(*command, "--replace").returncode == 0
    assert replies(conversations / "journal.sqlite") == 1
    done = ragmeter("evaluate", "--run", "talk", "--output-dir", ".", "--metrics", "exact_match", "--replace")
    assert "--replace has no effect without --results" in done.stderr
