"""How often inputs are read and a judge's connections are opened: no more than it takes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ragmeter import Judge, evaluate
from ragmeter.models.http import HttpProvider
from tests.judge_server import JudgeServer


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The processes in which connections to a model were made, one for each."""
    made: list[int] = []
    make = HttpProvider.__init__

    def noted(self: HttpProvider, *arguments: Any, **keywords: Any) -> None:
        made.append(os.getpid())
        make(self, *arguments, **keywords)

    monkeypatch.setattr(HttpProvider, "__init__", noted)
    return made


def test_a_judge_is_described_without_a_connection(clients: list[int]) -> None:
    judge = Judge("m", "http://127.0.0.1:9/v1", "k")
    assert "'m'" in repr(judge)
    assert judge.spec() == Judge("m", "http://127.0.0.1:9/v1", "another key").spec()
    judge.chat_model.check()
    assert not clients


def test_an_evaluation_opens_one_client(tmp_path: Path, clients: list[int]) -> None:
    rows = [{"qid": "1", "answer": "It is Paris.", "reference": "Paris"}]
    with JudgeServer() as server:
        judge = Judge("m", server.url, "k", check=False)
        for calls in (1, 1):  # the second time all replies are in the journal, and it is the run that is looked at
            evaluation = evaluate(rows, metrics="llm_correct", judge=judge, output_dir=tmp_path, run="r")
            assert evaluation["llm_correct"].mean == 1
            assert server.count == calls
    assert len(clients) == 2
