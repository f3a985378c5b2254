"""The judge against a server that misbehaves."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragmeter.compat.crag.llm_judge import LLMJudge
from ragmeter.effects.limits.pace import LONGEST_PAUSE, Pace, Retries
from ragmeter.errors import EndpointError, InputError, UsageError
from ragmeter.judges.asking.judge import Judge
from ragmeter.judges.asking.judgement import Judgement
from ragmeter.judges.verdict import verdict
from ragmeter.models.fake import FakeProvider
from ragmeter.models.prices import Price, price_of, read_prices
from tests.command import PATIENCE
from tests.judge_server import Action, Behaviour, JudgeServer, completion

KEY = "sk-canary-0123456789abcdef"
GOOD = '{"reason": "r", "verdict": "CORRECT"}'


#: A reply that comes too late, however slow the machine is.
NEVER = Action(delay=3600.0, body={})


def judged(behave: Behaviour | None = None, **keywords: Any) -> tuple[Judgement, JudgeServer]:
    with JudgeServer(behave) as server:
        judge = LLMJudge(KEY, "m", server.url, timeout=keywords.pop("timeout", PATIENCE), **keywords)
        judge.retries = Retries(failures=judge.retries.failures, refusals=3, base=0.001)
        return judge.evaluate("Which city?", "Paris", "It is Paris, I think"), server


def first(*actions: Action) -> Behaviour:
    """Misbehave so often, and then no more."""
    return lambda request, number: actions[number - 1] if number <= len(actions) else None


def always(action: Action) -> Behaviour:
    return lambda request, number: action


def test_a_good_day() -> None:
    found, server = judged()
    assert (found.outcome, found.verdict, found.reason) == ("scored", "CORRECT", "by rule")
    (request,) = server.requests
    assert request["model"] == "m"
    assert (request["temperature"], request["seed"], request["max_tokens"]) == (0.0, 0, 1024)
    assert "response_format" not in request  # one word has no form
    assert request["logprobs"] is True
    assert f"Authorization: Bearer {KEY}" in server.headers[0]
    assert "POST /v1/chat/completions" in server.headers[0]


@pytest.mark.parametrize(
    "trouble",
    [
        Action(429, {"error": {"message": "slow down"}}, {"Retry-After": "0.01"}),
        Action(429, {"error": {"message": "slow down"}}, {"Retry-After": "nonsense"}),
        Action(500, {"error": "oops"}),
        Action(502, b"<html><body>Bad gateway</body></html>"),
        Action(503, {}, {"Retry-After": "0"}),
        Action(529, {}),
        Action(408, {}),
        Action(body=completion(GOOD), cut=20),
        Action(body=completion(GOOD), cut=0),
        Action(body=completion(GOOD), cut=30, reset=True),
        Action(body=completion(GOOD), cut=0, reset=True),
        Action(body=b'{"choices": [{"mess'),
        Action(body=b"not json"),
        Action(body=b""),
        Action(body=b"[" * 50_000),
        Action(body={"choices": []}),
        Action(body={"choices": None}),
        Action(body={"choices": [{}]}),
        Action(body={"object": "list", "data": []}),
        Action(body=["a list"]),
        Action(body=completion(7)),
        Action(body=completion({"verdict": "CORRECT"})),
        NEVER,
    ],
    ids=lambda action: f"{action.status}-{str(action.body)[:20]}-{action.cut}-{action.reset}-{action.delay}",
)
def test_trouble_that_passes(trouble: Action) -> None:
    found, server = judged(first(trouble, trouble), timeout=3.0 if trouble is NEVER else PATIENCE)
    assert (found.outcome, found.verdict) == ("scored", "CORRECT")
    assert server.count == 3


@pytest.mark.parametrize(
    ("trouble", "outcome", "said"),
    [
        (Action(500, {"error": {"message": "out of order"}}), "judge_error", "HTTP 500: out of order"),
        (Action(body=b"{"), "judge_error", "not a chat completion: {"),
        (Action(body={"error": {"message": "model is loading"}}), "judge_error", "model is loading"),
        (Action(body=completion(GOOD), cut=10, reset=True), "judge_error", "the connection broke"),
        (NEVER, "timeout", "no answer within 2 s"),
    ],
)
def test_trouble_that_does_not_pass(trouble: Action, outcome: str, said: str) -> None:
    found, server = judged(always(trouble), timeout=0.5 if trouble is NEVER else PATIENCE, retries=2)
    assert (found.outcome, found.verdict) == (outcome, None)
    assert said in found.cause
    assert server.count == 3


@pytest.mark.parametrize("status", [400, 402, 413, 422, 451])
def test_what_the_server_refuses_is_not_asked_again(status: int) -> None:
    found, server = judged(always(Action(status, {"error": {"message": "no"}})))
    assert (found.outcome, found.cause) == ("judge_error", f"HTTP {status}: no")
    assert server.count == 1


@pytest.mark.parametrize(("status", "hint"), [(401, "OPENAI_API_KEY"), (403, "the model's name"), (404, "base_url")])
def test_a_wrong_key_model_or_address_ends_it(status: int, hint: str) -> None:
    with pytest.raises(EndpointError) as caught:
        judged(always(Action(status, {"error": {"message": f"bad key {KEY}"}})))
    assert hint in str(caught.value)
    assert KEY not in str(caught.value)


def test_an_empty_purse_ends_it() -> None:
    with pytest.raises(EndpointError, match="insufficient"):
        judged(always(Action(429, {"error": {"message": "insufficient", "code": "insufficient_quota"}})))


def test_a_redirect_is_not_followed() -> None:
    with JudgeServer() as other, pytest.raises(EndpointError, match="HTTP 307"):
        judged(always(Action(307, b"", {"Location": other.url})))
    assert other.count == 0


def test_nobody_is_there() -> None:
    with JudgeServer() as server:
        url = server.url
    judge = LLMJudge(KEY, "m", url, retries=1)
    judge.retries = Retries(failures=1, base=0.001)
    with pytest.raises(EndpointError, match=r"can't connect to http://127\.0\.0\.1"):
        judge.evaluate("q", "g", "a")


def test_retry_after_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(Pace, "pause", lambda pace, seconds: pauses.append(seconds))
    later = format_datetime(datetime.now(UTC) + timedelta(days=1), usegmt=True)
    for value in ("0.4", later):
        found, _ = judged(first(Action(429, {}, {"Retry-After": value})))
        assert found.outcome == "scored"
    assert pauses == [0.4, LONGEST_PAUSE]  # what a pause does is tested with the pace


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (completion("I'd say it is CORRECT"), "unparsable"),
        (completion(""), "unparsable"),
        (completion(None), "unparsable"),
        (completion(GOOD, "length"), "unparsable"),
        (completion(GOOD, "content_filter"), "refused"),
        (completion(None, refusal="I can't help with that"), "refused"),
    ],
)
def test_a_reply_that_is_no_verdict_is_neither_right_nor_wrong(reply: dict[str, Any], outcome: str) -> None:
    found, server = judged(always(Action(body=reply)), tries=3)
    assert (found.outcome, found.verdict) == (outcome, None)
    assert server.count == (3 if outcome == "unparsable" else 1)
    seeds = [request["seed"] for request in server.requests]
    assert len(set(seeds)) == len(seeds)  # to ask the same again would bring the same again
    temperatures = [request["temperature"] for request in server.requests]
    assert temperatures == ([0.0, 0.3, 0.6] if outcome == "unparsable" else [0.0])
    words = ["could not be read" in request["messages"][-1]["content"] for request in server.requests]
    assert words == ([False, True, True] if outcome == "unparsable" else [False])


def test_a_model_that_says_the_same_to_the_same_words_is_asked_in_others() -> None:
    """Before: six replies, all the same, since only the seed was another."""

    def says_the_same(request: dict[str, Any], number: int) -> Action:
        is_other = "could not be read" in request["messages"][-1]["content"]
        return Action(body=completion(GOOD if is_other else "I would say that it is right"))

    found, server = judged(says_the_same)
    assert (found.outcome, found.verdict, server.count) == ("scored", "CORRECT", 2)


def test_the_second_try_may_be_read() -> None:
    found, server = judged(first(Action(body=completion("hm"))))
    assert (found.outcome, server.count) == ("scored", 2)
    assert found.replies == ("hm", '{"reason": "by rule", "verdict": "CORRECT"}')


@pytest.mark.parametrize(
    ("chances", "verdict"),
    [
        ({"Y": 0.9, "No": 0.1}, "CORRECT"),
        ({"No": 0.6, "Yes": 0.3}, "WRONG"),
        ({"Yes": 0.4, "No": 0.3, "The": 0.3}, "CORRECT"),
        ({"Yes": 0.4, "No": 0.4}, None),
        ({"The": 0.7, "Yes": 0.3}, None),
        ({}, None),
    ],
)
def test_a_reply_that_is_cut_off_is_read_by_its_first_token(chances: dict[str, float], verdict: str | None) -> None:
    candidates = [{"token": token, "logprob": math.log(chance)} for token, chance in chances.items()]
    reply = completion(next(iter(chances), ""), "length")
    reply["choices"][0]["logprobs"] = {
        "content": [{**candidate, "top_logprobs": candidates} for candidate in candidates]
    }
    found, server = judged(always(Action(body=reply)), max_tokens=1, tries=1)
    assert found.verdict == verdict
    assert server.requests[0]["max_tokens"] == 1


def test_a_grammar_allows_nothing_but_the_words_of_a_verdict() -> None:
    _, server = judged(grammar=True)
    assert server.requests[0]["grammar"] == 'root ::= "Yes" | "No"'
    _, server = judged(grammar=True, reasons=True)  # an object has a form of its own
    assert "grammar" not in server.requests[0]


def test_parts_of_content_are_put_together() -> None:
    parts = [{"type": "text", "text": GOOD[:9]}, {"type": "text", "text": GOOD[9:]}]
    assert judged(always(Action(body=completion(parts))))[0].verdict == "CORRECT"


@pytest.mark.parametrize(
    ("refused", "sent_instead"),
    [
        ("response_format", None),
        ("seed", None),
        ("temperature", None),
        ("max_tokens", "max_completion_tokens"),
        ("logprobs", None),
        ("top_logprobs", None),
        ("grammar", None),
    ],
)
def test_a_parameter_that_the_server_does_not_take_is_left_out(refused: str, sent_instead: str | None) -> None:
    def behave(request: dict[str, Any], number: int) -> Action | None:
        if refused in request:
            return Action(400, {"error": {"message": f"Unsupported parameter: '{refused}'", "param": refused}})
        return None

    found, server = judged(behave, reasons=refused == "response_format", grammar=True)
    assert (found.outcome, server.count) == ("scored", 2)
    assert sent_instead is None or server.requests[1][sent_instead] == 1024


@pytest.mark.parametrize(
    "message",
    [
        "'max_tokens' is too large: 1024. This model's maximum context length is 512 tokens",
        "the text talks about temperature and seed",
        "invalid input",
    ],
)
def test_a_parameter_that_an_error_merely_mentions_stays(message: str) -> None:
    found, server = judged(first(Action(400, {"error": {"message": message}})), tries=1)
    assert (found.outcome, server.count) == ("judge_error", 1)


def test_no_retries_are_none_at_all() -> None:
    with JudgeServer(always(Action(429, {}, {"Retry-After": "0"}))) as server:
        assert LLMJudge(KEY, "m", server.url, retries=0).evaluate("q", "g", "a").outcome == "judge_error"
        assert server.count == 1


@pytest.mark.parametrize("content", ["half an emoji \ud83d", "WRONG\ud83d"])
def test_half_a_character_is_no_verdict_and_no_end(content: str) -> None:
    found, _ = judged(always(Action(body=completion(content))), tries=1)
    assert found.outcome == "unparsable"


def test_numbers_that_are_none() -> None:
    reply = completion(GOOD) | {"usage": {"prompt_tokens": 10**20, "completion_tokens": -1}}
    found, _ = judged(always(Action(body=reply)))
    assert found.outcome == "scored"


def verdicts(*said: str) -> Behaviour:
    """One verdict for each repeat, told by its seed."""
    return lambda request, number: Action(body=completion(said[request["seed"] // 1000]))


@pytest.mark.parametrize(
    ("said", "outcome", "verdict", "flipped"),
    [
        (("CORRECT", "CORRECT", "CORRECT"), "scored", "CORRECT", False),
        (("CORRECT", "WRONG", "CORRECT"), "scored", "CORRECT", True),
        (("WRONG", "WRONG", "CORRECT"), "scored", "WRONG", True),
        (("WRONG", "hm", "WRONG"), "scored", "WRONG", False),
        (("CORRECT", "WRONG", "hm"), "unparsable", None, True),
        (("CORRECT", "hm", "hm"), "unparsable", None, False),
        (("CORRECT", "WRONG"), "tied", None, True),
    ],
)
def test_repeats(said: tuple[str, ...], outcome: str, verdict: str | None, flipped: bool) -> None:
    found, _ = judged(verdicts(*said), repeats=len(said), tries=1)
    assert (found.outcome, found.verdict, found.flipped) == (outcome, verdict, flipped)


def test_where_to_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        LLMJudge().evaluate("q", "g", "a")
    for url in ("localhost:8000", "ftp://x/v1", "http://", "/v1"):
        with pytest.raises(UsageError, match="not an address"):
            LLMJudge("k", "m", url)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1/")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    judge = LLMJudge()
    assert judge.endpoint.base_url == "http://127.0.0.1:9/v1"
    assert judge.endpoint.key.reveal() == KEY
    assert KEY not in f"{judge!r} {judge.endpoint!r} {judge.__dict__!r} {vars(judge.endpoint)!r}"
    with pytest.raises(UsageError) as caught:
        LLMJudge("sk-with\nnewline")
    assert "sk-with" not in str(caught.value)


def test_a_secret_in_the_address_is_not_written_down() -> None:
    judge = LLMJudge("k", "m", "http://127.0.0.1:9/v1?token=secret-token")
    assert "secret" not in json.dumps(judge.signature())
    assert judge.endpoint.url("chat/completions") == "http://127.0.0.1:9/v1/chat/completions?token=secret-token"
    for url in ("http://me:secret@127.0.0.1:9/v1", "http://me:secret@h:abc/v1", "http://[bad/v1"):
        with pytest.raises(UsageError) as caught:
            LLMJudge("k", "m", url)
        assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "action",
    [
        Action(body=completion(None, refusal=f"no, {KEY}")),
        Action(body=completion(f"it is {KEY}")),
        Action(body=completion("x", f"stop {KEY}")),
        Action(400, {"error": {"message": "x" * 190 + KEY}}),
        Action(400, {"error": {"message": f"the query was {'q' * 20}"}}),
        Action(500, b"<html>" + KEY.encode()),
    ],
)
def test_a_key_that_the_server_says_back(action: Action) -> None:
    with JudgeServer(lambda request, number: action) as server:
        judge = LLMJudge(KEY, "m", f"{server.url}?key={'q' * 20}", retries=0, tries=1)
        found = judge.evaluate("q", "g", "a")
    said = json.dumps(found.as_dict()) + found.cause
    assert KEY[:12] not in said
    assert "q" * 20 not in said


def test_everything_that_matters_is_in_the_key() -> None:
    base: dict[str, Any] = {"api_key": "k", "model_name": "m", "base_url": "http://127.0.0.1:9/v1"}
    others: list[dict[str, Any]] = [
        {}, {"model_name": "n"}, {"base_url": "http://127.0.0.1:8/v1"}, {"temperature": 0.5}, {"seed": 1},
        {"max_tokens": 9}, {"grammar": True}, {"base_url": "http://127.0.0.1:9/v1?deployment=b"},
    ]  # fmt: skip
    values = {"question": "q", "reference": "g", "answer": "a"}

    def key(given: dict[str, str] = values, repeat: int = 0, attempt: int = 0, **more: Any) -> str:
        return LLMJudge(**(base | more)).on(verdict).key(given, repeat, attempt)

    keys = {key(**other) for other in others}
    assert len(keys) == len(others)
    more = [key(values | {name: "x"}) for name in values]
    assert len({*keys, *more, key(repeat=1), key(attempt=1), key(reasons=True)}) == len(others) + 6
    assert key() == key(repeats=5, tries=1) == key(api_key="another")


def test_prices(tmp_path: Path) -> None:
    assert price_of("gpt-4o") == price_of("gpt-4o-2024-08-06") == Price(2.5, 10.0)
    assert price_of("gpt-4o-2024-05-13") == Price(5.0, 15.0)
    assert price_of("gpt-4o-something") is price_of("my-model") is None
    assert price_of("anthropic:claude-sonnet-4-5-20250929") == price_of("claude-sonnet-4-5") == Price(3.0, 15.0)
    assert price_of("gemini:gemini-2.5-flash") == Price(0.3, 2.5)
    assert price_of("openai:gpt-4o") == Price(2.5, 10.0)
    path = tmp_path / "prices.json"
    path.write_text('{"my-model": {"input": 1, "output": 2.5}, "gpt-4o": {"input": 0, "output": 0}}')
    own = read_prices(path)
    assert price_of("my-model", own) == price_of("anthropic:my-model", own) == Price(1.0, 2.5)
    assert price_of("gpt-4o", own) == Price(0.0, 0.0)
    assert Price(1.0, 2.5).of(1_000_000, 2_000_000) == 6.0


@pytest.mark.parametrize("text", ["[]", "{", '{"m": 3}', '{"m": {"input": 1}}', '{"m": {"input": -1, "output": 1}}'])
def test_prices_that_are_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "prices.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"prices\.json"):
        read_prices(path)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"repeats": 0}, "repeats must be at least 1, got 0"),
        ({"repeats": 2.5}, "repeats must be a whole number, at least 1, got 2.5"),
        ({"repeats": None}, "repeats must be a whole number, at least 1, got None"),
        ({"tries": 0}, "tries must be at least 1"),
        ({"timeout": 0}, "timeout must be above 0, got 0"),
        ({"timeout": "a"}, "timeout must be a number, above 0, got 'a'"),
        ({"give_up_after": math.nan}, "give_up_after must be above 0, got nan"),
        ({"temperature": -1.0}, "temperature must be at least 0, got -1"),
        ({"max_tokens": 0}, "max_tokens must be at least 1"),
        ({"workers": "a"}, "workers must be a whole number, at least 1, got 'a'"),
        ({"wordings": True}, "wordings must be 1 or 2, got True"),
        ({"max_calls": -1}, "max_calls must be at least 0, got -1"),
        ({"budget": math.nan}, "budget must be at least 0, got nan"),
        ({"budget": -5}, "budget must be at least 0, got -5"),
    ],
)
def test_numbers_that_make_no_sense(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as refused:
        LLMJudge("k", "m", "http://127.0.0.1:9/v1", **wrong)
    assert str(refused.value).startswith(message)


def test_numbers_of_numpy() -> None:
    judge = LLMJudge("k", "gpt-4o", repeats=np.int64(2), timeout=np.float32(3), budget=np.float64(1.5))
    assert (judge.repeats, judge.budget) == (2, 1.5)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"provider": "Yes"}, "the provider must be one of chat models, got str"),
        ({"provider": FakeProvider("Yes"), "model": "m"}, "model has no effect"),
        ({"provider": FakeProvider("Yes"), "prices": "prices.json"}, "prices has no effect"),
        ({"model": 5}, "the model's name must be a text, got int"),
    ],
)
def test_whom_to_ask(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Judge(**wrong)
