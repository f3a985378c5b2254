"""The agent answers conversations in batches, the turns of each conversation in their order.

An answer is in the journal before the next turn is asked. If a batch fails, its conversations are asked one by one, so
that one bad question fails alone; a conversation ends at a turn that failed. By default the agent is called from one
thread, one batch after another: a model on a GPU, or an agent with state, may not support two calls at once.
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
from ragmeter.errors import describe, is_refused_call, refused_call
from ragmeter.io.cells import whole
from ragmeter.io.write import dumps
from ragmeter.table import TARGET_ERROR


class Agent(Protocol):
    """An agent that answers questions about images."""

    def get_batch_size(self) -> int:
        """How many conversations one call may have."""

    def batch_generate_response(
        self, queries: list[str], images: list[Any], message_histories: list[list[dict[str, str]]]
    ) -> list[str]:
        """One answer for each query."""


@dataclass
class Progress:
    """A conversation's answers so far, and its failure if there was one."""

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


#: Called with a query and its answer, or why there is none.
Heard = Callable[[str, str | Failure], None]


class Generation:
    """Lets an agent answer a dataset."""

    def __init__(
        self,
        agent: Agent,
        caller: Caller,
        shorten: Callable[[str], str],
        current: Round | None = None,
        heard: Heard = lambda query, reply: None,
    ) -> None:
        """`current` is the journal's round that records the answers; without one they are not recorded.

        `heard` is called with each query and its answer, or why it has none.
        """
        self.agent = agent
        self.caller = caller
        self.shorten = shorten
        self.round = current
        self.heard = heard

    async def run(
        self,
        conversations: Iterable[Conversation],
        size: int,
        workers: int,
        advance: Callable[[int], None],
        finished: Callable[[int], None] = lambda conversations: None,
    ) -> list[Progress]:
        """Answer every turn of every conversation, with `workers` threads. The result is in the dataset's order.

        `advance` is called with the number of turns that were just finished, `finished` with that of conversations.
        """
        self.threads = Threads(workers)
        batches: dict[int, list[Progress]] = {}

        async def answer_batch(numbered: tuple[int, tuple[Conversation, ...]]) -> None:
            number, batch = numbered
            batches[number] = [Progress(conversation) for conversation in batch]
            await self._batch(batches[number], advance)
            finished(len(batch))

        try:
            await for_each(enumerate(_batches(conversations, size)), answer_batch, workers)
        finally:
            self.threads.close()
        return [progress for _, batch in sorted(batches.items()) for progress in batch]

    async def _batch(self, batch: list[Progress], advance: Callable[[int], None]) -> None:
        for index in range(max(len(progress.conversation.questions) for progress in batch)):
            waiting = [p for p in batch if p.failure is None and index < len(p.conversation.questions)]
            asked = []
            for progress in waiting:
                recorded = None if self.round is None else self.caller.recorded(self._key(self.round, progress))
                if recorded is None:
                    asked.append(progress)
                else:
                    progress.answers.append(self.shorten(json.loads(recorded.body)["response"]))
                    advance(1)
            if asked:
                await self._ask(asked, advance)

    async def _ask(self, asked: list[Progress], advance: Callable[[int], None]) -> None:
        """Ask the next turn of several conversations in one call; if that fails, of each in a call of its own."""
        if len(asked) > 1:
            reply = await self.caller.attempt(lambda: self._send(asked, alone=False), last_resort=False)
            if isinstance(reply, Reply):
                await self._keep(asked, reply, advance)
                return
        for progress in asked:
            alone = [progress]
            reply = await self.caller.attempt(lambda alone=alone: self._send(alone, alone=True))  # type: ignore[misc]
            if isinstance(reply, Reply):
                await self._keep(alone, reply, advance)
            else:
                progress.failure = reply
                for question in progress.conversation.questions[len(progress.answers) :]:
                    self.heard(question.query, reply)
                if reply.outcome != STOPPED:
                    advance(len(progress.conversation.questions) - len(progress.answers))

    async def _send(self, asked: Sequence[Progress], *, alone: bool) -> Reply:
        queries = [progress.conversation.questions[len(progress.answers)].query for progress in asked]
        images = [progress.conversation.image for progress in asked]
        histories = [progress.history() for progress in asked]
        try:
            responses: Any = await self.threads.call(self.agent.batch_generate_response, queries, images, histories)
        except (Exception, SystemExit) as error:
            if is_refused_call(error):
                method, name = self.agent.batch_generate_response, type(self.agent).__name__
                given = "queries, images and message_histories"
                wrong = refused_call(method, f"{name}.batch_generate_response()", given, error)
                raise GiveUp(TARGET_ERROR, wrong.message, fatal=wrong) from None
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

    async def _keep(self, asked: list[Progress], reply: Reply, advance: Callable[[int], None]) -> None:
        """Record each answer in the journal under its own turn, and add it to its conversation."""
        responses = json.loads(reply.body)
        current = self.round
        if current is not None:
            await asyncio.gather(
                *(
                    self.caller.journal.record(
                        self._key(current, progress), replace(reply, body=dumps({"response": response}))
                    )
                    for progress, response in zip(asked, responses, strict=True)
                )
            )
        for progress, response in zip(asked, responses, strict=True):
            query = progress.conversation.questions[len(progress.answers)].query
            progress.answers.append(self.shorten(whole(response)))
            self.heard(query, progress.answers[-1])
        advance(len(asked))

    def _key(self, current: Round, progress: Progress) -> str:
        """The journal's key of the next answer: within a round it depends on the conversation and its history."""
        conversation = progress.conversation
        question = conversation.questions[len(progress.answers)]
        return current.key(
            conversation.session_id, question.interaction_id, question.query, _fingerprint(conversation.image),
            progress.history(),
        )  # fmt: skip


def _fingerprint(image: Any) -> str:
    """A text that tells images apart: a URL itself, else the type and the hash of the pixels."""
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
