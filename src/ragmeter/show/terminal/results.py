"""Shows the results of commands that print little: metrics, a verdict, a plan, an explanation, a report's files."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from ragmeter.definition.judge_columns import EXACT, LLM, OFFLINE
from ragmeter.io.progress import show_notice
from ragmeter.show.markdown import metric_page
from ragmeter.show.terminal.console import console
from ragmeter.show.terminal.tables import Column, Figures
from ragmeter.table import ABSTAINED, JUDGE_COLUMNS, SCORED
from ragmeter.wording.answer_causes import hop_sentence, row_sentence
from ragmeter.wording.causes import cause_meaning
from ragmeter.wording.numbers import given, hundredths, number, percent, probability, significant
from ragmeter.wording.signs import ARROWS, ARROWS_EXPLAINED
from ragmeter.wording.texts import printable

if TYPE_CHECKING:  # each command has imported its own result
    from ragmeter.analysis.explanation import RowCause
    from ragmeter.analysis.gating import Verdict
    from ragmeter.analysis.metric_list import MetricInfo
    from ragmeter.analysis.power import PowerPlan
    from ragmeter.definition import Metric
    from ragmeter.metrics.offline.evidence import Explanation, RunVerdict
    from ragmeter.show.report.report import Report

#: Evidence with a smaller weight is left out of the table; --json has all.
_SLIGHT = 0.05


def show_metrics(groups: Mapping[str, Sequence[MetricInfo]]) -> None:
    """A line for each metric, by what they need."""
    out = console()
    width = max(len(metric.title) for metrics in groups.values() for metric in metrics)
    for title, metrics in groups.items():
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        table.add_column(title, no_wrap=True, min_width=width)
        table.add_column("", min_width=1)
        table.add_column("what it is")
        for metric in metrics:
            table.add_row(metric.title, ARROWS[metric.direction], metric.summary)
        out.print(table)
    out.sentence("claims need no model with judge=offline: faithfulness[judge=offline]")
    out.print(f"`ragmeter metrics NAME` explains one. {ARROWS_EXPLAINED}.")


def show_metric(metric: Metric) -> None:
    """A metric's page."""
    from rich.markdown import Markdown  # takes longer than a list of all metrics

    out = console()
    out.print(metric.name, style="bold")
    out.print(Markdown(metric_page(metric)))


def show_passed(verdict: Verdict) -> None:
    """The checks that passed, and the comparisons with baselines."""
    out = console()
    for check in verdict.checks:
        if check.passed:
            out.sentence(f"passed: {check.reason}", "green")
    for sentence in verdict.sentences:
        out.sentence(sentence)


def show_failed(verdict: Verdict) -> None:
    """The checks that failed, on standard error."""
    sys.stdout.flush()
    reasons = "".join(f"\n  {check.rule}\n    {check.reason}" for check in verdict.failed)
    failed = f"the gate failed, {len(verdict.failed):,} of {len(verdict.checks):,} checks"
    show_notice(f"ragmeter: {failed}:{reasons}")


def show_plan(plan: PowerPlan) -> None:
    """The questions needed, the differences shown, and the source of the variance."""
    out = console()
    of_metric = f" in {plan.metric}" if plan.metric else ""
    if plan.needed:
        rows = [(given(difference), f"{questions:,}") for difference, questions in plan.needed.items()]
        out.print(_table(f"a true difference{of_metric} of", "needs questions", rows))
    if plan.smallest:
        rows = [(f"{questions:,}", number(difference)) for questions, difference in plan.smallest.items()]
        out.print(_table("so many questions", f"show a true difference{of_metric} of", rows))
    out.sentence(f"with {percent(plan.power)} power, two-sided at alpha {given(plan.alpha)}{_shared_by(plan.tests)}")
    out.sentence(_basis(plan))


def _shared_by(tests: int) -> str:
    """For how many tests alpha is: the headline metric of two runs has one of its own."""
    if tests == 1:
        return " for one test, as `ragmeter compare` makes of the headline metric of two runs"
    return f" after correction over {tests:,} tests"


def _table(first: str, second: str, rows: list[tuple[str, str]]) -> Figures:
    table = Figures.of(printable(first), printable(second), names=0)
    for row in rows:
        table.add(*row)
    return table


def _basis(plan: PowerPlan) -> str:
    variances = plan.variances
    text = f"variance of one question's difference: {significant(variances.per_question(plan.repeats))}"
    if variances.within_a or variances.within_b:
        text += f" ({significant(variances.between)} between questions; repeats: {plan.repeats})"
    if variances.design_effect != 1:
        text += f", with a design effect of {hundredths(variances.design_effect)}"
    return text if plan.basis == "given" else f"{text}; from {plan.basis}"


def show_cause(qid: str, cause: RowCause | None) -> None:
    """Where the row's answer failed, what says so, and at which hop."""
    if cause is None:
        return
    console().sentence(printable(f"{qid}: {row_sentence(cause.cause, cause.evidence)}"), "bold")
    if cause.hop is not None:
        console().sentence(printable(hop_sentence(**asdict(cause.hop))))


def show_run_verdicts(qid: str, verdicts: Sequence[RunVerdict]) -> None:
    """What the run's own judge said of a row, and why."""
    for verdict in verdicts:
        console().sentence(f"{qid}: {_judged(verdict)}", "bold")
        if verdict.reason:
            console().sentence(f"its reason: {verdict.reason}" if verdict.value else f"the cause: {verdict.reason}")


def _judged(verdict: RunVerdict) -> str:
    """What a run's judge said of one row, who that was, and how sure it is."""
    model = f"the model {verdict.model}" if verdict.model else "a model"
    who = {None: model, LLM: model, OFFLINE: "the offline judge", EXACT: "an exact match with a reference"}
    by = who.get(verdict.by, str(verdict.by))
    if verdict.value is None and verdict.outcome not in (None, SCORED):
        return f"{verdict.column} is missing, {verdict.outcome}; {by} was to decide"
    right = " of being right" if verdict.column.startswith(JUDGE_COLUMNS[0]) else ""
    chance = "" if verdict.probability is None else f", probability{right} {probability(verdict.probability)}"
    value = f"{verdict.column} is {verdict.value}" if verdict.value is not None else verdict.column
    return f"{value}, decided by {by}{chance}"


def show_abstained(qid: str, metrics: Sequence[str]) -> None:
    """Show that a row's answer declines to answer, and which metrics give it no score for that."""
    if metrics:
        meaning = cause_meaning(ABSTAINED)
        console().sentence(f"{qid}: {meaning}: no score by {', '.join(metrics)}", "bold")


def show_explanation(qid: str, explanation: Explanation) -> None:
    """The verdict, and each piece of evidence with its weight; an opinion, where the run has a verdict of its own."""
    out = console()
    verdict = "right" if explanation.correct else "wrong"
    chance = probability(explanation.probability)
    whose = "the offline judge's opinion" if explanation.judged else qid
    out.print(printable(f"{whose}: {verdict}, probability of being right {chance}"), style="bold")
    out.sentence(f"compared with: {explanation.reference}")
    if explanation.uncalibrated is not None:
        before = probability(explanation.uncalibrated)
        out.sentence(f"the evidence makes it {before}; your labels ({explanation.calibration}) bend that")
    table = Figures([Column("evidence", figures=False), Column("weight"), Column("what was found", figures=False)])
    for piece in explanation.evidence:
        if abs(piece.weight) >= _SLIGHT:
            weight = Text(hundredths(piece.weight, sign=True), style="green" if piece.weight > 0 else "red")
            table.add(piece.about, weight, printable(piece.says))
    table.add("before all evidence", hundredths(explanation.prior, sign=True), "")
    out.print(table)


def show_report(report: Report, figures: Path | None, texts: tuple[Path | None, ...]) -> None:
    """The files; figures in their folder are only counted. `texts` are the other files that were requested."""
    out = console()
    if 0 < report.rows_shown < report.rows:  # a page without rows is meant to have none
        out.sentence(
            f"the page has {report.rows_shown:,} of {report.rows:,} rows, those that failed and the worst first; "
            "its figures are of all rows (--max-rows)",
            "red",
        )
    drawn = [path for path in report.files if figures is not None and path.parent == figures and path not in texts]
    for path in (report.page, *report.files):
        if path not in drawn:
            out.sentence(f"written: {path}")
    if drawn:
        out.sentence(f"written: {len(drawn)} figures in {figures}/")
