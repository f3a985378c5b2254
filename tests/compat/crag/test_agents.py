"""How agents are called: those of CRAG-MM's own repository take more than queries, images and histories."""

from __future__ import annotations

from typing import Any

import pytest

from ragmeter import CRAGEvaluator
from ragmeter.errors import UsageError
from tests.compat.crag.helpers import EchoAgent, conversation
from tests.compat.crag.test_generation import generate

DATASET = [conversation("a", ("q0", "x"), ("q1", "x")), conversation("b", ("q2", "x"))]


class Published(EchoAgent):
    """Called as the published evaluator calls its agents."""

    def __init__(self, size: int = 2) -> None:
        super().__init__(size)
        self.contexts: list[list[str]] = []
        self.more: list[dict[str, Any]] = []

    def batch_generate_response(  # type: ignore[override]
        self, queries: list[str], images: Any, message_histories: Any, rag_context_list: list[str], **kwargs: Any
    ) -> list[str]:
        self.contexts.append(rag_context_list)
        self.more.append(kwargs)
        return super().batch_generate_response(queries, images, message_histories)


def test_an_agent_of_the_published_repository() -> None:
    agent = Published()
    turns, _ = generate(agent, DATASET)
    assert [turn["agent_response"] for turn in turns] == ["about q0", "about q1", "about q2"]
    assert agent.contexts == [["", ""], [""]]
    assert agent.more == [{"domains": ["other", "other"]}, {"domains": ["other"]}]  # the dataset names no domains


def test_domains_have_their_names() -> None:
    class Domains(EchoAgent):
        def batch_generate_response(  # type: ignore[override]
            self, queries: Any, images: Any, message_histories: Any, *, domains: list[str]
        ) -> list[str]:
            return domains

    turns, _ = generate(Domains(), [conversation("a", ("q", "x"))])
    assert turns[0]["agent_response"] == "other"
    named = conversation("a", ("q", "x"))
    named["turns"][0]["domain"] = "vehicles"
    turns, _ = generate(Domains(), [named])
    assert turns[0]["agent_response"] == "vehicles"


def test_a_wrapper_of_anything_is_called_with_three() -> None:
    class Wrapped(EchoAgent):
        def batch_generate_response(self, *arguments: Any, **keywords: Any) -> list[str]:
            assert not keywords
            return super().batch_generate_response(*arguments)

    assert generate(Wrapped(), DATASET)[0][0]["agent_response"] == "about q0"


def test_a_method_that_cannot_be_called_is_said_before_anything_is_asked() -> None:
    class Needy(EchoAgent):
        def batch_generate_response(  # type: ignore[override]
            self, queries: Any, images: Any, message_histories: Any, session_ids: Any
        ) -> Any:
            raise AssertionError

    class Short(EchoAgent):
        def batch_generate_response(self, queries: Any) -> Any:  # type: ignore[override]
            raise AssertionError

    with pytest.raises(UsageError, match=r"Needy\.batch_generate_response.*'session_ids'"):
        generate(Needy(), DATASET)
    with pytest.raises(UsageError, match="too many positional arguments"):
        generate(Short(), DATASET)


def test_settings_of_retrieval_are_accepted_with_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    CRAGEvaluator(
        DATASET, EchoAgent(), image_search=True, web_search=False, search_pipeline=object(), full_query_path="q.csv",
        dataset_type="multi-turn",
    )  # fmt: skip
    said = capsys.readouterr().err
    assert said.startswith("image_search, search_pipeline, full_query_path, dataset_type have no effect: ")
    CRAGEvaluator(DATASET, EchoAgent(), image_search=False, search_pipeline=None)
    assert not capsys.readouterr().err
    with pytest.raises(TypeError, match="no parameter 'imag_search'"):
        CRAGEvaluator(DATASET, EchoAgent(), imag_search=True)  # type: ignore[call-arg]
