"""How many questions to ask: from a pilot, or from variances that somebody knows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ragmeter.analysis.comparing.pairing import pair
from ragmeter.errors import UsageError
from ragmeter.hints import by_caller
from ragmeter.io.write import RUNS
from ragmeter.runs.finding import RunLike, find_runs
from ragmeter.show.numbers import given, two_digits
from ragmeter.stats.clusters import Clustered, Codes, cluster_codes
from ragmeter.stats.confidence import AUTO, Confidence
from ragmeter.stats.power import Variances, questions_needed, smallest_difference
from ragmeter.table import QID, Measure, Scores

#: Differences that a plan is made for where none is asked for, on a scale from 0 to 1.
_USUAL = (0.01, 0.02, 0.03, 0.05, 0.1)


@dataclass(frozen=True)
class Plan:
    """What a number of questions can show, and how many a difference needs.

    `basis` says where the variances come from; `needed` has the questions for each difference, `smallest` the
    difference for each number of questions.
    """

    metric: str | None
    basis: str
    variances: Variances
    repeats: int
    alpha: float
    power: float
    n_pilot: int | None
    needed: dict[float, int]
    smallest: dict[int, float]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def plan(
    variances: Variances,
    *,
    differences: Sequence[float] = (),
    numbers: Sequence[int] = (),
    repeats: int = 1,
    alpha: float = 0.05,
    power: float = 0.8,
    metric: str | None = None,
    basis: str = "given",
    n_pilot: int | None = None,
    usual: Sequence[float] = _USUAL,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Plan:
    """Plan for given variances. Without a difference and a number, for the usual ones.

    `bounds` is the range of the metric: no difference is larger than that.
    """
    for name, share in (("alpha", alpha), ("power", power)):
        if not 0 < share < 1:
            raise UsageError(f"{name} lies between 0 and 1, and is {given(share)}")
    if repeats < 1:
        raise UsageError(f"repeats must be at least 1, and is {repeats}")
    if any(not each > 0 for each in differences) or any(each < 1 for each in numbers):
        raise UsageError("a difference is above 0, and a number of questions at least 1")
    _check_range(differences, metric, bounds)
    if not all(map(math.isfinite, (*differences, variances.per_question(repeats)))):
        raise UsageError("variance and difference must be finite")
    if min(variances.between, variances.within_a, variances.within_b) < 0 or not variances.per_question(repeats) > 0:
        raise UsageError("the variances are 0: nothing varies, or the pilot is too small to see it")
    if not differences and not numbers:
        differences, numbers = usual, (n_pilot,) if n_pilot else ()
    settings: dict[str, Any] = {"repeats": repeats, "alpha": alpha, "power": power}
    try:
        needed = {each: questions_needed(variances, each, **settings) for each in differences}
    except OverflowError:
        raise UsageError("such a difference takes more questions than can be counted") from None
    smallest = {each: smallest_difference(variances, each, **settings) for each in numbers}
    return Plan(metric, basis, variances, repeats, alpha, power, n_pilot, needed, smallest)


def plan_from_pilot(
    runs: RunLike | Sequence[RunLike],
    metric: str,
    *,
    cluster: str | None = AUTO,
    correlation: float = 0.0,
    output_dir: str | Path = RUNS,
    **settings: Any,
) -> Plan:
    """Plan from one run or two. From two the variance of the difference is known; from one it is guessed.

    A run's variance is taken twice, less what a `correlation` between the systems' scores would take away: with 0,
    the cautious guess, the plan asks for more questions than will be needed.
    """
    held = find_runs(runs, output_dir)
    if len(held) not in (1, 2):
        raise UsageError(
            "a plan is made from one run or two",
            hint=by_caller("ragmeter power RUN [RUN_B] --metric NAME", "plan_from_pilot([a, b], metric)"),
        )
    if not -1 <= correlation < 1:
        raise UsageError(f"a correlation lies between -1 and 1, and is {given(correlation)}")
    first = held[0]
    for each in held:
        metric = each.measure(metric).name
    how = Confidence(cluster=cluster)
    column, codes = first.clusters(how)
    questions = cluster_codes(first.column(QID))
    if column == QID:  # repeats of a question are not clusters of questions: they have a variance of their own
        column, codes = None, None
    if len(held) == 2:
        paired = pair(first, held[1])
        a, b = first.scores(metric)[paired.a], held[1].scores(metric)[paired.b]
        questions = questions[paired.a]
        variances, n = _of_two(a, b, questions, None if codes is None else codes[paired.a])
        basis = f"{first.name} and {held[1].name}"
    else:
        variances, n = _of_one(first.scores(metric), questions, codes, correlation)
        guess = f"a correlation of {given(correlation)} with the system to come"
        basis = f"{first.name}, and {guess}"
    if not n:
        names = " and ".join(each.name for each in held)
        raise UsageError(f"{names}: no question has a score of {metric}{' in both' if len(held) == 2 else ''}")
    clustered = f", clustered by {column}" if column else ""
    usual = _usual(first.measure(metric), first.scores(metric))
    ends = [each.measure(metric).bounds for each in held]
    bounds = min(low for low, _ in ends), max(high for _, high in ends)
    return plan(variances, metric=metric, basis=basis + clustered, n_pilot=n, usual=usual, bounds=bounds, **settings)


def _check_range(differences: Sequence[float], metric: str | None, bounds: tuple[float, float]) -> None:
    """Refuse a difference that the metric's range has no room for: 5 for 0.05."""
    low, high = bounds
    for difference in differences:
        if math.isfinite(difference) and difference > high - low:
            points = f"; {given(difference)} points are {given(difference / 100)}" if bounds == (0.0, 1.0) else ""
            span = f"its scores lie between {given(low)} and {given(high)}"
            raise UsageError(
                f"no difference in {metric or 'the metric'} can be {given(difference)}: {span}",
                hint=f"a difference is at most {given(high - low)}{points}",
            )


def _usual(measure: Measure, scores: Scores) -> Sequence[float]:
    """Differences worth a look: points of a scale from 0 to 1, of any other the same shares of the pilot's mean."""
    mean = abs(float(np.nanmean(scores)))
    if measure.bounds == (0.0, 1.0) or not mean:
        return _USUAL
    return [two_digits(share * mean) for share in _USUAL]


def _of_two(a: Scores, b: Scores, questions: Codes, codes: Codes | None) -> tuple[Variances, int]:
    there = ~np.isnan(a) & ~np.isnan(b)
    if not there.any():
        return Variances(0.0), 0
    a, b, questions = a[there], b[there], questions[there]
    codes = None if codes is None else codes[there]
    within_a, within_b = _within(a, questions), _within(b, questions)
    means = Clustered.of(b - a, questions)
    total = _variance(means.sums / means.counts)
    between = max(total - (within_a + within_b) * float(np.mean(1 / means.counts)), 0.0)
    return Variances(between, within_a, within_b, _design_effect(b - a, codes)), len(means)


def _of_one(scores: Scores, questions: Codes, codes: Codes | None, correlation: float) -> tuple[Variances, int]:
    there = ~np.isnan(scores)
    if not there.any():
        return Variances(0.0), 0
    scores, questions = scores[there], questions[there]
    within = _within(scores, questions)
    means = Clustered.of(scores, questions)
    own = max(_variance(means.sums / means.counts) - within * float(np.mean(1 / means.counts)), 0.0)
    effect = _design_effect(scores, None if codes is None else codes[there])
    return Variances(2 * own * (1 - correlation), within, within, effect), len(means)


def _variance(values: Scores) -> float:
    return float(values.var(ddof=1)) if len(values) > 1 else 0.0


def _within(values: Scores, questions: Codes) -> float:
    """The variance of repeats of the same question, pooled; 0 where nothing was repeated."""
    if not len(values):
        return 0.0
    _, places, counts = np.unique(questions, return_inverse=True, return_counts=True)
    means = np.bincount(places, values) / counts
    freedom = int((counts - 1).sum())
    return float(((values - means[places]) ** 2).sum()) / freedom if freedom else 0.0


def _design_effect(values: Scores, codes: Codes | None) -> float:
    """How many rows in clusters are worth one row alone."""
    if codes is None or len(values) < 2:
        return 1.0
    units = Clustered.of(values, codes)
    alone = _variance(values) / len(values)
    return units.standard_error() ** 2 / alone if len(units) > 1 and alone > 0 else 1.0
