"""A model as a judge of answers: asked as often as was agreed, and never believed further than it can be read."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ragmeter.effects.caller import Caller, Failure
from ragmeter.effects.calls import Limits, run_calls
from ragmeter.effects.journal import Journal, Reply
from ragmeter.effects.pace import Retries
from ragmeter.errors import UsageError
from ragmeter.judges.prices import Price, price_of, read_prices
from ragmeter.judges.providers.port import ChatProvider
from ragmeter.judges.providers.registry import endpoint_of, open_provider
from ragmeter.judges.verdict import CORRECT, RESPONSE_FORMAT, Prompt, parse
from ragmeter.table import REFUSED, SCORED, TIED, UNPARSABLE

DEFAULT_EVAL_MODEL = "gpt-4o"
MAX_EVAL_TOKENS = 1024
MAX_API_RETRIES = 3
#: Tokens that a server adds around messages.
_FRAME = 50


@dataclass(frozen=True)
class Judgement:
    """What the judge made of one answer. Only a `scored` one has a verdict.

    `verdicts` holds one for each repeat, None where it could not be read; `replies` are the model's own words.
    """

    outcome: str
    verdict: str | None = None
    reason: str = ""
    verdicts: tuple[str | None, ...] = ()
    replies: tuple[str, ...] = ()
    cause: str = ""

    @property
    def accuracy(self) -> bool | None:
        """Whether the answer is right; None if that is not known."""
        return None if self.verdict is None else self.verdict == CORRECT

    @property
    def flipped(self) -> bool:
        """Whether the repeats disagree."""
        return len({verdict for verdict in self.verdicts if verdict}) > 1

    def as_dict(self) -> dict[str, Any]:
        """For the `api_response` column: what was said, and nothing that differs from run to run."""
        kept: dict[str, Any] = {"outcome": self.outcome, "verdict": self.verdict, "reason": self.reason}
        if len(self.verdicts) > 1:
            kept["verdicts"] = list(self.verdicts)
        if self.cause:
            kept["cause"] = self.cause
        return {**kept, "replies": list(self.replies)}


class LLMJudge:
    """Asks a chat model whether an answer says the same as the expected one.

    Args:
        api_key: the endpoint's key; without it OPENAI_API_KEY.
        model_name: the model.
        base_url: any OpenAI-compatible endpoint; without it OPENAI_BASE_URL, or OpenAI's own.
        prompt: a file with criteria of your own.
        temperature: 0 by default, for verdicts that come out the same again.
        seed: sent along; repeats and second tries count up from it.
        max_tokens: the longest reply.
        repeats: how often each answer is judged; the majority counts.
        tries: how often a judgement that can't be read is asked for before it counts as unparsable.
        timeout: seconds for a reply.
        retries: how often a call that failed is made again.
        prices: a file of prices, where ours does not know the model.
    """

    def __init__(
        self,
        api_key: str | None = None,
        model_name: str = DEFAULT_EVAL_MODEL,
        base_url: str | None = None,
        *,
        prompt: str | Path | None = None,
        temperature: float = 0.0,
        seed: int = 0,
        max_tokens: int = MAX_EVAL_TOKENS,
        repeats: int = 1,
        tries: int = 3,
        timeout: float = 60.0,
        retries: int = MAX_API_RETRIES,
        prices: str | Path | None = None,
    ) -> None:
        for name, value, least in (
            ("repeats", repeats, 1), ("tries", tries, 1), ("max_tokens", max_tokens, 1), ("retries", retries, 0),
        ):  # fmt: skip
            if value < least:
                raise UsageError(f"{name} must be at least {least}, and is {value}")
        if not timeout > 0 or not temperature >= 0:
            raise UsageError("timeout must be above 0, and temperature not below")
        self.endpoint = endpoint_of(model_name, base_url, api_key, timeout)
        self.prompt = Prompt() if prompt is None else Prompt.read(prompt)
        self.price: Price | None = price_of(model_name, None if prices is None else read_prices(prices))
        self.temperature, self.seed, self.max_tokens = float(temperature), seed, max_tokens
        self.repeats, self.tries = repeats, tries
        self.retries = Retries.of(retries)
        #: What the calls of this judge are filed under: everything but the texts.
        self.spec = _digest(self.signature() | self.endpoint.digests())

    def __repr__(self) -> str:
        return f"LLMJudge(model_name={self.endpoint.model!r}, base_url={self.endpoint.name!r})"

    def signature(self) -> dict[str, Any]:
        """Everything that a reply depends on besides the texts."""
        return {
            **self.endpoint.signature(),
            "temperature": self.temperature,
            "seed": self.seed,
            "max_tokens": self.max_tokens,
            "response_format": "json_schema",
            "prompt": self.prompt.hash,
        }

    def client(self) -> ChatProvider:
        """The connection that `judge` asks through, to be opened as a context."""
        return open_provider(self.endpoint, self.price)

    def evaluate(self, query: str, ground_truth: str, agent_response: str) -> Judgement:
        """Judge one answer now. Nothing is kept of it; for many answers use CRAGEvaluator."""
        if not all(isinstance(text, str) for text in (query, ground_truth, agent_response)):
            raise UsageError("a query, a ground truth and an answer are texts")
        self.endpoint.check()

        async def work(caller: Caller) -> Judgement:
            async with self.client() as client:
                return await self.judge(caller, client, query, ground_truth, agent_response)

        return run_calls(work, Limits(self.repeats, self.retries))

    async def judge(
        self, caller: Caller, client: ChatProvider, query: str, ground_truth: str, agent_response: str
    ) -> Judgement:
        """Judge one answer through a caller that paces, budgets and remembers."""
        values = _values(query, ground_truth, agent_response)
        if self.repeats == 1:
            return await self._repeat(caller, client, values, 0)
        each = await asyncio.gather(*(self._repeat(caller, client, values, index) for index in range(self.repeats)))
        return _majority(each)

    async def _repeat(self, caller: Caller, client: ChatProvider, values: dict[str, str], repeat: int) -> Judgement:
        """One verdict; asked for again where the reply can't be read."""
        replies: list[str] = []
        cause = ""
        for attempt in range(self.tries):
            parameters = self._parameters(repeat, attempt)
            found = await caller.ask(
                self._key(values, repeat, attempt),
                partial(_send, client, self.prompt, values, parameters),
                worst=self._worst(values),
            )
            if isinstance(found, Failure):
                return Judgement(found.outcome, None, "", (None,), tuple(replies), found.cause)
            body = json.loads(found.body)
            replies.append(body["content"] or "")
            if body["refusal"] or body["finish_reason"] == "content_filter":
                said = str(body["refusal"] or "the content filter ended the reply")
                return Judgement(REFUSED, None, "", (None,), tuple(replies), said)
            verdict = None if body["finish_reason"] == "length" else parse(replies[-1])
            if verdict is not None:
                return Judgement(SCORED, verdict.verdict, verdict.reason, (verdict.verdict,), tuple(replies))
            cause = "cut off at max_tokens" if body["finish_reason"] == "length" else "not a verdict"
        return Judgement(UNPARSABLE, None, "", (None,), tuple(replies), cause)

    def _parameters(self, repeat: int, attempt: int) -> dict[str, Any]:
        return {
            "temperature": self.temperature,
            "seed": self.seed + 1000 * repeat + attempt,
            "max_tokens": self.max_tokens,
            "response_format": RESPONSE_FORMAT,
        }

    def _key(self, values: dict[str, str], repeat: int, attempt: int) -> str:
        return _digest([self.spec, values, repeat, attempt])

    def recorded(self, journal: Journal, query: str, ground_truth: str, agent_response: str) -> int:
        """How many of the first calls for an answer are in a journal already."""
        values = _values(query, ground_truth, agent_response)
        return sum(journal.get(self._key(values, repeat, 0)) is not None for repeat in range(self.repeats))

    def estimate(self, query: str, ground_truth: str, agent_response: str) -> tuple[int, int]:
        """About how many tokens one call takes and gives: four bytes a token, and a sentence for an answer."""
        return self._bytes(_values(query, ground_truth, agent_response)) // 4 + _FRAME, min(40, self.max_tokens)

    def cost(self, query: str, ground_truth: str, agent_response: str) -> float:
        """About what one call costs, in dollars; 0 where the price is not known."""
        return 0.0 if self.price is None else self.price.of(*self.estimate(query, ground_truth, agent_response))

    def most(self, query: str, ground_truth: str, agent_response: str) -> float:
        """The most that one call can cost, in dollars; 0 where the price is not known."""
        return self._worst(_values(query, ground_truth, agent_response))

    def _worst(self, values: dict[str, str]) -> float:
        """The most that one call can cost: a token is never less than a byte."""
        return 0.0 if self.price is None else self.price.of(self._bytes(values) + _FRAME, self.max_tokens)

    def _bytes(self, values: dict[str, str]) -> int:
        messages = self.prompt.messages(values)
        return sum(len(message["content"].encode("utf-8", "replace")) for message in messages)


def _values(query: str, ground_truth: str, agent_response: str) -> dict[str, str]:
    return {"query": query, "ground_truth": ground_truth, "agent_response": agent_response}


async def _send(client: ChatProvider, prompt: Prompt, values: dict[str, str], parameters: dict[str, Any]) -> Reply:
    return await client.send(prompt.messages(values), parameters)


def _majority(each: Iterable[Judgement]) -> Judgement:
    """One judgement from several: what more than half of them say."""
    held = list(each)
    verdicts = tuple(one.verdict for one in held)
    replies = tuple(reply for one in held for reply in one.replies)
    counts = Counter(verdict for verdict in verdicts if verdict)
    winner = next((verdict for verdict, count in counts.items() if 2 * count > len(held)), None)
    if winner is not None:
        reason = next(one.reason for one in held if one.verdict == winner)
        return Judgement(SCORED, winner, reason, verdicts, replies, "")
    failed = next((one for one in held if one.verdict is None), None)
    outcome, cause = (TIED, "as many for as against") if failed is None else (failed.outcome, failed.cause)
    return Judgement(outcome, None, "", verdicts, replies, cause)


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
