"""The cascade over conversations.

Whole conversations are audited: whether a conversation ends depends on every verdict in it, so the effect of the
offline judge's mistakes on the scores shows only where both judges have decided all of its turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ragmeter.compat.crag.evaluation import Judged, JudgedTurn
from ragmeter.judges.cascade import (
    NO_MODEL,
    Cascade,
    Doubtful,
    Plan,
    agreement,
    corrected_accuracy,
    no_verdict_warning,
    offline_chances,
)
from ragmeter.judges.judge import Judge
from ragmeter.judges.verdict import OFFLINE, verdict
from ragmeter.metrics.conversation import Turn, counted
from ragmeter.stats.cascade import Threshold
from ragmeter.table import SCORED, Scores

__all__ = ["Cascade", "Shared", "chances_of", "share"]


def share(cascade: Cascade, judged: Judged, judge: Judge | None, budget: float | None) -> Shared:
    """Decide the turns of which the offline judge is sure, except audited ones. Without a language model, all turns."""
    doubtful = [turn for turn in judged.all_turns if turn.result is None]
    chances = chances_of(doubtful, cascade.calibration)
    plan = Plan(Threshold(0.5), NO_MODEL)
    if judge is not None:
        plan = cascade.plan(_doubtful(judged, doubtful, chances, judge), None if judge.price is None else budget)
    for turn, chance, is_sure in zip(doubtful, chances.tolist(), plan.threshold.sure(chances), strict=True):
        turn.chance, turn.sure = chance, bool(is_sure)
    has_sure = np.array([any(turn.sure for turn in turns) for turns in judged.conversations], dtype=bool)
    audited = cascade.audited(has_sure, plan) if judge is not None else np.zeros_like(has_sure)
    for turns, is_audited in zip(judged.conversations, audited.tolist(), strict=True):
        for turn in turns:
            turn.audited = is_audited
            if turn.sure and not is_audited:
                turn.decide_offline()
    return Shared(judged, plan, len(cascade.labels))


def _doubtful(judged: Judged, turns: Sequence[JudgedTurn], chances: Scores, judge: Judge) -> Doubtful:
    asks = judge.on(verdict)
    unit_of, decided = {}, {}
    for place, conversation in enumerate(judged.conversations):
        for turn in conversation:
            unit_of[turn.qid] = place
            if turn.result is not None and turn.result.correct is not None:
                decided[turn.qid] = float(turn.result.correct)
    return Doubtful(
        [turn.qid for turn in turns],
        chances,
        np.array([asks.cost(turn.texts(asks.asked)) * judge.repeats for turn in turns], dtype=np.float64),
        max((asks.most(turn.texts(asks.asked)) for turn in turns), default=0.0),
        np.array([unit_of[turn.qid] for turn in turns], dtype=np.int64),
        unit_of,
        decided,
    )


def chances_of(turns: Sequence[JudgedTurn], calibration: str | None = None) -> Scores:
    """The offline judge's probability that each answer is right; 0.5 where it has none."""
    columns: dict[str, list[Any]] = {
        "question": [str(turn.row.get("query") or "") for turn in turns],
        "reference": [turn.references for turn in turns],
        "answer": [turn.row["agent_response"] for turn in turns],
    }
    return offline_chances(columns, calibration)


@dataclass(frozen=True)
class Shared:
    """Turns that the offline judge and a language model share."""

    judged: Judged
    plan: Plan
    n_labels: int

    def finish(self) -> None:
        """Fall back on the offline judge where the language model was asked to audit it and gave no verdict."""
        for turn in self.judged.all_turns:
            if turn.sure and turn.result is not None and turn.result.correct is None:
                turn.decide_offline()

    def summary(self, judge: Judge | None) -> dict[str, Any]:
        """The threshold, what was saved, and the accuracy corrected for the offline judge's mistakes."""
        turns = list(self.judged.all_turns)
        saved = [turn for turn in turns if turn.judged_by == OFFLINE and turn.judgement is None]
        plan = self.plan.as_dict(self.n_labels)
        pairs = [
            (turn.offline_result.correct, turn.judgement.accuracy) for turn in turns if turn.sure and turn.judgement
        ]
        return {
            **plan,
            "warnings": [*plan["warnings"], *self._warnings(turns)],
            "calls_saved": 0 if judge is None else len(saved) * judge.repeats,
            "saved_usd": None
            if judge is None or judge.price is None
            else sum(judge.on(verdict).cost(turn.texts()) * judge.repeats for turn in saved),
            "audited": agreement(pairs),
            "accuracy": self._accuracy(),
        }

    def _warnings(self, turns: Sequence[JudgedTurn]) -> Iterator[str]:
        missing = sum(turn.chance is not None and turn.outcome != SCORED for turn in turns)
        if missing:  # doubtful answers are mostly wrong: without them, the others look better than all are
            yield no_verdict_warning(missing, "turns")

    def _accuracy(self) -> dict[str, Any]:
        """The accuracy of turns, estimated as if the language model had judged all; None where nothing was audited.

        Each turn counts by the rule for conversations, once with both judges' verdicts together, and once with the
        language model's alone in those conversations of which it was asked about every turn.
        """
        shared, model_alone = [], []
        for turns in self.judged.conversations:
            shared += _as_numbers([turn.offline_result if turn.sure else turn.result for turn in turns])
            audited = all(turn.judgement is not None for turn in turns if turn.sure)
            by_model = audited and all(turn.result is not None and turn.judged_by != OFFLINE for turn in turns)
            model_alone += _as_numbers([turn.result for turn in turns]) if by_model else [np.nan] * len(turns)
        lengths = [len(turns) for turns in self.judged.conversations]
        has_sure = [any(turn.sure for turn in turns) for turns in self.judged.conversations]
        units, sure = np.repeat(np.arange(len(lengths)), lengths), np.repeat(has_sure, lengths)
        cheap, dear = np.array(shared, dtype=np.float64), np.array(model_alone, dtype=np.float64)
        return corrected_accuracy(cheap, dear, sure, units)


def _as_numbers(results: Sequence[Turn | None]) -> list[float]:
    """1 for each turn that counts as correct, 0 for the others, NaN where that is not known."""
    after_rule = counted([result or Turn(correct=None) for result in results])
    return [np.nan if result.correct is None else float(result.correct) for result in after_rule]
