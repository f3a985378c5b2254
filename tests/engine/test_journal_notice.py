"""What is said of a journal whose replies are of another judge."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragmeter import FakeProvider, Judge, evaluate
from ragmeter.engine.judging.setup import JUDGE_JOURNAL
from tests.judge_rows import planned

ROWS = [{"qid": f"{n}", "question": "?", "reference": [f"gold {n}"], "answer": f"I say gold {n}"} for n in range(3)]


def judge(journal: Path | None = None, reply: str = "Yes") -> Judge:
    return Judge(provider=FakeProvider(reply), check=False, journal=journal)


def test_a_journal_of_another_judge_is_not_used_and_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = tmp_path / "replies.sqlite"
    first = judge(journal)
    evaluate(ROWS, metrics="llm_correct", judge=first)
    again = evaluate(ROWS, metrics="llm_correct", judge=first)
    assert again.manifest.judging.from_journal == 3
    assert capsys.readouterr().err == ""
    other = judge(journal)
    notice = f"none of the 3 replies in {journal} is used: they were given to another prompt, model or setting, or "
    estimate = planned(ROWS, "llm_correct", other, tmp_path)
    assert estimate["journal_notice"].startswith(notice)
    evaluation = evaluate(ROWS, metrics="llm_correct", judge=other)
    assert capsys.readouterr().err.startswith(notice)
    assert evaluation.manifest.judging.journal_notice.startswith(notice)
    assert evaluation.manifest.judging.made == 3


def test_nothing_is_said_of_the_journal_that_a_folder_s_judges_share(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two"):
        evaluation = evaluate(ROWS, metrics="llm_correct", judge=judge(), run=name, output_dir=tmp_path)
        assert evaluation.manifest.judging.made == 3
        assert not evaluation.manifest.judging.journal_notice
    assert (tmp_path / JUDGE_JOURNAL).exists()
    assert capsys.readouterr().err == ""


def test_a_fake_needs_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    evaluation = evaluate(ROWS, metrics="llm_correct", judge=judge(reply="No"), output_dir=tmp_path)
    assert (evaluation["llm_correct"].mean, evaluation["llm_correct"].n_scored) == (0.0, 3)
