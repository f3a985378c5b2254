"""A provider without a model, for tests: it replies what it was made with, and keeps what it was asked."""

from __future__ import annotations

import inspect
import re
import secrets
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any, Self

from ragmeter.definition.judge_columns import DECLARED
from ragmeter.effects.replies.journal import Reply
from ragmeter.errors import UsageError, did_you_mean
from ragmeter.io.titles import text_column
from ragmeter.models.port import ChatReply, Messages, Parameters
from ragmeter.models.prices import Price
from ragmeter.naming import Signature

_FENCED = re.compile(r"^([^\n:]+): \[([0-9a-f]{8})\] (.*?) \[\2\]$", re.DOTALL | re.MULTILINE)
_TEXTS = ("question", "reference", "answer")
_FREE = Price(0.0, 0.0)
#: The parameter of a function that gets the whole prompt.
_PROMPT = "prompt"
#: A name that is as similar to another as this is a slip of the pen.
_SLIP = 0.8

FakeReply = str | ChatReply | Exception


class FakeProvider:
    """Replies without a network.

    Args:
        replies: a text that is always replied; a list of replies, one for each call; or a function. Its parameters
            name the texts of the prompt that it gets: `question`, `reference`, `answer`, or another field. A single
            parameter `prompt`, or of any name that is like none of these, gets the whole prompt. A reply is a text, a
            `ChatReply` (a refusal, a reply that was cut off, log-probabilities), or an exception to raise.
        model: the model's name.
        price: dollars for a million tokens; a token is 4 bytes. By default replies are free.

    `prompts` and `parameters` have what was asked, call by call.
    """

    def __init__(
        self,
        replies: FakeReply | Iterable[FakeReply] | Callable[..., FakeReply],
        *,
        model: str = "fake",
        price: Price | None = _FREE,
    ) -> None:
        self.model = model
        self.price = price
        self.dropped: set[str] = set()
        self.prompts: list[str] = []
        self.parameters: list[Parameters] = []
        self._reply = _function(replies)
        self._digest = secrets.token_hex(16)

    def __repr__(self) -> str:
        return f"FakeProvider(model={self.model!r}, calls={len(self.prompts)})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failure: object) -> None:
        """There is nothing to close."""

    def check(self) -> None:
        """Do nothing: a fake always works."""

    def signature(self) -> Signature:
        """The signature of a fake, which has no endpoint."""
        return {"model": self.model, "endpoint": "", "provider": "fake"}

    def digests(self) -> dict[str, str]:
        """A random text: what one fake replied is never taken from a journal for another's reply."""
        return {"fake": self._digest}

    async def send(self, messages: Messages, parameters: Parameters) -> Reply:
        """The next reply."""
        prompt = "\n\n".join(message["content"] for message in messages)
        self.prompts.append(prompt)
        self.parameters.append(parameters.copy())
        reply = self._reply(prompt)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, str):
            reply = ChatReply(reply)
        if not isinstance(reply, ChatReply):
            raise UsageError(f"a fake reply must be a text or a ChatReply, got {type(reply).__name__}")
        return reply.as_reply(_tokens(prompt), _tokens(reply.content or ""), self.price)


def fenced_texts(prompt: str) -> dict[str, str]:
    """The texts in a prompt, by the names of their fences and by the table's names."""
    wordings = [wording for asked in DECLARED.values() for wording in (asked, asked.rephrased) if wording is not None]
    columns = {label: column for wording in wordings for column, label in wording.labels.items()}
    names = {name: columns.get(name, name) for name, _, _ in _FENCED.findall(prompt)}
    return {
        text_column(names[name]) or names[name]: text.replace("\u200b", "") for name, _, text in _FENCED.findall(prompt)
    }


def _function(replies: Any) -> Callable[[str], Any]:
    """A function of the prompt, made of whatever was given as replies."""
    if isinstance(replies, str | ChatReply | Exception):
        return lambda prompt: replies
    if not callable(replies):
        return _Listed(list(replies))
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = inspect.signature(replies).parameters.values()
    names = [
        parameter.name for parameter in parameters if parameter.kind in named and parameter.default is parameter.empty
    ]
    if not names or names == [_PROMPT]:
        prompt_to_reply: Callable[[str], Any] = replies
        return prompt_to_reply

    def of_texts(prompt: str) -> Any:
        texts = fenced_texts(prompt)
        column_of = {name: text_column(name) or name for name in names}
        lacking = [name for name in names if column_of[name] not in texts]
        if len(names) == 1 and lacking and not get_close_matches(names[0], [*texts, *_TEXTS, _PROMPT], 1, _SLIP):
            return replies(prompt)
        if lacking:
            meant = did_you_mean(lacking[0], [*texts, _PROMPT])
            hint = f"it has {', '.join(texts) or 'no texts'}; a single parameter `{_PROMPT}` gets the whole"
            raise UsageError(f"the prompt has no {', '.join(lacking)}{meant}", hint=hint)
        return replies(**{name: texts[column] for name, column in column_of.items()})

    return of_texts


class _Listed:
    """Replies from a list, one after another."""

    def __init__(self, replies: list[Any]) -> None:
        self._replies = replies
        self._next = 0

    def __call__(self, prompt: str) -> Any:
        self._next += 1
        if self._next > len(self._replies):
            raise UsageError(f"FakeProvider was asked {self._next} times, and has {len(self._replies)} replies")
        return self._replies[self._next - 1]


def _tokens(text: str) -> int:
    return -(-len(text.encode("utf-8", "replace")) // 4)
