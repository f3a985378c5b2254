"""A comparison in plain words. Every place that shows one shows these sentences: the judgement is made and worded here.

The terminal, the gate, Markdown, JUnit and the report (which gets them as data) have nothing of their own to say.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ragmeter.analysis.comparing.comparison import (
    BETTER,
    DIFFERENT,
    NOT_SIGNIFICANT,
    WORSE,
    MetricDifference,
    SliceDifference,
)
from ragmeter.show.numbers import equals, number, p_value, signed, signed_interval
from ragmeter.stats.confidence import percent
from ragmeter.stats.intervals import SMALL

#: Up to so many metrics all have their sentence; of more, those that differ significantly, up to the second number.
_ALL, _MOST = 3, 8
#: So many metrics are listed by name alone; the others are counted.
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

    def verdict(self, result: MetricDifference) -> str:
        """Better, worse, different or not significant, by the corrected p-value."""
        if result.p_holm is None or result.p_holm >= self.alpha or not result.difference:
            return NOT_SIGNIFICANT
        if result.direction not in ("higher", "lower"):
            return DIFFERENT
        return BETTER if (result.difference > 0) == (result.direction == "higher") else WORSE

    def sentence(self, metric: str, result: MetricDifference, a: str, b: str) -> str:
        """The judgement on one metric: the difference, its interval, whether it is significant, p and n."""
        if result.difference is None:
            return f"{metric}: no question has a score in both {a} and {b}"
        same = f"{b} and {a} have the same mean"
        text = f"{metric}: {f'{b} is {signed(result.difference)} against {a}' if result.difference else same}"
        if result.interval is not None:
            text += f" ({percent(self.level)}: {signed_interval(result.interval)})"
        if result.p_holm is None:
            return f"{text}, too few questions for a test (n = {result.n:,})"
        return f"{text}, {_WORDS[result.verdict]}{self._corrected(result.p_holm, result.n, result.n_clusters)}"

    def turned(self, part: SliceDifference) -> str:
        """A slice on which the difference is the other way round."""
        between = f" ({percent(self.level)}: {signed_interval(part.interval)})" if part.interval else ""
        where = f"the other way round where {part.column} is {part.value}: {part.metric}"
        corrected = self._corrected(part.p_adjusted, part.n, None)
        return f"{where} {signed(part.difference)}{between}, significant{corrected}"

    def overview(self, metrics: Mapping[str, MetricDifference]) -> str:
        """What two runs' differences come to: of a few metrics all, of many those that differ significantly."""
        kinds = (BETTER, WORSE, DIFFERENT)
        significant = [name for kind in kinds for name, result in metrics.items() if result.verdict == kind]
        others = [name for name in metrics if name not in significant]
        if len(metrics) <= _ALL:
            sentences = [metrics[name].sentence for name in (*significant, *others)]
        elif significant:
            sentences = [metrics[name].sentence for name in significant[:_MOST]]
            if len(significant) > _MOST:
                sentences.append(f"Significant as well: {_listed(significant[_MOST:])}")
            if others:
                sentences.append(f"Not significant: {_listed(others)}")
        else:
            nearest = min(others, key=lambda name: math.inf if (p := metrics[name].p_holm) is None else p)
            none = f"No significant difference on any of {len(others):,} metrics"
            sentences = [f"{none}; the nearest to one: {metrics[nearest].sentence}"]
        sentences += _needed([metrics[name] for name in others])
        return ". ".join(sentences) + "."

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
    scaled = [result for result in unclear if result.needed and result.smallest and result.point]
    if not scaled:
        return []
    hardest = max(scaled, key=lambda result: result.needed or 0)
    smallest, point = hardest.smallest or 0.0, hardest.point or 0.0
    if smallest <= point:
        return [f"A difference of {number(smallest)} would probably have been seen"]
    return [f"To see a difference of {point:g}, about {_rounded(hardest.needed or 0):,} questions are needed"]


def _rounded(value: int) -> int:
    """To two digits: a plan needs no more."""
    digits = max(0, math.floor(math.log10(value)) - 1)
    return round(value, -digits)
