"""Shows on the terminal how many labels people should give, and of which rows."""

from __future__ import annotations

from ragmeter.analysis.people.label_plan import JudgePair, LabelPlan
from ragmeter.show.terminal.console import console
from ragmeter.show.terminal.tables import Figures
from ragmeter.wording.numbers import MISSING, given, number, percent
from ragmeter.wording.texts import printable


def show_label_plan(plan: LabelPlan) -> None:
    """The labels for an interval, the labels that tell judges apart, and the rows to label next."""
    out = console()
    metric, is_known = printable(plan.metric), plan.correlation is not None
    table = Figures.of("share of right answers within \u00b1 (95%)", "labels", "without the judge")
    for needed in plan.needed:
        table.add(given(needed.half_width), _count(needed.with_judge if is_known else None), _count(needed.alone))
    out.print(table)
    correlation = f"correlation of {metric} with {plan.n_labels:,} labels: {number(plan.correlation)}"
    unknown = f"how far {metric} helps is not known before there are labels to compare it with"
    out.sentence(f"{correlation}; \u2013: the run's {plan.n_rows:,} rows are too few" if is_known else unknown)
    if plan.pairs:
        heads = (f"tell apart by {given(difference)}" for difference in plan.pairs[0].needed)
        judges = Figures.of("two judges", "they differ on", *heads)
        for pair in plan.pairs:
            names = printable(f"{pair.first}, {pair.second}")
            judges.add(names, percent(pair.differing), *(_labels(pair, difference) for difference in pair.needed))
        out.print(judges)
        chances = f"({percent(plan.power)} power, alpha {given(plan.alpha)})"
        out.sentence(
            f"so many labels, all of rows where the two differ, show which agrees with people more often {chances}; "
            "\u2013: they differ too seldom for that; in brackets: the rows that a run should have for it"
        )
    if not plan.n_next:
        out.sentence("all rows that can be labelled are labelled", "bold")
        return
    strata = ", ".join(f"{stratum.draw:,} of {stratum.rows:,} ({stratum.name})" for stratum in plan.strata)
    out.sentence(
        f"the next {plan.n_next:,} labels, to \u00b1{number(plan.half_width_next)} or better: {strata}", "bold"
    )
    by = " --by disagreement" if len(plan.strata) > 1 else ""
    out.sentence(f"draw them: ragmeter label {plan.run} --n {plan.n_next}{by}")


def _labels(pair: JudgePair, difference: float) -> str:
    """The labels that are needed; and where the run has too few rows on which the judges differ, how many it takes."""
    labels, rows = pair.needed[difference], pair.rows[difference]
    return _count(labels) if labels is None or labels <= pair.n_differing else f"{labels:,} ({_count(rows)})"


def _count(labels: int | None) -> str:
    return MISSING if labels is None else f"{labels:,}"
