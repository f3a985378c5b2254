"""Embedding models behind any OpenAI-compatible endpoint."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ragmeter.effects.limits.caller import Caller, Failure, TryAgain
from ragmeter.effects.limits.calls import Limits, run_calls
from ragmeter.effects.limits.pace import Retries
from ragmeter.effects.network.endpoint import Endpoint
from ragmeter.effects.network.vendors import OPENAI
from ragmeter.effects.network.wire import Wire
from ragmeter.effects.process.loop import for_each
from ragmeter.effects.replies.journal import Reply
from ragmeter.embedders.port import SERVER, Flags, Identity, Vectors
from ragmeter.errors import EndpointError, UsageError
from ragmeter.hints import by_caller, option, parameter
from ragmeter.io.write import dumps
from ragmeter.table import EMBEDDING_ERROR

_BATCH = 64  # texts in one request
_AT_ONCE = 8  # requests under way
_LONGEST_REASON = 300  # characters: an error may quote what the server sent
_HINTS = {
    400: "one of the texts may be too long for the model: name a model that takes longer ones",
    401: "the key was not accepted: check OPENAI_API_KEY",
    403: "the key may not use this model: check OPENAI_API_KEY and the model's name",
    404: "there is no such model or address: check the model's name and " + parameter("embedding_base_url"),
}


class Server:
    """A model that a server runs. Whether the server truncates long texts is not known."""

    def __init__(self, model: str, base_url: str | None, prefix: str, retries: Retries = Retries()) -> None:  # noqa: B008
        self.endpoint = Endpoint.of(model.removeprefix(SERVER), base_url, asked_by="embedding")
        if base_url is not None and "?" in base_url:
            raise UsageError(
                f"{parameter('embedding_base_url')} has a query, which would be written with the metric's name",
                hint="put a key into OPENAI_API_KEY",
            )
        self.identity = Identity("openai", model, None, prefix, self.endpoint.name)
        self._retries = retries

    def embed(self, texts: list[str]) -> tuple[Vectors, Flags]:
        """The server's vectors, in concurrent requests of a few texts each."""
        if not self.endpoint.key and self.endpoint.base_url == OPENAI.base_url:
            raise UsageError(
                f"there is no key for {self.identity.model}",
                hint=f"set OPENAI_API_KEY, or name another endpoint: {option('embedding_base_url')}",
            )
        parts = [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
        vectors: list[Vectors] = [np.zeros((0, 0), dtype=np.float32)] * len(parts)

        async def work(caller: Caller) -> None:
            async with self.endpoint.wire(EMBEDDING_ERROR) as wire:

                async def embed_part(place: int) -> None:
                    async def send() -> Reply:
                        vectors[place] = await self._ask(wire, parts[place])
                        return Reply("")

                    reply = await caller.attempt(send)
                    if isinstance(reply, Failure):
                        raise _lost(self.endpoint, reply)

                await for_each(range(len(parts)), embed_part, _AT_ONCE)

        run_calls(work, Limits(_AT_ONCE, self._retries))
        if len({part.shape[1] for part in vectors}) != 1:
            raise EndpointError(f"{self.endpoint.name} sent vectors of different lengths")
        return np.concatenate(vectors), np.zeros(len(texts), dtype=np.bool_)

    async def _ask(self, wire: Wire, texts: list[str]) -> Vectors:
        payload = {
            "model": self.endpoint.model,
            "input": [self.identity.prefix + text for text in texts],
            "encoding_format": "float",
        }
        response = await wire.request("POST", self.endpoint.url("embeddings"), dumps(payload).encode())
        if response.status != 200:
            raise wire.failure(response, _HINTS)
        try:
            return _vectors(json.loads(response.text), len(texts))
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            reason = wire.clean(f"the reply has no embeddings: {type(error).__name__}: {error}")[:_LONGEST_REASON]
            raise TryAgain(EMBEDDING_ERROR, reason, billed=True) from None


def _vectors(document: Any, count: int) -> Vectors:
    """The reply's vectors in the order of the texts; the reply may have another order."""
    items = document["data"]
    places = [item.get("index", place) for place, item in enumerate(items)]
    if sorted(places) != list(range(count)):
        raise ValueError(f"{count} texts were sent, got vectors for {len(items)}")
    first = items[0]["embedding"]
    vectors = np.empty((count, len(first)), dtype=np.float32)
    for place, item in zip(places, items, strict=True):
        if len(item["embedding"]) != len(first):
            raise ValueError("vectors of different lengths")
        vectors[place] = item["embedding"]
    return vectors


def _lost(endpoint: Endpoint, failure: Failure) -> EndpointError:
    again = by_caller("run the same command again", "make the same call again")
    return EndpointError(
        f"{endpoint.name}: {failure.cause}",
        hint=f"what was embedded so far is in the cache: {again} to go on from there",
    )
