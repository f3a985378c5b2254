"""Turns judged: first whether the agent declined, then whether it matches word for word, then what the judge says.

The judge is not asked about turns that count as missed whatever it would say, because the conversation has ended.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from ragmeter.asked import Asked
from ragmeter.effects.caller import Caller
from ragmeter.effects.loop import for_each
from ragmeter.errors import InputError
from ragmeter.judges.judge import ColumnJudge, Judgement, shown_texts
from ragmeter.judges.prompt import OTHER_FIELDS
from ragmeter.judges.providers.port import ChatProvider
from ragmeter.judges.verdict import EXACT, LLM, OFFLINE, is_exact_match, verdict
from ragmeter.metrics.conversation import MISSED, Turn, counted
from ragmeter.metrics.refusals import is_miss
from ragmeter.table import SCORED, TARGET_ERROR

TURN_COLUMNS = (
    "session_id", "interaction_id", "turn_idx", "is_ego", "image_quality", "query_category", "domain", "dynamism",
    "query", "ground_truth", "agent_response", "total_turn_count", "interaction_id_history",
)  # fmt: skip
RESULT_COLUMNS = (
    *TURN_COLUMNS, "is_exact_match", "is_correct", "is_miss", "is_semantically_correct", "api_response",
)  # fmt: skip
NO_REFERENCE = "no_reference"
#: What a verdict may rest on: that the agent declined, the same words, the offline judge, a language model, that nobody
#: judges, or the rule that ends a conversation.
MISS, NOBODY, ENDED = "miss", "nobody", "ended"


@dataclass
class JudgedTurn:
    """One turn and what came of it. `turn` is None until it is decided; `judged_by` says what the verdict rests on.

    In a cascade, `chance` is the offline judge's that the answer is right, and `sure` whether that is enough. Of an
    `audited` conversation the language model is asked about every turn, whatever came before it.
    """

    row: Mapping[str, Any]
    outcome: str = SCORED
    cause: str = ""
    turn: Turn | None = None
    judgement: Judgement | None = None
    judged_by: str = ""
    qid: str = ""
    chance: float | None = None
    sure: bool = False
    audited: bool = False

    def decide(self, *, judged: bool) -> None:
        """Decide what can be decided without a judge: in that order, miss, exact match, and wrong if nobody judges."""
        answer = self.row.get("agent_response")
        if self.row.get("error") or answer is None:
            self._fail(str(self.row.get("outcome") or TARGET_ERROR), str(self.row.get("error") or "no answer"))
        elif is_miss(answer):
            self.turn, self.judged_by = MISSED, MISS
        elif not self.references:
            self._fail(NO_REFERENCE, "the turn has no ground truth")
        elif any(is_exact_match(answer, each) for each in self.references):
            self.turn, self.judged_by = Turn(correct=True, exact=True), EXACT
        elif not judged:
            self.turn, self.judged_by = Turn(correct=False), NOBODY

    def settle(self, judgement: Judgement) -> None:
        """Take the judge's word, or the reason why there is none."""
        self.judgement = judgement
        self.turn, self.judged_by = Turn(correct=judgement.accuracy), "" if judgement.accuracy is None else LLM
        self.outcome, self.cause = judgement.outcome, judgement.cause

    def decide_offline(self) -> None:
        """Take the offline judge's word."""
        self.turn, self.judged_by = self.offline(), OFFLINE
        self.outcome, self.cause = SCORED, ""

    def offline(self) -> Turn:
        """What the offline judge makes of it."""
        return Turn(correct=(self.chance or 0.0) >= 0.5)

    @property
    def references(self) -> list[str]:
        """The answers that are accepted."""
        expected = self.row.get("ground_truth")
        return [each for each in ([expected] if isinstance(expected, str) else expected or []) if each.strip()]

    def texts(self, asked: Asked = verdict) -> dict[str, str]:
        """What a judge is shown: question, expected answers each on its line, answer, or what its words ask for."""
        row = {**self.row, **{name: self.row.get(own) for own, name in OTHER_FIELDS.items()}}
        if not isinstance(row["reference"], str):
            row["reference"] = self.references
        return shown_texts(asked, row)

    def _fail(self, outcome: str, cause: str) -> None:
        self.turn, self.outcome, self.cause = Turn(correct=None), outcome, cause


@dataclass
class Judged:
    """All turns, by conversation, in the order of the data."""

    conversations: list[list[JudgedTurn]]
    counted: list[list[Turn]] = field(default_factory=list)

    def scope(self, spec: str) -> str:
        """A name for the judging of just these turns by one judge, which a budget is kept for."""
        digest = hashlib.sha256(spec.encode())
        for conversation in self.conversations:
            for each_turn in conversation:
                row = each_turn.row
                parts = (row["session_id"], row["turn_idx"], row.get("ground_truth"), row.get("agent_response"))
                digest.update(repr(parts).encode("utf-8", "replace"))
        return digest.hexdigest()

    def decide(self, *, judged: bool) -> None:
        """Decide every turn that needs no judge; without one, all."""
        for conversation in self.conversations:
            for each_turn in conversation:
                each_turn.decide(judged=judged)

    def count(self) -> None:
        """Apply the rule for conversations."""
        self.counted = [
            counted([each.turn or Turn(correct=None) for each in conversation]) for conversation in self.conversations
        ]
        for conversation, turns in zip(self.conversations, self.counted, strict=True):
            for each_turn, turn in zip(conversation, turns, strict=True):
                if turn is MISSED:  # past the end of the conversation nothing can fail any more
                    each_turn.outcome = SCORED
                    if each_turn.judged_by != MISS:
                        each_turn.judged_by = ENDED

    def rows(self, *, ego: bool = False) -> list[dict[str, Any]]:
        """The rows of the results file; of ego-centric turns alone if asked for."""
        return [
            _result_row(judged, turn)
            for conversation, turns in zip(self.conversations, self.counted, strict=True)
            for judged, turn in zip(conversation, turns, strict=True)
            if not ego or conversation[0].row.get("is_ego")
        ]

    def turns(self, *, ego: bool = False) -> list[list[Turn]]:
        """The turns as they were judged, before the rule, by conversation."""
        return [
            [judged.turn or Turn(correct=None) for judged in conversation]
            for conversation in self.conversations
            if not ego or conversation[0].row.get("is_ego")
        ]

    def outcomes(self) -> list[str]:
        """How each turn came about, in the order of the rows."""
        return [judged.outcome for conversation in self.conversations for judged in conversation]

    def not_scored(self) -> dict[str, int]:
        """How many turns have no score, by cause."""
        return dict(sorted(Counter(outcome for outcome in self.outcomes() if outcome != SCORED).items()))

    def causes(self) -> dict[str, int]:
        """The same in words, most frequent first."""
        said = Counter(
            f"{judged.outcome}: {judged.cause}"
            for conversation in self.conversations
            for judged in conversation
            if judged.outcome != SCORED
        )
        return dict(said.most_common())

    def judged_by(self) -> dict[str, int]:
        """How many verdicts rest on what."""
        found = Counter(judged.judged_by for conversation in self.conversations for judged in conversation)
        return dict(sorted((name, count) for name, count in found.items() if name))

    def flips(self) -> tuple[int, int]:
        """On how many turns the repeats of the judge disagree, and how many were judged more than once."""
        held = [j.judgement for conversation in self.conversations for j in conversation if j.judgement is not None]
        repeated = [judgement for judgement in held if sum(verdict is not None for verdict in judgement.verdicts) > 1]
        return sum(judgement.flipped for judgement in repeated), len(repeated)


def group(turns: Iterable[Mapping[str, Any]]) -> list[list[JudgedTurn]]:
    """Turns by session, sessions as they first appear, turns by their index."""
    sessions: dict[Any, list[JudgedTurn]] = {}
    for row in turns:
        sessions.setdefault(row["session_id"], []).append(JudgedTurn(row))
    for session, conversation in sessions.items():
        conversation.sort(key=lambda judged: int(judged.row["turn_idx"]))
        for one, other in pairwise(conversation):
            if one.row["turn_idx"] == other.row["turn_idx"]:
                raise InputError(f"turn {one.row['turn_idx']} of session {session!r} is there twice", file="turn data")
    _name([judged for conversation in sessions.values() for judged in conversation])
    return list(sessions.values())


def _name(turns: list[JudgedTurn]) -> None:
    """Give each turn its qid: its interaction's id where these tell turns apart, or else its place."""
    ids = [judged.row.get("interaction_id") for judged in turns]
    unique = None not in ids and len(set(map(str, ids))) == len(ids)
    for judged, each_id in zip(turns, ids, strict=True):
        judged.qid = str(each_id) if unique else f"{judged.row['session_id']}/{judged.row['turn_idx']}"


async def judge_all(
    judged: Judged,
    judge: ColumnJudge,
    caller: Caller,
    client: ChatProvider,
    advance: Callable[[int], None],
    *,
    retry: bool = False,
) -> None:
    """Decide every turn, with the judge where it takes one; long conversations first, since they take the longest."""

    async def one(conversation: list[JudgedTurn]) -> None:
        for each_turn in conversation:  # here and not before: while one waits for its replies, the next is looked at
            each_turn.decide(judged=True)
        if any(each_turn.audited for each_turn in conversation):  # what both judges make of all of it is wanted
            await asyncio.gather(*(ask(each_turn) for each_turn in conversation if each_turn.turn is None))
            advance(len(conversation))
            return
        first, rest = conversation[:2], conversation[2:]
        if sum(each_turn.turn is None for each_turn in first) == 1:
            await ask(next(each_turn for each_turn in first if each_turn.turn is None))
        else:
            await asyncio.gather(*(ask(each_turn) for each_turn in first if each_turn.turn is None))
        for index, each_turn in enumerate(rest, 2):
            if all(
                before.turn is not None and before.turn.correct is False for before in conversation[index - 2 : index]
            ):
                for left_out in conversation[index:]:  # two in a row: it has ended
                    left_out.turn = left_out.turn or MISSED
                break
            if each_turn.turn is None:
                await ask(each_turn)
        advance(len(conversation))

    async def ask(each_turn: JudgedTurn) -> None:
        each_turn.settle(await judge.ask(caller, client, each_turn.texts(judge.asked), retry=retry))

    longest_first = sorted(judged.conversations, key=len, reverse=True)
    await for_each(longest_first, one, 2 * caller.pace.most)  # enough that a freed place always finds somebody waiting


def _result_row(judged: JudgedTurn, turn: Turn) -> dict[str, Any]:
    known = turn.correct is not None
    if judged.judgement is not None:
        response: dict[str, Any] | None = judged.judgement.as_dict()
    elif judged.judged_by == OFFLINE:
        response = {"outcome": SCORED, "judged_by": OFFLINE, "probability": judged.chance}
    else:
        response = None if known else {"outcome": judged.outcome, "cause": judged.cause}
    return {
        **{column: judged.row.get(column) for column in TURN_COLUMNS},
        "is_exact_match": turn.exact if known else None,
        "is_correct": turn.correct,
        "is_miss": turn.miss if known else None,
        "is_semantically_correct": turn.correct,
        "api_response": response,
    }
