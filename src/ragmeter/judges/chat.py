"""Chat completions of any OpenAI-compatible endpoint.

Servers differ in what they take. A parameter that one refuses by name is left out from then on, and `dropped` says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Self

from ragmeter.effects.caller import TryAgain
from ragmeter.effects.journal import Reply
from ragmeter.effects.wire import Endpoint
from ragmeter.hints import parameter
from ragmeter.io.write import dumps
from ragmeter.judges.prices import Price
from ragmeter.table import JUDGE_ERROR

#: What a server may refuse, and what to send in its place.
_OPTIONAL = {
    "response_format": None,
    "seed": None,
    "temperature": None,
    "max_tokens": "max_completion_tokens",
    "top_logprobs": None,
    "logprobs": None,
}
_UNKNOWN = (
    "(unsupported|not supported|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|not available|extra)"
)
_HINTS = {
    401: "the key was not accepted: look at OPENAI_API_KEY",
    403: "the key may not use this model: look at OPENAI_API_KEY and the model's name",
    404: "there is no such model or address: look at the model's name and " + parameter("base_url"),
}


class ChatClient:
    """Sends chat requests. Use it as a context: it holds the connections."""

    def __init__(self, endpoint: Endpoint, price: Price | None = None, *, outcome: str = JUDGE_ERROR) -> None:
        self.endpoint = endpoint
        self.price = price
        self.dropped: set[str] = set()
        self._url = endpoint.url("chat/completions")
        self._wire = endpoint.wire(outcome)

    async def __aenter__(self) -> Self:
        await self._wire.__aenter__()
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self._wire.__aexit__(*failure)

    async def send(self, messages: list[dict[str, str]], parameters: Mapping[str, Any]) -> Reply:
        """One chat completion. The reply's body is JSON: `content`, `finish_reason` and `refusal`."""
        given = {
            (_OPTIONAL[name] or name) if name in self.dropped else name: value
            for name, value in parameters.items()
            if name not in self.dropped or _OPTIONAL[name]
        }
        payload = {"model": self.endpoint.model, "messages": messages, **given}
        response = await self._wire.request("POST", self._url, dumps(payload).encode("utf-8", "replace"))
        if response.status == 200:
            return self._read(response.text)
        if response.status in (400, 422) and (refused := _refused(response.text, given)):
            self.dropped.add(refused)
            raise TryAgain(self._wire.outcome, f"the server does not take {refused}", at_once=True)
        raise self._wire.failure(response, _HINTS)

    def _read(self, text: str) -> Reply:
        """What the server said, if it is a chat completion at all."""
        try:
            document = json.loads(text)
            choice = document["choices"][0]
            message = choice["message"]
            content = _text(message.get("content"))
            refusal, finish = message.get("refusal"), choice.get("finish_reason")
            kept = {
                "content": None if content is None else self._wire.clean(content),
                "finish_reason": None if finish is None else self._wire.clean(str(finish)),
                "refusal": self._wire.clean(str(refusal)) if refusal else None,
            }
            usage = document.get("usage") or {}
            asked, answered = (_count(usage.get(f"{kind}_tokens")) for kind in ("prompt", "completion"))
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
            said = " ".join(self._wire.clean(text[:2000]).split())[:100] or "nothing"
            raise TryAgain(self._wire.outcome, f"the reply is not a chat completion: {said}", billed=True) from None
        cost = self.price.of(asked, answered) if self.price and asked is not None and answered is not None else None
        return Reply(dumps(kept), asked, answered, cost)


def _refused(text: str, sent: Mapping[str, Any]) -> str:
    """The optional parameter that a server does not take, if that is what its error says.

    An error may name a parameter for other reasons: a text that is too long for max_tokens, or that holds the word.
    """
    for name in _OPTIONAL:
        words = rf"{name}|json_schema" if name == "response_format" else name
        said = rf"{_UNKNOWN}[^.;{{}}]{{0,60}}\b({words})\b|\b({words})\b[^.;{{}}]{{0,60}}{_UNKNOWN}"
        if name in sent and re.search(said, text[:4096], re.IGNORECASE):
            return name
    return ""


def _text(content: Any) -> str | None:
    if content is None or isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if part.get("type") == "text")


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53 else None
