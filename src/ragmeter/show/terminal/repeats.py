"""Shows how much answers vary, where each question was asked several times."""

from __future__ import annotations

import math

from ragmeter.analysis.repeats import Repeats
from ragmeter.show.terminal.console import console
from ragmeter.show.terminal.tables import Figures
from ragmeter.wording.numbers import MISSING, interval, number, percent
from ragmeter.wording.texts import printable


def show_repeats(result: Repeats) -> None:
    """The standard deviations of each metric, pass@k and pass^k, and how many answers never change."""
    out = console()
    spread = Figures.of("metric", "mean", "sd within", "sd between", "chance", "questions")
    for name, metric in result.metrics.items():
        parts = metric.variances
        share = MISSING if parts.share_within is None else percent(parts.share_within, decimals=1)
        deviations = (_root(parts.within), _root(parts.between))
        spread.add(printable(name), number(metric.mean), *deviations, share, f"{parts.repeated:,}")
    out.print(spread)
    out.sentence("sd within: of one question's scores; sd between: of questions; chance: its share of the variance")
    range_of = f"{percent(result.level)} interval"
    rates = Figures.of("metric", "k", "pass@k", range_of, "pass^k", range_of, "questions")
    for name, metric in result.metrics.items():
        for rate in metric.passes:
            figures = (number(rate.any.value), interval(rate.any.interval), number(rate.all.value))
            rates.add(printable(name), f"{rate.k:,}", *figures, interval(rate.all.interval), f"{rate.any.n:,}")
    if rates.rows:
        out.print(rates)
        out.sentence("pass@k: at least one of k answers is right; pass^k: all of them are")
    same = f"the same answer each time: {result.same_answers:,} of {result.n_questions:,} questions"
    out.sentence(f"each question was asked {result.repeats:,} times; {same}")


def _root(variance: float | None) -> str:
    return number(None if variance is None else math.sqrt(variance))
