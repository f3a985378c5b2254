"""Chat completions: log-probabilities, Azure, and names with colons."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

import pytest

from ragmeter.effects.replies.journal import Reply
from ragmeter.errors import EndpointError, UsageError
from ragmeter.models.port import ChatReply
from ragmeter.models.registry import endpoint_of, open_provider
from tests.judge_server import Action
from tests.models.helpers import KEY, call, chat_reply, provider_for
from tests.provider_servers import OpenAIServer

AZURE_KEY = "azure-canary-0123456789"
LOGPROBS: dict[str, Any] = {"logprobs": True, "top_logprobs": 5}


def with_logprobs(logprobs: object) -> Action:
    body = OpenAIServer.good("Yes")
    body["choices"][0]["logprobs"] = logprobs
    return Action(body=body)


def test_log_probabilities_of_the_first_token() -> None:
    top = [{"token": "Yes", "logprob": -0.1}, {"token": " yes", "logprob": -2.5}, {"token": "No", "logprob": -9999.0}]
    first = {"token": "Yes", "logprob": -0.1, "top_logprobs": top}
    second = {"token": ".", "logprob": -0.5, "top_logprobs": [{"token": "!", "logprob": -0.5}]}
    with OpenAIServer(with_logprobs({"content": [first, second]})) as server:
        reply = chat_reply(call(provider_for("openai", server), **LOGPROBS))
    assert reply.logprobs == {"Yes": -0.1, " yes": -2.5, "No": -9999.0}
    assert (server.requests[0]["logprobs"], server.requests[0]["top_logprobs"]) == (True, 5)


@pytest.mark.parametrize(
    "logprobs",
    [
        None, {}, {"content": None}, {"content": []}, {"content": [None]}, {"content": ["x"]}, "none",
        {"content": [{"token": 3, "logprob": -1}]}, {"content": [{"token": "Yes", "logprob": None}]},
        {"tokens": ["Yes"], "token_logprobs": [-0.1]},
        *({"content": [{"token": "No", "logprob": -0.1, "top_logprobs": [{"token": "Yes", "logprob": wrong}]}]}
          for wrong in (math.inf, math.nan, 5, 10**400)),
    ],
)  # fmt: skip
def test_log_probabilities_that_are_none_are_no_failure(logprobs: object) -> None:
    with OpenAIServer(with_logprobs(logprobs)) as server:
        reply = chat_reply(call(provider_for("openai", server), failures=0, **LOGPROBS))
    assert (reply.content, reply.logprobs) == ("Yes", None)


def test_log_probabilities_may_be_rounded_and_minus_infinity_is_left_out() -> None:
    top = [{"token": "Yes", "logprob": 1e-7}, {"token": "No", "logprob": -math.inf}]
    with OpenAIServer(with_logprobs({"content": [{"token": "Yes", "logprob": 1e-7, "top_logprobs": top}]})) as server:
        assert chat_reply(call(provider_for("openai", server), **LOGPROBS)).logprobs == {"Yes": 1e-7}


@pytest.mark.parametrize("wrong", ["Infinity", "5", "NaN"])
def test_a_journal_of_before_may_have_impossible_log_probabilities(wrong: str) -> None:
    body = f'{{"content": "Yes", "finish_reason": "stop", "refusal": null, "logprobs": {{"Yes": -0.1, "No": {wrong}}}}}'
    assert ChatReply.from_reply(Reply(body)) == ChatReply("Yes")


def test_log_probabilities_are_asked_for_only_where_wanted() -> None:
    with OpenAIServer() as server:
        call(provider_for("openai", server))
    assert not {"logprobs", "top_logprobs"} & server.requests[0].keys()


@pytest.mark.parametrize(
    ("lacks", "status", "sent"),
    [
        ({"logprobs", "top_logprobs"}, 400, set()),
        ({"top_logprobs"}, 422, {"logprobs"}),
        ({"logprobs", "top_logprobs"}, 403, set()),
    ],
)
def test_a_server_without_log_probabilities(lacks: set[str], status: int, sent: set[str]) -> None:
    trouble = Action(status, {"error": {"message": "You are not allowed to request logprobs from this model."}})
    troubles = [trouble] if status == 403 else []
    with OpenAIServer("Yes", *troubles, takes=OpenAIServer.known - lacks) as server:
        reply = chat_reply(call(provider_for("openai", server), failures=0, **LOGPROBS))
    assert reply.content == "Yes"
    assert server.requests[-1].keys() & {"logprobs", "top_logprobs"} == sent


def test_azure(monkeypatch: pytest.MonkeyPatch) -> None:
    """The deployment in the path, the version in the query, the key in a header of its own, and no other key."""
    monkeypatch.setenv("AZURE_KEY", AZURE_KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with OpenAIServer(f"Yes, {AZURE_KEY}, since 2024-10-21") as server:
        server.wants = f"api-key: {AZURE_KEY}"
        endpoint = endpoint_of(
            "m-1", f"{server.root}/openai/deployments/m-1", headers=["api-key: $AZURE_KEY"], api_version="2024-10-21"
        )
        endpoint.check()
        reply = chat_reply(call(open_provider(endpoint)))
    assert reply.content == "Yes, ***, since 2024-10-21"
    line, *_ = server.headers[0].split("\r\n")
    assert line == "POST /openai/deployments/m-1/chat/completions?api-version=2024-10-21 HTTP/1.1"
    assert "authorization" not in server.headers[0].lower()
    assert KEY not in server.headers[0]
    assert endpoint.signature() == {
        "model": "m-1",
        "endpoint": f"{server.root}/openai/deployments/m-1",
        "api_version": "2024-10-21",
    }


def test_azure_s_filter_is_a_refusal() -> None:
    error = {"message": f"The prompt triggered the content management policy, {KEY}", "code": "content_filter"}
    with OpenAIServer(Action(400, {"error": error})) as server:
        reply = chat_reply(call(provider_for("openai", server)))
    assert reply.declined == "The prompt triggered the content management policy, ***"
    assert server.count == 1


def test_a_wrong_azure_key_names_its_header(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_KEY", AZURE_KEY)
    with OpenAIServer() as server:
        server.wants = "api-key: another"
        provider = provider_for("openai", server, headers=["api-key: $AZURE_KEY"])
        with pytest.raises(EndpointError, match="look at the header api-key"):
            call(provider)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("api-key", "'Name: value'"),
        ("api key: x", "'Name: value'"),
        ("api-key: $NOT_SET_ANYWHERE", "NOT_SET_ANYWHERE, which is not set"),
        ("api-key: a\nX: b", "not allowed in a header"),
    ],
)
def test_headers_that_are_none(header: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        endpoint_of("m", headers=[header])


def test_a_version_that_is_none() -> None:
    with pytest.raises(UsageError, match="api_version"):
        endpoint_of("m", api_version="2024&key=x")


@pytest.mark.parametrize("name", ["qwen2.5:1.5b", "llama3:8b", "hf.co/a/b:Q4", "my-model", "Anthropic:x"])
def test_a_name_with_a_colon_is_a_name(name: str) -> None:
    for given in (name, f"openai:{name}"):
        endpoint = endpoint_of(given, "http://127.0.0.1:9/v1")
        assert (endpoint.model, endpoint.vendor.name) == (name, "openai")


def test_a_name_with_a_colon_is_sent_whole() -> None:
    with OpenAIServer() as server:
        call(open_provider(endpoint_of("qwen2.5:1.5b", server.url)))
    assert server.requests[0]["model"] == "qwen2.5:1.5b"


def test_what_replies_are_kept_under(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plain endpoint as before, so that journals go on; everything else that replies depend on is in it."""
    monkeypatch.setenv("MY_KEY", KEY)
    url = "http://127.0.0.1:9/v1"
    plain = endpoint_of("gpt-4o", url, KEY)
    assert plain.signature() == {"model": "gpt-4o", "endpoint": url}
    assert plain.digests() == {"url": hashlib.sha256(b'"http://127.0.0.1:9/v1"').hexdigest()}
    others = [
        plain,
        endpoint_of("anthropic:gpt-4o", url, KEY),
        endpoint_of("gemini:gpt-4o", url, KEY),
        endpoint_of("anthropic:gpt-4o", url, KEY, api_version="2030-01-01"),
        endpoint_of("gpt-4o", url, KEY, api_version="2024-10-21"),
        endpoint_of("gpt-4o", f"{url}?deployment=b", KEY),
        endpoint_of("gpt-4o", url, KEY, headers=["X-Variant: b"]),
        endpoint_of("gpt-4o", url, KEY, headers=["X-Variant: c"]),
    ]
    assert len({json.dumps([endpoint.signature(), endpoint.digests()]) for endpoint in others}) == len(others)
    same = endpoint_of("openai:gpt-4o", url, "another-key", headers=["api-key: $MY_KEY", "Authorization: Bearer x"])
    assert (same.signature(), same.digests()) == (plain.signature(), plain.digests())
    first = endpoint_of("gpt-4o", url, headers=["X-Session: $MY_KEY"])
    monkeypatch.setenv("MY_KEY", "changed-since")
    second = endpoint_of("gpt-4o", url, headers=["X-Session: $MY_KEY"])
    assert (first.signature(), first.digests()) == (second.signature(), second.digests())
