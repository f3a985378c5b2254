"""The real LangChain, LlamaIndex and Haystack: systems that they make, asked as they are.

They are in an environment of their own, whose Python RAGMETER_RAG_PYTHON names; `make test-slow` makes it.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ragmeter import evaluate

PYTHON = os.environ.get("RAGMETER_RAG_PYTHON", "")
SCRIPT = Path(__file__).parent / "real_libraries.py"
BOTH = ["What is the capital of France?", "What is the capital of Italy?"]
FRENCH, ITALIAN = "Paris is the capital of France.", "Rome is the capital of Italy."

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not PYTHON, reason="RAGMETER_RAG_PYTHON names no Python")]


def run_script(*command: str | Path) -> str:
    """What a script prints with those libraries."""
    source = SCRIPT.parent.parent.parent / "src"
    environment = {**os.environ, "PYTHONPATH": str(source), "HAYSTACK_TELEMETRY_ENABLED": "False"}
    done = subprocess.run([PYTHON, *command], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@functools.cache
def results(library: str) -> dict[str, Any]:
    systems: dict[str, Any] = json.loads(run_script(SCRIPT, library).splitlines()[-1])
    for name, system in systems.items():
        assert system["error"] == [None, None], (name, system)
    return systems


def test_langchain() -> None:
    systems = results("langchain")
    for name in ("chain", "message", "streamed", "astreamed", "takes_dict"):
        assert systems[name]["answer"] == ["Paris or Rome"] * 2, name
    for name in ("streamed", "astreamed"):
        assert all(systems[name]["time_to_first_token_ms"]), name
    for name in ("takes_dict", "retriever"):
        assert systems[name]["retrieved"] == [["fr"], ["it"]], name
        assert systems[name]["contexts"] == [[FRENCH], [ITALIAN]], name
        assert systems[name]["mrr"] == 1, name
    assert systems["retriever"]["answer"] == [None, None]
    assert systems["retriever"]["token_recall"] is None
    for name in ("vector_retriever", "with_scores"):
        assert [sorted(ids) for ids in systems[name]["retrieved"]] == [["fr", "it"]] * 2, name
    assert all(len(json.loads(scores)) == 2 for scores in systems["with_scores"]["retrieved_scores"])


def test_llama_index() -> None:
    systems = results("llama_index")
    for name in ("query_engine", "streaming", "retriever"):
        assert [sorted(ids) for ids in systems[name]["retrieved"]] == [["fr", "it"]] * 2, name
        assert [sorted(texts) for texts in systems[name]["contexts"]] == [[FRENCH, ITALIAN]] * 2, name
        assert all(len(json.loads(scores)) == 2 for scores in systems[name]["retrieved_scores"]), name
    for name in ("query_engine", "streaming"):  # the mock model repeats what it was asked
        assert all(asked in answer for asked, answer in zip(BOTH, systems[name]["answer"], strict=True)), name
    assert all(systems["streaming"]["time_to_first_token_ms"])
    assert systems["retriever"]["answer"] == [None, None]
    for name in ("chat_engine", "context_chat_engine"):
        first, second = systems[name]["answer"]
        assert BOTH[0] in first
        assert BOTH[1] not in first
        assert BOTH[0] in second
        assert BOTH[1] in second


def test_haystack() -> None:
    systems = results("haystack")
    for name in ("pipeline", "answer_builder"):
        assert all(asked in answer for asked, answer in zip(BOTH, systems[name]["answer"], strict=True)), name
        assert all(FRENCH in answer for answer in systems[name]["answer"]), name
    for name in ("pipeline", "answer_builder", "retriever", "component"):
        assert [sorted(ids) for ids in systems[name]["retrieved"]] == [["fr", "it"]] * 2, name
        assert systems[name]["mrr"] == 1, name
        assert all(len(json.loads(scores)) == 2 for scores in systems[name]["retrieved_scores"]), name
    assert systems["chat"]["answer"] == BOTH
    assert systems["retriever"]["answer"] == [None, None]


@pytest.mark.parametrize("library", ["langchain", "llama_index", "haystack", "haystack_answers"])
def test_spans_of_openinference(library: str, tmp_path: Path) -> None:
    run_script(SCRIPT.with_name("real_spans.py"), library, tmp_path / "spans.jsonl")
    (row,) = evaluate(tmp_path / "spans.jsonl", metrics="abstention_correct").rows.to_pylist()
    assert (row["question"], row["answer"]) == (BOTH[0], "Paris")
    assert (row["contexts"], row["retrieved"]) == ([FRENCH], ["fr"])
    assert row["latency_ms"] > 0
