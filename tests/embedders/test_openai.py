"""A model behind an endpoint, which misbehaves when told to. Its vectors are the static model's."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from ragmeter.effects.limits.pace import Retries
from ragmeter.embedders.openai import Server
from ragmeter.embedders.static import WordLlama
from ragmeter.errors import EndpointError, UsageError
from tests.embedders.helpers import texts
from tests.judge_server import Action, JudgeServer

QUICK = Retries(failures=2, base=0.001)


def answer(request: dict[str, Any], number: int = 1) -> Action:
    """A good reply, with its items from the last to the first."""
    vectors, _ = WordLlama("").embed(request["input"])
    items = [{"object": "embedding", "index": i, "embedding": vector.tolist()} for i, vector in enumerate(vectors)]
    return Action(body={"object": "list", "data": items[::-1], "model": request["model"]})


def test_vectors_come_in_the_order_of_the_texts() -> None:
    many = texts()
    with JudgeServer(answer) as server:
        model = Server("openai:some-model", server.url, "query: ", QUICK)
        vectors, truncated = model.embed(many)
    np.testing.assert_allclose(vectors, WordLlama("query: ").embed(many)[0], atol=1e-6)
    assert not truncated.any()
    assert max(len(request["input"]) for request in server.requests) == 64
    assert {request["model"] for request in server.requests} == {"some-model"}
    assert {request["encoding_format"] for request in server.requests} == {"float"}
    assert server.count == -(-len(many) // 64)
    assert model.identity.endpoint == server.url


@pytest.mark.parametrize(
    "bad",
    [
        Action(500, {"error": "x"}),
        Action(429, {"error": "x"}, {"Retry-After": "0"}),
        Action(body=b"{}"),
        Action(body={"data": []}),
        Action(body={"data": [{"index": 1, "embedding": [1.0]}]}),
        Action(body={"data": [{"index": 0, "embedding": ["x"]}]}),
        Action(body={"data": [{"index": 0, "embedding": [10**400]}]}),
        Action(body={"data": ["a"]}),
        Action(body={"data": {}}),
        Action(body=b'{"data": [', cut=3),
    ],
)
def test_what_may_pass_is_tried_again(bad: Action) -> None:
    with JudgeServer(lambda request, number: bad if number == 1 else answer(request)) as server:
        vectors, _ = Server("openai:m", server.url, "", QUICK).embed(["a cat"])
    np.testing.assert_allclose(vectors, WordLlama("").embed(["a cat"])[0], atol=1e-6)
    assert server.count == 2


def test_what_does_not_pass_is_one_error() -> None:
    with (
        JudgeServer(lambda request, number: Action(500, {"error": {"message": "out of order"}})) as server,
        pytest.raises(EndpointError, match=r"out of order(.|\n)*make the same call again"),
    ):
        Server("openai:m", server.url, "", QUICK).embed(["a cat"])
    assert server.count == 3


def test_a_key_in_a_vector_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary/0123456789")
    body = json.dumps({"data": [{"index": 0, "embedding": ["canary/0123456789"]}]}).replace("/", "\\/").encode()
    with JudgeServer(lambda request, number: Action(body=body)) as server, pytest.raises(EndpointError) as error:
        Server("openai:m", server.url, "", QUICK).embed(["a cat"])
    assert "***" in str(error.value)
    assert "canary" not in str(error.value)


@pytest.mark.parametrize(("status", "hint"), [(401, "OPENAI_API_KEY"), (404, "embedding_base_url"), (400, "too long")])
def test_what_can_not_work_ends_at_once(status: int, hint: str) -> None:
    with (
        JudgeServer(lambda request, number: Action(status, {"error": "no"})) as server,
        pytest.raises(EndpointError, match=hint),
    ):
        Server("openai:m", server.url, "", QUICK).embed(["a cat"])
    assert server.count == 1


def test_vectors_of_different_lengths() -> None:
    def odd(request: dict[str, Any], number: int) -> Action:
        count = len(request["input"])
        return Action(body={"data": [{"index": i, "embedding": [1.0] * count} for i in range(count)]})

    with JudgeServer(odd) as server, pytest.raises(EndpointError, match="different lengths"):
        Server("openai:m", server.url, "", QUICK).embed([str(number) for number in range(70)])


def test_no_key_for_the_endpoint_that_needs_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    model = Server("openai:text-embedding-3-small", None, "")
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        model.embed(["a cat"])
