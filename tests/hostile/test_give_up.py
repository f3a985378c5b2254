"""A server that is busy for good: every command stops after a while, and the same command goes on when it is back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragmeter import Judge, ask, evaluate
from ragmeter.errors import EndpointError
from tests.conftest import Run
from tests.judge_server import Action, JudgeServer, texts

BUSY = [
    Action(429, {"error": "slow down"}, {"Retry-After": "1000000000"}),
    Action(429, {"error": "slow down"}),
    Action(503, b""),
]
QUESTIONS = [{"qid": str(number), "question": f"q{number}", "reference": "Paris"} for number in range(6)]
ANSWERED = [{**row, "answer": f"It is Paris, {row['qid']}."} for row in QUESTIONS]
TURNS = [
    {"session_id": row["qid"], "turn_idx": 0, "query": row["question"], "ground_truth": "Paris",
     "agent_response": f"It is Paris, {row['qid']}.", "interaction_id": row["qid"]}
    for row in QUESTIONS
]  # fmt: skip
AGENT = """
import urllib.request, json
class Agent:
    def get_batch_size(self):
        return 1
    def batch_generate_response(self, queries, images, histories):
        request = urllib.request.Request(ADDRESS, json.dumps({"question": queries[0]}).encode())
        return [json.load(urllib.request.urlopen(request))["answer"]]
"""


class Busy:
    """Answers the first requests, and then none until it is told to."""

    def __init__(self, action: Action, first: int) -> None:
        self.action, self.first = action, first
        self.recovered = False
        self.answered: list[str] = []

    def __call__(self, request: dict[str, Any], number: int) -> Action | None:
        if not self.recovered and len(self.answered) >= self.first:
            return self.action
        if "messages" in request:
            self.answered.append(texts(request)["answer"])
            return None
        self.answered.append(request["question"])
        return Action(body={"answer": "Paris"})


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


Command = Callable[[Path, JudgeServer], list[str | Path]]


def ask_command(folder: Path, server: JudgeServer) -> list[str | Path]:
    dataset = write(folder / "questions.jsonl", QUESTIONS)
    address = f"http://127.0.0.1:{server.port}/query"
    return ["ask", "--dataset", dataset, "--target", address, "--metrics", "exact_match", "--workers", "1"]


def evaluate_command(folder: Path, server: JudgeServer) -> list[str | Path]:
    results = write(folder / "results.jsonl", ANSWERED)
    judge = ["--judge-model", "m", "--base-url", server.url, "--no-judge-check", "--workers", "1"]
    return ["evaluate", "--results", results, "--metrics", "llm_correct", *judge]


def crag_command(folder: Path, server: JudgeServer) -> list[str | Path]:
    turns = write(folder / "turns.jsonl", TURNS)
    judge = ["--judge-model", "m", "--base-url", server.url, "--no-judge-check", "--workers", "1"]
    return ["crag", "evaluate", "--turns", turns, "--output-dir", folder / "judged", *judge]


def generate_command(folder: Path, server: JudgeServer) -> list[str | Path]:
    conversations = [
        {"session_id": row["qid"], "turns": [{"query": row["question"], "interaction_id": row["qid"]}]}
        for row in QUESTIONS
    ]
    (folder / "agents.py").write_text(f"ADDRESS = 'http://127.0.0.1:{server.port}/'\n{AGENT}")
    dataset = write(folder / "conversations.jsonl", conversations)
    return ["crag", "generate", "--dataset", dataset, "--agent", "agents:Agent", "--output", folder / "turns.jsonl"]


@pytest.mark.parametrize("action", BUSY, ids=["Retry-After", "429", "503"])
@pytest.mark.parametrize("first", [0, 2], ids=["from the beginning", "after two answers"])
@pytest.mark.parametrize("command", [ask_command, evaluate_command, crag_command])
def test_a_command_stops_and_goes_on(
    command: Command, first: int, action: Action, tmp_path: Path, ragmeter: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-the-tests")
    behave = Busy(action, first)
    with JudgeServer(behave) as server:
        arguments = [*command(tmp_path, server), "--json"]
        stopped = ragmeter(*arguments, "--give-up-after", "0.3")
        assert stopped.returncode == 2
        assert f"stopped: no call has succeeded for 0.3 s, the last one: HTTP {action.status}" in stopped.stderr
        assert "run the same command again" in stopped.stderr
        assert "Traceback" not in stopped.stderr
        behave.recovered = True
        assert ragmeter(*arguments).returncode == 0
    assert len(behave.answered) == len(set(behave.answered)) == 6  # nothing was asked again


def test_a_judge_that_is_busy_while_the_system_answers(
    tmp_path: Path, ragmeter: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-the-tests")

    def behave(request: dict[str, Any], number: int) -> Action:
        return BUSY[1] if "messages" in request else Action(body={"answer": "It is Paris."})

    with JudgeServer(behave) as server:
        judge = ["--judge-model", "m", "--judge-base-url", server.url, "--no-judge-check"]
        stopped = ragmeter(
            *ask_command(tmp_path, server), "--metrics", "llm_correct", *judge, "--judge-give-up-after", "0.2"
        )
    assert stopped.returncode == 2
    assert "; --judge-give-up-after waits longer" in stopped.stderr  # --give-up-after is the system's


def test_an_agent_that_fails(tmp_path: Path, ragmeter: Run) -> None:
    behave = Busy(BUSY[0], 2)
    with JudgeServer(behave) as server:
        arguments = [*generate_command(tmp_path, server), "--retries", "1000"]
        stopped = ragmeter(*arguments, "--give-up-after", "0.3")
        assert (stopped.returncode, "no call has succeeded for 0.3 s" in stopped.stderr) == (2, True)
        behave.recovered = True
        assert ragmeter(*arguments).returncode == 0
    assert len(behave.answered) == len(set(behave.answered)) == 6


def test_in_python(tmp_path: Path) -> None:
    with JudgeServer(lambda request, number: BUSY[0]) as server:
        with pytest.raises(EndpointError, match=r"give_up_after=\.\.\."):
            ask(
                QUESTIONS,
                f"http://127.0.0.1:{server.port}/",
                metrics="exact_match",
                output_dir=tmp_path,
                give_up_after=0.2,
            )
        judge = Judge("m", server.url, "a-key-of-the-tests", give_up_after=0.2)
        with pytest.raises(EndpointError, match="no call has succeeded"):
            evaluate(ANSWERED, metrics="llm_correct", judge=judge, output_dir=tmp_path)


@pytest.mark.parametrize("value", ["0", "-1", "nan"])
def test_a_time_that_is_none(value: str, tmp_path: Path, ragmeter: Run) -> None:
    with JudgeServer() as server:
        for command, option in (
            (ask_command, "--give-up-after"),
            (evaluate_command, "--judge-give-up-after"),
            (crag_command, "--judge-give-up-after"),
        ):
            refused = ragmeter(*command(tmp_path, server), "--give-up-after", value)
            assert refused.returncode == 2
            assert f"ragmeter: {option} must be above 0" in refused.stderr
        assert server.count == 0
