"""The turns of conversations judged in their order: nobody is asked about those after a conversation's end.

In a cascade whole conversations are audited: whether a conversation ends depends on every verdict in it, so the effect
of the offline judge's mistakes on the scores shows only where both judges have decided all of its turns.
"""

from __future__ import annotations

from asyncio import gather
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ragmeter.definition.judge_columns import EXACT, MISS
from ragmeter.effects.process.loop import for_each
from ragmeter.engine.judging.cascade_run import CascadeRun, Decision, Row
from ragmeter.engine.judging.column_run import Ask, ColumnRun
from ragmeter.judges.asking.cascade import Cascade
from ragmeter.judges.asking.column_judge import ColumnJudge
from ragmeter.judges.asking.judgement import Judgement
from ragmeter.judges.verdict import CORRECT, WRONG
from ragmeter.metrics.conversation import WRONG_AT_END, ended_at, is_correct, is_end, sessions_of, turn_of
from ragmeter.stats.cascade import Flags
from ragmeter.table import ENDED, QID, SCORED, Batch, Scores, row_causes

_SESSION, _TURN = "session_id", "turn_idx"


class SessionRun(ColumnRun):
    """Fills the verdicts of turns, for metrics over conversations."""

    def _cascade_run(self, cascade: Cascade) -> CascadeRun:
        self._numbers: dict[Any, int] = {}
        return SessionCascade(cascade)

    def rows(self, batch: Batch) -> tuple[list[str], list[str | None], list[dict[str, Any]]]:
        """The rows of `ColumnRun`; an answer that declines, or repeats a reference word for word, needs no judge."""
        states, values, rows = super().rows(batch)
        answers = batch.columns.get("answer") or [None] * len(batch)
        references = batch.columns.get("reference") or [None] * len(batch)
        causes = row_causes(batch) or [None] * len(batch)
        qids = batch.columns.get(QID) or [""] * len(batch)
        for place, (answer, texts, cause) in enumerate(zip(answers, references, causes, strict=True)):
            rows[place][QID] = qids[place]
            turn = turn_of(None if cause else answer, texts, None, None)
            if turn.correct is not None:
                states[place], values[place] = SCORED, CORRECT if turn.correct else WRONG
        return states, values, rows

    def _known(self, value: str, row: Mapping[str, Any]) -> Decision:
        """A turn that needs no judge is an exact match, or the answer declines."""
        return Decision(value, EXACT if value == CORRECT else MISS)

    def _units(self, batch: Batch) -> Sequence[int | None]:
        """The number of each row's conversation."""
        ids = batch.columns.get(_SESSION) or [None] * len(batch)
        return [self._numbers.setdefault(session or object(), len(self._numbers)) for session in ids]

    async def _ask_waiting(
        self, batch: Batch, start: int, waiting: Sequence[int], verdict: Callable[[int], str | None], ask: Ask
    ) -> None:
        """Ask turn by turn, long conversations first, since they take the longest."""
        to_ask = set(waiting)

        async def ask_all(places: Sequence[int]) -> None:
            asked = [place for place in places if place in to_ask]
            if len(asked) == 1:  # without a task of its own: that is quicker
                await ask(asked[0])
            elif asked:
                await gather(*map(ask, asked))

        async def ask_session(places: Sequence[int]) -> None:
            if self.cascade is not None and self.cascade.is_audited(start + places[0]):
                await ask_all(places)  # the offline judge is compared on all of its turns
                return
            await ask_all(places[:WRONG_AT_END])
            for index, place in enumerate(places[WRONG_AT_END:]):
                if is_end([is_correct(verdict(before)) for before in places[index : index + WRONG_AT_END]]):
                    return
                if not self.is_stopped:
                    await ask_all([place])

        await for_each(sorted(_sessions(batch), key=len, reverse=True), ask_session, 2 * self.judge.workers)

    def _settled(
        self, batch: Batch, decisions: list[Decision], judgements: Mapping[int, Judgement], start: int
    ) -> list[Decision]:
        """The decisions; those after the end of a conversation are nobody's. What the model has said of them stays."""
        settled = list(decisions)
        ended: list[int] = []
        sessions = _sessions(batch)
        for places in sessions:
            ended += places[ended_at([is_correct(decisions[place].value) for place in places]) :]
        for place in ended:
            if decisions[place].by != MISS:
                asked = place in judgements
                settled[place] = replace(decisions[place], by=ENDED) if asked else Decision(by=ENDED, outcome=ENDED)
        if isinstance(self.cascade, SessionCascade):
            in_table = [[start + place for place in places] for places in sessions]
            self.cascade.decide(in_table, [start + place for place in ended])
        return settled


class SessionCascade(CascadeRun):
    """Turns that the offline judge and a language model share."""

    rows_name = "turns"

    def prepare(self, rows: Iterable[Row], asks: ColumnJudge | None, budget: float | None) -> None:
        """Prepare the rows as `CascadeRun` does, and note that no conversation has ended yet."""
        super().prepare(rows, asks, budget)
        self._ended = np.zeros(len(self._units), dtype=np.bool_)
        self._sessions: list[list[int]] = []

    def decide(self, sessions: Sequence[list[int]], ended: Sequence[int]) -> None:
        """All turns of these conversations, in their order, are decided; some are after the end of theirs."""
        self._sessions += sessions
        self._ended[list(ended)] = True

    def _saved(self) -> Flags:
        return super()._saved() & ~self._ended

    def _n_missing(self) -> int:
        unknown = ~self._sure & np.isnan(self._model) & ~self._ended
        return int(np.count_nonzero(~np.isnan(self._chances) & unknown))

    def _accuracies(self) -> tuple[Scores, Scores, Flags]:
        """Each turn counts by the rule for conversations, once with both judges' verdicts together, and once with the
        language model's alone in those conversations of which it was asked about every turn.
        """
        shared, model, rest_on_sure = super()._accuracies()
        alone = np.full(len(model), np.nan)
        shared, rest_on_sure = shared.copy(), rest_on_sure.copy()
        for places in self._sessions:
            sure, by_model = self._sure[places], _by_the_rule(model[places])
            if self._audited[places][sure].all() and not np.isnan(by_model[sure]).any():
                alone[places] = by_model
            shared[places] = _by_the_rule(shared[places])
            rest_on_sure[places] = sure.any()
        return shared, alone, rest_on_sure


def _by_the_rule(verdicts: Scores) -> Scores:
    """Verdicts of a conversation, 1, 0 or NaN, as they count: after its end nothing is right."""
    end = ended_at([None if np.isnan(verdict) else bool(verdict) for verdict in verdicts.tolist()])
    return np.concatenate([verdicts[:end], np.zeros(len(verdicts) - end)])


def _sessions(batch: Batch) -> list[list[int]]:
    empty = [None] * len(batch)
    return sessions_of(batch.columns.get(_SESSION) or empty, batch.columns.get(_TURN) or empty)
