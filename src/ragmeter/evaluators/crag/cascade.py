"""The offline judge where it is sure, a language model for the rest, and for some of the sure ones as a check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ragmeter import registry
from ragmeter.errors import UsageError
from ragmeter.evaluators.crag.evaluation import ENDED, OFFLINE, Judged, JudgedTurn
from ragmeter.judges.judge import LLMJudge
from ragmeter.metrics.conversation import Turn
from ragmeter.stats.cascade import (
    ASK_ALL,
    Threshold,
    audited,
    by_expectation,
    by_labels,
    by_share,
    corrected_scores,
    labels_needed,
    sureness,
)
from ragmeter.stats.confidence import Confidence
from ragmeter.stats.intervals import interval_of, wilson_interval
from ragmeter.table import Scores

METRIC = "offline_correct_probability"
_USUAL_TARGET = 0.98
#: Of the sure turns at least so many are asked about as well: of fewer, little could be said.
_FEWEST_AUDITED = 30


@dataclass(frozen=True)
class Cascade:
    """How the offline judge and the language model share the work.

    Args:
        target_agreement: the share of all verdicts that shall be what the language model, or people, would say.
        llm_share: the share of the doubtful turns to ask the language model about, in place of a target.
        labels: people's verdicts by qid, 1 and 0, on turns drawn at random: with them the target is a promise.
        audit: the share of the sure turns to ask the language model about as well.
        seed: draws the audited turns.
        calibration: a file that `ragmeter calibrate --offline-judge` made of labels of one's own.
    """

    target_agreement: float | None = None
    llm_share: float | None = None
    labels: Mapping[str, float] = field(default_factory=dict)
    audit: float = 0.05
    seed: int = 0
    calibration: str | None = None

    def __post_init__(self) -> None:
        for name in ("target_agreement", "llm_share", "audit"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                raise UsageError(f"{name} is a share between 0 and 1, and is {value:g}")
        if self.target_agreement is not None and self.llm_share is not None:
            raise UsageError("a target agreement and a share don't go together", hint="give one of them")
        if self.target_agreement == 1:
            raise UsageError("an agreement of 1 can't be promised", hint="0.98 is usual")

    def share(self, judged: Judged, judge: LLMJudge | None, budget: float | None) -> Shared:
        """Decide the sure turns, but for those that are audited. Without a language model all are sure."""
        doubtful = [each for conversation in judged.conversations for each in conversation if each.turn is None]
        chances = chances_of([each.row for each in doubtful], self.calibration)
        warnings: list[str] = []
        if judge is None:
            threshold, basis = Threshold(0.5), "no language model"
        else:
            threshold, basis = self._threshold(judged, doubtful, chances, judge, budget, warnings)
        sure = threshold.sure(chances)
        share = self.audit if judge is not None else 0.0
        checked, _ = audited(sure, share, _FEWEST_AUDITED if share else 0, self.seed)
        for each, chance, is_sure, is_checked in zip(doubtful, chances.tolist(), sure, checked, strict=True):
            each.chance = chance
            each.sure = bool(is_sure)
            if is_sure and not is_checked:
                each.decide_offline()
        return Shared(judged, threshold, basis, self.target_agreement, len(self.labels), warnings)

    def _threshold(
        self,
        judged: Judged,
        doubtful: Sequence[JudgedTurn],
        chances: Scores,
        judge: LLMJudge,
        budget: float | None,
        warnings: list[str],
    ) -> tuple[Threshold, str]:
        if self.llm_share is not None:
            return by_share(chances, self.llm_share), f"a share of {self.llm_share:g}"
        if self.target_agreement is None and budget is not None and judge.price is not None:
            return by_share(chances, self._affordable(doubtful, chances, judge, budget)), f"a budget of ${budget:g}"
        target = self.target_agreement or _USUAL_TARGET
        if not self.labels:
            warnings.append(
                f"an agreement of {target:g} is what the offline judge's own figures let expect; it is no promise for "
                "these data: `ragmeter label` some turns, and give them with --labels"
            )
            return by_expectation(chances, target), "the offline judge's own figures"
        return self._by_labels(judged, doubtful, chances, target, warnings), f"{len(self.labels):,} labels"

    def _by_labels(
        self, judged: Judged, doubtful: Sequence[JudgedTurn], chances: Scores, target: float, warnings: list[str]
    ) -> Threshold:
        """By the labelled turns, those that need no judge among them: they are part of what is promised."""
        known = {each.qid: chance for each, chance in zip(doubtful, chances.tolist(), strict=True)}
        right = np.array(list(self.labels.values()), dtype=np.float64)
        held = np.array([known.get(qid, label) for qid, label in self.labels.items()], dtype=np.float64)
        session = {each.qid: place for place, turns in enumerate(judged.conversations) for each in turns}
        groups = np.array([session[qid] for qid in self.labels], dtype=np.int64)
        alone = len(np.unique(groups)) == len(groups)
        found = by_labels(held, right, target, groups=None if alone else groups)
        if found == ASK_ALL:
            warnings.append(
                f"{len(self.labels):,} labels can't promise an agreement of {target:g}: that takes "
                f"{labels_needed(target):,} at the least. The language model is asked about every doubtful turn"
            )
        return found

    def _affordable(self, doubtful: Sequence[JudgedTurn], chances: Scores, judge: LLMJudge, budget: float) -> float:
        """The share of the doubtful turns that a budget pays for, the audited ones paid for first."""
        costs = np.array([judge.cost(*each.texts()) for each in doubtful])
        left = budget - self.audit * costs.sum()
        paid = np.count_nonzero(np.cumsum(costs[np.argsort(sureness(chances), kind="stable")]) <= left)
        return float(paid) / max(len(doubtful), 1)


def chances_of(rows: Sequence[Mapping[str, Any]], calibration: str | None = None) -> Scores:
    """The offline judge's chance that each answer is right; even where it has none."""
    if not rows:
        return np.array([], dtype=np.float64)
    columns: dict[str, list[Any]] = {
        "question": [str(row.get("query") or "") for row in rows],
        "reference": [[row["ground_truth"]] for row in rows],
        "answer": [row["agent_response"] for row in rows],
    }
    (metric,) = registry.get_all(METRIC, calibration=calibration)
    return np.nan_to_num(np.asarray(metric(*(columns[name] for name in metric.needs))), nan=0.5)


@dataclass(frozen=True)
class Shared:
    """Turns whose judging is shared, and what came of it."""

    judged: Judged
    threshold: Threshold
    basis: str
    target_agreement: float | None
    n_labels: int
    warnings: list[str]

    def finish(self) -> None:
        """Let the offline judge's word stand where the language model was asked to check it and said nothing."""
        for conversation in self.judged.conversations:
            for each in conversation:
                if each.sure and each.turn is not None and each.turn.correct is None:
                    each.decide_offline()

    def summary(self, judge: LLMJudge | None) -> dict[str, Any]:
        """Where verdicts came from, what was saved, and the accuracy without the offline judge's mistakes."""
        turns = [each for conversation in self.judged.conversations for each in conversation]
        counted = [turn for conversation in self.judged.counted for turn in conversation]
        sure = np.array([each.sure and each.judged_by != ENDED for each in turns], dtype=bool)
        decided = np.array([each.sure and (each.chance or 0.0) >= 0.5 for each in turns], dtype=np.float64)
        asked = np.array([_known(each, turn) for each, turn in zip(turns, counted, strict=True)])
        saved = [each for each in turns if each.judged_by == OFFLINE]
        return {
            "threshold": None if self.threshold == ASK_ALL else self.threshold.least,
            "basis": self.basis,
            "target_agreement": self.target_agreement,
            "n_labels": self.n_labels,
            "warnings": self.warnings,
            "calls_saved": 0 if judge is None else len(saved) * judge.repeats,
            "saved_usd": None
            if judge is None or judge.price is None
            else sum(judge.cost(*each.texts()) * judge.repeats for each in saved),
            "audited": _agreement(decided, asked, sure),
            "accuracy": self._accuracy(decided, asked, sure),
        }

    def _accuracy(self, decided: Scores, asked: Scores, sure: Any) -> dict[str, Any]:
        """Of single turns as they count, as the language model would find it; with an interval that knows the audit."""
        scores = corrected_scores(decided, asked, sure)
        there = ~np.isnan(scores)
        lengths = [len(conversation) for conversation in self.judged.conversations]
        codes = np.repeat(np.arange(len(lengths)), lengths)[there] if max(lengths, default=0) > 1 else None
        interval, method = interval_of(scores[there], Confidence(), codes=codes)
        mean = float(scores[there].mean()) if there.any() else None
        return {"mean": mean, "interval": interval, "interval_method": method, "n": int(there.sum())}


def _known(each: JudgedTurn, turn: Turn) -> float:
    """What is known of a turn without the offline judge; NaN where its word is all there is."""
    return np.nan if each.judged_by == OFFLINE or turn.correct is None else float(turn.correct)


def _agreement(decided: Scores, asked: Scores, sure: Any) -> dict[str, Any]:
    """How often the language model says the same as the offline judge, of the sure turns that it was asked about."""
    both = sure & ~np.isnan(asked)
    n, same = int(both.sum()), int(np.count_nonzero(decided[both] == asked[both]))
    return {"n": n, "agreement": same / n if n else None, "interval": wilson_interval(same, n)}
