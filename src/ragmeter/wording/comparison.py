"""Sentences about a comparison, for the terminal, the gate, Markdown, JUnit and the page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ragmeter.documents.comparison import NO_VERDICT, NOT_SIGNIFICANT, SMALL, ComparisonSettings
from ragmeter.documents.metrics import MetricSummary
from ragmeter.documents.record import Interval
from ragmeter.wording.numbers import equals, given, number, p_value, percent, signed, signed_interval

#: The most metrics that are listed by name alone; others are counted.
_NAMED = 8
_USUAL_ALPHA, _USUAL_LEVEL = 0.05, 0.95
#: With fewer rows, or clusters of rows, there is no test.
_FEWEST = 2
_NO_BOUNDS = "no verdict: an interval that holds at any time needs a metric with bounds"
_NO_SPREAD = "no test: all differences are the same, and a spread of nothing has no t"


class JudgedDifference(Protocol):
    """A metric's difference with its verdict, as a sentence needs it."""

    @property
    def direction(self) -> str: ...
    @property
    def binary(self) -> bool: ...
    @property
    def mean_a(self) -> float | None: ...
    @property
    def mean_b(self) -> float | None: ...
    @property
    def difference(self) -> float | None: ...
    @property
    def interval(self) -> Interval | None: ...
    @property
    def excludes_zero(self) -> bool: ...
    @property
    def p(self) -> float | None: ...
    @property
    def least_p(self) -> float | None: ...
    @property
    def p_holm(self) -> float | None: ...
    @property
    def n(self) -> int: ...
    @property
    def n_questions(self) -> int: ...
    @property
    def n_clusters(self) -> int | None: ...
    @property
    def better(self) -> int: ...
    @property
    def worse(self) -> int: ...
    @property
    def scored_only_a(self) -> int: ...
    @property
    def scored_only_b(self) -> int: ...
    @property
    def margin(self) -> float | None: ...
    @property
    def needed(self) -> int | None: ...
    @property
    def smallest(self) -> float | None: ...
    @property
    def verdict(self) -> str: ...


class SliceOfDifference(Protocol):
    """A metric's difference on a slice, as a sentence needs it."""

    @property
    def difference(self) -> float: ...
    @property
    def interval(self) -> Interval | None: ...
    @property
    def p_adjusted(self) -> float: ...
    @property
    def n(self) -> int: ...
    @property
    def n_clusters(self) -> int | None: ...


@dataclass(frozen=True)
class Wording:
    """Sentences about differences: by the intervals' level, alpha, and the number of tests that p is corrected over.

    `margins` has the metrics whose margin was given; that of the others is a share of their range.
    """

    level: float
    alpha: float
    tests: int = 1
    margins: frozenset[str] = frozenset()

    def difference(self, metric: str, a: str, b: str, result: JudgedDifference) -> str:
        """The result of one metric: the difference, its interval, whether it is significant, p and n."""
        if result.difference is None:
            return f"{metric}: no question has a score in both {a} and {b}"
        amount, way = signed(result.difference).lstrip("+-"), "higher" if result.difference > 0 else "lower"
        differ = f"{b} is {amount} {way} than {a}" if result.difference else f"{b} and {a} have the same mean"
        text = f"{metric}: {differ}{self._between(result.interval)}"
        n = counted(result.n, result.n_clusters)
        if result.p_holm is None:
            return f"{text}, {self.undecided(result)} ({n})"
        if result.verdict == NO_VERDICT:
            return f"{text}, {self.undecided(result)} ({self._p(result.p_holm)}, {n})"
        if result.verdict == SMALL:
            share = "" if metric in self.margins else ", 1% of the metric's range"
            n += f"; small: less than {given(result.margin or 0.0)}{share}"
            return f"{text}, {result.verdict}{self._corrected(result.p_holm, n)}"
        verdict = result.verdict if result.verdict == NOT_SIGNIFICANT else f"significantly {result.verdict}"
        return f"{text}, {verdict}{self._corrected(result.p_holm, n)}"

    def undecided(self, result: JudgedDifference) -> str:
        """Why there is no verdict on a difference: too few questions, no spread, or an interval that says otherwise."""
        if result.p_holm is None:
            if result.n_clusters == 1 < result.n:
                return "all rows are in one cluster, so chance can't be told"
            few = (result.n if result.n_clusters is None else result.n_clusters) < _FEWEST
            return "too few questions for a test" if few else _NO_SPREAD if result.interval else _NO_BOUNDS
        if result.p is not None and result.p < self.alpha <= result.p_holm:
            return (
                f"the interval excludes 0{self.at_alpha}, and the test, corrected over {self.tests:,} tests, does not"
            )
        if impossible := self.impossible(result):
            return impossible
        alike = result.n in (result.better, result.worse)  # no few rows: all of them went one way
        return f"the interval and the test disagree{self.at_alpha}{'' if alike else ': a few rows decide'}"

    def impossible(self, result: JudgedDifference) -> str:
        """Says that a test of so few rows or clusters can't be significant, and how many it takes; else empty."""
        least = result.least_p
        if least is None or least < self.alpha:
            return ""
        what, n = ("questions", result.n) if result.n_clusters is None else ("clusters", result.n_clusters)
        fewest = math.floor(math.log2(2 / self.alpha)) + 1
        return f"{n:,} {what} can't give a p below {given(least)}; at least {fewest:,} are needed"

    def preference(
        self,
        before: object,
        after: object,
        summary: MetricSummary,
        counts: Mapping[str, int],
        inconsistent: int = 0,
        *,
        p_holm: float | None,
        significant: bool | None,
    ) -> str:
        """How often a judge prefers the answers of the second run; `counts` says how many won, lost and tied.

        `inconsistent` are those of the tied on which the judge said another thing when the order was swapped.
        `significant` says whether the win rate is not one half by chance, None where the interval says otherwise.
        """
        mean, interval = summary.mean, summary.interval
        if mean is None:
            return f"the judge gave no verdict on the answers of {after} and {before}"
        spread = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        contradicted = "tied because the judge contradicted itself when the order was swapped"
        swapped = f"; {contradicted}: {inconsistent:,}" if inconsistent else ""
        low_high = f" ({percent(self.level)}: {number(interval[0])} to {number(interval[1])})" if interval else ""
        clusters = summary.n_clusters
        n = f"n = {summary.n_scored:,} of {summary.n_total:,}"
        n += "" if clusters is None else f" in {clusters:,} clusters"
        if p_holm is None:
            tested = f"too few questions for a test ({n})"
        elif significant is None:
            tested = f"the interval and the test disagree{self.at_alpha}: a few rows decide ({self._p(p_holm)}, {n})"
        else:
            chance = "significantly more often than not" if mean > 0.5 else "significantly less often than not"
            tested = f"{chance if significant else 'not significant'}{self._corrected(p_holm, n)}"
        prefers = f"the judge prefers {after} to {before} in {number(mean)} of the questions{low_high}"
        return f"{prefers}, {tested}; a tie counts one half: {spread}{swapped}"

    def turned(self, where: str, metric: str, part: SliceOfDifference) -> str:
        """A slice on which the difference has the opposite sign."""
        text = f"the other way round where {where}: {metric} {signed(part.difference)}{self._between(part.interval)}"
        return f"{text}, significant{self._corrected(part.p_adjusted, counted(part.n, part.n_clusters))}"

    def _between(self, interval: Interval | None) -> str:
        return "" if interval is None else f" ({percent(self.level)}: {signed_interval(interval)})"

    def _corrected(self, p: float, n: str = "") -> str:
        correction = f" after correction over {self.tests:,} tests" if self.tests > 1 else ""
        return f"{self.at_alpha}{correction} ({', '.join(filter(None, [self._p(p), n]))})"

    @property
    def at_alpha(self) -> str:
        """Names alpha, unless it is the usual one and that of the interval's level."""
        of_level = math.isclose(self.level, 1 - self.alpha)
        return "" if self.alpha == _USUAL_ALPHA and of_level else f" at alpha {given(self.alpha)}"

    def _p(self, p: float) -> str:
        return equals("Holm p" if self.tests > 1 else "p", p_value(p, self.alpha))


def judged_differently(metrics: str, a: str, b: str, differing: Mapping[str, tuple[Any, Any]], instead: str) -> str:
    """Says why no verdict is given on metrics that two runs have from different judges, and what to do `instead`."""
    can_not = f"{metrics}: which run is better can't be told from these scores"
    return f"{can_not}, since {a} and {b} were judged differently ({_settings(differing)}). {instead}"


def judged_elsewhere(metrics: str, a: str, b: str, endpoint_a: Any, endpoint_b: Any) -> str:
    """A caution for metrics that were judged by models of the same name behind different endpoints."""
    places = f"{a}: {endpoint_a or 'none'}, {b}: {endpoint_b or 'none'}"
    judged = f"{metrics}: judged by a model of the same name behind different endpoints ({places})"
    return f"{judged}. If these are two models, the difference may be the judge's."


def _settings(differing: Mapping[str, tuple[Any, Any]]) -> str:
    """What differs, with its values where they mean something to a person."""
    follows = {"sure_from", "rephrased_prompt"} if "wordings" in differing else set()
    return "; ".join(_setting(name, values) for name, values in differing.items() if name not in follows)


def _setting(name: str, values: tuple[Any, Any]) -> str:
    if name.endswith("prompt") or any(isinstance(value, dict | list) for value in values):
        return name  # a hash, or a setting of several parts
    shown = ["none" if value is None else given(value) if isinstance(value, float) else str(value) for value in values]
    return f"{name}: {', '.join(shown)}"


def judge_alike(a: str, b: str, command: str = "", without: Sequence[str] = ()) -> str:
    """How to get scores of the earlier run that can be compared; the judge fills the columns in `without` as well."""
    how = f": `{command}`" if command else ""
    columns = f", from a file without {' and '.join(without)}" if without else ""
    return f"Judge the answers of {a} by the judge of {b} with its settings, as a run of their own{columns}{how}."


def counted(n: int, clusters: int | None) -> str:
    """The number of rows, and of clusters if there are any."""
    return f"n = {n:,}" if clusters is None else f"n = {n:,} in {clusters:,} cluster{'' if clusters == 1 else 's'}"


def tests_made(tests: Mapping[str, str]) -> str:
    """The test of each metric: its name where all have the same, else `mcnemar (right) or randomisation (score)`."""
    metrics: dict[str, list[str]] = {}
    for metric, test in tests.items():
        metrics.setdefault(test, []).append(metric)
    return " or ".join(test if len(metrics) == 1 else f"{test} ({listed(names)})" for test, names in metrics.items())


def clustered_by(column: str | None, others: Mapping[str, str]) -> str:
    """The column whose rows were taken together, and the runs whose own intervals are clustered by another."""
    own = ", ".join(f"{run} itself by {other}" for run, other in others.items())
    return f", clustered by {column}{f' ({own})' if own else ''}" if column else ""


def listed(names: Sequence[str]) -> str:
    """Names in a row; of many, the first ones and how many more there are."""
    not_named = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + not_named


def kept_sentence(created: str, settings: ComparisonSettings, test: str) -> str:
    """Says that a report shows a kept comparison, and with which settings; `test` is the one that was made."""
    parts = [f"test: {test}", f"alpha: {given(settings.alpha)}"]
    if settings.level != _USUAL_LEVEL:
        parts.append(f"intervals: {percent(settings.level)}")
    if settings.metrics:
        parts.append(f"metrics: {', '.join(settings.metrics)}")
    if settings.margin:
        parts.append(f"margins: {', '.join(f'{name}={given(margin)}' for name, margin in settings.margin.items())}")
    if settings.slices is not None:
        parts.append(f"slices: {', '.join(settings.slices) or 'none'}")
    return f"The comparison that was kept on {created}; {', '.join(parts)}."


def outdated_sentence(created: str) -> str:
    """Says why a report does not show the kept comparison."""
    changed = f"A comparison was kept on {created}, but the runs have changed since"
    return f"{changed}. This one is made anew, with the usual settings."
