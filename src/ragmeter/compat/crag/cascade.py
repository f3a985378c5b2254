"""The cascade over conversations.

Whole conversations are audited: whether a conversation ends depends on every verdict in it, so the effect of the
offline judge's mistakes on the scores shows only where both judges have decided all of its turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ragmeter.compat.crag.evaluation import Judged
from ragmeter.engine.sharing import Row, Sharing
from ragmeter.judges.cascade import Cascade
from ragmeter.judges.judge import Judge
from ragmeter.judges.verdict import CORRECT, OFFLINE, WRONG, verdict
from ragmeter.metrics.conversation import Turn, counted
from ragmeter.stats.cascade import Flags
from ragmeter.table import SCORED, Scores

__all__ = ["Cascade", "SharedTurns"]


class SharedTurns(Sharing):
    """Turns that the offline judge and a language model share. Without a language model, the former decides all."""

    rows_name = "turns"

    def __init__(self, cascade: Cascade, judged: Judged, judge: Judge | None, budget: float | None) -> None:
        """Decide the turns of which the offline judge is sure, except in conversations that are audited."""
        super().__init__(cascade)
        self._turns = list(judged.all_turns)
        self._judged = judged
        asks = None if judge is None else judge.on(verdict)
        self.prepare(self._rows(), asks, None if judge is None or judge.price is None else budget)
        for place, turn in enumerate(self._turns):
            chance = float(self._chances[place])
            turn.chance = None if np.isnan(chance) else chance
            turn.sure, turn.audited = bool(self._sure[place]), bool(self._audited[place])
            if self.decides(place):
                turn.decide_offline()

    def _rows(self) -> Iterator[Row]:
        for unit, conversation in enumerate(self._judged.conversations):
            for turn in conversation:
                correct = None if turn.result is None else turn.result.correct
                value = None if correct is None else CORRECT if correct else WRONG
                yield Row(turn.qid, turn.columns if turn.result is None else None, value, unit)

    def finish(self) -> None:
        """Fall back on the offline judge where the language model was asked to audit it and gave no verdict."""
        for place, turn in enumerate(self._turns):
            if turn.judgement is not None:
                self.record(place, turn.judgement.accuracy)
            if turn.sure and turn.result is not None and turn.result.correct is None:
                turn.decide_offline()

    def _sum(self, costs: Scores) -> float:
        return float(sum(costs.tolist()))  # one after another, which rounds otherwise than numpy does

    def _saved(self) -> Flags:
        return np.array([turn.judged_by == OFFLINE and turn.judgement is None for turn in self._turns], dtype=np.bool_)

    def _n_missing(self) -> int:
        return sum(turn.chance is not None and turn.outcome != SCORED for turn in self._turns)

    def _accuracies(self) -> tuple[Scores, Scores, Flags]:
        """Each turn counts by the rule for conversations, once with both judges' verdicts together, and once with the
        language model's alone in those conversations of which it was asked about every turn.
        """
        shared, model_alone, rest_on_sure = [], [], []
        for turns in self._judged.conversations:
            shared += _as_numbers([turn.offline_result if turn.sure else turn.result for turn in turns])
            audited = all(turn.judgement is not None for turn in turns if turn.sure)
            by_model = audited and all(turn.result is not None and turn.judged_by != OFFLINE for turn in turns)
            model_alone += _as_numbers([turn.result for turn in turns]) if by_model else [np.nan] * len(turns)
            rest_on_sure += [any(turn.sure for turn in turns)] * len(turns)
        return np.array(shared), np.array(model_alone), np.array(rest_on_sure, dtype=np.bool_)


def _as_numbers(results: Sequence[Turn | None]) -> list[float]:
    """1 for each turn that counts as correct, 0 for the others, NaN where that is not known."""
    after_rule = counted([result or Turn(correct=None) for result in results])
    return [np.nan if result.correct is None else float(result.correct) for result in after_rule]
