"""What must be known before a run's figures are believed: what failed (red), what has no score (amber)."""

from __future__ import annotations

from ragmeter.app import wording
from ragmeter.app.conditions import EQUAL, Condition
from ragmeter.documents.summary import Summary
from ragmeter.runs.run import Run
from ragmeter.show.page.elements import Content, Markup, address, element, joined, link, text
from ragmeter.show.page.parts import alarm, folded, worded
from ragmeter.table import NOTHING_FAILED, outcome_column
from ragmeter.wording.causes import (
    Alarm,
    NotScored,
    cause_meaning,
    cause_name,
    counted_causes,
    empty_answers,
    failures,
    score_alarms,
)
from ragmeter.wording.judging import WARNING, judge_lines
from ragmeter.wording.limits import limit_lines
from ragmeter.wording.metrics import cautions, result_unit


def alarms(run: Run, summary: Summary) -> list[Content]:
    """Red ones first; nothing where every row that could be scored was."""
    failed = [alarm for alarm in score_alarms(run.metrics()) if alarm.failed]
    red = [alarm.reason for alarm in failed]
    reasons = failures(run.metrics())
    lacking = [reason for reason in reasons if reason.cause not in NOTHING_FAILED and reason not in red]
    empty = empty_answers(summary.answers, summary.n_rows, result_unit(run.manifest()))
    causes: dict[str, int] = {}
    for reason in lacking:  # of the metrics that lack it, the one that lacks most
        causes.setdefault(reason.cause, reason.count)
    amber: list[Content] = [_line(run, reason) for reason in lacking]
    amber += [text(line) for line in limit_lines(run.manifest())]
    amber += [worded(line) for line, kind in judge_lines(summary, run.manifest()) if kind == WARNING]
    return [
        alarm(element("strong", empty), failed=True) if empty else None,
        *(alarm(_failed(run, cause), failed=True) for cause in failed),
        _amber(amber, causes),
    ]


def notes(run: Run, summary: Summary) -> Content:
    """What else is to be said: of the means, of rows whose lack of a score is no failure, of the judge and its cost."""
    lines: list[Content] = [worded(line) for line in cautions(run.metrics())]
    lines += [_line(run, reason) for reason in failures(run.metrics()) if reason.cause in NOTHING_FAILED]
    lines += [text(line) for line, kind in judge_lines(summary, run.manifest()) if kind != WARNING]
    return folded(wording.NOTES, _listed(lines), name="notes") if lines else None


def _failed(run: Run, cause: Alarm) -> Markup:
    return joined(element("strong", f"{cause.words}:"), " ", _because(run, cause.reason))


def _line(run: Run, reason: NotScored) -> Markup:
    counted = wording.ROWS_NOT_SCORED[min(reason.count, 2)].format(count=reason.count)
    return joined(counted, " ", _because(run, reason))


def _because(run: Run, reason: NotScored) -> Markup:
    """The cause, which leads to its rows, what it means, and the metrics that it concerns."""
    named = [name for name in reason.metrics if outcome_column(name) in run.columns]
    words: Content = text(_spaced(cause_name(reason.cause)))
    if named:
        condition = Condition(outcome_column(named[0]), EQUAL, reason.cause)
        words = link(words, address("run", run.name, filter=condition.written) + "#rows")
    meaning = "" if reason.cause.startswith("no_") else cause_meaning(reason.cause)  # its name says it
    return joined(words, text(f" ({meaning})") if meaning else None, text(f"; {reason.which_metrics}"))


def _spaced(cause: str) -> str:
    return cause.replace("_", " ")


def _amber(lines: list[Content], causes: dict[str, int]) -> Content:
    """One line, with the others behind a click: what has no score must not push away what has one."""
    if len(lines) < 2:
        return element("div", lines, class_="note amber") if lines else None
    first = f"{wording.WITHOUT_SCORE} {_spaced(counted_causes(causes))}" if causes else lines[0]
    more = len(lines) - len(causes)
    summary = joined(first, f" · {wording.MORE_LINES.format(count=more)}" if causes and more else None)
    return element("details", element("summary", summary), _listed(lines), class_="note amber")


def _listed(lines: list[Content]) -> Markup:
    return element("ul", [element("li", line) for line in lines])
