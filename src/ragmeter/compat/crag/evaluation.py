"""Judges turns in this order: did the agent decline, is the answer an exact match, what does the judge say.

The judge is not asked about the turns after the end of a conversation: they count as missed in any case.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from typing import Any

from ragmeter.effects.caller import STOPPED, Caller
from ragmeter.effects.loop import for_each
from ragmeter.effects.usage import total_usage
from ragmeter.engine.judging.cascade_run import Decision, decided
from ragmeter.engine.judging.column_run import Heard, Tally
from ragmeter.errors import InputError
from ragmeter.judge_columns import JudgeColumn
from ragmeter.judges.column_judge import ColumnJudge, shown_texts
from ragmeter.judges.judgement import Judgement
from ragmeter.judges.prompt import OTHER_FIELDS
from ragmeter.judges.verdict import CORRECT, EXACT, MISS, OFFLINE, WRONG, is_exact_match
from ragmeter.metrics.conversation import MISSED, Turn, counted
from ragmeter.metrics.refusals import is_miss
from ragmeter.models.port import ChatProvider
from ragmeter.show.progress import Advance
from ragmeter.table import SCORED, TARGET_ERROR

TURN_COLUMNS = (
    "session_id", "interaction_id", "turn_idx", "is_ego", "image_quality", "query_category", "domain", "dynamism",
    "query", "ground_truth", "agent_response", "total_turn_count", "interaction_id_history",
)  # fmt: skip
RESULT_COLUMNS = (
    *TURN_COLUMNS, "is_exact_match", "is_correct", "is_miss", "is_semantically_correct", "api_response",
)  # fmt: skip
NO_REFERENCE = "no_reference"
#: Why a turn is decided, besides an exact match, a miss, the offline judge and a language model: there is no judge, or
#: the conversation has ended.
NOBODY, ENDED = "nobody", "ended"
#: Of a turn that nobody has decided yet; told by identity.
UNDECIDED = Decision()


@dataclass
class JudgedTurn:
    """One turn, and what is decided about it.

    In a cascade, `chance` is the offline judge's probability that the answer is right, where it is sure. In an
    `audited` conversation the language model is asked about every turn that needs a judge.
    """

    row: Mapping[str, Any]
    qid: str = ""
    decision: Decision = UNDECIDED
    judgement: Judgement | None = None
    chance: float | None = None
    audited: bool = False

    def decide(self, *, judged: bool) -> None:
        """Decide what needs no judge: a miss, then an exact match; without a judge (`judged`) any other is wrong."""
        answer = self.row.get("agent_response")
        if self.row.get("error") or answer is None:
            outcome = str(self.row.get("outcome") or TARGET_ERROR)
            self.decision = Decision(outcome=outcome, cause=str(self.row.get("error") or "no answer"))
        elif is_miss(answer):
            self.decision = Decision(WRONG, MISS)
        elif not self.references:
            self.decision = Decision(outcome=NO_REFERENCE, cause="the turn has no ground truth")
        elif any(is_exact_match(answer, reference) for reference in self.references):
            self.decision = Decision(CORRECT, EXACT)
        elif not judged:
            self.decision = Decision(WRONG, NOBODY)

    def settle(self, judgement: Judgement) -> None:
        """Decide by what the model says; if it gives no verdict, by the offline judge where that is sure."""
        self.judgement = judgement
        self.decision = decided(judgement, self.chance, UNDECIDED)

    @property
    def result(self) -> Turn:
        """The result that the decision means for the scores."""
        value, by = self.decision.value, self.decision.by
        return Turn(None if value is None else value == CORRECT, miss=by == MISS, exact=by == EXACT)

    @property
    def references(self) -> list[str]:
        """The acceptable answers."""
        expected = self.row.get("ground_truth")
        return [text for text in ([expected] if isinstance(expected, str) else expected or []) if text.strip()]

    @property
    def columns(self) -> dict[str, Any]:
        """The turn's columns, also under their names in the table."""
        columns = {**self.row, **{name: self.row.get(crag_name) for crag_name, name in OTHER_FIELDS.items()}}
        return columns if isinstance(columns["reference"], str) else {**columns, "reference": self.references}


@dataclass
class Judged:
    """All turns, by conversation, in the order of the data."""

    conversations: list[list[JudgedTurn]]
    counted: list[list[Turn]] = field(default_factory=list)
    is_decided: bool = False

    @property
    def all_turns(self) -> Iterator[JudgedTurn]:
        """The turns, one conversation after another."""
        return chain.from_iterable(self.conversations)

    def __len__(self) -> int:
        """The number of turns."""
        return sum(len(conversation) for conversation in self.conversations)

    def scope(self, spec: str) -> str:
        """A key for the judging of just these turns by one judge: a budget holds for it, also over several starts."""
        digest = hashlib.sha256(spec.encode())
        for row in (turn.row for turn in self.all_turns):
            parts = (row["session_id"], row["turn_idx"], row.get("ground_truth"), row.get("agent_response"))
            digest.update(repr(parts).encode("utf-8", "replace"))
        return digest.hexdigest()

    def decide(self, *, judged: bool) -> None:
        """Decide every turn that needs no judge; without a judge, all."""
        for turn in self.all_turns:
            turn.decide(judged=judged)
        self.is_decided = True

    def needs_judge(self) -> bool:
        """Whether there is a turn that takes a judge."""
        for turn in self.all_turns:
            if not self.is_decided:
                turn.decide(judged=True)
            if turn.decision is UNDECIDED:
                return True
        return False

    def texts_to_ask(self, declaration: JudgeColumn) -> Iterator[dict[str, str]]:
        """What the model is shown of each turn that takes a judge."""
        if not self.is_decided:
            self.decide(judged=True)
        for turn in self.all_turns:
            if turn.decision is UNDECIDED:
                yield shown_texts(declaration, turn.columns)

    def count(self) -> None:
        """Apply the rule that ends conversations."""
        self.counted = [counted(results) for results in self.results()]
        for turn, result in zip(self.all_turns, chain.from_iterable(self.counted), strict=True):
            if result is MISSED:  # a turn past the end of its conversation is scored, even if it had failed
                by = MISS if turn.decision.by == MISS else ENDED
                turn.decision = replace(turn.decision, outcome=SCORED, by=by)

    def rows(self, *, ego: bool = False) -> list[dict[str, Any]]:
        """The rows of the results file, by session and turn; with `ego`, of ego-centric conversations alone."""
        by_session = sorted(
            zip(self.conversations, self.counted, strict=True), key=lambda pair: str(pair[0][0].row["session_id"])
        )
        return [
            _result_row(turn, result)
            for conversation, results in by_session
            for turn, result in zip(conversation, results, strict=True)
            if not ego or conversation[0].row.get("is_ego")
        ]

    def results(self, *, ego: bool = False) -> list[list[Turn]]:
        """The results by conversation, before the rule that ends conversations."""
        return [
            [turn.result for turn in conversation]
            for conversation in self.conversations
            if not ego or conversation[0].row.get("is_ego")
        ]

    def outcomes(self) -> list[str]:
        """The outcome of each turn, in the order of the rows."""
        return [turn.decision.outcome for turn in self.all_turns]

    def not_scored(self) -> dict[str, int]:
        """How many turns have no score, by outcome."""
        return dict(sorted(Counter(outcome for outcome in self.outcomes() if outcome != SCORED).items()))

    def judging(self) -> dict[str, Any]:
        """The judge's part of the summary: causes of turns without a score, who decided, flip rate, and warnings."""
        tally = Tally()
        for turn in self.all_turns:
            decision = turn.decision
            if decision.outcome != SCORED:
                tally.causes[f"{decision.outcome}: {decision.cause}"] += 1
            if decision.by:
                tally.judged_by[decision.by] += 1
            if turn.judgement is not None:
                tally.add(turn.judgement)
        counts = tally.summary(total_usage([])).as_dict()
        del counts["usage"]
        warnings = counts.pop("warnings")
        return {"causes": counts.pop("causes"), **counts, "judge_warnings": warnings}


def group(rows: Iterable[Mapping[str, Any]]) -> Judged:
    """Turns by session: sessions in the order of their first row, turns by their index."""
    sessions: dict[Any, list[JudgedTurn]] = {}
    for row in rows:
        sessions.setdefault(row["session_id"], []).append(JudgedTurn(row))
    for session, conversation in sessions.items():
        conversation.sort(key=lambda turn: int(turn.row["turn_idx"]))
        for turn, next_turn in pairwise(conversation):
            index = turn.row["turn_idx"]
            if index == next_turn.row["turn_idx"]:
                raise InputError(f"turn {index} of session {session!r} occurs twice", file="turn data")
    judged = Judged(list(sessions.values()))
    _set_qids(list(judged.all_turns))
    return judged


def _set_qids(turns: list[JudgedTurn]) -> None:
    """Give each turn its qid: its interaction_id if these are unique, or else its session and index."""
    ids = [turn.row.get("interaction_id") for turn in turns]
    unique = None not in ids and len(set(map(str, ids))) == len(ids)
    for turn, interaction_id in zip(turns, ids, strict=True):
        turn.qid = str(interaction_id) if unique else f"{turn.row['session_id']}/{turn.row['turn_idx']}"


async def judge_all(
    judged: Judged,
    judge: ColumnJudge,
    caller: Caller,
    client: ChatProvider,
    advance: Advance,
    *,
    retry: bool,
    heard: Heard,
) -> None:
    """Decide every turn, with the judge where it needs one; long conversations first, since they take the longest.

    `retry` asks again about turns whose recorded replies are no verdicts; `heard` is called with each judgement.
    """

    async def judge_conversation(conversation: list[JudgedTurn]) -> None:
        if not judged.is_decided:  # here and not before: it takes time, in which other conversations wait for replies
            for turn in conversation:
                turn.decide(judged=True)
        if any(turn.audited for turn in conversation):  # the offline judge is compared on all of its turns
            await ask_all(conversation)
        else:
            await ask_until_it_ends(conversation)
        if not any(turn.judgement is not None and turn.judgement.outcome == STOPPED for turn in conversation):
            advance(len(conversation))

    async def ask_until_it_ends(conversation: list[JudgedTurn]) -> None:
        await ask_all(conversation[:2])
        for index, turn in enumerate(conversation[2:], 2):
            if all(previous.result.correct is False for previous in conversation[index - 2 : index]):
                return  # two incorrect turns in a row end a conversation
            await ask_all([turn])

    async def ask_all(turns: Sequence[JudgedTurn]) -> None:
        waiting = [turn for turn in turns if turn.decision is UNDECIDED]
        if len(waiting) == 1:  # without a task of its own: that is quicker
            await ask(waiting[0])
        elif waiting:
            await asyncio.gather(*(ask(turn) for turn in waiting))

    async def ask(turn: JudgedTurn) -> None:
        row = turn.columns
        judgement = await judge.ask(caller, client, shown_texts(judge.declaration, row), retry=retry)
        turn.settle(judgement)
        if judgement.outcome != STOPPED:
            heard(row, judgement)

    longest_first = sorted(judged.conversations, key=len, reverse=True)
    await for_each(longest_first, judge_conversation, 2 * caller.pace.most)  # enough to keep every worker busy


def _result_row(turn: JudgedTurn, result: Turn) -> dict[str, Any]:
    is_known = result.correct is not None
    decision = turn.decision
    response: dict[str, Any] | None = None
    if turn.judgement is not None:
        response = turn.judgement.as_dict()
    elif decision.by == OFFLINE:
        response = {
            "accuracy": decision.value == CORRECT, "eval_result": "",
            "outcome": SCORED, "judged_by": OFFLINE, "probability": decision.probability,
        }  # fmt: skip
    elif not is_known:
        response = {"accuracy": None, "eval_result": "", "outcome": decision.outcome, "cause": decision.cause}
    return {
        **{column: turn.row.get(column) for column in TURN_COLUMNS},
        "is_exact_match": result.exact if is_known else None,
        "is_correct": result.correct,
        "is_miss": result.miss if is_known else None,
        "is_semantically_correct": result.correct,
        "api_response": response,
    }
