"""What all providers do: each against a server that speaks its wire format, and misbehaves."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from ragmeter import Judge, LLMJudge
from ragmeter.effects.limits.caller import Failure
from ragmeter.effects.limits.pace import Pace
from ragmeter.effects.network.vendors import VENDORS
from ragmeter.effects.replies.journal import Reply
from ragmeter.errors import EndpointError, UsageError
from ragmeter.models.prices import price_of
from ragmeter.models.registry import ADAPTERS, endpoint_of
from ragmeter.targets.opening import KINDS
from tests.judge_server import Action
from tests.models.helpers import KEY, SERVERS, call, chat_reply, provider_for
from tests.provider_servers import FormatServer

VARIABLES = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "gemini": "GEMINI_API_KEY"}
LENGTH = {"openai": "length", "anthropic": "max_tokens", "gemini": "MAX_TOKENS"}
OWN_KEY = {
    "openai": f"Authorization: Bearer {KEY}",
    "anthropic": f"x-api-key: {KEY}",
    "gemini": f"x-goog-api-key: {KEY}",
}


@pytest.fixture(params=VENDORS)
def vendor(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def asked(vendor: str, *troubles: Action, reply: str | Action = "Yes", **keywords: Any) -> tuple[Any, FormatServer]:
    with SERVERS[vendor](reply, *troubles) as server:
        return call(provider_for(vendor, server), **keywords), server


def test_a_good_day(vendor: str) -> None:
    with SERVERS[vendor]("Yes") as server:
        server.wants = OWN_KEY[vendor]
        provider = provider_for(vendor, server)
        reply = call(provider)
    assert isinstance(reply, Reply)
    assert chat_reply(reply).content == "Yes"
    assert (chat_reply(reply).finish_reason, chat_reply(reply).refusal, chat_reply(reply).logprobs) == (
        "stop",
        None,
        None,
    )
    assert (reply.prompt_tokens, reply.completion_tokens, reply.cost) == (100, 10, (100 + 20) / 1e6)
    assert KEY not in server.headers[0].split("\r\n")[0]
    assert provider.dropped == ({"seed"} if vendor == "anthropic" else set())


@pytest.mark.parametrize(
    "trouble",
    [
        Action(429, {"error": {"message": "slow down"}}, {"Retry-After": "0.01"}),
        Action(529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
        Action(500, {"error": {"message": "oops"}}),
        Action(503, b"<html>Bad gateway</html>"),
        Action(body={"id": "x"}, cut=4),
        Action(body={"id": "x"}, cut=4, reset=True),
        Action(body=b'{"candidates": [{"cont'),
        Action(body=b""),
        Action(body=b"[" * 50_000),
        Action(body=["a list"]),
        Action(body={}),
        Action(body={"choices": [{}], "content": [{}], "candidates": []}),
        Action(body={"choices": None, "content": None, "candidates": None}),
        Action(body={"choices": [3], "content": [3], "candidates": [3]}),
        Action(body={"error": {"message": "model is loading"}}),
    ],
    ids=lambda action: f"{action.status}-{str(action.body)[:20]}-{action.cut}-{action.reset}",
)
def test_trouble_that_passes(vendor: str, trouble: Action) -> None:
    reply, server = asked(vendor, trouble, trouble)
    assert chat_reply(reply).content == "Yes"
    assert server.count == 3


@pytest.mark.parametrize(
    ("trouble", "cause"),
    [
        (Action(500, {"error": {"message": "out of order"}}), "HTTP 500: out of order"),
        (Action(529, {"error": {"message": "Overloaded"}}), "HTTP 529: Overloaded"),
        (Action(body=b"{"), "not a chat completion: {"),
        (Action(body={"id": "x"}, cut=4, reset=True), "the connection broke"),
    ],
)
def test_trouble_that_does_not_pass(vendor: str, trouble: Action, cause: str) -> None:
    reply, server = asked(vendor, reply=trouble, failures=1)
    assert isinstance(reply, Failure)
    assert reply.outcome == "judge_error"
    assert cause in reply.cause
    assert server.count == 2


def test_retry_after_is_honoured(vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(Pace, "pause", lambda pace, seconds: pauses.append(seconds))
    reply, _ = asked(vendor, Action(429, {"error": {"message": "slow down"}}, {"retry-after": "0.4"}))
    assert chat_reply(reply).content == "Yes"
    assert pauses == [0.4]  # what a pause does is tested with the pace


def test_cut_off_at_max_tokens(vendor: str) -> None:
    server = SERVERS[vendor]
    reply, _ = asked(vendor, reply=Action(body=server.good("Ye", LENGTH[vendor])))
    assert (chat_reply(reply).content, chat_reply(reply).cut_off, chat_reply(reply).declined) == ("Ye", True, None)


def test_a_reply_without_a_text(vendor: str) -> None:
    reply, _ = asked(vendor, reply=Action(body=SERVERS[vendor].good(None)))
    assert (chat_reply(reply).content, chat_reply(reply).declined) == (None, None)


def test_a_parameter_that_the_server_does_not_take_is_left_out(vendor: str) -> None:
    known = SERVERS[vendor].known
    with SERVERS[vendor]("Yes", takes=known - {"temperature"}) as server:
        provider = provider_for(vendor, server)
        assert chat_reply(call(provider, failures=0)).content == "Yes"
        assert chat_reply(call(provider, failures=0)).content == "Yes"
    assert "temperature" in provider.dropped
    assert server.count == 3  # refused once, and not sent again


def test_a_parameter_that_an_error_merely_mentions_stays(vendor: str) -> None:
    error = SERVERS[vendor].error(400, "the text talks about temperature and seed")
    reply, server = asked(vendor, error)
    assert reply == Failure("judge_error", "HTTP 400: the text talks about temperature and seed")
    assert server.count == 1


def test_a_deprecated_parameter_is_left_out(vendor: str) -> None:
    reply, server = asked(vendor, SERVERS[vendor].error(400, "`temperature` is deprecated for this model."))
    assert chat_reply(reply).content == "Yes"
    assert "temperature" not in json.dumps(server.requests[1])


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_wrong_key_model_or_address_ends_it(vendor: str, status: int) -> None:
    with pytest.raises(EndpointError) as caught:
        asked(vendor, reply=SERVERS[vendor].error(status, f"bad key {KEY}"))
    assert (VARIABLES[vendor] if status != 404 else "base_url") in str(caught.value)
    assert KEY not in str(caught.value)


def test_an_empty_purse_ends_it(vendor: str) -> None:
    with pytest.raises(EndpointError, match="credit balance"):
        asked(vendor, reply=SERVERS[vendor].error(400, "Your credit balance is too low to access the API."))


def test_a_key_that_the_server_says_back(vendor: str, tmp_path: Path) -> None:
    """In a reply and in an error, as it is and in escapes of JSON: nothing of it is kept."""
    make = SERVERS[vendor]
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in KEY)
    good = json.dumps(make.good("it is KEY", "KEY"))
    bad = json.dumps(make.error(400, "x" * 180 + "KEY").body)
    for number, key in enumerate((KEY, escaped)):
        journal = tmp_path / f"journal-{number}.sqlite"
        reply, _ = asked(vendor, reply=Action(body=good.replace("KEY", key).encode()), journal=journal)
        assert chat_reply(reply).content == "it is ***"
        assert chat_reply(reply).finish_reason == "***"
        for file in tmp_path.iterdir():
            assert KEY[:12].encode() not in file.read_bytes()
        failure, _ = asked(vendor, reply=Action(400, bad.replace("KEY", key).encode()))
        assert KEY[:6] not in failure.cause
        lost, _ = asked(vendor, reply=Action(body=f"<{key}>".encode()), failures=0)
        assert KEY not in lost.cause


def test_a_key_is_shown_nowhere(vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    headers = {"api-key": "Key $MY_KEY", "X-Team": "${MY_KEY}-a"}
    endpoint = endpoint_of(f"{vendor}:m", f"http://127.0.0.1:9/?token={KEY}", KEY, headers=headers)
    with SERVERS[vendor]() as server:
        provider = provider_for(vendor, server, headers=headers)
    shown = f"{endpoint!r} {endpoint.headers!r} {provider!r} {vars(provider)!r} {vars(provider._wire)!r}"
    shown += json.dumps([endpoint.signature(), endpoint.digests(), provider.signature(), provider.digests()])
    assert KEY not in shown


def test_the_key_is_taken_from_the_vendor_s_variable(vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*VARIABLES.values(), "GOOGLE_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match=VARIABLES[vendor]):
        endpoint_of(f"{vendor}:m").check()
    monkeypatch.setenv(VARIABLES[vendor], KEY)
    endpoint = endpoint_of(f"{vendor}:m")
    endpoint.check()
    assert endpoint.key.reveal() == KEY
    assert endpoint.base_url == endpoint.vendor.base_url
    others = [name for name in VENDORS if name != vendor]
    assert not any(endpoint_of(f"{name}:m").key for name in others)


def test_numbers_that_are_none(vendor: str) -> None:
    body = SERVERS[vendor].good("Yes")
    for usage in ("usage", "usageMetadata"):
        if usage in body:
            body[usage] = dict.fromkeys(body[usage], -1)
    reply, _ = asked(vendor, reply=Action(body=body))
    assert (reply.prompt_tokens, reply.completion_tokens, reply.cost) == (None, None, None)


def test_half_a_character_is_sent_and_read(vendor: str) -> None:
    reply, _ = asked(vendor, reply=Action(body=SERVERS[vendor].good("half an emoji \ud83d")))
    assert chat_reply(reply).content is not None


def test_replies_are_plain_data(vendor: str) -> None:
    reply, _ = asked(vendor)
    assert pickle.loads(pickle.dumps(reply)) == reply  # noqa: S301 - our own


def test_a_judge_asks_through_it(vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACE", "trace-canary-01234567")
    with SERVERS[vendor]("Yes") as server:
        url = server.url if vendor == "openai" else server.root
        judge = Judge(f"{vendor}:m-1", url, KEY, headers=["X-Trace: $TRACE"])
        judgement = LLMJudge(KEY, f"{vendor}:m-1", url, headers=["X-Trace: $TRACE"]).evaluate("Where?", "Paris", "Rome")
    assert (judgement.outcome, judgement.verdict) == ("scored", "CORRECT")
    assert "X-Trace: trace-canary-01234567" in server.headers[0]
    assert "canary" not in f"{judge!r} {vars(judge)!r} {json.dumps(judge.signature())}"
    assert judge.signature().get("provider") == (None if vendor == "openai" else vendor)


def test_each_vendor_has_an_adapter_and_a_kind_of_target() -> None:
    assert {vendor.name: vendor for vendor in ADAPTERS} == VENDORS
    assert {kind.prefix for kind in KINDS} >= {vendor.prefix for vendor in VENDORS.values()}


def test_a_price_is_found_behind_each_prefix(vendor: str) -> None:
    assert price_of(f"{vendor}:gpt-4o") == price_of("gpt-4o") is not None
    assert price_of("other:gpt-4o") is None
