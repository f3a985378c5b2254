"""The agent answers: conversations side by side in batches, the turns of each one after another.

An answer is in the journal before the next turn is asked. Where a batch fails, its conversations are asked one by one,
so that one bad question takes no other with it; a conversation whose turn failed goes no further. The agent is called
from one thread, one batch after another, unless somebody asks for more: a model on a GPU, or an agent that keeps notes,
is not made for two calls at once.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Protocol

from ragmeter.compat.crag.dataset_utils import Conversation
from ragmeter.effects.caller import STOPPED, Caller, Failure, GiveUp, TryAgain
from ragmeter.effects.journal import Reply
from ragmeter.effects.loop import Threads, for_each
from ragmeter.effects.rounds import Round
from ragmeter.errors import describe
from ragmeter.io.cells import whole
from ragmeter.io.write import dumps
from ragmeter.table import TARGET_ERROR


class Agent(Protocol):
    """What answers questions about images."""

    def get_batch_size(self) -> int:
        """How many conversations it takes at once."""

    def batch_generate_response(
        self, queries: list[str], images: list[Any], message_histories: list[list[dict[str, str]]]
    ) -> list[str]:
        """One answer for each query."""


@dataclass
class Progress:
    """One conversation on its way: what was answered so far, and why it stopped if it did."""

    conversation: Conversation
    answers: list[str] = field(default_factory=list)
    failure: Failure | None = None

    def history(self) -> list[dict[str, str]]:
        """The messages so far."""
        pairs = zip(self.conversation.questions, self.answers, strict=False)
        return [
            message
            for question, answer in pairs
            for message in ({"role": "user", "content": question.query}, {"role": "assistant", "content": answer})
        ]

    def turns(self) -> Iterator[dict[str, Any]]:
        """The rows of turn data. A turn without an answer says why in `error`."""
        questions = self.conversation.questions
        for index, question in enumerate(questions):
            answered = index < len(self.answers)
            row: dict[str, Any] = {
                "session_id": self.conversation.session_id,
                "interaction_id": question.interaction_id,
                "turn_idx": index,
                "is_ego": self.conversation.is_ego,
                "image_quality": question.image_quality,
                "query_category": question.query_category,
                "domain": question.domain,
                "dynamism": question.dynamism,
                "query": question.query,
                "ground_truth": question.ground_truth,
                "agent_response": self.answers[index] if answered else None,
                "total_turn_count": len(questions),
                "interaction_id_history": [earlier.interaction_id for earlier in questions[:index]],
            }
            if not answered and self.failure is not None:
                first = index == len(self.answers)
                row["error"] = self.failure.cause if first else "an earlier turn of the conversation has no answer"
                row["outcome"] = self.failure.outcome
            yield row


class Generation:
    """Has an agent answer a dataset."""

    def __init__(
        self, agent: Agent, caller: Caller, shorten: Callable[[str], str], current: Round | None = None
    ) -> None:
        """`current` is the round that answers are kept in; without one they are not kept."""
        self.agent = agent
        self.caller = caller
        self.shorten = shorten
        self.round = current

    async def run(
        self,
        conversations: Iterable[Conversation],
        size: int,
        workers: int,
        advance: Callable[[int], None],
        finished: Callable[[int], None] = lambda conversations: None,
    ) -> list[Progress]:
        """Answer every turn of every conversation, by calls from that many threads; in the dataset's order.

        `advance` is called with each number of turns that are done, `finished` with that of conversations.
        """
        self.threads = Threads(workers)
        found: dict[int, list[Progress]] = {}

        async def one(numbered: tuple[int, tuple[Conversation, ...]]) -> None:
            number, batch = numbered
            found[number] = [Progress(conversation) for conversation in batch]
            await self._batch(found[number], advance)
            finished(len(batch))

        try:
            await for_each(enumerate(_batches(conversations, size)), one, workers)
        finally:
            self.threads.close()
        return [progress for _, batch in sorted(found.items()) for progress in batch]

    async def _batch(self, batch: list[Progress], advance: Callable[[int], None]) -> None:
        for index in range(max(len(progress.conversation.questions) for progress in batch)):
            waiting = [p for p in batch if p.failure is None and index < len(p.conversation.questions)]
            asked = []
            for progress in waiting:
                known = None if self.round is None else self.caller.recorded(self._key(self.round, progress))
                if known is None:
                    asked.append(progress)
                else:
                    progress.answers.append(self.shorten(json.loads(known.body)["response"]))
                    advance(1)
            if asked:
                await self._ask(asked, advance)

    async def _ask(self, asked: list[Progress], advance: Callable[[int], None]) -> None:
        """Ask the next turn of some conversations at once; if that fails, each by itself."""
        if len(asked) > 1:
            found = await self.caller.attempt(lambda: self._send(asked, alone=False), last_resort=False)
            if isinstance(found, Reply):
                await self._keep(asked, found, advance)
                return
        for progress in asked:
            alone = [progress]
            found = await self.caller.attempt(lambda alone=alone: self._send(alone, alone=True))  # type: ignore[misc]
            if isinstance(found, Reply):
                await self._keep(alone, found, advance)
            else:
                progress.failure = found
                if found.outcome != STOPPED:
                    advance(len(progress.conversation.questions) - len(progress.answers))

    async def _send(self, asked: Sequence[Progress], *, alone: bool) -> Reply:
        queries = [progress.conversation.questions[len(progress.answers)].query for progress in asked]
        images = [progress.conversation.image for progress in asked]
        histories = [progress.history() for progress in asked]
        try:
            responses: Any = await self.threads.call(self.agent.batch_generate_response, queries, images, histories)
        except (Exception, SystemExit) as error:
            raise (TryAgain if alone else GiveUp)(TARGET_ERROR, describe(error)) from None
        if hasattr(responses, "tolist"):  # a numpy array, a pandas series
            responses = responses.tolist()
        if isinstance(responses, str) or not isinstance(responses, Sequence) or len(responses) != len(asked):
            count = "one text" if isinstance(responses, str) else f"{_count(responses)} answers"
            raise GiveUp(TARGET_ERROR, f"batch_generate_response() gave {count} for {len(asked)} queries")
        for response in responses:
            if not isinstance(response, str):
                raise GiveUp(TARGET_ERROR, f"batch_generate_response() gave a {type(response).__name__}, not a text")
        return Reply(dumps(list(responses)))

    async def _keep(self, asked: list[Progress], found: Reply, advance: Callable[[int], None]) -> None:
        """Write the answers down, each under its own turn, and go on from there."""
        responses = json.loads(found.body)
        current = self.round
        if current is not None:
            await asyncio.gather(
                *(
                    self.caller.journal.record(
                        self._key(current, progress), replace(found, body=dumps({"response": response}))
                    )
                    for progress, response in zip(asked, responses, strict=True)
                )
            )
        for progress, response in zip(asked, responses, strict=True):
            progress.answers.append(self.shorten(whole(response)))
        advance(len(asked))

    def _key(self, current: Round, progress: Progress) -> str:
        """What an answer depends on within a round: conversation and history."""
        conversation = progress.conversation
        question = conversation.questions[len(progress.answers)]
        return current.key(
            conversation.session_id, question.interaction_id, question.query, _fingerprint(conversation.image),
            progress.history(),
        )  # fmt: skip


def _fingerprint(image: Any) -> str:
    """What tells images apart: an address as it is, pixels by their hash, anything else by its kind."""
    if image is None or isinstance(image, str):
        return str(image)
    pixels = image if isinstance(image, bytes | bytearray) else getattr(image, "tobytes", bytes)()
    return f"{type(image).__name__} {hashlib.sha256(pixels).hexdigest()}"


def _batches(conversations: Iterable[Conversation], size: int) -> Iterator[tuple[Conversation, ...]]:
    remaining = iter(conversations)
    while batch := tuple(islice(remaining, size)):
        yield batch


def _count(responses: Any) -> str:
    return str(len(responses)) if isinstance(responses, Sequence) else f"a {type(responses).__name__} in place of"
