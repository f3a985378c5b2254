"""The calls behind a row, looked up in the journals beside the run."""

from __future__ import annotations

from pathlib import Path

import ragmeter
from ragmeter import FakeProvider, Judge
from ragmeter.analysis.calls import calls_of_row, calls_or_problem
from ragmeter.compat.crag.evaluator import CRAGEvaluator
from ragmeter.effects.replies.journal import Journal
from ragmeter.runs.run import Run

ROWS = [
    {"qid": "1", "question": "Capital of France?", "reference": "Paris", "answer": "It is Paris"},
    {"qid": "2", "question": "Capital of Spain?", "reference": "Madrid", "answer": "Madrid"},
]


def judge(reply: object = "Yes", **settings: object) -> Judge:
    return Judge(provider=FakeProvider(reply), check=False, **settings)  # type: ignore[arg-type]


def test_the_call_of_a_verdict(tmp_path: Path) -> None:
    ragmeter.evaluate(ROWS, metrics="llm_correct", judge=judge(), run="r", output_dir=tmp_path)
    (call,) = calls_of_row(Run(tmp_path / "r"), 0)
    assert (call.column, call.asked, call.reply, call.changed) == ("verdict", "fake", "Yes", False)
    assert "It is Paris" in call.messages[1][1]
    assert "Judging by the correct answer" in call.messages[1][1]
    assert call.prompt_tokens is not None
    assert call.at.startswith("20")
    assert calls_of_row(Run(tmp_path / "r"), 1) == []  # the same words: nobody was asked


def test_every_repeat_and_every_try(tmp_path: Path) -> None:
    replies = iter(["Hm", "Yes", "No", "Yes"])
    run = ragmeter.evaluate(
        ROWS[:1], metrics="llm_correct", judge=judge(lambda prompt: next(replies), repeats=3, workers=1), run="r",
        output_dir=tmp_path,
    )  # fmt: skip
    assert run.folder is not None
    assert sorted(call.reply for call in calls_of_row(run.folder, 0)) == ["Hm", "No", "Yes", "Yes"]


def test_own_words_and_a_journal_of_ones_own(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("Say CORRECT or WRONG of {answer}, from {domain}")
    rows = [{**row, "domain": "geography"} for row in ROWS]
    asked = judge("CORRECT", prompt=words, journal=tmp_path / "mine.sqlite")
    ragmeter.evaluate(rows, metrics="llm_correct", judge=asked, run="r", output_dir=tmp_path / "runs")
    words.unlink()
    (call,) = calls_of_row(Run(tmp_path / "runs" / "r"), 1)
    assert "geography" in call.messages[1][1]
    assert not call.changed


def test_claims_take_several_calls(tmp_path: Path) -> None:
    def reply(prompt: str) -> str:
        return '{"claims": ["A is B.", "C is D."]}' if "claims" in prompt.lower() and "1." not in prompt else "1. yes"

    rows = [{"qid": "1", "question": "?", "answer": "A is B. C is D.", "contexts": ["A is B."]}]
    result = ragmeter.evaluate(rows, metrics="faithfulness", judge=judge(reply), run="r", output_dir=tmp_path)
    assert result.folder is not None
    assert "claims" in {call.column for call in calls_of_row(result.folder, 0)}


def test_calls_about_a_single_claim_and_further_tries(tmp_path: Path) -> None:
    def reply(prompt: str) -> str:
        if "List every" in prompt:
            return "- A is B."
        return "Supported" if "could not be read" in prompt else "1: Supported\n2: Neither"

    row = {"qid": "1", "question": "q", "answer": "A is B", "contexts": ["A is B"]}
    ragmeter.evaluate([row], metrics="faithfulness", judge=judge(reply), run="r", output_dir=tmp_path)
    claims, first, second = calls_of_row(Run(tmp_path / "r"), 0)
    assert (claims.column, first.column, second.reply) == ("claims", "support_by_passages", "Supported")
    assert [call.changed for call in (claims, first, second)] == [False] * 3
    assert ["could not be read" in call.messages[1][1] for call in (first, second)] == [False, True]


def test_the_answers_of_a_session(tmp_path: Path) -> None:
    rows = [
        {"qid": "b", "session_id": "s", "turn_idx": "1", "question": "And of Spain?", "reference": "Madrid"},
        {"qid": "a", "session_id": "s", "turn_idx": "0", "question": "Capital of France?", "reference": "Paris"},
        {"qid": "c", "session_id": "", "turn_idx": "0", "question": "Alone?", "reference": "yes"},
    ]
    ragmeter.ask(rows, lambda question: f"An answer to {question}", metrics="token_f1", run="r", output_dir=tmp_path)
    run = Run(tmp_path / "r")
    (second,) = calls_of_row(run, 0)
    assert [role for role, _ in second.messages] == ["user", "assistant", "user"]
    assert second.messages[2] == ("user", "And of Spain?")
    assert second.reply == "An answer to And of Spain?"
    assert [call.messages for call in calls_of_row(run, 2)] == [(("user", "Alone?"),)]


def test_a_long_session(tmp_path: Path) -> None:
    rows = [
        {"qid": str(i), "session_id": "s", "turn_idx": str(i), "question": f"Q{i}", "reference": "x"} for i in range(60)
    ]
    ragmeter.ask(rows, lambda question: question.lower(), metrics="token_f1", run="r", output_dir=tmp_path)
    (call,) = calls_of_row(Run(tmp_path / "r"), 59)
    assert call.reply == "q59"


def test_turns_of_conversations(tmp_path: Path) -> None:
    turn = {
        "session_id": "s",
        "turn_idx": 0,
        "query": "Capital?",
        "ground_truth": "Paris",
        "agent_response": "It is P.",
    }
    evaluator = CRAGEvaluator(judge=judge("No"), journal=tmp_path / "r" / "journal.sqlite")
    evaluator.save_results(*evaluator.evaluate_agent_responses([turn]), tmp_path / "r")
    (call,) = calls_of_row(Run(tmp_path / "r"), 0)
    assert (call.column, call.reply) == ("verdict", "No")


def test_a_run_at_work_on_the_journal_is_not_disturbed(tmp_path: Path) -> None:
    ragmeter.evaluate(ROWS, metrics="llm_correct", judge=judge(), run="r", output_dir=tmp_path)
    with Journal(tmp_path / "judge.journal.sqlite"):
        assert len(calls_of_row(Run(tmp_path / "r"), 0)) == 1
    calls_of_row(Run(tmp_path / "r"), 0)
    assert sorted(path.name for path in tmp_path.glob("judge.*")) == ["judge.journal.sqlite"]


def test_damaged_journals(tmp_path: Path) -> None:
    ragmeter.evaluate(ROWS, metrics="llm_correct", judge=judge(), run="r", output_dir=tmp_path)
    (tmp_path / "judge.journal.sqlite").write_bytes(b"no database" * 100)
    assert "the journal can't be read" in _problem(tmp_path / "r")


def _problem(path: Path) -> str:
    run = Run(path)
    calls, problem = calls_or_problem(run, 0, run.records([0], run.columns)[0])
    assert calls == []
    return problem


def test_without_the_journal_there_are_no_calls(tmp_path: Path) -> None:
    ragmeter.evaluate(ROWS, metrics="llm_correct", judge=judge(), run="r", output_dir=tmp_path)
    (tmp_path / "judge.journal.sqlite").unlink()
    assert _problem(tmp_path / "r").startswith("the journal with the judge's replies is not here")
