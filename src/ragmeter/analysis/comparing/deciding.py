"""`compare()`: read the runs, pair their rows, test every metric, and look into the slices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from ragmeter.analysis.comparing.comparison import NOT_SIGNIFICANT, Comparison, MetricDifference, Pair
from ragmeter.analysis.comparing.judging import with_verdicts
from ragmeter.analysis.comparing.movers import movers_of
from ragmeter.analysis.comparing.pairing import Pairing, pair
from ragmeter.analysis.comparing.slices import slice_differences
from ragmeter.errors import UsageError
from ragmeter.hints import by_caller, option
from ragmeter.io.write import RUNS
from ragmeter.naming import chosen_names, several
from ragmeter.runs.comparisons import check_kept, keep_comparison
from ragmeter.runs.finding import RunLike, find_runs, is_run, run_labels
from ragmeter.runs.run import Run
from ragmeter.show.numbers import given
from ragmeter.show.sentences.comparison import Wording
from ragmeter.stats.clusters import Clustered, Codes
from ragmeter.stats.confidence import AUTO, MCNEMAR, RANDOMISATION, TESTS, Confidence
from ragmeter.stats.differences import difference_interval
from ragmeter.stats.intervals import Interval, difference_limits
from ragmeter.stats.multiple import benjamini_hochberg, holm
from ragmeter.stats.paired import paired_p
from ragmeter.stats.power import Variances, questions_needed, smallest_difference
from ragmeter.table import Measure, Scores

#: The difference that a number of questions is told for, on a scale from 0 to 1: one point.
_POINT = 0.01


@dataclass(frozen=True)
class _How:
    """The settings of a comparison."""

    confidence: Confidence
    test: str
    alpha: float
    movers: int


def compare(
    runs: Sequence[RunLike],
    *,
    metrics: str | Iterable[str] | None = None,
    test: str = RANDOMISATION,
    interval: str = AUTO,
    cluster: str | None = AUTO,
    slices: str | Iterable[str] | None = None,
    level: float = 0.95,
    alpha: float = 0.05,
    seed: int = 0,
    draws: int = 9_999,
    movers: int = 5,
    keep: bool = False,
    output_dir: str | Path = RUNS,
) -> Comparison:
    """Compare runs, each with each, on the rows that have the same qid.

    A run is what `evaluate()` or `ask()` returned, a folder, or a name in `output_dir`; a difference is that of the
    later one. `cluster` names the column whose values tell which rows belong together, None says that all are apart,
    and "auto" takes conversations of several turns and questions that were asked several times. `slices` are columns,
    or pairs of them as "one,two"; all columns with a few values are taken where it is None. `keep` writes the
    comparison into the last run's folder: a report of these runs then shows this one.
    """
    if test not in TESTS:
        raise UsageError(f"unknown test {test!r}", hint=f"there are {', '.join(TESTS)}")
    if not 0 < alpha < 1:
        raise UsageError(f"alpha must be between 0 and 1, got {given(alpha)}", hint="0.05 is usual")
    if is_run(runs) or len(runs := list(runs)) < 2:
        raise UsageError(
            "a comparison needs two runs or more", hint=by_caller("ragmeter compare RUN_A RUN_B", "compare([a, b])")
        )
    held = find_runs(runs, output_dir)
    if keep:
        check_kept(held)
    confidence = Confidence(interval, cluster, level, seed, draws)
    column = next((by for run in held if (by := run.clusters(confidence)[0]) is not None), None)
    if column is not None and test == MCNEMAR:
        raise UsageError(
            f"McNemar's test takes rows for independent, and they belong together by {column!r}",
            hint=f"use {option('test', 'randomisation')}, or {option('cluster', None)} if they are independent",
        )
    how = _How(replace(confidence, cluster=column), test, alpha, movers)
    names = chosen_names(metrics) or None
    columns = None if slices is None else several(slices)
    found = [_compared(a, b, names, columns, how) for a, b in combinations(held, 2)]
    labels = run_labels(held)
    wording = Wording(level, alpha, sum(each.p is not None for pair in found for each in pair.metrics.values()))
    pairs = _judged(_named(found, labels), wording)
    comparison = Comparison(labels, level, alpha, test, column, seed, draws, wording.tests, pairs)
    if keep:
        settings: dict[str, Any] = {"metrics": names, "test": test, "interval": interval, "cluster": cluster}
        settings |= {"slices": columns, "level": level, "alpha": alpha, "seed": seed, "draws": draws, "movers": movers}
        keep_comparison(held, settings, comparison.as_dict())
    return comparison


def _named(pairs: Sequence[Pair], labels: Sequence[str]) -> list[Pair]:
    return [replace(each, a=a, b=b) for each, (a, b) in zip(pairs, combinations(labels, 2), strict=True)]


def _compared(a: Run, b: Run, names: Sequence[str] | None, slices: Iterable[str] | None, how: _How) -> Pair:
    pairing = pair(a, b)
    if not len(pairing):
        raise UsageError(f"{a.name} and {b.name} have no qid in common", hint="compare runs of the same questions")
    if names is not None:
        chosen = [a.measure(name) and b.measure(name) for name in names]
    else:
        chosen = [measure for name, measure in a.measures.items() if name in b.measures]
    if not chosen:
        raise UsageError(
            f"{a.name} and {b.name} have no metric in common",
            hint=f"{a.name} has {', '.join(a.measures)}; {b.name} has {', '.join(b.measures)}",
        )
    codes = _clusters(a, b, pairing, how.confidence)
    metrics, differences = {}, {}
    for measure in chosen:
        scores_a, scores_b = a.scores(measure.name)[pairing.a], b.scores(measure.name)[pairing.b]
        metrics[measure.name] = _difference(a, b, measure, scores_a, scores_b, pairing, codes, how)
        differences[measure.name] = scores_b - scores_a
    limits = {measure.name: _limits(a, b, measure.name) for measure in chosen}
    others = {
        name: f"only in {run.name}"
        for run, other in ((a, b), (b, a))
        for name in run.measures
        if names is None and name not in other.measures
    }
    columns = slices if slices is not None else [name for name in a.slices() if _agree(a, b, pairing, name)]
    found = slice_differences(a, pairing.a, differences, limits, codes, columns, how.confidence, how.alpha)
    return Pair(
        a.name, b.name, len(pairing), pairing.only_a, pairing.only_b, pairing.questions_differ, metrics, others, found
    )


def _clusters(a: Run, b: Run, pairing: Pairing, how: Confidence) -> Codes | None:
    """For each pair of rows the number of its cluster, by the first of the runs that has the column."""
    for run, rows in ((a, pairing.a), (b, pairing.b)):
        if how.cluster in run.texts:
            codes = run.clusters(how)[1]
            return None if codes is None else codes[rows]
    return None


def _agree(a: Run, b: Run, pairing: Pairing, name: str) -> bool:
    """Whether a column says the same in both runs. What one system made is no part of the questions to slice by."""
    if name not in b.texts:
        return True
    return bool(a.column(name).take(pairing.a).equals(b.column(name).take(pairing.b)))


def _limits(a: Run, b: Run, metric: str) -> Interval:
    """The range of a difference between two runs' scores."""
    return difference_limits(a.measures[metric].bounds, b.measures[metric].bounds)


def _difference(
    a: Run,
    b: Run,
    measure: Measure,
    scores_a: Scores,
    scores_b: Scores,
    pairing: Pairing,
    codes: Codes | None,
    how: _How,
) -> MetricDifference:
    differences = scores_b - scores_a
    there = ~np.isnan(differences)
    kept, held = differences[there], None if codes is None else codes[there]
    n = len(kept)
    units = Clustered.of(kept, held)
    sure = len(units) >= 2
    test = RANDOMISATION if how.test == MCNEMAR and not measure.binary else how.test
    limits = _limits(a, b, measure.name)
    interval, method = difference_interval(
        scores_a[there], scores_b[there], how.confidence, binary=measure.binary, codes=held, limits=limits
    )
    gains = kept * (-1 if measure.direction == "lower" else 1)
    sd = float(kept.std(ddof=1)) if n > 1 else 0.0
    variances = Variances(units.standard_error() ** 2 * n) if sure else None
    point = _POINT if limits == (-1.0, 1.0) else None
    return MetricDifference(
        direction=measure.direction,
        n=n,
        n_clusters=None if held is None else len(units),
        mean_a=float(scores_a[there].mean()) if n else None,
        mean_b=float(scores_b[there].mean()) if n else None,
        difference=float(kept.mean()) if n else None,
        interval=interval,
        interval_method=method,
        p=paired_p(units, test, how.confidence.draws, how.confidence.seed) if sure else None,
        p_holm=None,
        p_bh=None,
        test=test,
        effect_size=float(kept.mean()) / sd if sd > 0 else None,
        better=int(np.count_nonzero(gains > 0)),
        worse=int(np.count_nonzero(gains < 0)),
        same=int(np.count_nonzero(gains == 0)),
        scored_only_a=int(np.count_nonzero(~np.isnan(scores_a) & np.isnan(scores_b))),
        scored_only_b=int(np.count_nonzero(np.isnan(scores_a) & ~np.isnan(scores_b))),
        point=point,
        needed=questions_needed(variances, point) if variances and variances.between and point else None,
        smallest=smallest_difference(variances, n) if variances else None,
        verdict=NOT_SIGNIFICANT,
        movers=movers_of(a, b, pairing, scores_a, scores_b, how.movers),
    )


def _judged(pairs: Sequence[Pair], wording: Wording) -> list[Pair]:
    """The pairs with their verdicts, by p-values that are corrected over all metrics of all pairs."""
    p_values = [
        (place, name, each.p)
        for place, pair in enumerate(pairs)
        for name, each in pair.metrics.items()
        if each.p is not None
    ]
    plain = [p for _, _, p in p_values]
    adjusted = zip(p_values, holm(plain).tolist(), benjamini_hochberg(plain).tolist(), strict=True)
    metrics = [dict(pair.metrics) for pair in pairs]
    for (place, name, _), by_holm, by_bh in adjusted:
        metrics[place][name] = replace(metrics[place][name], p_holm=by_holm, p_bh=by_bh)
    return [
        with_verdicts(replace(pair, metrics=results), wording) for pair, results in zip(pairs, metrics, strict=True)
    ]
