"""Asks a target every question of a dataset: the turns of a session one by one, everything else concurrently."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from ragmeter.documents.usage import Effort, Usage
from ragmeter.effects.limits.caller import Caller, Failure
from ragmeter.effects.limits.calls import Limits, run_calls
from ragmeter.effects.process.loop import for_each
from ragmeter.effects.replies.journal import Journal
from ragmeter.effects.replies.rounds import Reuse, begin_round
from ragmeter.errors import InputError, UsageError
from ragmeter.hints import for_python, parameter
from ragmeter.io.progress import show_notice
from ragmeter.io.write import dumps
from ragmeter.table import (
    CONTEXT_DETAILS,
    GOLD_COLUMNS,
    IDS_AS_WRITTEN,
    JUDGE_COLUMNS,
    NAMED_COLUMNS,
    PARTIAL_ANSWER,
    REPEAT,
    RETRIEVED_SCORES,
    STOPPED,
    outcome_column,
)
from ragmeter.targets.port import WRONG_PATH_AFTER, Answer, Question, Target

#: How the cause of turns begins that were not asked.
_EARLIER = "an earlier turn of the "
#: So many columns a target may add to the run.
_MOST_COLUMNS = 50
_OURS = (RETRIEVED_SCORES, PARTIAL_ANSWER, CONTEXT_DETAILS, IDS_AS_WRITTEN, REPEAT, "turn_idx")


@dataclass
class Replies:
    """The result of asking: an answer or a failure for every question, in their order; effort and usage."""

    in_order: list[Answer | Failure]
    effort: Effort
    usage: Usage
    notice: str | None = None  # about answers from an interrupted run

    def says_what_was_retrieved(self) -> bool:
        """Whether any answer reports what was retrieved, be it an empty list. True also if there are no answers."""
        answers = [reply for reply in self.in_order if isinstance(reply, Answer)]
        return not answers or any(answer.retrieved is not None for answer in answers)

    def returned(self, names: Iterable[str]) -> set[str]:
        """Which of these parts of an answer some answer has; the answer's text alone, if there are no answers."""
        answers = [reply for reply in self.in_order if isinstance(reply, Answer)]
        has = {name for name in names if any(_has(answer, name) for answer in answers)}
        return has - ({"answer"} if self.only_retrieved() else set()) if answers else {"answer"}

    def only_retrieved(self) -> bool:
        """Whether the target is a retriever: it has given documents, and no answer to any question."""
        answers = [reply for reply in self.in_order if isinstance(reply, Answer)]
        return bool(answers) and all(answer.only_retrieved for answer in answers)

    def outcomes(self) -> Counter[str]:
        """How many questions have no answer, by outcome."""
        return Counter(reply.outcome for reply in self.in_order if isinstance(reply, Failure))

    def causes(self, spell: Callable[[str], str] = for_python) -> dict[str, int]:
        """Why questions have no answer, most frequent first; parameters are keywords or flags, as `spell` says."""
        failures = (reply for reply in self.in_order if isinstance(reply, Failure))
        return dict(Counter(f"{failure.outcome}: {spell(failure.written)}" for failure in failures).most_common())


class WrongPathError(UsageError):
    """A path into the reply that no reply has."""


def failures(causes: Mapping[str, int], total: int, what: str) -> str:
    """How many questions or turns failed, and with what: of several causes, the one that most of them have in common.

    `causes` has how many failed with each, the commonest first. That an earlier turn failed is no cause of its own.
    """
    failed = sum(causes.values())
    own = [cause for cause in causes if _EARLIER not in cause] or list(causes)
    many = f"all {failed:,}" if failed == total > 1 else f"{failed:,} of {total:,}"
    return f"{many} {what} failed{' with' if len(own) == 1 else ', most of them with'} {own[0]}"


def _has(answer: Answer, name: str) -> bool:
    """Whether an answer has this part, or a column of this name."""
    return name in answer.columns or getattr(answer, name, None) is not None


class Answers:
    """The journal of a run's answers, and the round that is being asked.

    An interrupted run continues its round; `finish()` marks the round as complete.
    """

    def __init__(
        self,
        path: Path | None,
        run: str,
        target: Target,
        questions: Sequence[Question],
        reuse: Reuse = Reuse(),  # noqa: B008 - frozen
    ) -> None:
        digest = hashlib.sha256(repr(questions).encode("utf-8", "replace")).hexdigest()
        self.target = target
        self.finished = False
        self.journal = Journal(path)
        try:
            self.round = begin_round(self.journal, run, target.identity(), reuse, digest)
        except BaseException:
            self.journal.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        try:
            self.journal.let_go(self.round.number, self.target.identity().as_json())
        finally:
            self.journal.close()

    def spent(self) -> float:
        """Dollars that the answers have cost so far."""
        return self.journal.spent(self.round.key()).cost

    def finish(self) -> None:
        """The run is complete: the next one of its name asks everything again."""
        self.journal.finish_round(self.round.number)
        self.finished = True


def ask(
    target: Target,
    questions: Sequence[Question],
    limits: Limits,
    answers: Answers | None,
    advance: Callable[[int], None],
    heard: Callable[[Question, Answer | Failure], None] = lambda question, reply: None,
) -> Replies:
    """Ask every question. Each answer is recorded in the journal before it counts; without one, nothing is kept.

    `advance` is called with the number of questions that are done, `heard` with each question and what came of it.
    """
    replies: list[Answer | Failure] = [Failure(STOPPED, "stopped")] * len(questions)
    if answers is None:
        with Answers(None, "", target, questions) as answers:
            return ask(target, questions, limits, answers, advance, heard)
    current = answers.round
    paths = _PathsInUse()

    async def work(caller: Caller) -> Replies:
        async def session(places: list[int]) -> None:
            history: list[tuple[str, str]] = []
            digest = hashlib.sha256()  # of the history
            conversation: str | None = None
            done = len(places)
            for count, place in enumerate(places, 1):
                question = replace(questions[place], history=tuple(history), conversation_id=conversation)
                key = current.key(*key_of_answer(question, digest.hexdigest()))
                answer = replies[place] = await _answer(caller, target, question, key)
                if isinstance(answer, Failure) and answer.outcome == STOPPED:
                    done = count - 1
                    break
                heard(question, answer)
                if isinstance(answer, Answer):
                    paths.add(answer)
                if isinstance(answer, Failure):  # later turns would be asked without their context
                    for later in places[count:]:
                        replies[later] = Failure(answer.outcome, f"{_EARLIER}session has no answer")
                    break
                history.append((question.text, answer.answer))
                digest.update(dumps(history[-1]).encode("utf-8", "replace"))
                conversation = answer.conversation_id or conversation
            await target.end(questions[places[0]].session_id)
            advance(done)

        async with target:
            await for_each(_sessions(questions), session, max(2, target.overlap) * limits.workers)
        if not any(isinstance(reply, Failure) and reply.outcome == STOPPED for reply in replies):
            paths.check()
        effort = caller.effort.with_latency(caller.usage.latency())
        notice = current.reused(answers.journal, caller.effort.from_journal, len(questions), "the target")
        return Replies(replies, effort, caller.usage.total(), notice)

    target.limit(limits.workers)
    at_once = replace(limits, workers=limits.workers * target.overlap)
    try:
        return run_calls(work, at_once, answers.journal, current.key())
    except WrongPathError:
        answers.finish()  # these answers are of no use: the same command asks anew
        raise


def own_columns(replies: Iterable[Answer | Failure], present: Collection[str]) -> dict[str, str]:
    """The columns that the target itself gave, each with its name in the run, where names of ours stay ours."""
    keys = Counter(key for reply in replies if isinstance(reply, Answer) for key in reply.columns)
    most = [key for key, _ in keys.most_common(_MOST_COLUMNS)]
    if len(keys) > len(most):
        show_notice(f"the target's dicts have {len(keys):,} other keys: the {_MOST_COLUMNS} most frequent are columns")
    taken = {*present, *NAMED_COLUMNS, *JUDGE_COLUMNS, *GOLD_COLUMNS, *_OURS}
    is_ours = {key: key in taken or key.endswith(outcome_column("")) for key in most}
    return {key: f"returned.{key.removesuffix(outcome_column(''))}" if is_ours[key] else key for key in most}


def number_columns(replies: Iterable[Answer | Failure], keys: Collection[str]) -> set[str]:
    """The target's own columns whose values, where there are any, are all numbers."""
    texts = {
        key
        for reply in replies
        if isinstance(reply, Answer)
        for key, value in reply.columns.items()
        if isinstance(value, str)
    }
    return set(keys) - texts


def key_of_answer(question: Question, history: str | None = None) -> tuple[Any, ...]:
    """The key of what an answer depends on. A digest stands for the history: the time of n turns grows with n."""
    digest = _digest(question.history) if history is None else history
    return question.qid, question.session_id, digest, question.text, question.conversation_id, question.repeat


def _digest(history: Iterable[tuple[str, str]]) -> str:
    digest = hashlib.sha256()
    for pair in history:
        digest.update(dumps(pair).encode("utf-8", "replace"))
    return digest.hexdigest()


class _PathsInUse:
    """Refuses the user's paths into replies that no reply has."""

    def __init__(self) -> None:
        self._n_answers = 0
        self._never: dict[str, str] = {}  # by option, with what is there instead

    def add(self, answer: Answer) -> None:
        """Count an answer; raise an error when enough of them are without a path."""
        known = answer.lacks if self._n_answers == 0 else self._never
        self._never = {name: text for name, text in known.items() if name in answer.lacks}
        self._n_answers += 1
        if self._n_answers >= WRONG_PATH_AFTER:
            self.check()

    def check(self) -> None:
        """Raise an error if there is a path that no answer had."""
        for name, text in self._never.items():
            raise WrongPathError(f"no reply has {text}", hint=f"check {parameter(name)}, or leave it out")


async def _answer(caller: Caller, target: Target, question: Question, key: str) -> Answer | Failure:
    reply = await caller.ask(key, lambda: target.answer(question), worst=target.worst(question))
    try:
        return reply if isinstance(reply, Failure) else Answer.from_reply(reply)
    except (ValueError, TypeError) as error:
        file = str(caller.journal.path)
        raise InputError(f"a recorded answer can't be read: {error}", file=file, hint="move it away") from None


def _sessions(questions: Sequence[Question]) -> list[list[int]]:
    """The questions' positions by session, the longest session first: it takes the longest."""
    sessions: dict[str, list[int]] = {}
    for place, question in enumerate(questions):
        sessions.setdefault(f"s{question.session_id}" if question.session_id else f"q{place}", []).append(place)
    for places in sessions.values():
        places.sort(key=lambda place: questions[place].turn)  # stable: without turns, the order of the file
    return sorted(sessions.values(), key=len, reverse=True)
