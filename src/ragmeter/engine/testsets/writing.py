"""Writing questions: each with one call, checked without a model first, and by the model where there is doubt."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence

from ragmeter.definition.judge_columns import JudgeColumn
from ragmeter.effects.limits.caller import Caller
from ragmeter.effects.process.loop import for_each
from ragmeter.engine.testsets.drafts import Draft, Drafts
from ragmeter.judges.asking.column_judge import ColumnJudge
from ragmeter.judges.asking.judge import Judge
from ragmeter.judges.asking.judgement import Judgement
from ragmeter.judges.questions import (
    EVIDENCE,
    UNKNOWN,
    answered,
    answered_texts,
    closed_book,
    writing_column,
    writing_texts,
)
from ragmeter.metrics.normalize import fold, words
from ragmeter.models.port import ChatProvider
from ragmeter.table import STOPPED
from ragmeter.testsets import filters
from ragmeter.testsets.questions import COMPARISON, UNANSWERABLE, Passage, Question

Read = Callable[[], Iterator[Passage]]


class Asker:
    """Asks a model to fill one column or another; `is_stopped` by Ctrl-C."""

    def __init__(self, judge: Judge, caller: Caller, client: ChatProvider) -> None:
        self._judge, self._caller, self._client = judge, caller, client
        self._judges: dict[int, ColumnJudge] = {}
        self.is_stopped = False

    async def ask(self, column: JudgeColumn, texts: Mapping[str, str]) -> Judgement:
        """The judgement on these texts."""
        if id(column) not in self._judges:  # the columns of this module's judges live as long as the process
            self._judges[id(column)] = self._judge.on(column)
        judgement = await self._judges[id(column)].ask(self._caller, self._client, texts)
        self.is_stopped |= judgement.outcome == STOPPED
        return judgement

    async def for_each(self, items: Sequence[Draft], work: Callable[[Draft], object]) -> None:
        """Do the work for each."""
        await for_each(items, work, 2 * self._judge.workers)  # type: ignore[arg-type]


class Writing:
    """Writes round after round, until there is what is wanted, or nothing to be written any more."""

    def __init__(
        self, asker: Asker, drafts: Drafts, read: Read, held_out: frozenset[str], *, turns: int, closed: bool
    ) -> None:
        self._asker, self._drafts, self._read, self._held_out = asker, drafts, read, held_out
        self._turns, self._closed = turns, closed

    async def write(self, advance: Callable[[int], None]) -> None:
        """Write and check; `advance` is called with how many questions were taken."""
        while drafts := self._drafts.next_round():
            await self._asker.for_each(drafts, self._write)
            self._drafts.reject_twins(drafts)
            await self._check_support(drafts)
            if self._closed:
                await self._asker.for_each(_left(drafts), self._check_closed_book)
            await self._look_elsewhere(_left(drafts))
            if self._asker.is_stopped:
                return
            advance(self._turns * self._drafts.settle(drafts))

    async def _write(self, draft: Draft) -> None:
        for _ in range(self._turns):
            texts = writing_texts(draft.planned, draft.questions)
            column = writing_column(draft.planned, texts)
            judgement = await self._asker.ask(column, texts)
            if judgement.verdict is None:
                draft.reject(judgement.outcome, judgement.explained)
                return
            reply = json.loads(judgement.verdict)
            question = filters.written(draft.planned, reply)
            if isinstance(question, str):
                draft.reject(question, reply[EVIDENCE])
                return
            if filters.copies(reply, column.words):
                draft.reject(filters.COPIES_INSTRUCTIONS, question.reference)
                return
            history = draft.questions.copy()
            draft.questions.append(question)
            if problem := filters.problem_of(question, history):
                draft.reject(problem)
                return

    async def _check_support(self, drafts: Sequence[Draft]) -> None:
        """Is the answer what the passages say? The model is asked where the offline support model is not sure."""
        open_questions = [
            (draft, question)
            for draft in _left(drafts)
            for question in draft.questions
            if draft.planned.kind == COMPARISON or not filters.is_stated(question)
        ]
        both = ["\n\n".join(passage.text for passage in question.planned.passages) for _, question in open_questions]
        chances = filters.support([question for _, question in open_questions], both)
        in_doubt: list[Draft] = []
        for (draft, question), chance in zip(open_questions, chances, strict=True):
            if draft.planned.kind == COMPARISON and _one_suffices(question):
                draft.reject(filters.ONE_PASSAGE_SUFFICES)
            elif chance < filters.SURE and draft not in in_doubt:
                in_doubt.append(draft)

        async def check(draft: Draft) -> None:
            for question in draft.questions:
                passages = question.planned.passages
                whole = Passage(passages[0].id, "\n\n".join(passage.text for passage in passages), passages[0].source)
                judgement = await self._asker.ask(answered, answered_texts(whole, question))
                if judgement.verdict != "yes":
                    draft.reject(judgement.outcome if judgement.verdict is None else filters.NOT_SUPPORTED)

        await self._asker.for_each([draft for draft in in_doubt if not draft.cause], check)

    async def _check_closed_book(self, draft: Draft) -> None:
        question = draft.questions[0]
        judgement = await self._asker.ask(closed_book, {"question": question.text})
        reply = set(words(fold(judgement.verdict or "")))
        answer = words(fold(question.reference))
        if judgement.verdict is None:
            draft.reject(judgement.outcome)
        elif answer and reply != {UNKNOWN} and reply >= set(answer):
            draft.reject(filters.KNOWN, f"{question.text} {judgement.verdict}")

    async def _look_elsewhere(self, drafts: Sequence[Draft]) -> None:
        """Other passages that answer a question are gold as well; one that nothing was to answer is none then."""
        others = filters.elsewhere([draft.questions[0] for draft in drafts], self._read(), self._held_out)

        async def check(pair: tuple[Draft, filters.Elsewhere]) -> None:
            draft, other = pair
            if other.chance < filters.SURE:
                judgement = await self._asker.ask(answered, answered_texts(other.passage, draft.questions[0]))
                if judgement.verdict != "yes":
                    return
            add_other(draft, other)

        pairs = [(draft, other) for draft, found in zip(drafts, others, strict=True) for other in found]
        await for_each(pairs, check, 8)


def add_other(draft: Draft, other: filters.Elsewhere) -> None:
    """Another passage that answers the question."""
    if draft.planned.kind == UNANSWERABLE:
        draft.reject(filters.ANSWERED_ELSEWHERE)
    elif other.passage.id not in draft.relevant:
        draft.relevant.append(other.passage.id)


def _one_suffices(question: Question) -> bool:
    """Whether one of two passages supports the answer by itself."""
    texts = [passage.text for passage in question.planned.passages]
    return max(filters.support([question] * len(texts), texts)) >= filters.SURE


def _left(drafts: Sequence[Draft]) -> list[Draft]:
    return [draft for draft in drafts if not draft.cause]
