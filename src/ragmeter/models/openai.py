"""Chat completions of any OpenAI-compatible endpoint: OpenAI, Azure, vLLM, llama.cpp, Ollama and the like."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from ragmeter.effects.network.wire import Response
from ragmeter.effects.replies.journal import Reply
from ragmeter.io.decoding import JsonObject
from ragmeter.models.http import HttpProvider
from ragmeter.models.port import ChatReply, Messages, first_token, picture_of


class OpenAIProvider(HttpProvider):
    """A model behind `/chat/completions`. An API version goes into the query, as Azure wants it."""

    optional: ClassVar[Mapping[str, str]] = {
        "response_format": "response_format|json_schema",
        "grammar": "grammar",
        "seed": "seed",
        "temperature": "temperature",
        "max_tokens": "max_tokens",
        "logprobs": "logprobs",
        "top_logprobs": "top_logprobs",
    }
    instead: ClassVar[Mapping[str, str]] = {"max_tokens": "max_completion_tokens"}

    def _address(self) -> str:
        version = self.endpoint.api_version
        return self.endpoint.url("chat/completions", {"api-version": version} if version else None)

    def _payload(self, messages: Messages, parameters: Mapping[str, object]) -> dict[str, object]:
        sent = [{"role": message["role"], "content": _content(message)} for message in messages]
        payload: dict[str, object] = {"model": self.endpoint.model, "messages": sent, **parameters}
        if "logprobs" in self.dropped:  # a server refuses to give several candidates of none
            payload.pop("top_logprobs", None)
        return payload

    def _failed(self, response: Response) -> Reply:
        if response.status == 400 and (message := _filtered(response.text)):
            return ChatReply(None, "content_filter", self._wire.clean(message)[:200]).as_reply(None, None, self.price)
        return super()._failed(response)

    def _parse(self, document: Any) -> tuple[ChatReply, Any, Any]:
        choice = document["choices"][0]
        message = choice["message"]
        if document.get("error") or choice.get("error") or choice.get("finish_reason") == "error":
            raise ValueError("a gateway's reply whose completion broke off")
        refusal, finish = message.get("refusal"), choice.get("finish_reason")
        usage = document.get("usage") or {}
        reply = ChatReply(
            _text(message.get("content")),
            None if finish is None else str(finish),
            str(refusal) if refusal else None,
            _logprobs(choice),
        )
        return reply, usage.get("prompt_tokens"), usage.get("completion_tokens")


def _content(message: Mapping[str, str]) -> object:
    """The text; with a picture, a list of both."""
    if picture_of(message) is None:
        return message["content"]
    return [{"type": "image_url", "image_url": {"url": message["image"]}}, {"type": "text", "text": message["content"]}]


def _filtered(text: str) -> str | None:
    """Azure answers a prompt that its filter stops with an error: that is a refusal, and no failure."""
    try:
        error = json.loads(text)["error"]
        return str(error["message"]) if error["code"] == "content_filter" else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _text(content: Any) -> str | None:
    if content is None or isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if part.get("type") == "text")


def _logprobs(choice: JsonObject) -> dict[str, float] | None:
    try:
        first = choice["logprobs"]["content"][0]
        candidates = [first, *(first.get("top_logprobs") or [])]
        return first_token((candidate.get("token"), candidate.get("logprob")) for candidate in candidates)
    except (KeyError, IndexError, TypeError, AttributeError):
        return None
