"""Conversations, turns and agents for the tests."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from ragmeter import CRAGEvaluator, Run
from tests.judge_rows import fake, judge


def conversation(
    session: str, *pairs: tuple[str, str], url: str | None = None, as_lists: bool = False
) -> dict[str, Any]:
    """A conversation of questions and gold answers."""
    turns = [
        {"interaction_id": f"{session}-{i}", "query": query, "query_category": 1, "domain": 3, "dynamism": 0}
        for i, (query, _) in enumerate(pairs)
    ]
    answers = [{"interaction_id": f"{session}-{i}", "ans_full": answer} for i, (_, answer) in enumerate(pairs)]
    return {
        "session_id": session,
        "turns": {key: [turn[key] for turn in turns] for key in turns[0]} if as_lists else turns,
        "answers": {key: [answer[key] for answer in answers] for key in answers[0]} if as_lists else answers,
        "image_url": url,
        "image": None if url else f"pixels of {session}",
        "image_quality": 2,
    }


def turn(session: str, index: int, truth: str | list[str] | None, answer: str | None, **more: Any) -> dict[str, Any]:
    """One turn of turn data."""
    return {
        "session_id": session, "interaction_id": f"{session}-{index}", "turn_idx": index, "is_ego": True,
        "image_quality": 2, "query_category": 1, "domain": 3, "dynamism": 0, "query": f"question {index} of {session}?",
        "ground_truth": truth, "agent_response": answer, "total_turn_count": index + 1,
        "interaction_id_history": [], **more,
    }  # fmt: skip


class EchoAgent:
    """Answers with the question in other words, and remembers what it was asked."""

    def __init__(self, size: int = 2) -> None:
        self.size = size
        self.calls: list[tuple[list[str], list[Any], list[list[dict[str, str]]]]] = []
        self.lock = threading.Lock()

    def get_batch_size(self) -> int:
        return self.size

    def batch_generate_response(
        self, queries: list[str], images: list[Any], message_histories: list[list[dict[str, str]]]
    ) -> list[str]:
        with self.lock:
            self.calls.append((queries, images, message_histories))
        return [self.answer(query) for query in queries]

    def answer(self, query: str) -> str:
        return f"about {query}"


def keep_talk(folder: Path) -> Run:
    """A judged run of three conversations with three turns each: five are right, one declines."""
    answers = [
        ["wrong", "it is gold", "it is gold"],
        ["it is gold", "wrong", "it is gold"],
        ["it is gold", "I don't know", "wrong"],
    ]
    turns = [turn(f"s{s}", t, "gold", answer) for s, row in enumerate(answers) for t, answer in enumerate(row)]
    made = CRAGEvaluator(judge=judge(fake()), journal=folder / "journal.sqlite")
    made.save_results(*made.evaluate_agent_responses(turns), folder)
    return Run(folder)
