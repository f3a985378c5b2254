"""Gemini's generateContent: Google's models at their own address, or behind a gateway that speaks the same format."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar
from urllib.parse import quote

from ragmeter.effects.network.wire import Response
from ragmeter.effects.replies.journal import Reply
from ragmeter.io.decoding import JsonObject
from ragmeter.models.http import HttpProvider
from ragmeter.models.port import ChatReply, Messages, first_token, picture_of

_FIELDS = {
    "temperature": "temperature",
    "seed": "seed",
    "max_tokens": "maxOutputTokens",
    "logprobs": "responseLogprobs",
    "top_logprobs": "logprobs",
}
_FINISH = {"STOP": "stop", "MAX_TOKENS": "length"}
_BLOCKED = frozenset({"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"})
_RETRY_DELAY = re.compile(r'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"')


class GeminiProvider(HttpProvider):
    """A model behind `:generateContent`. The API version is a part of the path."""

    optional: ClassVar[Mapping[str, str]] = {
        "seed": "seed",
        "temperature": "temperature",
        "logprobs": "logprobs|responseLogprobs|response_logprobs",
    }
    missing = frozenset({"response_format", "grammar"})

    def _address(self) -> str:
        version = self.endpoint.api_version
        model = quote(self.endpoint.model, safe="/")
        path = f"{model if '/' in model else f'models/{model}'}:generateContent"
        return self.endpoint.url(path if self.endpoint.name.endswith(f"/{version}") else f"{version}/{path}")

    def _payload(self, messages: Messages, parameters: Mapping[str, object]) -> dict[str, object]:
        system = [{"text": message["content"]} for message in messages if message["role"] == "system"]
        contents = [
            {"role": "model" if message["role"] == "assistant" else "user", "parts": _parts(message)}
            for message in messages
            if message["role"] != "system"
        ]
        config = {_FIELDS.get(name, name): value for name, value in parameters.items()}
        if "logprobs" in self.dropped:  # the number of candidates means nothing without them
            config.pop("logprobs", None)
        payload: dict[str, object] = {"contents": contents, "generationConfig": config}
        return payload | {"systemInstruction": {"parts": system}} if system else payload

    def _failed(self, response: Response) -> Reply:
        delay = _RETRY_DELAY.search(response.text[:4096])
        if delay and "Retry-After" not in response.headers:
            response = replace(response, headers={**response.headers, "Retry-After": delay[1]})
        return super()._failed(response)

    def _hints(self, response: Response) -> dict[int, str]:
        hints = super()._hints(response)
        return hints | {400: hints[401]} if "API_KEY_INVALID" in response.text else hints

    def _parse(self, document: Any) -> tuple[ChatReply, Any, Any]:
        usage = document.get("usageMetadata") or {}
        answered = usage.get("candidatesTokenCount", 0)
        if isinstance(answered, int) and isinstance(thoughts := usage.get("thoughtsTokenCount", 0), int):
            answered += thoughts  # billed as output
        counts = usage.get("promptTokenCount"), answered if usage else None
        blocked = (document.get("promptFeedback") or {}).get("blockReason")
        if blocked:
            return ChatReply(None, "refusal", f"the prompt was blocked: {blocked}"), *counts
        candidate = document["candidates"][0]
        finish = candidate.get("finishReason")
        if finish in _BLOCKED:
            reply = ChatReply(_text(candidate), "refusal", f"the reply was blocked: {finish}")
        else:
            reason = None if finish is None else _FINISH.get(finish, str(finish))
            reply = ChatReply(_text(candidate), reason, None, _logprobs(candidate))
        return reply, *counts


def _parts(message: Mapping[str, str]) -> list[object]:
    """The picture, if there is one, and the text."""
    picture = picture_of(message)
    shown = [] if picture is None else [{"inlineData": {"mimeType": picture[0], "data": picture[1]}}]
    return [*shown, {"text": message["content"]}]


def _text(candidate: JsonObject) -> str | None:
    """The reply's text. A candidate that was cut off in its thoughts has none."""
    parts = (candidate.get("content") or {}).get("parts") or []
    texts = [part["text"] for part in parts if "text" in part and not part.get("thought")]
    return "".join(texts) if texts else None


def _logprobs(candidate: JsonObject) -> dict[str, float] | None:
    try:
        result = candidate["logprobsResult"]
        chosen = result.get("chosenCandidates") or []
        top = result.get("topCandidates") or []
        candidates = [*chosen[:1], *(top[0].get("candidates") or [] if top else [])]
        return first_token((candidate.get("token"), candidate.get("logProbability")) for candidate in candidates)
    except (KeyError, IndexError, TypeError, AttributeError):
        return None
