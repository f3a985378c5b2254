"""What a judge was paid for is not replaced by mistake, and its journal never."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ragmeter
from ragmeter import CRAGEvaluator, Run
from ragmeter.effects.replies.journal import Journal
from ragmeter.errors import UsageError
from tests.compat.crag.helpers import turn
from tests.conftest import Run as Command
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
    assert list(Run(conversations).metrics()) == ["token_f1"]
    assert {file.name for file in conversations.iterdir()} == {
        "journal.sqlite", "manifest.json", "rows.parquet", "summary.json",
    }  # fmt: skip
    assert replies(conversations / "journal.sqlite") == 1


def test_conversations_without_their_journal(conversations: Path, tmp_path: Path) -> None:
    (conversations / "journal.sqlite").unlink()
    ragmeter.evaluate(ROWS, metrics="token_f1", run="other", output_dir=tmp_path)
    with pytest.raises(UsageError, match=r"has a judge's replies in it \(verdict\)"):
        ragmeter.evaluate(ROWS, metrics="token_f1", run="talk", output_dir=tmp_path)


def test_columns_that_were_added_to_conversations(conversations: Path, tmp_path: Path) -> None:
    made = CRAGEvaluator(judge=judge(fake()), journal=conversations / "journal.sqlite")
    results = made.evaluate_agent_responses([turn("s", 0, "gold", "it is gold")])
    made.save_results(*results, conversations)
    ragmeter.add_metrics("talk", "token_f1,llm_grade", judge=judge(fake()), output_dir=tmp_path)
    before = {file.name: file.read_bytes() for file in conversations.iterdir()}
    with pytest.raises(UsageError, match=r"talk exists already, and .* added to it \(grade\)\n.*replace=True"):
        made.save_results(*results, conversations)
    assert {file.name: file.read_bytes() for file in conversations.iterdir()} == before
    made.save_results(*results, conversations, replace=True)
    assert "llm_grade" not in Run(conversations).metrics()


def test_columns_that_a_judge_has_filled(tmp_path: Path) -> None:
    provider = fake()
    ragmeter.evaluate(ROWS, metrics="llm_correct", judge=judge(provider), run="r", output_dir=tmp_path)
    with pytest.raises(UsageError, match=r"has a judge's replies in it \(verdict\)\n.*replace=True"):
        ragmeter.evaluate(ROWS, metrics="token_f1", run="r", output_dir=tmp_path)
    ragmeter.add_metrics("r", "token_f1", output_dir=tmp_path)  # which replaces nothing
    assert "llm_correct" in Run(tmp_path / "r").metrics()
    ragmeter.evaluate(ROWS, metrics="token_f1", run="r", output_dir=tmp_path, replace=True)
    assert "llm_correct" not in Run(tmp_path / "r").metrics()


def test_a_live_system_that_was_judged(tmp_path: Path) -> None:
    dataset = [{"qid": "1", "question": "q", "reference": "gold"}]

    def ask(metrics: str = "llm_correct", **more: Any) -> None:
        ragmeter.ask(dataset, lambda question: "it is gold", metrics=metrics, run="r", output_dir=tmp_path, **more)

    one = judge(fake())
    ask(judge=one)
    with pytest.raises(UsageError, match=r"has a judge's replies in it \(verdict\)\n.*resume=True uses its answers"):
        ask(judge=one)  # which would ask the system again
    with pytest.raises(UsageError, match="exists already"):
        ask("token_f1")
    ask(resume=True, judge=one)
    ask(retry_failed=True, judge=one)
    with pytest.raises(UsageError, match="exists already"):
        ask("token_f1", resume=True)  # the answers stay, and the verdicts would not
    ask("token_f1", replace=True)


JUDGED: dict[str, Any] = {"metrics": "llm_correct", "run": "r"}


@pytest.mark.parametrize(
    ("rows", "changed"),
    [
        (ROWS[:2], {}),
        (ROWS, {"metrics": "llm_grade"}),
        (ROWS, {"judge": {"seed": 1}}),
        (ROWS, {"judge": {"reasons": True}}),
        (ROWS, {"judge": {"repeats": 1}}),
        (ROWS, {"judge": {"journal": "other.sqlite"}}),
        ([{**row, "answer": "I don't know"} for row in ROWS], {}),
    ],
)
def test_another_judge_or_other_rows_replace_no_verdicts(
    rows: list[dict[str, Any]], changed: dict[str, Any], tmp_path: Path
) -> None:
    provider = fake()
    first = ragmeter.evaluate(ROWS, judge=judge(provider, repeats=2), output_dir=tmp_path, **JUDGED)
    settings = {"repeats": 2, **changed.pop("judge", {})}
    with pytest.raises(UsageError, match=r"has a judge's replies in it \(verdict\)"):
        ragmeter.evaluate(rows, judge=judge(provider, **settings), output_dir=tmp_path, **(JUDGED | changed))
    assert Run(tmp_path / "r").manifest() == first.manifest


@pytest.mark.parametrize(
    ("more", "settings"),
    [
        ([], {}),
        ([], {"repeats": 2}),
        ([], {"wordings": 2}),
        ([], {"workers": 1, "max_calls": 1, "tries": 1}),
        ([{"qid": "4", "question": "Which city?", "answer": "It is Bonn.", "reference": "Paris"}], {}),
    ],
)
def test_a_run_is_judged_again_where_no_verdict_is_lost(
    more: list[dict[str, Any]], settings: dict[str, Any], tmp_path: Path
) -> None:
    provider = fake()
    ragmeter.evaluate(ROWS, judge=judge(provider), output_dir=tmp_path, **JUDGED)
    provider.prompts.clear()
    evaluation = ragmeter.evaluate([*ROWS, *more], judge=judge(provider, **settings), output_dir=tmp_path, **JUDGED)
    assert evaluation.rows["verdict"].to_pylist()[:3] == ["CORRECT", "CORRECT", "WRONG"]
    assert len(provider.prompts) == len(more) + 2 * bool({"repeats", "wordings"} & settings.keys())


def test_without_its_journal_nothing_is_judged_again(tmp_path: Path) -> None:
    provider = fake()
    ragmeter.evaluate(ROWS, judge=judge(provider), output_dir=tmp_path, **JUDGED)
    (tmp_path / "judge.journal.sqlite").unlink()
    with pytest.raises(UsageError, match="exists already"):
        ragmeter.evaluate(ROWS, judge=judge(provider), output_dir=tmp_path, **JUDGED)


def test_what_nobody_was_paid_for_is_replaced(tmp_path: Path) -> None:
    for metric in ("token_f1", "exact_match"):
        ragmeter.evaluate(ROWS, metrics=metric, run="r", output_dir=tmp_path)
    assert list(Run(tmp_path / "r").metrics()) == ["exact_match"]


def test_a_damaged_run_is_replaced(tmp_path: Path) -> None:
    ragmeter.evaluate(ROWS, metrics="token_f1", run="r", output_dir=tmp_path)
    (tmp_path / "r" / "manifest.json").write_text("{")
    ragmeter.evaluate(ROWS, metrics="token_f1", run="r", output_dir=tmp_path)
    assert Run(tmp_path / "r").manifest().run == "r"


def test_the_command(conversations: Path, ragmeter: Command, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("qid,answer,reference\n1,a,a\n")
    command = ["evaluate", "--results", "rows.csv", "--metrics", "token_f1", "--output-dir", ".", "--run", "talk"]
    done = ragmeter(*command)
    assert done.returncode == 2
    assert "choose another name with --run, or replace the run with --replace: its journal stays" in done.stderr
    assert ragmeter(*command, "--replace").returncode == 0
    assert replies(conversations / "journal.sqlite") == 1
    done = ragmeter("evaluate", "--run", "talk", "--output-dir", ".", "--metrics", "exact_match", "--replace")
    assert "--replace has no effect without --results" in done.stderr
