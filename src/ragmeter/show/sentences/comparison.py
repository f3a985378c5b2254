"""A comparison in words: the terminal, the gate, Markdown, JUnit and the page all have these sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ragmeter.show.numbers import about, equals, given, number, p_value, percent, signed, signed_interval
from ragmeter.stats.intervals import Interval

#: Up to so many metrics all have their sentence; of more, those that differ significantly, up to the second number.
_ALL, _MOST = 3, 8
#: So many metrics are listed by name alone; the others are counted.
_NAMED = 8
_USUAL_ALPHA = 0.05


class JudgedDifference(Protocol):
    """What a sentence says of a metric's difference, and of the verdict on it."""

    @property
    def difference(self) -> float | None: ...
    @property
    def interval(self) -> Interval | None: ...
    @property
    def p_holm(self) -> float | None: ...
    @property
    def n(self) -> int: ...
    @property
    def n_clusters(self) -> int | None: ...
    @property
    def verdict(self) -> str: ...


class JudgedPart(Protocol):
    """The same of a slice."""

    @property
    def column(self) -> str: ...
    @property
    def value(self) -> str: ...
    @property
    def metric(self) -> str: ...
    @property
    def difference(self) -> float: ...
    @property
    def interval(self) -> Interval | None: ...
    @property
    def p_adjusted(self) -> float: ...
    @property
    def n(self) -> int: ...


@dataclass(frozen=True)
class Wording:
    """How differences were tested: the intervals' level, alpha, and over how many tests p is corrected."""

    level: float
    alpha: float
    tests: int

    def difference(self, metric: str, a: str, b: str, result: JudgedDifference) -> str:
        """The judgement on one metric: the difference, its interval, whether it is significant, p and n."""
        if result.difference is None:
            return f"{metric}: no question has a score in both {a} and {b}"
        same = f"{b} and {a} have the same mean"
        text = f"{metric}: {f'{b} is {signed(result.difference)} against {a}' if result.difference else same}"
        text += self._between(result.interval)
        if result.p_holm is None:
            return f"{text}, too few questions for a test (n = {result.n:,})"
        verdict = result.verdict if result.verdict.startswith("not ") else f"significantly {result.verdict}"
        return f"{text}, {verdict}{self._corrected(result.p_holm, counted(result.n, result.n_clusters))}"

    def turned(self, part: JudgedPart) -> str:
        """A slice on which the difference is the other way round."""
        where = f"the other way round where {part.column} is {part.value}: {part.metric}"
        text = f"{where} {signed(part.difference)}{self._between(part.interval)}"
        return f"{text}, significant{self._corrected(part.p_adjusted, counted(part.n, None))}"

    def _between(self, interval: Interval | None) -> str:
        return "" if interval is None else f" ({percent(self.level)}: {signed_interval(interval)})"

    def _corrected(self, p: float, n: str) -> str:
        correction = f" after correction over {self.tests:,} tests" if self.tests > 1 else ""
        at = "" if self.alpha == _USUAL_ALPHA else f" at alpha {given(self.alpha)}"
        name = "Holm p" if self.tests > 1 else "p"
        return f"{at}{correction} ({equals(name, p_value(p))}, {n})"


def counted(n: int, clusters: int | None) -> str:
    """How many rows a figure rests on, and how many groups of them where rows belong together."""
    return f"n = {n:,}" if clusters is None else f"n = {n:,} in {clusters:,} clusters"


def overview(significant: Mapping[str, str], others: Mapping[str, str], nearest: str | None, more: str) -> str:
    """What two runs' differences come to: of a few metrics all, of many those that differ significantly.

    Both mappings have the metrics' sentences; `nearest` is the one of the others that is nearest to a difference.
    """
    names = list(significant)
    if len(significant) + len(others) <= _ALL:
        sentences = [*significant.values(), *others.values()]
    elif nearest is not None and not significant:
        none = f"No significant difference on any of {len(others):,} metrics"
        sentences = [f"{none}; the nearest to one: {others[nearest]}"]
    else:
        sentences = [significant[name] for name in names[:_MOST]]
        if len(names) > _MOST:
            sentences.append(f"Significant as well: {_listed(names[_MOST:])}")
        if others:
            sentences.append(f"Not significant: {_listed(list(others))}")
    return ". ".join([*sentences, more] if more else sentences) + "."


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def would_show(point: float, needed: int, smallest: float) -> str:
    """What it would take to see a small difference, or what these rows would have shown."""
    if smallest <= point:
        return f"A difference of {number(smallest)} would probably have been seen"
    return f"To see a difference of {given(point)}, about {about(needed)} questions are needed"


def kept_sentence(created: str, test: str, alpha: float, slices: Sequence[str] | None) -> str:
    """Which comparison a report shows, where one was kept."""
    by = "" if slices is None else f", slices: {', '.join(slices) or 'none'}"
    return f"The comparison that was kept on {created}; test: {test}, alpha: {given(alpha)}{by}."


def outdated_sentence(created: str) -> str:
    """Why a report does not show the comparison that was kept."""
    changed = f"A comparison was kept on {created}, but the runs have changed since"
    return f"{changed}. This one is made anew, with the usual settings."
