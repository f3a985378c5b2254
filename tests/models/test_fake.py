"""The fake provider that ships for users' own tests."""

from __future__ import annotations

import math
from typing import Any
from unittest.mock import Mock

import pytest

from ragmeter import ChatReply, FakeProvider, Judge, LLMJudge
from ragmeter.effects.limits.caller import Failure, GiveUp, TryAgain
from ragmeter.effects.replies.journal import Reply
from ragmeter.errors import UsageError
from ragmeter.models.port import ChatProvider
from ragmeter.models.prices import Price
from tests.models import helpers
from tests.models.helpers import call, chat_reply

FENCE = "01234567"
PROMPT = "\n".join(
    f"{name}: [{FENCE}] {text} [{FENCE}]"
    for name, text in (("question", "Which city?"), ("reference", "Paris"), ("answer", "It is\nParis"), ("tone", "dry"))
)


@pytest.fixture(autouse=True)
def prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helpers, "MESSAGES", [{"role": "system", "content": "S"}, {"role": "user", "content": PROMPT}])


@pytest.mark.parametrize(
    ("replies", "reply"),
    [
        ("Yes", "Yes"),
        (["No"], "No"),
        (iter(["No"]), "No"),
        (ChatReply("Ye", "length"), "Ye"),
        (lambda prompt: prompt[:9], "S\n\nquesti"),
        (lambda p: ChatReply("Yes"), "Yes"),
        (lambda *anything: "Yes", "Yes"),
        (lambda question, reference, answer: f"{question}|{reference}|{answer}", "Which city?|Paris|It is\nParis"),
        (lambda answer: answer, "It is\nParis"),
        (lambda query, ground_truth, agent_response: f"{query}|{ground_truth}", "Which city?|Paris"),
        (lambda answer, tone: tone, "dry"),
        (lambda tone: tone, "dry"),
        (lambda text: text[:1], "S"),
        (lambda answer, *, more="x": more, "x"),
    ],
)
def test_what_it_replies(replies: Any, reply: str) -> None:
    provider: ChatProvider = FakeProvider(replies)
    assert chat_reply(call(provider)).content == reply


def test_a_mock_is_a_function_of_the_prompt() -> None:
    assert chat_reply(call(FakeProvider(Mock(return_value="Yes")))).content == "Yes"


def test_it_keeps_what_it_was_asked() -> None:
    provider = FakeProvider(["Yes", "No"])
    assert [chat_reply(call(provider)).content, chat_reply(call(provider)).content] == ["Yes", "No"]
    assert provider.prompts == [f"S\n\n{PROMPT}"] * 2
    assert provider.parameters == [helpers.PARAMETERS] * 2
    assert repr(provider) == "FakeProvider(model='fake', calls=2)"
    with pytest.raises(UsageError, match="asked 3 times, and has 2 replies"):
        call(provider)


def test_failures_and_refusals() -> None:
    assert chat_reply(call(FakeProvider(ChatReply(None, refusal="no")))).declined == "no"
    passing = FakeProvider([TryAgain("timeout", "slow"), "Yes"])
    assert chat_reply(call(passing)).content == "Yes"
    assert call(FakeProvider(GiveUp("judge_error", "broken"))) == Failure("judge_error", "broken")


def test_log_probabilities() -> None:
    provider = FakeProvider(ChatReply("Yes", logprobs={"Yes": -0.1, "No": -2.4}))
    assert chat_reply(call(provider)).logprobs == {"Yes": -0.1, "No": -2.4}


def test_tokens_and_money() -> None:
    free = call(FakeProvider("12345"))
    assert isinstance(free, Reply)
    assert (free.completion_tokens, free.cost) == (2, 0.0)
    paid = call(FakeProvider("12345", price=Price(0.0, 1e6)))
    assert isinstance(paid, Reply)
    assert paid.cost == 2.0


def test_two_fakes_have_no_reply_in_common() -> None:
    first, second = FakeProvider("Yes"), FakeProvider("Yes")
    assert first.signature() == second.signature() == {"model": "fake", "endpoint": "", "provider": "fake"}
    assert first.digests() == first.digests() != second.digests()


def test_it_reads_the_judge_s_own_prompt() -> None:
    texts: list[tuple[str, str, str]] = []

    def reply(question: str, reference: str, answer: str) -> str:
        texts.append((question, reference, answer))
        return "hm"

    LLMJudge(provider=FakeProvider(reply), tries=1).evaluate("Which city?", "Paris", "<|im_start|> Paris\n\nEND")
    assert texts == [("Which city?", "Paris", "<|im_start|> Paris\n\nEND")]


@pytest.mark.parametrize(
    ("reply", "outcome", "verdict"),
    [
        ("Yes", "scored", "CORRECT"),
        ("No", "scored", "WRONG"),
        (ChatReply(None, refusal="I can't say"), "refused", None),
        (ChatReply("Yes", "length"), "unparsable", None),
        (GiveUp("judge_error", "broken"), "judge_error", None),
    ],
)
def test_a_judge_with_a_fake(reply: Any, outcome: str, verdict: str | None) -> None:
    judgement = LLMJudge(provider=FakeProvider(reply)).evaluate("Which city?", "Paris", "It is Paris")
    assert (judgement.outcome, judgement.verdict) == (outcome, verdict)


def test_a_judge_with_a_fake_says_so() -> None:
    judge = Judge(provider=FakeProvider("Yes", model="mine"))
    assert repr(judge) == "Judge(model='mine', base_url='')"
    assert {"model": "mine", "provider": "fake"}.items() <= judge.signature().items()
    assert judge.call_key() == judge.call_key() != Judge(provider=FakeProvider("Yes", model="mine")).call_key()
    with pytest.raises(UsageError, match="its own address"):
        Judge(provider=FakeProvider("Yes"), headers=["X: y"])


def test_mistakes() -> None:
    with pytest.raises(UsageError, match="must be a text or a ChatReply, got int"):
        call(FakeProvider(lambda prompt: 3))  # type: ignore[arg-type,return-value]
    with pytest.raises(UsageError, match="the prompt has no contexts"):
        call(FakeProvider(lambda answer, contexts: "x"))
    with pytest.raises(UsageError, match="the prompt has no anwser: did you mean answer"):
        call(FakeProvider(lambda anwser: "x"))
    with pytest.raises(UsageError, match="did you mean prompt"):
        call(FakeProvider(lambda promt: "x"))
    for value in (math.nan, -math.inf, None, "a"):
        with pytest.raises(UsageError, match="log-probability of 'Yes' must be a finite number"):
            call(FakeProvider(ChatReply("Yes", logprobs={"Yes": value})))  # type: ignore[dict-item]
