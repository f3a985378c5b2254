"""What a target is, what it is asked, and what it answers."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Self

from ragmeter.effects.limits.caller import GiveUp
from ragmeter.effects.replies.journal import Reply
from ragmeter.effects.replies.rounds import Identity
from ragmeter.io.write import dumps
from ragmeter.naming import Signature
from ragmeter.table import TARGET_ERROR

if TYPE_CHECKING:
    from ragmeter.models.prices import Price

#: After so many replies that lack what a path leads to, the path is taken for misspelt: more would be paid for in vain.
WRONG_PATH_AFTER = 10


@dataclass(frozen=True)
class Question:
    """A row of the dataset, with the earlier turns of its session."""

    qid: str
    text: str
    session_id: str | None = None
    turn: int = 0
    history: tuple[tuple[str, str], ...] = ()
    conversation_id: str | None = None
    #: The how-maniest time it is asked.
    repeat: int = 1

    def messages(self) -> list[dict[str, str]]:
        """The session so far and the question, as chat models want them."""
        earlier = [turn for pair in self.history for turn in zip(("user", "assistant"), pair, strict=True)]
        return [{"role": role, "content": content} for role, content in (*earlier, ("user", self.text))]


def session_of(session_id: str | None, time: int) -> str | None:
    """The session of a question that is asked for the how-maniest time: each time is a conversation of its own."""
    return f"{session_id}#{time}" if session_id and time > 1 else session_id or None


@dataclass(frozen=True)
class Answer:
    """An answer. `retrieved` and `contexts` are None where the target does not report them.

    `only_retrieved`: the target is a retriever, which gives no answer. `retrieved_scores` are the system's own, one for
    each of `retrieved`. `conversation_id` is the id that the server gave the session; the next turn sends it. `lacks`
    are the user's paths that the reply has not, by their options, each with what is there instead. `columns` are cells
    of columns of the run, under names that the target chose: texts, or numbers.
    """

    answer: str
    retrieved: list[str] | None = None
    contexts: list[str] | None = None
    latency_ms: float = 0.0
    time_to_first_token_ms: float | None = None
    conversation_id: str | None = None
    retrieved_scores: list[float | None] | None = None
    only_retrieved: bool = False
    lacks: dict[str, str] = field(default_factory=dict)
    columns: dict[str, str | float] = field(default_factory=dict)

    def as_reply(self, prompt_tokens: int | None = None, completion_tokens: int | None = None) -> Reply:
        """The answer as the journal keeps it."""
        return Reply(dumps(asdict(self)), prompt_tokens, completion_tokens)

    @classmethod
    def from_reply(cls, reply: Reply) -> Self:
        """An answer that the journal has."""
        return cls(**json.loads(reply.body))

    def cleaned(self, clean: Callable[[str], str]) -> Answer:
        """The answer with all of its texts passed through `clean`."""
        return replace(
            self,
            answer=clean(self.answer),
            retrieved=None if self.retrieved is None else list(map(clean, self.retrieved)),
            contexts=None if self.contexts is None else list(map(clean, self.contexts)),
            conversation_id=None if self.conversation_id is None else clean(self.conversation_id),
            lacks={name: clean(text) for name, text in self.lacks.items()},
            columns={
                clean(name): clean(value) if isinstance(value, str) else value for name, value in self.columns.items()
            },
        )


class Target(ABC):
    """A system to ask. A subclass sets `name` and writes `answer` and `signature`; the rest has defaults.

    `name` says everything that the answers depend on, as far as that is known. `price` is None where it is not known;
    then no budget in dollars can be kept.
    """

    name: str
    price: Price | None = None
    #: Calls at once for each worker. A target that has more than one keeps to the number of workers itself.
    overlap = 1

    def limit(self, workers: int) -> None:
        """Set how many questions may be under way at once; called before the first one."""
        return

    async def __aenter__(self) -> Self:
        """Open connections, before the first question."""
        return self

    async def __aexit__(self, *failure: object) -> None:
        """Close them, after the last question."""
        return

    @abstractmethod
    async def answer(self, question: Question) -> Reply:
        """Return `Answer.as_reply()`; raise TryAgain or GiveUp where there is no answer."""

    @abstractmethod
    def signature(self) -> Signature:
        """What the run's manifest says about the target. No secrets."""

    def identity(self) -> Identity:
        """What the target is now: an interrupted run is resumed only if this has not changed.

        The default is not certain: a service can change behind the same name.
        """
        return Identity(self.name, self.signature(), certain=False)

    def worst(self, question: Question) -> float:
        """The most that one question can cost, in dollars."""
        return 0.0

    async def end(self, session_id: str | None) -> None:
        """Called after the last question of a session."""
        return


def failed(cause: str) -> GiveUp:
    """The failure for a reply without a usable answer; asking again would not help."""
    return GiveUp(TARGET_ERROR, " ".join(cause.split())[:300])
