"""Anthropic's messages."""

from __future__ import annotations

from typing import Any

import pytest

from ragmeter.definition.judge_columns import ResponseFormat
from ragmeter.effects.replies.journal import Reply
from ragmeter.models.registry import endpoint_of, open_provider
from tests.judge_server import Action
from tests.models.helpers import KEY, PARAMETERS, call, chat_reply, provider_for
from tests.provider_servers import AnthropicServer

FORM: ResponseFormat = {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": {}}}


def test_the_request() -> None:
    with AnthropicServer() as server:
        provider = provider_for("anthropic", server)
        call(provider, response_format=FORM, logprobs=True, top_logprobs=5)
    assert server.requests == [
        {
            "model": "m-1",
            "max_tokens": 50,
            "temperature": 0.0,
            "system": "You grade.",
            "messages": [
                {"role": "user", "content": "First?"},
                {"role": "assistant", "content": "No"},
                {"role": "user", "content": "And now?"},
            ],
        }
    ]
    assert provider.dropped == {"seed", "response_format", "logprobs", "top_logprobs"}


def test_a_limit_is_sent_where_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(PARAMETERS, "max_tokens")
    with AnthropicServer() as server:
        assert chat_reply(call(provider_for("anthropic", server))).content == "Yes"
    assert server.requests[0]["max_tokens"] == 1024


@pytest.mark.parametrize(
    ("stop", "finish", "declined"),
    [
        ("end_turn", "stop", None),
        ("stop_sequence", "stop", None),
        ("max_tokens", "length", None),
        ("model_context_window_exceeded", "length", None),
        ("refusal", "refusal", "the model declined to answer"),
        ("pause_turn", "pause_turn", None),
    ],
)
def test_why_it_stopped(stop: str, finish: str, declined: str | None) -> None:
    with AnthropicServer(Action(body=AnthropicServer.good("Yes", stop))) as server:
        reply = chat_reply(call(provider_for("anthropic", server)))
    assert (reply.content, reply.finish_reason, reply.declined) == ("Yes", finish, declined)


def test_thoughts_are_not_the_reply() -> None:
    blocks: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": "No?", "signature": "x"},
        {"type": "text", "text": "Y"},
        {"type": "text", "text": "es"},
    ]
    with AnthropicServer(Action(body=AnthropicServer.good("", content=blocks))) as server:
        assert chat_reply(call(provider_for("anthropic", server))).content == "Yes"


def test_a_date_in_a_reply_is_no_secret() -> None:
    """The API's version goes along in a header, and is not taken out of replies as a key would be."""
    with AnthropicServer("It was on 2023-06-01.") as server:
        assert chat_reply(call(provider_for("anthropic", server))).content == "It was on 2023-06-01."


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/"])
def test_an_address_with_and_without_the_version(path: str) -> None:
    with AnthropicServer() as server:
        provider = open_provider(endpoint_of("anthropic:m-1", f"{server.root}{path}", KEY))
        assert chat_reply(call(provider)).content == "Yes"


def test_another_version_and_a_header() -> None:
    with AnthropicServer() as server:
        call(
            provider_for("anthropic", server, api_version="2030-01-01", headers=["anthropic-beta: something-new"]),
            failures=0,
        )
        call(provider_for("anthropic", server, headers=["Anthropic-Version: 2040-01-01"]), failures=0)
    assert "anthropic-version: 2030-01-01" in server.headers[0]
    assert "anthropic-beta: something-new" in server.headers[0]
    assert "Anthropic-Version: 2040-01-01" in server.headers[1]
    assert "2023-06-01" not in server.headers[1]


def test_usage_that_is_missing_is_unknown() -> None:
    with AnthropicServer(Action(body=AnthropicServer.good("Yes", usage=None))) as server:
        reply = call(provider_for("anthropic", server))
    assert isinstance(reply, Reply)
    assert (reply.prompt_tokens, reply.completion_tokens, reply.cost) == (None, None, None)
