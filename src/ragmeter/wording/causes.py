"""Why rows have no score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ragmeter import table
from ragmeter.documents.metrics import MetricSummary
from ragmeter.documents.summary import Abstained, Answers, Unmatched

_MOST = 5


#: What an outcome is called on a screen, where its own name is another.
_NAMES = {table.TARGET_ERROR: "system error", table.ABSTAINED: "declined"}


def cause_name(cause: str) -> str:
    """A cause as a screen names it; the outcome in files keeps its own name."""
    return _NAMES.get(cause, cause)


def cause_meaning(cause: str) -> str:
    """A cause in words, or an empty text if its name is clear."""
    if cause.startswith("no_") and cause not in table.MEANINGS:
        return f"the row has no {cause.removeprefix('no_').replace('_', ' ')}"
    return table.MEANINGS.get(cause, "")


def answers_sentence(answers: Answers | None, n_rows: int, unit: str = "questions") -> str:
    """How many questions have an answer, and how many answers are empty; an empty text where all have one."""
    if answers is None:
        return ""
    empty = f", {answers.empty:,} an empty one" if answers.empty else ""
    return f"{answers.given:,} of {n_rows:,} {unit} have an answer{empty}"


def empty_answers(answers: Answers | None, n_rows: int, unit: str = "questions") -> str:
    """The same where many answers are empty: they may have scores, so that no other line says it."""
    is_alarm = answers is not None and answers.empty and answers.empty >= _ALARMING * n_rows
    return answers_sentence(answers, n_rows, unit) if is_alarm else ""


def abstained_sentence(counts: Abstained | None) -> str:
    """How many answers decline, and how many of them rightly; an empty text without any."""
    if counts is None:
        return ""
    right, wrong = counts.right, counts.wrong
    unmarked = counts.n - right - wrong
    parts = (
        [f"rightly, as the question is marked unanswerable: {right:,}", f"wrongly: {wrong:,}"] if right + wrong else []
    )
    parts += [f"of questions without a mark: {unmarked:,}"] if parts and unmarked else []
    return "; ".join([f"answers that decline: {counts.n:,}", *parts])


def counted_causes(causes: Mapping[str, int]) -> str:
    """Causes with their numbers of rows: `2 no_answer, 1 system error`."""
    return ", ".join(f"{count:,} {cause_name(cause)}" for cause, count in causes.items())


def because(causes: Mapping[str, int]) -> str:
    """The most frequent causes, in brackets; an empty text without causes."""
    ordered = sorted(causes.items(), key=lambda item: -item[1])
    more = ", …" if len(ordered) > _MOST else ""
    return f" ({counted_causes(dict(ordered[:_MOST]))}{more})" if ordered else ""


@dataclass(frozen=True)
class NotScored:
    """Rows without a score for one cause: how many, and by which metrics; `all` if that is every metric of the run."""

    cause: str
    meaning: str
    count: int
    metrics: list[str]
    all: bool

    @property
    def which_metrics(self) -> str:
        """The metrics that it concerns."""
        return "all metrics" if self.all else ", ".join(self.metrics)


def failures(metrics: Mapping[str, MetricSummary]) -> list[NotScored]:
    """Each cause of rows without a score, most frequent first."""
    by_cause: dict[tuple[str, int], list[str]] = {}
    for name, summary in metrics.items():
        for cause, count in summary.n_not_scored.items():
            by_cause.setdefault((cause, count), []).append(name)
    reasons = [
        NotScored(cause, cause_meaning(cause), count, names, len(names) == len(metrics))
        for (cause, count), names in by_cause.items()
    ]
    return sorted(reasons, key=lambda reason: -reason.count)


#: Outcomes that say that the judge failed, and that the system did; from which share of the rows on that is an alarm.
_JUDGE_FAILED = table.OUTCOMES_WITHOUT_VERDICT - {table.SKIPPED_BUDGET, table.TIED}
_SYSTEM_FAILED = frozenset(
    {
        "no_answer", table.TARGET_ERROR, table.EMBEDDING_ERROR, table.SELECTOR_NOT_FOUND, table.NAVIGATION_ERROR,
        table.PAGE_CRASHED, table.BLOCKED,
    }
)  # fmt: skip
_ALARMING, _WORTH_A_NOTE = 0.05, 0.2


@dataclass(frozen=True)
class Alarm:
    """What is to be known before a run's scores are believed: rows without a score, for one cause.

    `failed`: the judge or the system failed, which `words` say. Otherwise many rows lack a score for another reason.
    """

    reason: NotScored
    words: str
    failed: bool

    @property
    def sentence(self) -> str:
        """The words with the cause."""
        name = cause_name(self.reason.cause).replace("_", " ")
        meaning = f" ({self.reason.meaning})" if self.reason.meaning and not name.startswith("no ") else ""
        return f"{self.words}: {name}{meaning}"


def score_alarms(metrics: Mapping[str, MetricSummary]) -> list[Alarm]:
    """The causes of missing scores that concern so many rows that they are an alarm, the failures first.

    Answers that decline, and other rows of which nothing failed, are none.
    """
    alarms = []
    for reason in failures(metrics):
        total = max(metrics[name].n_total for name in reason.metrics)
        failed = reason.cause in _JUDGE_FAILED | _SYSTEM_FAILED
        if reason.cause in table.NOTHING_FAILED or reason.count < total * (_ALARMING if failed else _WORTH_A_NOTE):
            continue
        rows = f"all {total:,} rows" if reason.count == total else f"{reason.count:,} of {total:,} rows"
        who = "The judge" if reason.cause in _JUDGE_FAILED else "The system"
        alarms.append(Alarm(reason, f"{who} failed on {rows}" if failed else f"{rows} have no score", failed))
    return sorted(alarms, key=lambda alarm: not alarm.failed)


def first_ids(rows: Unmatched) -> str:
    """The first ids of rows without a partner."""
    more = ", …" if rows.count > len(rows.qids[:_MOST]) else ""
    return f"qid {', '.join(rows.qids[:_MOST])}{more}"
