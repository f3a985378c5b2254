"""Agents of LangGraph, LlamaIndex and OpenAI Agents: how they are asked, and what is kept of what they did."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from msgspec import structs

import ragmeter
from ragmeter.documents.hops import Hop, read_hops
from ragmeter.targets.agents import hops_of
from ragmeter.targets.http import HttpTarget
from ragmeter.targets.results import read_answer
from tests.judge_server import Action, JudgeServer


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are written to a folder of the test's own."""
    monkeypatch.chdir(tmp_path)


QUESTION, TEXT = "Which city?", "Paris is the capital."
QUERY = {"query": "capital"}
ROWS = [{"question": QUESTION, "reference": "Paris", "relevant": ["fr"], "expected_tool_calls": ["search"]}]
DOCUMENT = SimpleNamespace(page_content=TEXT, id="fr", metadata={})


def message(kind: str, content: str = "", **fields: Any) -> Any:
    empty: dict[str, Any] = {
        "tool_calls": [],
        "usage_metadata": None,
        "name": None,
        "tool_call_id": None,
        "artifact": None,
    }
    return SimpleNamespace(type=kind, content=content, **{**empty, "status": "success", **fields})


def graph(artifact: Any, content: str = TEXT, **fields: Any) -> dict[str, Any]:
    """What a graph of LangGraph returns."""
    call = {"name": "search", "args": QUERY, "id": "c"}
    return {
        "messages": [
            message("human", "earlier"), message("ai", "so"), message("human", QUESTION),
            message("ai", tool_calls=[call], usage_metadata={"total_tokens": 3}),
            message("tool", content, name="search", tool_call_id="c", artifact=artifact, **fields),
            message("ai", "Paris", usage_metadata={"input_tokens": 4, "output_tokens": 1}),
        ]
    }  # fmt: skip


FOUND = Hop("retrieval", "capital", ("fr",), (TEXT,), tool="search", arguments=QUERY)
SAID = Hop("tool", "capital", texts=(TEXT,), tool="search", arguments=QUERY)
FIRST, LAST = Hop("llm", tokens=3), Hop("llm", tokens=5)
WORKFLOW_CALL = {"tool_name": "search", "tool_kwargs": QUERY, "tool_id": "c"}
NODE = SimpleNamespace(node=SimpleNamespace(text=TEXT, node_id="fr"), score=0.5)


def workflow(**output: Any) -> Any:
    """What an agent of LlamaIndex returns."""
    call = SimpleNamespace(**WORKFLOW_CALL, tool_output=SimpleNamespace(**output))
    return SimpleNamespace(response=SimpleNamespace(role="assistant", content="Paris"), tool_calls=[call])


@pytest.mark.parametrize(
    ("returned", "hops"),
    [
        (graph([DOCUMENT]), [FIRST, FOUND, LAST]),
        (graph(None), [FIRST, SAID, LAST]),
        (graph(None, json.dumps([{"id": "fr", "text": TEXT}])), [FIRST, FOUND, LAST]),
        (graph(None, "late", status="error"), [FIRST, structs.replace(SAID, texts=("late",), error="late"), LAST]),
        (workflow(raw_output=[NODE]), [structs.replace(FOUND, scores=(0.5,))]),
        (workflow(content=TEXT, raw_output=7), [SAID]),
        ({"messages": [{"role": "user", "content": "why?"}]}, []),
        ({"answer": "Paris", "messages": "none"}, []),
        ("Paris", []),
    ],
)  # fmt: skip
def test_hops_of_what_is_returned(returned: Any, hops: list[Hop]) -> None:
    assert hops_of(returned) == hops


def test_a_graph_is_an_answer_with_its_passages() -> None:
    answer = read_answer(graph([DOCUMENT]), 1.0)
    assert (answer.answer, answer.retrieved, answer.contexts) == ("Paris", ["fr"], [TEXT])
    assert answer.columns["tokens"] == 8
    assert json.loads(str(answer.columns["tool_calls"])) == [{"name": "search", "arguments": QUERY}]
    assert read_answer(graph(None), 1.0).contexts == [TEXT], "what a tool said"


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """A stand-in of OpenAI Agents; what its runner was given."""
    given: list[Any] = []
    call = SimpleNamespace(name="search", arguments=json.dumps(QUERY), call_id="c")
    found = json.dumps([{"id": "fr", "text": TEXT}])

    class Runner:
        @staticmethod
        async def run(agent: Any, messages: Any) -> Any:
            given.append(messages)
            items = [
                SimpleNamespace(type="tool_call_item", raw_item=call),
                SimpleNamespace(
                    type="tool_call_output_item", raw_item={"call_id": "c"}, output=found
                ),
                SimpleNamespace(type="message_output_item", raw_item=None),
            ]  # fmt: skip
            usage = SimpleNamespace(total_tokens=9)
            return SimpleNamespace(final_output="Paris", new_items=items, context_wrapper=SimpleNamespace(usage=usage))

    module = ModuleType("stand_in_agents")
    module.Runner = Runner  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "stand_in_agents", module)
    return given


class Agent:
    """An agent of OpenAI's, as far as it is known by its attributes."""

    __module__ = "stand_in_agents.agent"

    def __init__(self) -> None:
        self.instructions, self.tools, self.handoffs = "Be short.", (), ()


def test_an_agent_of_openai_is_run_by_its_runner(runner: list[Any]) -> None:
    evaluation = ragmeter.ask(ROWS, Agent(), run="r")
    (row,) = evaluation.rows.to_pylist()
    assert (row["answer"], row["retrieved"], row["tokens"]) == ("Paris", ["fr"], 9)
    assert (row["hop_recall"], row["first_hit_hop"], row["tool_calls_match"], row["step_count"]) == (1, 1, 1, 3)
    assert read_hops(row["hops"]) == (Hop("llm", tokens=9), FOUND, Hop("llm"))
    assert runner == [QUESTION]
    session = [{**row, "session_id": "s", "qid": str(place)} for place, row in enumerate(ROWS * 2)]
    ragmeter.ask(session, Agent(), metrics="exact_match", run="s")
    assert [message["content"] for message in runner[-1]] == [QUESTION, "Paris", QUESTION]


class BaseWorkflowAgent:
    """A workflow of LlamaIndex: it has to be started where an event loop runs."""

    def run(self, *messages: str, **options: Any) -> Any:
        import asyncio

        async def answer() -> Any:
            return workflow(content=TEXT, raw_output=None)

        return asyncio.get_running_loop().create_task(answer())


def test_a_workflow_of_llama_index_is_started_in_the_loop() -> None:
    (row,) = ragmeter.ask(ROWS, BaseWorkflowAgent(), run="r").rows.to_pylist()
    assert (row["answer"], row["contexts"]) == ("Paris", [TEXT])
    assert read_hops(row["hops"]) == (SAID,)


def test_a_cost_is_in_dollars_and_steps_are_kept() -> None:
    def system(question: str) -> dict[str, Any]:
        usage = {"input_tokens": 4}
        return {
            "answer": "Paris",
            "cost": 0.25,
            "steps": ["search"],
            "usage": usage,
            "tool_calls": [{"name": "search"}],
        }

    (row,) = ragmeter.ask(ROWS, system, metrics="cost_per_question,tool_calls_match,max_cost", run="r").rows.to_pylist()
    assert (row["cost_per_question"], row["tool_calls_match"], row["max_cost"]) == (0.25, 1, 0)
    assert (row["steps"], row["usage"]) == ('["search"]', '{"input_tokens": 4}')


def test_metrics_of_what_is_not_returned_have_no_score() -> None:
    (row,) = ragmeter.ask(
        ROWS, lambda question: "Paris", metrics="hop_recall,cost_per_question", run="r"
    ).rows.to_pylist()
    assert (row["hop_recall.outcome"], row["cost_per_question.outcome"]) == ("no_hops", "no_cost_usd")


def test_what_an_address_says_of_its_way_is_kept() -> None:
    calls = [{"name": "search", "args": QUERY}]
    reply = {"answer": "Paris", "tool_calls": calls, "steps": 2, "usage": {"input_tokens": 4}, "cost": 0.5, "other": 1}
    with JudgeServer(lambda request, number: Action(body=reply)) as server:
        target = HttpTarget(f"http://127.0.0.1:{server.port}/query")
        metrics = "tool_calls_match,cost_per_question"
        (row,) = ragmeter.ask(ROWS, target, metrics=metrics, run="r").rows.to_pylist()
    assert (row["tool_calls_match"], row["cost_per_question"], row["steps"]) == (1, 0.5, 2)
    assert json.loads(row["usage"]) == {"input_tokens": 4}
    assert "other" not in row
