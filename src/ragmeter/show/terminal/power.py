"""A plan, as a person reads it."""

from __future__ import annotations

from ragmeter.analysis.power import Plan
from ragmeter.show import terminal
from ragmeter.show.numbers import number
from ragmeter.show.terminal.tables import Column, Figures


def show_plan(plan: Plan) -> None:
    """The two questions with their answers, and where the variance comes from."""
    out = terminal.console()
    of_metric = f" in {plan.metric}" if plan.metric else ""
    if plan.needed:
        rows = [(f"{difference:g}", f"{questions:,}") for difference, questions in plan.needed.items()]
        out.print(_table(f"a true difference{of_metric} of", "needs questions", rows))
    if plan.smallest:
        rows = [(f"{questions:,}", number(difference)) for questions, difference in plan.smallest.items()]
        out.print(_table("so many questions", f"show a true difference{of_metric} of", rows))
    out.print(f"with {plan.power:.0%} power, two-sided at alpha {plan.alpha:g}")
    out.print(terminal.printable(_basis(plan)), soft_wrap=True)


def _table(first: str, second: str, rows: list[tuple[str, str]]) -> Figures:
    table = Figures([Column(terminal.printable(first)), Column(terminal.printable(second))])
    for row in rows:
        table.add(*row)
    return table


def _basis(plan: Plan) -> str:
    variances = plan.variances
    said = f"variance of one question's difference: {variances.per_question(plan.repeats):.4g}"
    if variances.within_a or variances.within_b:
        said += f" ({variances.between:.4g} between questions; repeats: {plan.repeats})"
    if variances.design_effect != 1:
        said += f", with a design effect of {variances.design_effect:.2f}"
    return said if plan.basis == "given" else f"{said}; from {plan.basis}"
