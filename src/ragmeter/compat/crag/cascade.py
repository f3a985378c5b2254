"""The cascade over conversations.

What is checked are whole conversations: whether a conversation ends depends on every verdict in it, so that only what
both judges make of all its turns tells what the offline judge's mistakes do to the scores.
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
    offline_chances,
)
from ragmeter.judges.judge import Judge
from ragmeter.judges.verdict import OFFLINE, verdict
from ragmeter.metrics.conversation import Turn, counted
from ragmeter.stats.cascade import Threshold
from ragmeter.table import SCORED, Scores

__all__ = ["Cascade", "Shared", "chances_of", "share"]


def share(cascade: Cascade, judged: Judged, judge: Judge | None, budget: float | None) -> Shared:
    """Decide the sure turns, but for those that are audited. Without a language model all are sure."""
    doubtful = [turn for conversation in judged.conversations for turn in conversation if turn.turn is None]
    chances = chances_of(doubtful, cascade.calibration)
    plan = Plan(Threshold(0.5), NO_MODEL)
    if judge is not None:
        plan = cascade.plan(_doubtful(judged, doubtful, chances, judge), None if judge.price is None else budget)
    for turn, chance, is_sure in zip(doubtful, chances.tolist(), plan.threshold.sure(chances), strict=True):
        turn.chance, turn.sure = chance, bool(is_sure)
    rests = np.array([any(turn.sure for turn in turns) for turns in judged.conversations], dtype=bool)
    checked = cascade.audited(rests, plan) if judge is not None else np.zeros_like(rests)
    for turns, is_checked in zip(judged.conversations, checked.tolist(), strict=True):
        for turn in turns:
            turn.audited = is_checked
            if turn.sure and not is_checked:
                turn.decide_offline()
    return Shared(judged, plan, len(cascade.labels))


def _doubtful(judged: Judged, turns: Sequence[JudgedTurn], chances: Scores, judge: Judge) -> Doubtful:
    asks = judge.on(verdict)
    unit_of, decided = {}, {}
    for place, conversation in enumerate(judged.conversations):
        for turn in conversation:
            unit_of[turn.qid] = place
            if turn.turn is not None and turn.turn.correct is not None:
                decided[turn.qid] = float(turn.turn.correct)
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
    """The offline judge's chance that each answer is right; even where it has none."""
    columns: dict[str, list[Any]] = {
        "question": [str(turn.row.get("query") or "") for turn in turns],
        "reference": [turn.references for turn in turns],
        "answer": [turn.row["agent_response"] for turn in turns],
    }
    return offline_chances(columns, calibration)


@dataclass(frozen=True)
class Shared:
    """Turns whose judging is shared, and what came of it."""

    judged: Judged
    plan: Plan
    n_labels: int

    def finish(self) -> None:
        """Let the offline judge's word stand where the language model was asked to check it and said nothing."""
        for conversation in self.judged.conversations:
            for each in conversation:
                if each.sure and each.turn is not None and each.turn.correct is None:
                    each.decide_offline()

    def summary(self, judge: Judge | None) -> dict[str, Any]:
        """Where verdicts came from, what was saved, and the accuracy without the offline judge's mistakes."""
        turns = [each for conversation in self.judged.conversations for each in conversation]
        saved = [each for each in turns if each.judged_by == OFFLINE and each.judgement is None]
        described = self.plan.as_dict(self.n_labels)
        pairs = [(turn.offline().correct, turn.judgement.accuracy) for turn in turns if turn.sure and turn.judgement]
        return {
            **described,
            "warnings": [*described["warnings"], *self._unanswered(turns)],
            "calls_saved": 0 if judge is None else len(saved) * judge.repeats,
            "saved_usd": None
            if judge is None or judge.price is None
            else sum(judge.on(verdict).cost(turn.texts()) * judge.repeats for turn in saved),
            "audited": agreement(pairs),
            "accuracy": self._accuracy(),
        }

    def _unanswered(self, turns: Sequence[JudgedTurn]) -> Iterator[str]:
        """What is doubtful is mostly wrong: without it, what is left looks better than it is."""
        missing = sum(each.chance is not None and each.outcome != SCORED for each in turns)
        if missing:
            yield (
                f"{missing:,} doubtful turns have no verdict, and the others are not like them: every accuracy here is "
                "of those alone. Ask again"
            )

    def _accuracy(self) -> dict[str, Any]:
        """Of single turns as they count, as the language model alone would find it; nothing where nothing was checked.

        A conversation is taken as both judges together leave it, and as the language model alone does where it was
        asked about all of it.
        """
        shared, alone = [], []
        for turns in self.judged.conversations:
            shared += _as_counted([each.offline() if each.sure else each.turn for each in turns])
            checked = all(each.judgement is not None for each in turns if each.sure)
            known = checked and all(each.turn is not None and each.judged_by != OFFLINE for each in turns)
            alone += _as_counted([each.turn for each in turns]) if known else [np.nan] * len(turns)
        lengths = [len(turns) for turns in self.judged.conversations]
        rests = [any(each.sure for each in turns) for turns in self.judged.conversations]
        units, sure = np.repeat(np.arange(len(lengths)), lengths), np.repeat(rests, lengths)
        cheap, dear = np.array(shared, dtype=np.float64), np.array(alone, dtype=np.float64)
        return corrected_accuracy(cheap, dear, sure, units)


def _as_counted(turns: Sequence[Turn | None]) -> list[float]:
    """1 for each turn that counts as right, 0 for the others, NaN for those that nobody knows."""
    held = counted([turn or Turn(correct=None) for turn in turns])
    return [np.nan if turn.correct is None else float(turn.correct) for turn in held]
