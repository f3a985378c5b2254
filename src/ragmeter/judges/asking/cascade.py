"""The offline judge where it is sure, a language model for the rest, and for some of the sure rows as a check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ragmeter.documents.judging import Agreement, CorrectedAccuracy, Tied
from ragmeter.documents.record import UNSET, UnsetType
from ragmeter.effects.argument_checks import check_share, check_whole
from ragmeter.errors import UsageError, did_you_mean
from ragmeter.hints import by_caller, option, parameter
from ragmeter.io.data import file_signature
from ragmeter.metrics.offline import offline_correct_probability
from ragmeter.metrics.offline.curves import read_curve
from ragmeter.naming import Signature
from ragmeter.stats.cascade import (
    ASK_ALL,
    Flags,
    Threshold,
    audited,
    by_expectation,
    by_labels,
    by_share,
    corrected_mean,
    labels_needed,
    sureness,
)
from ragmeter.stats.clusters import Codes
from ragmeter.stats.intervals import wilson_interval
from ragmeter.table import Scores
from ragmeter.wording.numbers import given

_USUAL_TARGET = 0.98
#: Of the units with sure rows at least so many are asked about as well: of fewer, little could be said.
_FEWEST_AUDITED = 30
#: Of a budget no more than this goes into the check.
_AUDITS_PART = 0.5


@dataclass(frozen=True)
class Doubtful:
    """The rows that need a judge, with what a threshold is chosen by.

    `chances` are the offline judge's, `costs` what asking about each costs (about; 0 where no price is known) and
    `most_cost` the most that one call can. A unit is what is checked as a whole: a conversation, or a row; `units` has
    those of the doubtful rows. `unit_of` has the unit of every row, and `decided` the verdicts, 1 and 0, of the rows
    that need no judge, both by qid.
    """

    qids: Sequence[str]
    chances: Scores
    costs: Scores
    most_cost: float
    units: Codes
    unit_of: Mapping[str, int]
    decided: Mapping[str, float]

    @property
    def n_units(self) -> int:
        """How many units have a doubtful row."""
        return len(np.unique(self.units))


@dataclass(frozen=True)
class CascadePlan:
    """The threshold, what it was set by, and notes about it."""

    threshold: Threshold
    basis: str
    target: float | None = None
    most_audited: int | None = None
    warnings: tuple[str, ...] = ()

    @property
    def least(self) -> float | None:
        """The least probability at which the offline judge decides; None where nothing is sure enough."""
        return None if self.threshold == ASK_ALL else self.threshold.least

    @property
    def tied(self) -> Tied | UnsetType:
        """The rows that are exactly so sure, if some of them are asked about."""
        asked = self.threshold.n_tied_asked
        return Tied(self.threshold.n_tied, asked) if asked else UNSET


@dataclass(frozen=True)
class Cascade:
    """How the offline judge and the language model share the work.

    Args:
        target_agreement: the share of all verdicts that shall be what the language model, or people, would say.
        llm_share: the share of the doubtful rows to ask the language model about, in place of a target.
        labels: people's verdicts by qid, 1 and 0, on rows drawn at random: with them the target is a promise.
        audit: the share of the conversations, or rows, with sure verdicts to ask the language model about as well.
        seed: draws what is audited.
        calibration: a file that `ragmeter calibrate --offline-judge` made of labels of one's own.
    """

    target_agreement: float | None = None
    llm_share: float | None = None
    labels: Mapping[str, float] = field(default_factory=dict)
    audit: float = 0.05
    seed: int = 0
    calibration: str | None = None

    def __post_init__(self) -> None:
        check_share(parameter("target_agreement"), self.target_agreement, optional=True)
        check_share(parameter("llm_share"), self.llm_share, optional=True)
        check_share(by_caller("--audit-share", "audit"), self.audit)
        check_whole(by_caller("--audit-seed", "seed"), self.seed, 0)
        if self.target_agreement is not None and self.llm_share is not None:
            both = f"{parameter('target_agreement')} and {parameter('llm_share')}"
            raise UsageError(f"{both} don't go together", hint="give one of them")
        if self.llm_share is not None and self.labels:
            hint = f"give {option('target_agreement')} in its place"
            raise UsageError(f"{parameter('labels')} has no effect with {parameter('llm_share')}", hint=hint)
        if self.target_agreement in (0, 1):
            raise UsageError(
                f"an agreement of {given(self.target_agreement)} can't be aimed at",
                hint=f"0.98 is usual{by_caller('; see --judge too', '')}",
            )

    def check(self) -> None:
        """Refuse a calibration that can't be read, before anything is asked."""
        if self.calibration is not None:
            read_curve(self.calibration)

    def signature(self) -> Signature:
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

    def plan(self, doubtful: Doubtful, budget: float | None) -> CascadePlan:
        """Choose the threshold: by a share, by labels, by what a budget pays for, or by expected agreement."""
        chances = doubtful.chances
        if self.llm_share is not None:
            return CascadePlan(by_share(chances, self.llm_share), f"a share of {given(self.llm_share)}")
        if self.target_agreement is None and not self.labels and budget is not None:
            return self._by_budget(doubtful, budget)
        target = _USUAL_TARGET if self.target_agreement is None else self.target_agreement
        if self.labels:
            return self._by_labels(doubtful, target)
        warning = (
            f"an agreement of {given(target)} is expected from the offline judge's own probabilities, and not "
            "guaranteed for these data: `ragmeter label` some rows, and give them as labels"
        )
        threshold = by_expectation(chances, target, len(doubtful.unit_of))
        return CascadePlan(threshold, "the offline judge's own probabilities", target, warnings=(warning,))

    def audited(self, rests_on_sure: Flags, plan: CascadePlan) -> Flags:
        """Which units, of those that rest on sure rows, are asked about as well."""
        fewest = _FEWEST_AUDITED if self.audit else 0
        return audited(rests_on_sure, self.audit, fewest, self.seed, plan.most_audited)[0]

    def _by_labels(self, doubtful: Doubtful, target: float) -> CascadePlan:
        """The plan according to the labelled rows. Those that need no judge count: the promise is about them, too."""
        known = {**dict(zip(doubtful.qids, doubtful.chances.tolist(), strict=True)), **doubtful.decided}
        unit_of = doubtful.unit_of
        for qid in self.labels:
            if qid not in unit_of:
                raise UsageError(f"there is a label of the row {qid!r}, and no such row{did_you_mean(qid, unit_of)}")
        used = {qid: label for qid, label in self.labels.items() if qid in known}
        right = np.array(list(used.values()), dtype=np.float64)
        chances = np.array([known[qid] for qid in used], dtype=np.float64)
        groups = np.array([unit_of[qid] for qid in used], dtype=np.int64)
        alone = len(np.unique(groups)) == len(groups)
        threshold = by_labels(chances, right, target, groups=None if alone else groups)
        warnings: tuple[str, ...] = ()
        if threshold == ASK_ALL:
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
                "asked about every doubtful row",
            )
        return CascadePlan(threshold, f"{len(used):,} labels", target, warnings=warnings)

    def _by_budget(self, doubtful: Doubtful, budget: float) -> CascadePlan:
        """The least sure rows that a budget pays for. The audit comes first, with no more than its part."""
        left = max(0.0, budget - doubtful.most_cost)  # the last call begins only if it may cost the most that it can
        units = doubtful.n_units
        mean = float(doubtful.costs.sum()) / max(units, 1)
        wanted = max(_FEWEST_AUDITED, self.audit * units) if self.audit else 0
        most = int(min(wanted, units, _AUDITS_PART * left / mean if mean else wanted))
        spent = np.cumsum(doubtful.costs[np.argsort(sureness(doubtful.chances), kind="stable")])
        paid = np.count_nonzero(spent <= left - most * mean)
        share = float(paid) / max(len(doubtful.qids), 1)
        return CascadePlan(by_share(doubtful.chances, share), f"a budget of ${given(budget)}", most_audited=most)


def offline_chances(columns: Mapping[str, Sequence[Any]], calibration: str | None = None) -> Scores:
    """The offline judge's chance that each answer is right, from question, reference and answer; even where unknown."""
    if not columns["answer"]:
        return np.array([], dtype=np.float64)
    metric = offline_correct_probability
    if calibration is not None:
        metric = metric.with_settings(calibration=calibration)
    return np.nan_to_num(np.asarray(metric(*(columns[name] for name in metric.needs))), nan=0.5)


def agreement(pairs: Sequence[tuple[bool | None, bool | None]]) -> Agreement:
    """How often the language model says the same as the offline judge, where it was asked to check it."""
    known = [(offline, model) for offline, model in pairs if model is not None]
    n, same = len(known), sum(offline == model for offline, model in known)
    return Agreement(n, same / n if n else None, wilson_interval(same, n))


def all_audited_warning(count: int, unit: str) -> str:
    """Says that a cascade saves no call, because of its audit."""
    return (
        f"{unit} that the offline judge is sure of: {count:,}, and the language model is asked about all of them as a "
        f"check, which takes at least {_FEWEST_AUDITED}: nothing is saved. An audit share of 0 leaves the check out"
    )


def no_verdict_warning(count: int, unit: str) -> str:
    """Says that doubtful rows without a verdict make every accuracy one of the other rows alone."""
    return (
        f"{count:,} doubtful {unit} have no score, and the others are not like them: every accuracy here is of those "
        "alone. Ask again"
    )


def corrected_accuracy(cheap: Scores, dear: Scores, sure: Flags, units: Codes) -> CorrectedAccuracy:
    """The accuracy as the language model alone would find it: the audited rows correct the offline judge's mistakes."""
    mean, interval = corrected_mean(cheap, dear, sure, units)
    n = int(np.count_nonzero(~np.isnan(np.where(sure, cheap, dear))))
    return CorrectedAccuracy(mean, interval, "prediction_powered", n)
