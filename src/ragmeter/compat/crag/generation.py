"""The agent answers conversations in batches, the turns of each conversation in their order.

An answer is in the journal before the next turn is asked. If a batch fails, its conversations are asked one by one, so
that one bad question fails alone; a conversation ends at a turn that failed. By default the agent is called from one
thread, one batch after another: a model on a GPU, or an agent with state, may not support two calls at once.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any

from ragmeter.compat.crag.agents import Agent, Signature
from ragmeter.compat.crag.dataset_utils import Conversation, Question
from ragmeter.compat.crag.images import ImageError, Images
from ragmeter.effects.caller import STOPPED, Caller, Failure, GiveUp, TryAgain
from ragmeter.effects.journal import Reply
from ragmeter.effects.loop import Threads, for_each
from ragmeter.effects.rounds import Round
from ragmeter.errors import describe
from ragmeter.io.cells import whole
from ragmeter.io.write import dumps
from ragmeter.table import TARGET_ERROR


@dataclass
class Progress:
    """A conversation's answers so far, and its failure if there was one."""

    conversation: Conversation
    answers: list[str] = field(default_factory=list)
    failure: Failure | None = None
    image: Any = None
    has_image: bool = False

    @property
    def question(self) -> Question:
        """The next question."""
        return self.conversation.questions[len(self.answers)]

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
        *,
        images: Images = Images(),  # noqa: B008 - frozen
        vocabularies: dict[str, list[str]] | None = None,
    ) -> None:
        """`current` is the journal's round that records the answers; without one they are not recorded.

        `heard` is called with each query and its answer, or why it has none. `vocabularies` have the names of domains.
        """
        self.agent, self.signature = agent, Signature.of(agent)
        self.images, self.vocabularies = images, vocabularies or {}
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
            for progress in batches[number]:  # its image is not needed any more, and may be large
                progress.image, progress.conversation = None, replace(progress.conversation, image=None)
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
            for progress in asked:
                if progress.failure is not None:
                    self._lose(progress, progress.failure, advance)
            asked = [progress for progress in asked if progress.failure is None]
            if isinstance(reply, Reply):
                await self._keep(asked, reply, advance)
                return
        for progress in asked:
            alone = [progress]
            reply = await self.caller.attempt(lambda alone=alone: self._send(alone, alone=True))  # type: ignore[misc]
            if isinstance(reply, Reply):
                await self._keep(alone, reply, advance)
            else:
                self._lose(progress, reply, advance)

    def _lose(self, progress: Progress, failure: Failure, advance: Callable[[int], None]) -> None:
        """The rest of a conversation has no answers."""
        progress.failure = failure
        rest = progress.conversation.questions[len(progress.answers) :]
        for question in rest:
            self.heard(question.query, failure)
        if failure.outcome != STOPPED:
            advance(len(rest))

    async def _load_image(self, progress: Progress) -> None:
        """Load the image of a conversation. Without it the conversation has failed, and no other."""
        if progress.has_image or progress.failure is not None:
            return
        try:
            progress.image = await self.images.of(progress.conversation, self.threads)
        except ImageError as error:
            progress.failure = Failure(TARGET_ERROR, str(error))
        progress.has_image = True

    async def _send(self, asked: Sequence[Progress], *, alone: bool) -> Reply:
        """Ask about the conversations that have their images."""
        await asyncio.gather(*(self._load_image(progress) for progress in asked))
        failures = [progress.failure for progress in asked if progress.failure is not None]
        asked = [progress for progress in asked if progress.failure is None]
        if not asked:
            raise GiveUp(failures[0].outcome, failures[0].cause)
        questions = [progress.question for progress in asked]
        call = partial(
            self.agent.batch_generate_response,
            [question.query for question in questions],
            [progress.image for progress in asked],
            [progress.history() for progress in asked],
            **self.signature.arguments(questions, self.vocabularies),
        )
        try:
            responses: Any = await self.threads.call(call)
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
            query = progress.question.query
            progress.answers.append(self.shorten(whole(response)))
            self.heard(query, progress.answers[-1])
        advance(len(asked))

    def _key(self, current: Round, progress: Progress) -> str:
        """The journal's key of the next answer: within a round it depends on the conversation and its history."""
        question, image = progress.question, self.images.key(progress.conversation)
        return current.key(
            progress.conversation.session_id, question.interaction_id, question.query, _fingerprint(image),
            progress.history(),
        )  # fmt: skip


def _fingerprint(image: Any) -> str:
    """A text that tells images apart: a URL itself, else the type and the hash of the pixels."""
    if image is None or isinstance(image, str):
        return str(image)
    if isinstance(image, Mapping):
        image = image.get("bytes") or repr(image).encode("utf-8", "replace")
    pixels = image if isinstance(image, bytes | bytearray) else getattr(image, "tobytes", bytes)()
    return f"{type(image).__name__} {hashlib.sha256(pixels).hexdigest()}"


def _batches(conversations: Iterable[Conversation], size: int) -> Iterator[tuple[Conversation, ...]]:
    remaining = iter(conversations)
    while batch := tuple(islice(remaining, size)):
        yield batch


def _count(responses: Any) -> str:
    return str(len(responses)) if isinstance(responses, Sequence) else f"a {type(responses).__name__} in place of"
