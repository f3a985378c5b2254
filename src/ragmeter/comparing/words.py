"""A comparison in plain words. Every place that shows one shows these sentences: the judgement is made and worded here.

The terminal, the gate, Markdown, JUnit and the report (which gets them as data) have nothing of their own to say.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ragmeter.comparing.comparison import BETTER, DIFFERENT, NOT_SIGNIFICANT, WORSE, MetricDifference, SliceDifference
from ragmeter.formatting import equals, number, p_value, signed, signed_interval
from ragmeter.stats.confidence import percent
from ragmeter.stats.intervals import SMALL

#: So many metrics are all told in full; of more, those that differ significantly, up to the second number.
_ALL, _MOST = 3, 8
#: So many metrics are named where nothing more is said of them.
_NAMED = 8
_USUAL_ALPHA = 0.05
_WORDS = {
    BETTER: "significantly better",
    WORSE: "significantly worse",
    DIFFERENT: "significantly different",
    NOT_SIGNIFICANT: "not significant",
}


@dataclass(frozen=True)
class Judging:
    """By which rules differences are judged: the intervals' level, alpha, and over how many tests p is corrected."""

    level: float
    alpha: float
    tests: int

    def verdict(self, each: MetricDifference) -> str:
        """Better, worse, different or not significant, by the corrected p-value."""
        if each.p_holm is None or each.p_holm >= self.alpha or not each.difference:
            return NOT_SIGNIFICANT
        if each.direction not in ("higher", "lower"):
            return DIFFERENT
        return BETTER if (each.difference > 0) == (each.direction == "higher") else WORSE

    def sentence(self, metric: str, each: MetricDifference, a: str, b: str) -> str:
        """The judgement on one metric: the difference, its interval, whether it is significant, p and n."""
        if each.difference is None:
            return f"{metric}: no question has a score in both {a} and {b}"
        same = f"{b} and {a} have the same mean"
        said = f"{metric}: {f'{b} is {signed(each.difference)} against {a}' if each.difference else same}"
        if each.interval is not None:
            said += f" ({percent(self.level)}: {signed_interval(each.interval)})"
        if each.p_holm is None:
            return f"{said}, too few questions for a test (n = {each.n:,})"
        return f"{said}, {_WORDS[each.verdict]}{self._corrected(each.p_holm, each.n, each.n_clusters)}"

    def turned(self, each: SliceDifference) -> str:
        """A slice on which the difference is the other way round."""
        between = f" ({percent(self.level)}: {signed_interval(each.interval)})" if each.interval else ""
        where = f"the other way round where {each.column} is {each.value}: {each.metric}"
        corrected = self._corrected(each.p_adjusted, each.n, None)
        return f"{where} {signed(each.difference)}{between}, significant{corrected}"

    def overview(self, metrics: Mapping[str, MetricDifference], a: str, b: str) -> str:
        """What two runs' differences come to: of a few metrics all, of many those that differ significantly."""
        clear = [name for kind in (BETTER, WORSE, DIFFERENT) for name, each in metrics.items() if each.verdict == kind]
        rest = [name for name in metrics if name not in clear]
        if len(metrics) <= _ALL:
            said = [metrics[name].sentence for name in (*clear, *rest)]
        elif clear:
            said = [metrics[name].sentence for name in clear[:_MOST]]
            if len(clear) > _MOST:
                said.append(f"Significant as well: {_listed(clear[_MOST:])}")
            if rest:
                said.append(f"Not significant: {_listed(rest)}")
        else:
            nearest = min(rest, key=lambda name: math.inf if (p := metrics[name].p_holm) is None else p)
            none = f"No significant difference on any of {len(rest):,} metrics"
            said = [f"{none}; the nearest to one: {metrics[nearest].sentence}"]
        said += _needed([metrics[name] for name in rest])
        return ". ".join(said) + "."

    def _corrected(self, p: float, n: int, clusters: int | None) -> str:
        correction = f" after correction over {self.tests:,} tests" if self.tests > 1 else ""
        at = "" if self.alpha == _USUAL_ALPHA else f" at alpha {self.alpha:g}"
        name = "Holm p" if self.tests > 1 else "p"
        return f"{at}{correction} ({equals(name, p_value(p))}, {counted(n, clusters)})"


def counted(n: int, clusters: int | None) -> str:
    """How many rows a figure rests on, and how many groups of them where rows belong together."""
    return f"n = {n:,}" if clusters is None else f"n = {n:,} in {clusters:,} clusters"


def is_few(n: int, clusters: int | None) -> bool:
    """Whether an interval rests on too few rows, or too few groups of them, to keep its promise."""
    return (n if clusters is None else clusters) < SMALL


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _needed(unclear: list[MetricDifference]) -> list[str]:
    """What it would take to see a small difference, or what these rows would have shown."""
    scaled = [each for each in unclear if each.needed and each.smallest and each.point]
    if not scaled:
        return []
    hardest = max(scaled, key=lambda each: each.needed or 0)
    smallest, point = hardest.smallest or 0.0, hardest.point or 0.0
    if smallest <= point:
        return [f"A difference of {number(smallest)} would probably have been seen"]
    return [f"To see a difference of {point:g}, about {_rounded(hardest.needed or 0):,} questions are needed"]


def _rounded(value: int) -> int:
    """To two digits: a plan needs no more."""
    digits = max(0, math.floor(math.log10(value)) - 1)
    return round(value, -digits)
