"""The offline judge's evidence beside the rows that it has judged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ragmeter
from ragmeter.show.report import evidence
from ragmeter.show.report.page_texts import Texts
from ragmeter.show.report.rows import columns
from tests.show.report.helpers import keep, loaded


def test_what_decided_is_told_where_the_judge_has_spoken(tmp_path: Path) -> None:
    keep(tmp_path, metrics="token_f1,offline_correct")
    (run,) = loaded(tmp_path, "small")
    result = evidence.evidence(run, np.arange(8), run.rows())
    assert result is not None
    assert result[7] is None  # not answered
    first = {about: (says, weight) for about, says, weight in result[0] or []}
    assert first["gold words"][0] == "found: gold, answer"
    assert first["gold words"][1] > 0
    whole = ragmeter.explain(run, "q0")[0].evidence
    assert [(piece.about, piece.says) for piece in whole[: len(first)]] == [(a, s) for a, (s, _) in first.items()]


def test_texts_are_written_once(tmp_path: Path) -> None:
    keep(tmp_path, metrics="offline_correct")
    (run,) = loaded(tmp_path, "small")
    texts = Texts()
    evidence = columns(run, np.arange(8), texts)["evidence"]
    written = texts.cut()[0]
    assert written.count("gold words") == 1
    assert {written[about] for row in evidence if row for about, _, _ in row} >= {"gold words", "numbers"}


def test_other_runs_have_none(tmp_path: Path) -> None:
    keep(tmp_path)
    (run,) = loaded(tmp_path, "small")
    assert evidence.evidence(run, np.arange(8), run.rows()) is None
    assert "evidence" not in columns(run, np.arange(8), Texts())


def test_of_many_rows_the_least_sure_are_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "MOST_ROWS", 2)
    keep(tmp_path, metrics="offline_correct_probability")
    (run,) = loaded(tmp_path, "small")
    result = evidence.evidence(run, np.arange(8), run.rows()) or []
    least = np.argsort(np.abs(run.scores("offline_correct_probability") - 0.5), kind="stable")[:2]
    assert [place for place, pieces in enumerate(result) if pieces is not None] == sorted(least.tolist())


def test_a_run_without_any_answer_has_no_evidence(tmp_path: Path) -> None:
    rows = [{"qid": "1", "question": "Where?", "reference": "Rome", "answer": None, "error": "timeout"}]
    ragmeter.evaluate(rows, metrics="offline_correct", run="down", output_dir=tmp_path)
    page = ragmeter.report("down", tmp_path / "down.html", output_dir=tmp_path).page
    assert "system error" in page.read_text(encoding="utf-8")
