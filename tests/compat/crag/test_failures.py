"""Turns that failed are heard of."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ragmeter import CRAGEvaluator
from ragmeter.errors import AllFailedError, RagmeterWarning, UsageError
from tests.compat.crag.helpers import EchoAgent, conversation

DATASET = [conversation("a", ("a0", "x"), ("a1", "x"), ("a2", "x")), conversation("b", ("b0", "x"))]


def evaluator(agent: Any, retries: int = 0) -> CRAGEvaluator:
    return CRAGEvaluator(DATASET, agent, journal=None, retries=retries)


class Fails(EchoAgent):
    """Has no answer to these queries."""

    def __init__(self, *queries: str) -> None:
        super().__init__(1)
        self.failing = queries

    def batch_generate_response(self, queries: list[str], *more: Any) -> list[str]:
        if queries[0] in self.failing:
            raise KeyError("no such page")
        return super().batch_generate_response(queries, *more)


def test_an_agent_that_always_fails_is_an_error_that_names_its_line() -> None:
    line = Fails.batch_generate_response.__code__.co_firstlineno + 2
    problem = f"all 4 turns failed with target_error: KeyError: 'no such page' (test_failures.py, line {line})"
    with pytest.raises(AllFailedError, match=re.escape(problem)):
        evaluator(Fails("a0", "b0")).evaluate_agent()
    _, scores = evaluator(Fails("a0", "b0")).evaluate_agent(allow_failures=True)
    assert scores["all"]["accuracy"] is None


def test_turns_that_fail_are_warned_of() -> None:
    with pytest.warns(RagmeterWarning, match="2 of 4 turns failed with target_error: KeyError"):
        evaluator(Fails("a1")).evaluate_agent()


def test_an_agent_with_another_signature_is_named_and_not_called_again() -> None:
    class Other:
        """Takes queries alone."""

        def get_batch_size(self) -> int:
            return 2

        def batch_generate_response(self, queries: list[str]) -> list[str]:
            return queries

    line = Other.batch_generate_response.__code__.co_firstlineno
    named = rf"Other.batch_generate_response\(\) \(test_failures.py, line {line}\) can't be called with queries, images"
    with pytest.raises(UsageError, match=named):
        evaluator(Other(), retries=3).evaluate_agent()
