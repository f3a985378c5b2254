"""How many questions to ask: planned from a pilot run, or from known variances."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ragmeter.analysis.comparing.row_pairs import cluster_column, pair, paired_clusters
from ragmeter.errors import UsageError
from ragmeter.hints import by_caller
from ragmeter.io.write import RUNS
from ragmeter.runs.lookup import RunLike, find_runs, run_labels
from ragmeter.stats.clusters import Clustered, Codes, cluster_codes
from ragmeter.stats.confidence import AUTO, Confidence
from ragmeter.stats.power import Variances, questions_needed, smallest_difference
from ragmeter.table import QID, Measure, Scores
from ragmeter.wording.comparison import clustered_by
from ragmeter.wording.numbers import given, two_digits

#: Differences to plan for by default, on a scale from 0 to 1.
_USUAL = (0.01, 0.02, 0.03, 0.05, 0.1)


@dataclass(frozen=True)
class PowerPlan:
    """How many questions a difference needs, and the smallest difference that a number of questions can detect.

    `basis` says where the variances come from; `needed` has the number of questions for each difference, `smallest` the
    difference for each number of questions. `alpha` is that of all `tests` together: the first gets alpha / tests.
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
    tests: int = 1

    def as_dict(self) -> dict[str, Any]:
        """The plan as a dict for JSON."""
        return asdict(self)


def plan(
    variances: Variances,
    *,
    differences: Sequence[float] = (),
    numbers: Sequence[int] = (),
    repeats: int = 1,
    alpha: float = 0.05,
    power: float = 0.8,
    tests: int = 1,
    metric: str | None = None,
    basis: str = "given",
    n_pilot: int | None = None,
    usual: Sequence[float] = _USUAL,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> PowerPlan:
    """Plan for known variances. Without `differences` and `numbers`, plan for the `usual` differences.

    `bounds` is the range of the metric: no difference is larger than that. `tests` is the number of tests
    that share alpha by Holm's correction: one for the headline metric of two runs.
    """
    for name, share in (("alpha", alpha), ("power", power)):
        if not 0 < share < 1:
            raise UsageError(f"{name} must be between 0 and 1, got {given(share)}")
    for name, times in (("repeats", repeats), ("tests", tests)):
        if times < 1:
            raise UsageError(f"{name} must be at least 1, got {times}")
    if any(not difference > 0 for difference in differences) or any(number < 1 for number in numbers):
        raise UsageError("a difference must be above 0, and a number of questions at least 1")
    _check_range(differences, metric, bounds)
    if not all(map(math.isfinite, (*differences, variances.per_question(repeats)))):
        raise UsageError("variance and difference must be finite")
    if min(variances.between, variances.within_a, variances.within_b) < 0 or not variances.per_question(repeats) > 0:
        raise UsageError("the variances are 0: the scores do not vary, or the pilot is too small")
    if not differences and not numbers:
        differences, numbers = usual, (n_pilot,) if n_pilot else ()
    settings: dict[str, Any] = {"repeats": repeats, "alpha": alpha / tests, "power": power}
    try:
        needed = {difference: questions_needed(variances, difference, **settings) for difference in differences}
    except OverflowError:
        raise UsageError("the difference is too small: the number of questions needed is too large") from None
    smallest = {number: smallest_difference(variances, number, **settings) for number in numbers}
    return PowerPlan(metric, basis, variances, repeats, alpha, power, n_pilot, needed, smallest, tests)


def plan_from_pilot(
    runs: RunLike | Sequence[RunLike],
    metric: str,
    *,
    cluster: str | None = AUTO,
    correlation: float = 0.0,
    output_dir: str | Path = RUNS,
    **settings: Any,
) -> PowerPlan:
    """Plan from one run or two. Two runs give the variance of the difference; from one run it is estimated.

    The estimate from one run is 2 * variance * (1 - correlation), where `correlation` is that between the two systems'
    scores. With 0, the cautious default, the plan asks for more questions than will be needed.
    """
    pilots = find_runs(runs, output_dir)
    if len(pilots) not in (1, 2):
        raise UsageError(
            "a plan needs one run or two",
            hint=by_caller("ragmeter power RUN [RUN_B] --metric NAME", "plan_from_pilot([a, b], metric)"),
        )
    if not -1 <= correlation < 1:
        raise UsageError(f"correlation must be at least -1 and below 1, got {given(correlation)}")
    first = pilots[0]
    for pilot in pilots:
        metric = pilot.measure(metric).name
    column, others = cluster_column(pilots, run_labels(pilots), Confidence(cluster=cluster))
    questions = cluster_codes(first.column(QID))
    if column == QID:  # repeats of a question are not clusters of questions: their variance is estimated separately
        column = None
    clusters = Confidence(cluster=column)
    if len(pilots) == 2:
        second = pilots[1]
        paired = pair(first, second)
        a, b = first.scores(metric)[paired.a], second.scores(metric)[paired.b]
        questions = questions[paired.a]
        variances, n = _of_two(a, b, questions, paired_clusters(first, second, paired, clusters))
        basis = f"{first.name} and {second.name}"
    else:
        variances, n = _of_one(first.scores(metric), questions, first.clusters(clusters)[1], correlation)
        basis = f"{first.name}, and a correlation of {given(correlation)} with the other system"
    if not n:
        names = " and ".join(pilot.name for pilot in pilots)
        raise UsageError(f"{names}: no question has a score of {metric}{' in both' if len(pilots) == 2 else ''}")
    usual = _usual(first.measure(metric), first.scores(metric))
    ends = [pilot.measure(metric).bounds for pilot in pilots]
    bounds = min(low for low, _ in ends), max(high for _, high in ends)
    basis += clustered_by(column, others)
    return plan(variances, metric=metric, basis=basis, n_pilot=n, usual=usual, bounds=bounds, **settings)


def _check_range(differences: Sequence[float], metric: str | None, bounds: tuple[float, float]) -> None:
    """Refuse a difference larger than the metric's range, such as 5 for 0.05."""
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
    """The default differences: on a scale from 0 to 1 as they are, on any other as shares of the pilot's mean."""
    mean = abs(float(np.nanmean(scores)))
    if measure.bounds == (0.0, 1.0) or not mean:
        return _USUAL
    return [two_digits(share * mean) for share in _USUAL]


def _of_two(a: Scores, b: Scores, questions: Codes, codes: Codes | None) -> tuple[Variances, int]:
    scored = ~np.isnan(a) & ~np.isnan(b)
    if not scored.any():
        return Variances(0.0), 0
    a, b, questions = a[scored], b[scored], questions[scored]
    within_a, within_b = _within(a, questions), _within(b, questions)
    between, effect, n = _over_questions(b - a, questions, codes, scored, within_a + within_b)
    return Variances(between, within_a, within_b, effect), n


def _of_one(scores: Scores, questions: Codes, codes: Codes | None, correlation: float) -> tuple[Variances, int]:
    scored = ~np.isnan(scores)
    if not scored.any():
        return Variances(0.0), 0
    scores, questions = scores[scored], questions[scored]
    within = _within(scores, questions)
    between, effect, n = _over_questions(scores, questions, codes, scored, within)
    return Variances(2 * between * (1 - correlation), within, within, effect), n


def _over_questions(
    values: Scores, questions: Codes, codes: Codes | None, scored: npt.NDArray[np.bool_], within: float
) -> tuple[float, float, int]:
    """The variance over questions without that of their repeats, the design effect, and the number of questions.

    Clusters are those of questions, each with the mean of its repeats: repeats are in `within` already.
    """
    repeats = Clustered.of(values, questions)
    means = repeats.sums / repeats.counts
    between = max(_variance(means) - within * float(np.mean(1 / repeats.counts)), 0.0)
    firsts = np.unique(questions, return_index=True)[1]
    return between, _design_effect(means, None if codes is None else codes[scored][firsts]), len(means)


def _variance(values: Scores) -> float:
    return float(values.var(ddof=1)) if len(values) > 1 else 0.0


def _within(values: Scores, questions: Codes) -> float:
    """The pooled variance of repeats of the same question; 0 if nothing was repeated."""
    if not len(values):
        return 0.0
    _, places, counts = np.unique(questions, return_inverse=True, return_counts=True)
    means = np.bincount(places, values) / counts
    freedom = int((counts - 1).sum())
    return float(((values - means[places]) ** 2).sum()) / freedom if freedom else 0.0


def _design_effect(values: Scores, codes: Codes | None) -> float:
    """How many clustered questions carry as much information as one independent question."""
    if codes is None or len(values) < 2:
        return 1.0
    units = Clustered.of(values, codes)
    independent = _variance(values) / len(values)
    return units.standard_error() ** 2 / independent if len(units) > 1 and independent > 0 else 1.0
