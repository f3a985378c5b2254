"""The offline judge where it is sure, a language model for the rest, and for some of the sure ones as a check.

What is checked are whole conversations: whether a conversation ends depends on every verdict in it, so that only what
both judges make of all its turns tells what the offline judge's mistakes do to the scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ragmeter import registry
from ragmeter.compat.crag.evaluation import OFFLINE, Judged, JudgedTurn
from ragmeter.errors import UsageError, did_you_mean
from ragmeter.hints import by_caller
from ragmeter.io.data import file_signature
from ragmeter.judges.judge import LLMJudge
from ragmeter.metrics.conversation import Turn, counted
from ragmeter.show.numbers import given
from ragmeter.stats.cascade import (
    ASK_ALL,
    Threshold,
    audited,
    by_expectation,
    by_labels,
    by_share,
    corrected_mean,
    labels_needed,
    sureness,
)
from ragmeter.stats.intervals import wilson_interval
from ragmeter.table import SCORED, Scores

METRIC = "offline_correct_probability"
_USUAL_TARGET = 0.98
#: The basis of a threshold where no model is asked.
NO_MODEL = "no language model"
#: Of the conversations with sure turns at least so many are asked about as well: of fewer, little could be said.
_FEWEST_AUDITED = 30
#: Of a budget no more than this goes into the check.
_AUDITS_PART = 0.5


@dataclass(frozen=True)
class Cascade:
    """How the offline judge and the language model share the work.

    Args:
        target_agreement: the share of all verdicts that shall be what the language model, or people, would say.
        llm_share: the share of the doubtful turns to ask the language model about, in place of a target.
        labels: people's verdicts by qid, 1 and 0, on turns drawn at random: with them the target is a promise.
        audit: the share of the conversations with sure turns to ask the language model about as well.
        seed: draws the audited conversations.
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
                raise UsageError(f"{name} is a share between 0 and 1, and is {given(value)}")
        if self.target_agreement is not None and self.llm_share is not None:
            raise UsageError("a target agreement and a share don't go together", hint="give one of them")
        if self.llm_share is not None and self.labels:
            raise UsageError(
                "labels have no effect with a share for the language model", hint="give a target agreement in its place"
            )
        if self.target_agreement in (0, 1):
            raise UsageError(
                f"an agreement of {given(self.target_agreement)} can't be aimed at",
                hint=f"0.98 is usual{by_caller('; see --judge too', '')}",
            )
        if self.seed < 0:
            raise UsageError(f"the seed of the audit must be at least 0, and is {self.seed}")

    def signature(self) -> dict[str, Any]:
        """Everything that the shares depend on besides the texts; of labels their number."""
        return {
            "target_agreement": self.target_agreement,
            "llm_share": self.llm_share,
            "n_labels": len(self.labels),
            "audit": self.audit,
            "seed": self.seed,
            "calibration": None
            if self.calibration is None
            else {"path": self.calibration, **file_signature(Path(self.calibration))},
        }

    def share(self, judged: Judged, judge: LLMJudge | None, budget: float | None) -> Shared:
        """Decide the sure turns, but for those that are audited. Without a language model all are sure."""
        doubtful = [each for conversation in judged.conversations for each in conversation if each.turn is None]
        chances = chances_of(doubtful, self.calibration)
        plan = _Plan(Threshold(0.5), NO_MODEL)
        if judge is not None:
            plan = self._plan(judged, doubtful, chances, judge, budget)
        for each, chance, is_sure in zip(doubtful, chances.tolist(), plan.threshold.sure(chances), strict=True):
            each.chance, each.sure = chance, bool(is_sure)
        rests = np.array([any(each.sure for each in turns) for turns in judged.conversations], dtype=bool)
        share = self.audit if judge is not None else 0.0
        checked, _ = audited(rests, share, _FEWEST_AUDITED if share else 0, self.seed, plan.most_audited)
        for turns, is_checked in zip(judged.conversations, checked.tolist(), strict=True):
            for each in turns:
                each.audited = is_checked
                if each.sure and not is_checked:
                    each.decide_offline()
        return Shared(judged, plan, len(self.labels))

    def _plan(
        self,
        judged: Judged,
        doubtful: Sequence[JudgedTurn],
        chances: Scores,
        judge: LLMJudge,
        budget: float | None,
    ) -> _Plan:
        if self.llm_share is not None:
            return _Plan(by_share(chances, self.llm_share), f"a share of {given(self.llm_share)}")
        if self.target_agreement is None and not self.labels and budget is not None and judge.price is not None:
            return self._by_budget(judged, doubtful, chances, judge, budget)
        target = _USUAL_TARGET if self.target_agreement is None else self.target_agreement
        if self.labels:
            return self._by_labels(judged, doubtful, chances, target)
        warning = (
            f"an agreement of {given(target)} is what the offline judge's own figures let expect; it is no promise for "
            "these data: `ragmeter label` some turns, and give them as labels"
        )
        total = sum(map(len, judged.conversations))
        found = by_expectation(chances, target, total)
        return _Plan(found, "the offline judge's own figures", target, warnings=(warning,))

    def _by_labels(self, judged: Judged, doubtful: Sequence[JudgedTurn], chances: Scores, target: float) -> _Plan:
        """By the labelled turns, those that need no judge among them: they are part of what is promised."""
        known = {each.qid: chance for each, chance in zip(doubtful, chances.tolist(), strict=True)}
        session = {}
        for place, turns in enumerate(judged.conversations):
            for each in turns:
                session[each.qid] = place
                if each.turn is not None and each.turn.correct is not None:
                    known[each.qid] = float(each.turn.correct)
        for qid in self.labels:
            if qid not in session:
                raise UsageError(f"there is a label of the turn {qid!r}, and no such turn{did_you_mean(qid, session)}")
        used = {qid: label for qid, label in self.labels.items() if qid in known}
        right = np.array(list(used.values()), dtype=np.float64)
        held = np.array([known[qid] for qid in used], dtype=np.float64)
        groups = np.array([session[qid] for qid in used], dtype=np.int64)
        alone = len(np.unique(groups)) == len(groups)
        found = by_labels(held, right, target, groups=None if alone else groups)
        warnings: tuple[str, ...] = ()
        if found == ASK_ALL:
            least = labels_needed(target)
            why = (
                f"that takes {least:,} at the least"
                if len(used) < least
                else "the offline judge is too often wrong on them where it is most sure"
                if alone
                else "they are of too few conversations, or the offline judge is too often wrong on them"
            )
            warnings = (
                f"{len(used):,} labels can't promise an agreement of {given(target)}: {why}. The language model is "
                "asked about every doubtful turn",
            )
        return _Plan(found, f"{len(used):,} labels", target, warnings=warnings)

    def _by_budget(
        self, judged: Judged, doubtful: Sequence[JudgedTurn], chances: Scores, judge: LLMJudge, budget: float
    ) -> _Plan:
        """The least sure turns that a budget pays for. The audit comes first, with no more than its part."""
        costs = np.array([judge.cost(*each.texts()) * judge.repeats for each in doubtful], dtype=np.float64)
        # the last call begins only if it may cost the most that it can
        left = max(0.0, budget - max((judge.most(*each.texts()) for each in doubtful), default=0.0))
        conversations = len({each.row["session_id"] for each in doubtful})
        mean = float(costs.sum()) / max(conversations, 1)
        wanted = max(_FEWEST_AUDITED, self.audit * conversations) if self.audit else 0
        most = int(min(wanted, conversations, _AUDITS_PART * left / mean if mean else wanted))
        spent = np.cumsum(costs[np.argsort(sureness(chances), kind="stable")])
        paid = np.count_nonzero(spent <= left - most * mean)
        share = float(paid) / max(len(doubtful), 1)
        return _Plan(by_share(chances, share), f"a budget of ${given(budget)}", most_audited=most)


@dataclass(frozen=True)
class _Plan:
    """Where the line is drawn, by what, and what is to be said about it."""

    threshold: Threshold
    basis: str
    target: float | None = None
    most_audited: int | None = None
    warnings: tuple[str, ...] = ()


def chances_of(turns: Sequence[JudgedTurn], calibration: str | None = None) -> Scores:
    """The offline judge's chance that each answer is right; even where it has none."""
    if not turns:
        return np.array([], dtype=np.float64)
    columns: dict[str, list[Any]] = {
        "question": [str(each.row.get("query") or "") for each in turns],
        "reference": [each.references for each in turns],
        "answer": [each.row["agent_response"] for each in turns],
    }
    (metric,) = registry.get_all(METRIC, calibration=calibration)
    return np.nan_to_num(np.asarray(metric(*(columns[name] for name in metric.needs))), nan=0.5)


@dataclass(frozen=True)
class Shared:
    """Turns whose judging is shared, and what came of it."""

    judged: Judged
    plan: _Plan
    n_labels: int

    def finish(self) -> None:
        """Let the offline judge's word stand where the language model was asked to check it and said nothing."""
        for conversation in self.judged.conversations:
            for each in conversation:
                if each.sure and each.turn is not None and each.turn.correct is None:
                    each.decide_offline()

    def summary(self, judge: LLMJudge | None) -> dict[str, Any]:
        """Where verdicts came from, what was saved, and the accuracy without the offline judge's mistakes."""
        turns = [each for conversation in self.judged.conversations for each in conversation]
        saved = [each for each in turns if each.judged_by == OFFLINE and each.judgement is None]
        return {
            "threshold": None if self.plan.threshold == ASK_ALL else self.plan.threshold.least,
            "basis": self.plan.basis,
            "target_agreement": self.plan.target,
            "n_labels": self.n_labels,
            "warnings": [*self.plan.warnings, *self._unanswered(turns)],
            "calls_saved": 0 if judge is None else len(saved) * judge.repeats,
            "saved_usd": None
            if judge is None or judge.price is None
            else sum(judge.cost(*each.texts()) * judge.repeats for each in saved),
            "audited": _agreement(turns),
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
        mean, interval = corrected_mean(cheap, dear, sure, units)
        n = int(np.count_nonzero(~np.isnan(np.where(sure, cheap, dear))))
        return {"mean": mean, "interval": interval, "interval_method": "prediction_powered", "n": n}


def _as_counted(turns: Sequence[Turn | None]) -> list[float]:
    """1 for each turn that counts as right, 0 for the others, NaN for those that nobody knows."""
    held = counted([turn or Turn(correct=None) for turn in turns])
    return [np.nan if turn.correct is None else float(turn.correct) for turn in held]


def _agreement(turns: Sequence[JudgedTurn]) -> dict[str, Any]:
    """How often the language model says the same as the offline judge, of the sure turns that it was asked about."""
    said = [(each.offline().correct, each.judgement.accuracy) for each in turns if each.sure and each.judgement]
    both = [(offline, model) for offline, model in said if model is not None]
    n, same = len(both), sum(offline == model for offline, model in both)
    return {"n": n, "agreement": same / n if n else None, "interval": wilson_interval(same, n)}
