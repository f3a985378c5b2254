"""The cascade over conversations.

Whole conversations are audited: whether a conversation ends depends on every verdict in it, so the effect of the
offline judge's mistakes on the scores shows only where both judges have decided all of its turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ragmeter.compat.crag.evaluation import UNDECIDED, Judged
from ragmeter.documents.judging import CascadeSummary
from ragmeter.engine.judging.cascade_run import CascadeRun, Row, decided
from ragmeter.judges.cascade import Cascade
from ragmeter.judges.judge import Judge
from ragmeter.judges.verdict import OFFLINE, verdict
from ragmeter.metrics.conversation import Turn, counted
from ragmeter.stats.cascade import Flags
from ragmeter.table import SCORED, Scores

__all__ = ["Cascade", "SharedTurns"]


class SharedTurns(CascadeRun):
    """Turns that the offline judge and a language model share. Without a language model, the former decides all."""

    rows_name = "turns"

    def __init__(self, cascade: Cascade, judged: Judged, judge: Judge | None, budget: float | None) -> None:
        """Decide the turns of which the offline judge is sure, except in conversations that are audited."""
        super().__init__(cascade)
        self._judged = judged
        column_judge = None if judge is None else judge.on(verdict)
        self.prepare(self._rows(), column_judge, None if judge is None or judge.price is None else budget)
        for place, turn in enumerate(judged.all_turns):
            turn.chance, turn.audited = self.chance(place), bool(self._audited[place])
            if self.decides(place):
                turn.decision = decided(None, turn.chance, UNDECIDED)

    def _rows(self) -> Iterator[Row]:
        for unit, conversation in enumerate(self._judged.conversations):
            for turn in conversation:
                yield Row(turn.qid, turn.columns if turn.decision is UNDECIDED else None, turn.decision.value, unit)

    def summary(self, judge: Judge | None) -> CascadeSummary:
        """The cascade's summary, over the turns that the language model was asked about."""
        for place, turn in enumerate(self._judged.all_turns):
            if turn.judgement is not None:
                self.record(place, turn.judgement.accuracy)
        return super().summary(judge)

    def _sum(self, costs: Scores) -> float:
        return float(sum(costs.tolist()))  # one after another, which rounds otherwise than numpy does

    def _saved(self) -> Flags:
        turns = self._judged.all_turns
        return np.array([turn.decision.by == OFFLINE and turn.judgement is None for turn in turns], dtype=np.bool_)

    def _n_missing(self) -> int:
        is_missing = [outcome != SCORED for outcome in self._judged.outcomes()]
        return int(np.count_nonzero(~np.isnan(self._chances) & is_missing))

    def _accuracies(self) -> tuple[Scores, Scores, Flags]:
        """Each turn counts by the rule for conversations, once with both judges' verdicts together, and once with the
        language model's alone in those conversations of which it was asked about every turn.
        """
        shared, model_alone, rest_on_sure = [], [], []
        for turns in self._judged.conversations:
            shared += _as_numbers([turn.result if turn.chance is None else Turn(turn.chance >= 0.5) for turn in turns])
            asked = all(turn.judgement is not None for turn in turns if turn.chance is not None)
            by_model = asked and all(turn.decision.by != OFFLINE for turn in turns)
            model_alone += _as_numbers([turn.result for turn in turns]) if by_model else [np.nan] * len(turns)
            rest_on_sure += [any(turn.chance is not None for turn in turns)] * len(turns)
        return np.array(shared), np.array(model_alone), np.array(rest_on_sure, dtype=np.bool_)


def _as_numbers(results: Sequence[Turn]) -> list[float]:
    """1 for each turn that counts as correct, 0 for the others, NaN where that is not known."""
    return [np.nan if result.correct is None else float(result.correct) for result in counted(results)]
