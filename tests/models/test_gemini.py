"""Gemini's generateContent."""

from __future__ import annotations

from typing import Any

import pytest

from ragmeter.definition.judge_columns import ResponseFormat
from ragmeter.effects.limits.pace import Pace
from ragmeter.effects.replies.journal import Reply
from ragmeter.errors import EndpointError
from ragmeter.models.registry import endpoint_of, open_provider
from tests.judge_server import Action
from tests.models.helpers import KEY, call, chat_reply, provider_for
from tests.provider_servers import GeminiServer

FORM: ResponseFormat = {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": {}}}


def test_the_request() -> None:
    with GeminiServer() as server:
        provider = provider_for("gemini", server)
        call(provider, response_format=FORM, logprobs=True, top_logprobs=5)
    assert server.requests == [
        {
            "systemInstruction": {"parts": [{"text": "You grade."}]},
            "contents": [
                {"role": "user", "parts": [{"text": "First?"}]},
                {"role": "model", "parts": [{"text": "No"}]},
                {"role": "user", "parts": [{"text": "And now?"}]},
            ],
            "generationConfig": {
                "temperature": 0.0,
                "seed": 7,
                "maxOutputTokens": 50,
                "responseLogprobs": True,
                "logprobs": 5,
            },
        }
    ]
    assert provider.dropped == {"response_format"}


def test_log_probabilities_of_the_first_token() -> None:
    result = {
        "topCandidates": [
            {"candidates": [{"token": "Yes", "logProbability": -0.1}, {"token": "No", "logProbability": -2.4}]},
            {"candidates": [{"token": ".", "logProbability": -0.2}]},
        ],
        "chosenCandidates": [{"token": "Yes", "logProbability": -0.1}, {"token": ".", "logProbability": -0.2}],
    }
    with GeminiServer(Action(body=GeminiServer.good("Yes.", logprobsResult=result))) as server:
        reply = chat_reply(call(provider_for("gemini", server), logprobs=True, top_logprobs=5))
    assert reply.logprobs == {"Yes": -0.1, "No": -2.4}


@pytest.mark.parametrize(
    "result", [None, {}, {"topCandidates": []}, {"topCandidates": [{}]}, {"topCandidates": [3]}, 3]
)
def test_log_probabilities_that_are_none_are_no_failure(result: object) -> None:
    with GeminiServer(Action(body=GeminiServer.good("Yes", logprobsResult=result))) as server:
        reply = chat_reply(call(provider_for("gemini", server), failures=0, logprobs=True))
    assert (reply.content, reply.logprobs) == ("Yes", None)


def test_a_model_without_log_probabilities() -> None:
    with GeminiServer("Yes", takes=frozenset({"temperature", "seed", "maxOutputTokens"})) as server:
        provider = provider_for("gemini", server)
        assert chat_reply(call(provider, failures=0, logprobs=True, top_logprobs=5)).content == "Yes"
    assert "logprobs" in provider.dropped
    assert not {"responseLogprobs", "logprobs"} & server.requests[1]["generationConfig"].keys()


@pytest.mark.parametrize(
    ("finish", "reason", "declined"),
    [
        ("STOP", "stop", None),
        ("MAX_TOKENS", "length", None),
        ("SAFETY", "refusal", "the reply was blocked: SAFETY"),
        ("RECITATION", "refusal", "the reply was blocked: RECITATION"),
        ("PROHIBITED_CONTENT", "refusal", "the reply was blocked: PROHIBITED_CONTENT"),
        ("OTHER", "OTHER", None),
    ],
)
def test_why_it_stopped(finish: str, reason: str, declined: str | None) -> None:
    for text in ("Yes", None):
        with GeminiServer(Action(body=GeminiServer.good(text, finish))) as server:
            reply = chat_reply(call(provider_for("gemini", server)))
        assert (reply.content, reply.finish_reason, reply.declined) == (text, reason, declined)


def test_a_candidate_without_content() -> None:
    body = {"candidates": [{"finishReason": "SAFETY", "safetyRatings": []}]}
    with GeminiServer(Action(body=body)) as server:
        assert chat_reply(call(provider_for("gemini", server))).declined == "the reply was blocked: SAFETY"


def test_a_prompt_that_is_blocked() -> None:
    body = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 9}}
    with GeminiServer(Action(body=body)) as server:
        reply = call(provider_for("gemini", server))
    assert isinstance(reply, Reply)
    assert chat_reply(reply).declined == "the prompt was blocked: PROHIBITED_CONTENT"
    assert (reply.prompt_tokens, reply.completion_tokens) == (9, 0)


def test_thoughts_are_billed_and_are_not_the_reply() -> None:
    body: dict[str, Any] = GeminiServer.good("Yes")
    body["candidates"][0]["content"]["parts"].insert(0, {"text": "No?", "thought": True})
    body["usageMetadata"]["thoughtsTokenCount"] = 90
    with GeminiServer(Action(body=body)) as server:
        reply = call(provider_for("gemini", server))
    assert isinstance(reply, Reply)
    assert (chat_reply(reply).content, reply.completion_tokens) == ("Yes", 100)


def test_a_key_that_is_not_valid_ends_it() -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
    error = {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT", "details": details}
    with GeminiServer(Action(400, {"error": error})) as server, pytest.raises(EndpointError, match="GEMINI_API_KEY"):
        call(provider_for("gemini", server))


def test_a_pause_that_stands_in_the_body_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(Pace, "pause", lambda pace, seconds: pauses.append(seconds))
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.3s"}]
    busy = Action(429, {"error": {"code": 429, "message": "quota", "details": details}})
    with GeminiServer("Yes", busy) as server:
        assert chat_reply(call(provider_for("gemini", server))).content == "Yes"
    assert pauses == [0.3]


@pytest.mark.parametrize("name", ["m-1", "models/m-1"])
@pytest.mark.parametrize("path", ["", "/v1beta", "/v1beta/"])
def test_addresses(path: str, name: str) -> None:
    with GeminiServer() as server:
        provider = open_provider(endpoint_of(f"gemini:{name}", f"{server.root}{path}", KEY))
        assert chat_reply(call(provider)).content == "Yes"


def test_the_second_variable_for_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    assert endpoint_of("gemini:m").key.reveal() == KEY
    monkeypatch.setenv("GEMINI_API_KEY", "first")
    assert endpoint_of("gemini:m").key.reveal() == "first"
