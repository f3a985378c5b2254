"""What a summary says of the columns that a judge has filled."""

from __future__ import annotations

from ragmeter.documents.record import UNSET, Count, Interval, Mean, Record, UnsetType
from ragmeter.documents.usage import Usage

#: The basis of a cascade's threshold where no model is asked.
NO_MODEL = "no language model"
#: Of the built-in cases: with fewer right than the first a judge is refused, since chance gets about as many right;
#: with fewer than the second it is warned of.
FEWEST_RIGHT, ENOUGH_RIGHT = 17, 20


class Tied(Record, frozen=True):
    """Rows of which the offline judge is exactly as sure as the threshold says; some, by qid, are asked about."""

    n: Count
    asked: Count


class Agreement(Record, frozen=True):
    """How often the language model says the same as the offline judge, where it was asked to check it."""

    n: Count
    agreement: Mean
    interval: Interval | None


class CorrectedAccuracy(Record, frozen=True):
    """The accuracy as the language model alone would find it."""

    mean: Mean
    interval: Interval | None
    interval_method: str
    n: Count


class CascadeSummary(Record, frozen=True, kw_only=True):
    """How the offline judge and a language model have shared the rows."""

    threshold: float | None  # from so sure on the offline judge decides; None where nothing is sure enough
    tied: Tied | UnsetType = UNSET
    basis: str  # what the threshold was set by
    target_agreement: float | None
    n_labels: Count
    warnings: list[str]
    calls_saved: Count
    saved_usd: float | None  # about; None where no price is known
    audited: Agreement
    accuracy: CorrectedAccuracy


class JudgeSummary(Record, frozen=True, kw_only=True):
    """One column that a judge has filled: who decided, what failed, and how stable the verdicts are."""

    judged_by: dict[str, Count]  # rows by who has decided: llm, offline, exact, miss
    causes: dict[str, Count]  # why rows have no score, most frequent first
    unreadable: dict[str, str] | UnsetType = UNSET  # the beginning of a reply, for each cause that is one
    n_judged_repeatedly: Count
    flip_rate: Mean  # the share of those whose verdicts differ
    flip_rate_interval: Interval | None
    n_without_second_wording: Count | UnsetType = UNSET  # a limit has left no call for it
    warnings: list[str]
    cascade: CascadeSummary | UnsetType = UNSET
    usage: Usage


class JudgeCheck(Record, frozen=True):
    """How a judge did on the built-in cases."""

    model: str
    right: Count = 0
    n: Count = 0
    missed: tuple[str, ...] = ()  # what it got wrong
    skipped: str | None = None  # why it was not tried
