"""Shows on the terminal how many labels people should give, and of which rows."""

from __future__ import annotations

from ragmeter.analysis.people.label_plan import LabelPlan
from ragmeter.show.terminal.console import console
from ragmeter.show.terminal.tables import Figures
from ragmeter.wording.numbers import MISSING, given, number, percent
from ragmeter.wording.texts import printable


def show_label_plan(plan: LabelPlan) -> None:
    """The labels for an interval, the labels that tell judges apart, and the rows to label next."""
    out = console()
    table = Figures.of(f"share of right answers within ± ({percent(plan.level)})", "labels", "without the judge")
    for needed in plan.needed:
        with_judge = needed.with_judge if plan.correlation is not None else None
        table.add(given(needed.half_width), _count(with_judge), _count(needed.alone))
    out.print(table)
    if plan.correlation is None:
        out.sentence(f"how far {printable(plan.metric)} helps is not known before there are labels to compare it with")
    else:
        known = f"correlation of {printable(plan.metric)} with {plan.n_labels:,} labels: {number(plan.correlation)}"
        out.sentence(f"{known}; –: the run's {plan.n_rows:,} rows are too few")
    if plan.pairs:
        differences = plan.pairs[0].needed
        heads = (f"tell apart by {given(difference)}" for difference in differences)
        judges = Figures.of("two judges", "they differ on", *heads)
        for pair in plan.pairs:
            cells = (_count(labels) for labels in pair.needed.values())
            judges.add(printable(f"{pair.first}, {pair.second}"), percent(pair.differing), *cells)
        out.print(judges)
        out.sentence(
            f"so many labels, all of rows where the two differ, show which agrees with people more often "
            f"({percent(plan.power)} power, alpha {given(plan.alpha)}); –: they differ too seldom for that"
        )
    strata = ", ".join(f"{stratum.draw:,} of {stratum.rows:,} ({stratum.name})" for stratum in plan.strata)
    out.sentence(f"the next {plan.n_next:,} labels, to ±{number(plan.half_width_next)} or better: {strata}", "bold")
    by = " --by disagreement" if len(plan.strata) > 1 else ""
    out.sentence(f"draw them: ragmeter label {plan.run} --n {plan.n_next}{by}")


def _count(labels: int | None) -> str:
    return MISSING if labels is None else f"{labels:,}"
