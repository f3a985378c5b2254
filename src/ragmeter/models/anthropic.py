"""Anthropic's messages: Claude models, at Anthropic's own address or behind a gateway that speaks the same format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ragmeter.models.http import HttpProvider
from ragmeter.models.port import ChatReply, Messages, picture_of

_LONGEST = 1024  # tokens of a reply: the format wants a limit, whether or not the caller gives one
_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
}


class AnthropicProvider(HttpProvider):
    """A model behind `/v1/messages`. There is no seed, no form of the reply and no log-probability in this format."""

    optional: ClassVar[Mapping[str, str]] = {"temperature": "temperature"}  # the newer models take none
    missing = frozenset({"seed", "response_format", "grammar", "logprobs", "top_logprobs"})

    def _address(self) -> str:
        return self.endpoint.url("messages" if self.endpoint.name.endswith("/v1") else "v1/messages")

    def _headers(self) -> dict[str, str]:
        return {"anthropic-version": self.endpoint.api_version}

    def _payload(self, messages: Messages, parameters: Mapping[str, object]) -> dict[str, object]:
        system = [message["content"] for message in messages if message["role"] == "system"]
        asked = (message for message in messages if message["role"] != "system")
        others = [{"role": message["role"], "content": _content(message)} for message in asked]
        payload: dict[str, object] = {"model": self.endpoint.model, "max_tokens": _LONGEST, "messages": others}
        payload |= parameters
        return payload | {"system": "\n\n".join(system)} if system else payload

    def _parse(self, document: Any) -> tuple[ChatReply, Any, Any]:
        stop = document.get("stop_reason")
        texts = [block["text"] for block in document["content"] if block["type"] == "text"]
        usage = document.get("usage") or {}
        reply = ChatReply(
            "".join(texts) if texts else None,
            None if stop is None else _FINISH.get(stop, str(stop)),
            "the model declined to answer" if stop == "refusal" else None,
        )
        return reply, usage.get("input_tokens"), usage.get("output_tokens")


def _content(message: Mapping[str, str]) -> object:
    """The text; with a picture, a list of both."""
    picture = picture_of(message)
    if picture is None:
        return message["content"]
    source = {"type": "base64", "media_type": picture[0], "data": picture[1]}
    return [{"type": "image", "source": source}, {"type": "text", "text": message["content"]}]
