"""What a target is, what it is asked, and what it answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol, Self

from ragmeter.effects.caller import GiveUp
from ragmeter.effects.journal import Reply
from ragmeter.effects.rounds import Identity
from ragmeter.io.cells import as_number, as_text, whole
from ragmeter.io.write import dumps
from ragmeter.table import TARGET_ERROR

#: Where an object that was retrieved keeps its id and its text.
_IDS, _TEXTS = ("id", "doc_id", "document_id", "_id", "title"), ("text", "content", "page_content", "snippet")


@dataclass(frozen=True)
class Question:
    """A row of the dataset, with what was said before it in its session."""

    qid: str
    text: str
    session_id: str | None = None
    turn: int = 0
    history: tuple[tuple[str, str], ...] = ()
    conversation_id: str | None = None

    def messages(self) -> list[dict[str, str]]:
        """The session so far and the question, as chat models want them."""
        said = [message for pair in self.history for message in zip(("user", "assistant"), pair, strict=True)]
        return [{"role": role, "content": content} for role, content in (*said, ("user", self.text))]


@dataclass(frozen=True)
class Answer:
    """What came back. `retrieved` and `contexts` are None where the target does not say.

    `conversation_id` is what the server calls the session from now on.
    """

    answer: str
    retrieved: list[str] | None = None
    contexts: list[str] | None = None
    latency_ms: float = 0.0
    time_to_first_token_ms: float | None = None
    conversation_id: str | None = None

    def as_reply(self, prompt_tokens: int | None = None, completion_tokens: int | None = None) -> Reply:
        """For the journal."""
        return Reply(dumps(asdict(self)), prompt_tokens, completion_tokens)

    @classmethod
    def from_reply(cls, reply: Reply) -> Self:
        """From the journal."""
        return cls(**json.loads(reply.body))


class Target(Protocol):
    """Answers questions. `name` says everything that its answers depend on, as far as that is known."""

    name: str

    async def __aenter__(self) -> Self:
        """Get ready."""

    async def __aexit__(self, *failure: object) -> None:
        """Let go."""

    async def answer(self, question: Question) -> Reply:
        """An answer, by `Answer.as_reply`; or TryAgain, or GiveUp."""

    def signature(self) -> dict[str, Any]:
        """What may be written down about it."""

    def identity(self) -> Identity:
        """What it is at this moment: an interrupted run goes on only if that is still the same."""


def failed(cause: str) -> GiveUp:
    """A reply that is none, and would be none again."""
    return GiveUp(TARGET_ERROR, " ".join(cause.split())[:300])


def read_answer(found: Any, latency_ms: float) -> Answer:
    """The answer in what a Python target returned: a text, or a dict with `answer` and more."""
    if isinstance(found, str):
        return Answer(whole(found), latency_ms=latency_ms)
    if not isinstance(found, Mapping):
        raise failed(f"the target returned {type(found).__name__}, and should return a text or a dict with an answer")
    answer = found.get("answer")
    if not isinstance(answer, str):
        what = f"{type(answer).__name__} as its answer" if "answer" in found else "no answer"
        raise failed(f"the target returned a dict with {what}; it has {', '.join(map(str, found)) or 'nothing'}")
    events = found.get("retrieved")
    events = found.get("events") if events is None else events
    try:
        given = as_number(found.get("latency_ms"))
    except ValueError:
        raise failed(f"latency_ms is {found['latency_ms']!r}, and should be a number") from None
    if given is not None and given < 0:
        raise failed(f"latency_ms is {given:g}, and can't be below 0")
    contexts = found.get("contexts")
    return Answer(
        whole(answer),
        None if events is None else ids_of(events),
        texts_of(events) if contexts is None else contexts_of(contexts),
        latency_ms if given is None else given,
    )


def ids_of(retrieved: Any) -> list[str]:
    """The ids of what was retrieved: texts as they are, objects by their id, title, or whatever they are."""
    return [_either(each, _IDS) or dumps(each, default=str) for each in _as_list(retrieved)]


def texts_of(retrieved: Any) -> list[str] | None:
    """The texts of what was retrieved, where it has some."""
    if not isinstance(retrieved, Sequence) or isinstance(retrieved, str):
        return None
    found = [_either(each, _TEXTS) for each in retrieved if isinstance(each, Mapping)]
    return [text for text in found if text] or None


def contexts_of(contexts: Any) -> list[str]:
    """The texts of what was retrieved, given as texts or as objects that have one."""
    return [_either(each, _TEXTS) or dumps(each, default=str) for each in _as_list(contexts)]


def _as_list(value: Any) -> list[Any]:
    if value is None or value is False or (isinstance(value, str | Mapping) and not value):
        return []  # nothing, however it is written
    if isinstance(value, str | Mapping) or not hasattr(value, "__iter__"):
        return [value]
    return list(value)


def _either(each: Any, keys: Sequence[str]) -> str:
    if isinstance(each, Mapping):
        each = next((each[key] for key in keys if each.get(key) is not None), None)
    elif hasattr(each, "__dict__"):
        each = next((getattr(each, key) for key in keys if getattr(each, key, None) is not None), None)
    return "" if each is None or isinstance(each, Mapping | list | tuple) else as_text(each) or ""


@dataclass
class Unseen:
    """Which paths into a reply have never led anywhere: said at the end, since it is likely a slip of the pen."""

    paths: set[str] = field(default_factory=set)
    found: set[str] = field(default_factory=set)
    replies: int = 0

    def never(self) -> list[str]:
        """The paths that no reply had, if any was read."""
        return sorted(self.paths - self.found) if self.replies else []
