"""What a provider of chat models is, and what its replies hold."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypedDict

from ragmeter.definition.judge_columns import ResponseFormat
from ragmeter.effects.replies.journal import Reply
from ragmeter.errors import UsageError
from ragmeter.io.write import dumps
from ragmeter.models.prices import Price
from ragmeter.naming import Signature

_ROUNDING = 1e-3  # how far above 0 a log-probability may be
_TOO_BIG = 1e300  # no log-probability; an integer of 400 digits is no float either
#: Chat messages: `role` is system, user or assistant.
#: One with a key `image` has a picture, as a data address.
Messages = list[dict[str, str]]


def picture_of(message: Mapping[str, str]) -> tuple[str, str] | None:
    """The media type and the base64 of a message's picture; None where it has none."""
    if "image" not in message:
        return None
    kind, _, content = message["image"].removeprefix("data:").partition(";base64,")
    return kind, content


class Parameters(TypedDict, total=False):
    """The parameters of a request, under OpenAI's names. A provider leaves out those that its server does not take."""

    temperature: float
    seed: int
    max_tokens: int
    response_format: ResponseFormat
    grammar: str
    logprobs: bool
    top_logprobs: int


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What a model replied, whoever runs it.

    `finish_reason` is `stop`, `length` (cut off at max_tokens), `refusal`, `content_filter`, or the server's own word.
    `refusal` says why there is no reply that counts. `logprobs` has the candidates for the first token of the reply and
    their log-probabilities, None where the server gives none.
    """

    content: str | None
    finish_reason: str | None = "stop"
    refusal: str | None = None
    logprobs: Mapping[str, float] | None = None

    @classmethod
    def from_reply(cls, reply: Reply) -> Self:
        """A reply that the journal has."""
        body = json.loads(reply.body)
        logprobs = body["logprobs"] or {}
        is_sound = all(map(_is_logprob, logprobs.values()))
        return cls(body["content"], body["finish_reason"], body["refusal"], (is_sound and logprobs) or None)

    def as_reply(self, prompt_tokens: Any, completion_tokens: Any, price: Price | None) -> Reply:
        """The reply as the journal keeps it. A count of tokens that is no number counts as unknown."""
        for token, value in (self.logprobs or {}).items():
            if not _is_logprob(value):
                raise UsageError(
                    f"the log-probability of {token!r} must be a finite number of at most 0, got {value!r}"
                )
        asked, answered = _count(prompt_tokens), _count(completion_tokens)
        cost = price.of(asked, answered) if price and asked is not None and answered is not None else None
        record = {
            "content": self.content, "finish_reason": self.finish_reason, "refusal": self.refusal,
            "logprobs": self.logprobs,
        }  # fmt: skip
        return Reply(dumps(record), asked, answered, cost)

    def cleaned(self, clean: Callable[[str], str]) -> ChatReply:
        """The reply with all of its texts passed through `clean`."""
        content, finish, refusal = (
            None if text is None else clean(text) for text in (self.content, self.finish_reason, self.refusal)
        )
        logprobs = self.logprobs and {clean(token): value for token, value in self.logprobs.items()}
        return ChatReply(content, finish, refusal, logprobs)

    @property
    def declined(self) -> str | None:
        """Why the model or its content filter declined; None if neither did."""
        filtered = "the content filter ended the reply" if self.finish_reason == "content_filter" else None
        return self.refusal or filtered

    @property
    def cut_off(self) -> bool:
        """Whether the reply ended at max_tokens."""
        return self.finish_reason == "length"


class ChatModel(Protocol):
    """A model that can be asked. Nothing here opens a connection."""

    def check(self) -> None:
        """Raise UsageError where asking can't work, before anything is asked."""

    def signature(self) -> Signature:
        """What replies depend on besides messages and parameters, as it may be written down."""

    def digests(self) -> dict[str, str]:
        """Hashes of what replies depend on and may not be written down. They belong into the key of a reply."""


class ChatProvider(ChatModel, Protocol):
    """Sends chat requests to one model. Use it as a context: it holds the connections.

    `dropped` has the parameters that were asked for and not sent, because the server does not take them.
    """

    price: Price | None
    dropped: set[str]

    async def __aenter__(self) -> Self:
        """Open the connections."""

    async def __aexit__(self, *failure: object) -> None:
        """Close them."""

    async def send(self, messages: Messages, parameters: Parameters) -> Reply:
        """One reply; its body is a `ChatReply` in JSON.

        Parameters have OpenAI's names: temperature, seed, max_tokens, response_format, logprobs, top_logprobs. The
        hidden thoughts of a model count into max_tokens. Raises TryAgain where it may
        work later, GiveUp where it will not.
        """


def first_token(candidates: Iterable[tuple[Any, Any]]) -> dict[str, float] | None:
    """Log-probabilities by token, from pairs as a server gave them. What is no text or no number is left out, and so is
    what is impossible (minus infinity). One above 0, or NaN, says that the others are none either.
    """
    logprobs: dict[str, float] = {}
    for token, value in candidates:
        if not isinstance(token, str) or not isinstance(value, int | float):
            continue
        if not value <= _ROUNDING:
            return None
        if _is_logprob(value):
            logprobs[token] = max(float(value), logprobs.get(token, -math.inf))
    return logprobs or None


def _is_logprob(value: Any) -> bool:
    """Whether this can be a log-probability."""
    return isinstance(value, int | float) and -_TOO_BIG < value <= _ROUNDING


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53 else None
