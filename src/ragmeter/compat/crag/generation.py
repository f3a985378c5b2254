"""The agent answers conversations in batches, the turns of each conversation in their order.

An answer is in the journal before the next turn is asked. If a batch fails, its conversations are asked one by one, so
that one bad question fails alone; a conversation ends at a turn that failed. By default the agent is called from one
thread, one batch after another: a model on a GPU, or an agent with state, may not support two calls at once.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from ragmeter.compat.crag.agents import Agent, extras_of
from ragmeter.compat.crag.dataset_utils import Conversation, convert_domain_indices_to_names
from ragmeter.compat.crag.images import ImageError, Images
from ragmeter.effects.limits.caller import Caller, Failure, GiveUp, TryAgain
from ragmeter.effects.process.loop import Threads, for_each
from ragmeter.effects.replies.journal import Reply
from ragmeter.effects.replies.rounds import Round
from ragmeter.errors import describe
from ragmeter.io.cells import whole
from ragmeter.io.progress import Advance
from ragmeter.io.write import dumps
from ragmeter.table import STOPPED, TARGET_ERROR

#: Called with a query and its answer, or why there is none.
Heard = Callable[[str, str | Failure], None]


@dataclass(frozen=True)
class Generation:
    """Lets an agent answer a dataset, from `threads`.

    `round` is the journal's that records the answers; without one they are not recorded. `vocabularies` have the names
    of domains. `advance` is called with the number of turns that were just finished, `heard` with each query and its
    answer or why it has none.
    """

    agent: Agent
    caller: Caller
    threads: Threads
    shorten: Callable[[str], str]
    round: Round | None
    images: Images
    vocabularies: dict[str, list[str]]
    advance: Advance
    heard: Heard

    async def run(
        self, conversations: Iterable[Conversation], size: int, workers: int, finished: Advance
    ) -> list[dict[str, Any]]:
        """Answer every turn of every conversation; returns the rows of turn data, in the dataset's order.

        `finished` is called with the number of conversations that were just finished.
        """
        turns: dict[int, list[dict[str, Any]]] = {}

        async def answer_batch(numbered: tuple[int, tuple[Conversation, ...]]) -> None:
            number, batch = numbered
            await self._batch(batch)
            turns[number] = [turn for conversation in batch for turn in conversation.turns]  # without large images
            finished(len(batch))

        await for_each(enumerate(_batches(conversations, size)), answer_batch, workers)
        return [turn for _, of_batch in sorted(turns.items()) for turn in of_batch]

    async def _batch(self, batch: Sequence[Conversation]) -> None:
        for conversation in batch if self.round is not None else ():
            conversation.image_key = self.images.key(conversation)
        for index in range(max(len(conversation.turns) for conversation in batch)):
            asked = []
            for conversation in batch:
                if conversation.failure is not None or index >= len(conversation.turns):
                    continue
                recorded = None if self.round is None else self.caller.recorded(self._key(self.round, conversation))
                if recorded is None:
                    asked.append(conversation)
                else:
                    conversation.answer(self.shorten(json.loads(recorded.body)["response"]))
                    self.advance(1)
            if asked:
                await self._ask(asked)

    async def _ask(self, asked: Sequence[Conversation]) -> None:
        """Ask the next turn of several conversations in one call; if that fails, of each in a call of its own."""
        if len(asked) > 1:
            reply = await self.caller.attempt(lambda: self._send(asked, GiveUp), last_resort=False)
            for conversation in asked:
                if conversation.failure is not None:
                    self._lose(conversation, conversation.failure)
            asked = [conversation for conversation in asked if conversation.failure is None]
            if isinstance(reply, Reply):
                await self._keep(asked, reply)
                return
        for conversation in asked:
            reply = await self.caller.attempt(partial(self._send, [conversation], TryAgain))
            if isinstance(reply, Reply):
                await self._keep([conversation], reply)
            else:
                self._lose(conversation, reply)

    def _lose(self, conversation: Conversation, failure: Failure) -> None:
        """The rest of a conversation has no answers."""
        queries = conversation.fail(failure)
        for query in queries:
            self.heard(query, failure)
        if failure.outcome != STOPPED:
            self.advance(len(queries))

    async def _load_image(self, conversation: Conversation) -> None:
        """Load the image of a conversation. Without it the conversation has failed, and no other."""
        if conversation.is_loaded or conversation.failure is not None:
            return
        try:
            conversation.image = await self.images.of(conversation, self.threads)
        except ImageError as error:
            conversation.failure = Failure(TARGET_ERROR, str(error))
        conversation.is_loaded = True

    async def _send(self, asked: Sequence[Conversation], failed: type[GiveUp | TryAgain]) -> Reply:
        """Ask about the conversations that have their images. An agent that raises an error has `failed`."""
        await asyncio.gather(*map(self._load_image, asked))
        failures = [conversation.failure for conversation in asked if conversation.failure is not None]
        asked = [conversation for conversation in asked if conversation.failure is None]
        if not asked:
            raise GiveUp(failures[0].outcome, failures[0].cause)
        turns = [conversation.turns[conversation.n_answered] for conversation in asked]
        extras = {
            "rag_context_list": [""] * len(turns),  # nothing was searched
            "domains": convert_domain_indices_to_names([turn["domain"] for turn in turns], self.vocabularies),
        }
        call = partial(
            self.agent.batch_generate_response,
            [turn["query"] for turn in turns],
            [conversation.image for conversation in asked],
            [conversation.history() for conversation in asked],
            **{name: extras[name] for name in extras_of(self.agent)},
        )
        try:
            responses: Any = await self.threads.call(call)
        except (Exception, SystemExit) as error:
            raise failed(TARGET_ERROR, describe(error)) from None
        if hasattr(responses, "tolist"):  # a numpy array, a pandas series
            responses = responses.tolist()
        if problem := _problem(responses, len(asked)):
            raise GiveUp(TARGET_ERROR, f"batch_generate_response() gave {problem}")
        return Reply(dumps(list(responses)))

    async def _keep(self, asked: Sequence[Conversation], reply: Reply) -> None:
        """Record each answer in the journal under its own turn, and add it to its conversation."""
        responses = json.loads(reply.body)
        if self.round is not None:
            keys = [self._key(self.round, conversation) for conversation in asked]
            replies = (replace(reply, body=dumps({"response": response})) for response in responses)
            await asyncio.gather(*map(self.caller.journal.record, keys, replies))
        for conversation, response in zip(asked, responses, strict=True):
            answer = self.shorten(whole(response))
            self.heard(conversation.turns[conversation.n_answered]["query"], answer)
            conversation.answer(answer)
        self.advance(len(asked))

    def _key(self, current: Round, conversation: Conversation) -> str:
        """The journal's key of the next answer: within a round it depends on the conversation and its history."""
        turn = conversation.turns[conversation.n_answered]
        return current.key(
            conversation.session_id, turn["interaction_id"], turn["query"], conversation.image_key,
            conversation.history(),
        )  # fmt: skip


def _problem(responses: Any, n: int) -> str:
    """What an agent gave that are not answers to `n` queries; empty if they are."""
    if isinstance(responses, str):
        return f"one text for {n} queries"
    if not isinstance(responses, Sequence):
        return f"a {type(responses).__name__} in place of answers for {n} queries"
    if len(responses) != n:
        return f"{len(responses)} answers for {n} queries"
    wrong = next((response for response in responses if not isinstance(response, str)), "")
    return "" if isinstance(wrong, str) else f"a {type(wrong).__name__}, not a text"


def _batches(conversations: Iterable[Conversation], size: int) -> Iterator[tuple[Conversation, ...]]:
    remaining = iter(conversations)
    while batch := tuple(islice(remaining, size)):
        yield batch
