"""A language model itself as a target: the baseline without retrieval."""

from __future__ import annotations

import time
from typing import Self

from ragmeter.effects.network.endpoint import Endpoint
from ragmeter.effects.replies.journal import Reply
from ragmeter.io.write import dumps
from ragmeter.models.port import ChatReply, Parameters
from ragmeter.models.prices import Price
from ragmeter.models.registry import open_provider
from ragmeter.naming import Signature
from ragmeter.table import TARGET_ERROR
from ragmeter.targets.port import Answer, Question, Target, failed


class ModelTarget(Target):
    """Asks a chat model the bare question; `retrieved` is always empty."""

    def __init__(self, endpoint: Endpoint, price: Price | None = None, *, max_tokens: int = 1024) -> None:
        endpoint.check()
        self.endpoint = endpoint
        self.price = price
        self.max_tokens = max_tokens
        self._client = open_provider(endpoint, price, outcome=TARGET_ERROR)
        self.name = dumps([self.signature(), endpoint.base_url])

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self._client.__aexit__(*failure)

    def signature(self) -> Signature:
        """Model, endpoint and parameters."""
        return {
            "kind": self.endpoint.vendor.name,
            **self.endpoint.signature(),
            "temperature": 0,
            "max_tokens": self.max_tokens,
        }

    async def answer(self, question: Question) -> Reply:
        """The model's reply to the session so far and the question."""
        begun = time.perf_counter()
        parameters: Parameters = {"temperature": 0, "seed": 0, "max_tokens": self.max_tokens}
        reply = await self._client.send(question.messages(), parameters)
        chat_reply = ChatReply.from_reply(reply)
        if chat_reply.refusal or chat_reply.content is None:
            raise failed(f"the model gave no answer: {chat_reply.refusal or chat_reply.finish_reason}")
        answer = Answer(chat_reply.content, [], None, (time.perf_counter() - begun) * 1000)
        return Reply(answer.as_reply().body, reply.prompt_tokens, reply.completion_tokens, reply.cost)

    def worst(self, question: Question) -> float:
        """The most that one question can cost: a token has at least one byte."""
        if self.price is None:
            return 0.0
        size = sum(len(message["content"].encode("utf-8", "replace")) for message in question.messages())
        return self.price.of(size + 50, self.max_tokens)
