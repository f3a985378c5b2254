"""A plan, as a person reads it."""

from __future__ import annotations

from ragmeter.analysis.power import Plan
from ragmeter.show.numbers import given, hundredths, number, percent, significant
from ragmeter.show.terminal.console import console
from ragmeter.show.terminal.tables import Figures
from ragmeter.show.texts import printable


def show_plan(plan: Plan) -> None:
    """The two questions with their answers, and where the variance comes from."""
    out = console()
    of_metric = f" in {plan.metric}" if plan.metric else ""
    if plan.needed:
        rows = [(given(difference), f"{questions:,}") for difference, questions in plan.needed.items()]
        out.print(_table(f"a true difference{of_metric} of", "needs questions", rows))
    if plan.smallest:
        rows = [(f"{questions:,}", number(difference)) for questions, difference in plan.smallest.items()]
        out.print(_table("so many questions", f"show a true difference{of_metric} of", rows))
    out.print(f"with {percent(plan.power)} power, two-sided at alpha {given(plan.alpha)}")
    out.sentence(_basis(plan))


def _table(first: str, second: str, rows: list[tuple[str, str]]) -> Figures:
    table = Figures.of(printable(first), printable(second), names=0)
    for row in rows:
        table.add(*row)
    return table


def _basis(plan: Plan) -> str:
    variances = plan.variances
    text = f"variance of one question's difference: {significant(variances.per_question(plan.repeats))}"
    if variances.within_a or variances.within_b:
        text += f" ({significant(variances.between)} between questions; repeats: {plan.repeats})"
    if variances.design_effect != 1:
        text += f", with a design effect of {hundredths(variances.design_effect)}"
    return text if plan.basis == "given" else f"{text}; from {plan.basis}"
