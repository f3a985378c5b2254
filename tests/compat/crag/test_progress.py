"""How far an evaluation is, said to a function of the user's and shown as a bar."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ragmeter import CRAGEvaluator
from tests.compat.crag.helpers import EchoAgent, conversation

DATASET = [conversation(session, ("q0", "x"), ("q1", "x")) for session in "abc"]


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("limit", "conversations"), [(None, 3), (2, 2), (9, 3)])
def test_the_callback_hears_of_conversations_and_then_of_turns(limit: int | None, conversations: int) -> None:
    heard: list[tuple[int, int]] = []
    evaluator = CRAGEvaluator(DATASET, EchoAgent(1), num_conversations=limit, journal=None)
    rows, _ = evaluator.evaluate_agent(progress_callback=lambda done, total: heard.append((done, total)))
    answered = [(count, conversations) for count in range(1, conversations + 1)]
    assert heard == [*answered, (2 * conversations, 2 * conversations)]
    assert len(rows["all"]) == 2 * conversations


def test_each_phase_takes_one_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(each) + "\n" for each in DATASET))
    heard: list[Any] = []
    evaluator = CRAGEvaluator(str(tmp_path / "d.jsonl"), EchoAgent(2), journal=None, show_progress=True)
    evaluator.initialize_for_generation()
    evaluator.generate_agent_responses(lambda done, total: heard.append(("conversations", done, total)))
    evaluator.evaluate_agent_responses(
        evaluator.all_turn_data, lambda done, total: heard.append(("turns", done, total))
    )
    assert heard == [("conversations", 2, 3), ("conversations", 3, 3), ("turns", 6, 6)]


def test_a_bar_where_somebody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    for shown, words in ((True, ["answering", "3 conversations", "judging", "6 turns"]), (False, [])):
        screen = Screen()
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setenv("TERM", "xterm")
        CRAGEvaluator(DATASET, EchoAgent(), journal=None, show_progress=shown).evaluate_agent()
        for word in words:
            assert word in screen.getvalue()
        assert bool(screen.getvalue()) == shown
