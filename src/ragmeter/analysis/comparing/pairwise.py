"""`compare()`: open the runs, pair their rows, and test every metric, on all rows and by slices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from ragmeter.analysis.comparing.comparison import NOT_SIGNIFICANT, Comparison, MetricDifference, Mover, Pair
from ragmeter.analysis.comparing.judges import forbids_verdict, judge_warnings, withheld
from ragmeter.analysis.comparing.pairing import Pairing, cluster_column, pair, paired_clusters
from ragmeter.analysis.comparing.significance import with_verdicts
from ragmeter.analysis.comparing.slices import slice_differences
from ragmeter.errors import UsageError
from ragmeter.hints import by_caller, option
from ragmeter.io.write import RUNS
from ragmeter.naming import chosen_names, several
from ragmeter.runs.comparisons import check_kept, keep_comparison
from ragmeter.runs.finding import RunLike, find_runs, is_run, run_labels
from ragmeter.runs.judges import differing_judges
from ragmeter.runs.run import Run
from ragmeter.show.numbers import given
from ragmeter.show.sentences.comparison import Wording
from ragmeter.stats.clusters import Clustered, Codes
from ragmeter.stats.confidence import AUTO, MCNEMAR, RANDOMISATION, TESTS, Confidence
from ragmeter.stats.intervals import Interval, difference_interval, difference_limits
from ragmeter.stats.multiple import benjamini_hochberg, holm
from ragmeter.stats.paired import paired_p
from ragmeter.stats.power import Variances, questions_needed, smallest_difference
from ragmeter.table import QID, Measure, Scores

#: `needed` is the number of questions for a difference of one point, on a scale from 0 to 1.
_POINT = 0.01
#: The texts that a mover is shown with.
_TEXTS = (QID, "question", "reference", "answer")


@dataclass(frozen=True)
class _Settings:
    """The settings of a comparison."""

    confidence: Confidence
    test: str
    alpha: float
    movers: int


def compare(
    runs: Sequence[RunLike] | Mapping[str, RunLike],
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
    """Compare every pair of runs on the rows that have the same qid.

    A run is what `evaluate()` or `ask()` returned, a folder, or a name in `output_dir`; a difference is the later run
    minus the earlier. `cluster` is the column that groups dependent rows, None for independent rows, or "auto":
    what the runs' own intervals are clustered by. `slices` are columns, or pairs of them
    as "one,two"; None takes all columns with few values. `keep` writes the comparison into the last run's folder: a
    report of these runs then shows it.
    """
    if test not in TESTS:
        raise UsageError(f"unknown test {test!r}", hint=f"there are {', '.join(TESTS)}")
    if not 0 < alpha < 1:
        raise UsageError(f"alpha must be between 0 and 1, got {given(alpha)}", hint="0.05 is usual")
    compared = runs if isinstance(runs, Mapping) and not is_run(runs) else [] if is_run(runs) else list(runs)
    if len(compared) < 2:
        raise UsageError(
            "a comparison needs two runs or more", hint=by_caller("ragmeter compare RUN_A RUN_B", "compare([a, b])")
        )
    opened = find_runs(compared, output_dir)
    labels = run_labels(opened)
    if keep:
        check_kept(opened)
    confidence = Confidence(interval, cluster, level, seed, draws)
    column, other_clusters = cluster_column(opened, labels, confidence)
    if column is not None and test == MCNEMAR:
        raise UsageError(
            f"McNemar's test needs independent rows, but these are clustered by {column!r}",
            hint=f"use {option('test', 'randomisation')}, or {option('cluster', None)} if they are independent",
        )
    settings = _Settings(replace(confidence, cluster=column), test, alpha, movers)
    names = chosen_names(metrics) or None
    columns = None if slices is None else several(slices)
    pairs = [
        _compare_two(a, b, labels_of_pair, names, columns, settings)
        for (a, b), labels_of_pair in zip(combinations(opened, 2), combinations(labels, 2), strict=True)
    ]
    tests = sum(result.p is not None for pair in pairs for result in pair.metrics.values())
    pairs = _corrected(pairs, Wording(level, alpha, tests))
    comparison = Comparison(labels, level, alpha, test, column, seed, draws, tests, pairs, other_clusters)
    if keep:
        stored: dict[str, Any] = {"metrics": names, "test": test, "interval": interval, "cluster": cluster}
        stored |= {"slices": columns, "level": level, "alpha": alpha, "seed": seed, "draws": draws, "movers": movers}
        keep_comparison(opened, stored, comparison.as_dict())
    return comparison


def _compare_two(
    a: Run,
    b: Run,
    labels: tuple[str, str],
    names: Sequence[str] | None,
    slices: Iterable[str] | None,
    settings: _Settings,
) -> Pair:
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
    codes = paired_clusters(a, b, pairing, settings.confidence)
    differing = differing_judges(a, b, [measure.name for measure in chosen])
    metrics, differences, limits = {}, {}, {}
    for measure in chosen:
        scores_a, scores_b = a.scores(measure.name)[pairing.a], b.scores(measure.name)[pairing.b]
        possible = difference_limits(a.measures[measure.name].bounds, b.measures[measure.name].bounds)
        metrics[measure.name] = _difference(a, b, measure, scores_a, scores_b, pairing, codes, possible, settings)
        settings_of_judges = differing.get(measure.name, {})
        metrics[measure.name] = replace(metrics[measure.name], judges_differ=settings_of_judges)
        if forbids_verdict(settings_of_judges):
            (sentence,) = judge_warnings(a, b, labels, {measure.name: settings_of_judges})
            metrics[measure.name] = withheld(metrics[measure.name], sentence)
        else:
            differences[measure.name], limits[measure.name] = scores_b - scores_a, possible
    others = {
        name: f"only in {run.name}"
        for run, other in ((a, b), (b, a))
        for name in run.measures
        if names is None and name not in other.measures
    }
    columns = slices if slices is not None else [name for name in a.slices() if _same_values(a, b, pairing, name)]
    confidence, alpha = settings.confidence, settings.alpha
    parts = slice_differences(a, pairing.a, differences, limits, codes, columns, confidence, alpha)
    unpaired = (pairing.only_a, pairing.only_b, pairing.questions_differ)
    warnings = judge_warnings(a, b, labels, differing)
    return Pair(labels[0], labels[1], len(pairing), *unpaired, metrics, others, parts, warnings=warnings)


def _same_values(a: Run, b: Run, pairing: Pairing, name: str) -> bool:
    """Whether a column is equal in both runs. A column that differs comes from the system, not from the questions."""
    if name not in b.texts:
        return True
    return bool(a.column(name).take(pairing.a).equals(b.column(name).take(pairing.b)))


def _difference(
    a: Run,
    b: Run,
    measure: Measure,
    scores_a: Scores,
    scores_b: Scores,
    pairing: Pairing,
    codes: Codes | None,
    limits: Interval,
    settings: _Settings,
) -> MetricDifference:
    in_both = ~np.isnan(scores_b - scores_a)
    scored_a, scored_b = scores_a[in_both], scores_b[in_both]
    differences = scored_b - scored_a
    codes = None if codes is None else codes[in_both]
    n = len(differences)
    units = Clustered.of(differences, codes)
    testable = len(units) >= 2
    confidence = settings.confidence
    test = RANDOMISATION if settings.test == MCNEMAR and not measure.binary else settings.test
    interval, method = difference_interval(
        scored_a, scored_b, confidence, binary=measure.binary, codes=codes, limits=limits
    )
    gains = differences * (-1 if measure.direction == "lower" else 1)
    sd = float(differences.std(ddof=1)) if n > 1 else 0.0
    variances = Variances(units.standard_error() ** 2 * n) if testable else None
    point = _POINT if limits == (-1.0, 1.0) else None
    return MetricDifference(
        direction=measure.direction,
        n=n,
        n_clusters=None if codes is None else len(units),
        mean_a=float(scored_a.mean()) if n else None,
        mean_b=float(scored_b.mean()) if n else None,
        difference=float(differences.mean()) if n else None,
        interval=interval,
        interval_method=method,
        p=paired_p(units, test, confidence.draws, confidence.seed) if testable else None,
        p_holm=None,
        p_bh=None,
        test=test,
        effect_size=float(differences.mean()) / sd if sd > 0 else None,
        better=int(np.count_nonzero(gains > 0)),
        worse=int(np.count_nonzero(gains < 0)),
        same=int(np.count_nonzero(gains == 0)),
        scored_only_a=int(np.count_nonzero(~np.isnan(scores_a) & np.isnan(scores_b))),
        scored_only_b=int(np.count_nonzero(np.isnan(scores_a) & ~np.isnan(scores_b))),
        point=point,
        needed=questions_needed(variances, point) if variances and variances.between and point else None,
        smallest=smallest_difference(variances, n) if variances else None,
        verdict=NOT_SIGNIFICANT,
        movers=_movers(a, b, pairing, scores_a, scores_b, settings.movers),
    )


def _movers(a: Run, b: Run, pairing: Pairing, scores_a: Scores, scores_b: Scores, number: int) -> list[Mover]:
    """At most `number` rows with the largest differences, sorted by size, then by row; none with a difference of 0.

    Only the row groups of their texts are read.
    """
    sizes = np.nan_to_num(np.abs(scores_b - scores_a))
    if number < 1 or not len(sizes):
        return []
    least = np.partition(sizes, -min(number, len(sizes)))[-min(number, len(sizes))]
    large = np.flatnonzero((sizes >= least) & (sizes > 0))
    moved = large[np.argsort(-sizes[large], kind="stable")][:number].tolist()
    first = a.records([int(pairing.a[row]) for row in moved], _TEXTS)
    second = b.records([int(pairing.b[row]) for row in moved], _TEXTS)
    return [
        Mover(
            qid=old[QID],
            a=float(scores_a[row]),
            b=float(scores_b[row]),
            difference=float(scores_b[row] - scores_a[row]),
            question=old.get("question", new.get("question")),
            reference=old.get("reference", new.get("reference")),
            answer_a=old.get("answer"),
            answer_b=new.get("answer"),
        )
        for row, old, new in zip(moved, first, second, strict=True)
    ]


def _corrected(pairs: Sequence[Pair], wording: Wording) -> list[Pair]:
    """The pairs with p-values corrected over all metrics of all pairs, and with the verdicts that follow from them."""
    tested = [
        (place, name, result.p)
        for place, pair in enumerate(pairs)
        for name, result in pair.metrics.items()
        if result.p is not None
    ]
    p_values = [p for _, _, p in tested]
    adjusted = zip(tested, holm(p_values).tolist(), benjamini_hochberg(p_values).tolist(), strict=True)
    metrics = [dict(pair.metrics) for pair in pairs]
    for (place, name, _), by_holm, by_bh in adjusted:
        metrics[place][name] = replace(metrics[place][name], p_holm=by_holm, p_bh=by_bh)
    return [
        with_verdicts(replace(pair, metrics=results), wording) for pair, results in zip(pairs, metrics, strict=True)
    ]
