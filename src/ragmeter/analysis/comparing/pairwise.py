"""`compare()`: open the runs, pair their rows, and test every metric, on all rows and by slices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ragmeter.analysis.comparing.causes import cause_changes, causes_differ, judged_metric
from ragmeter.analysis.comparing.changed_rows import changed_rows, texts_of
from ragmeter.analysis.comparing.comparison import Comparison, MetricDifference, Mover, Pair, is_mostly_reworded
from ragmeter.analysis.comparing.difference import PairedScores, Settings, difference_of
from ragmeter.analysis.comparing.judges import forbids_verdict, judge_warnings, withheld
from ragmeter.analysis.comparing.margins import Margins, margins_of, usual_margin
from ragmeter.analysis.comparing.missing import declined_besides_right, missing_metric, unscored_rows
from ragmeter.analysis.comparing.ranking import Ranking, ranked
from ragmeter.analysis.comparing.row_pairs import Pairing, Where, cluster_column, in_slice, pair, paired_clusters
from ragmeter.analysis.comparing.significance import with_verdicts
from ragmeter.analysis.comparing.slices import slice_differences
from ragmeter.analysis.comparing.systems import Place, Systems, open_systems
from ragmeter.documents.comparison import JUDGES_DIFFER, NO_VERDICT, ComparisonSettings, NumberOfTests
from ragmeter.errors import UsageError
from ragmeter.hints import option
from ragmeter.io.write import RUNS
from ragmeter.metrics.causes import SHARE_OF
from ragmeter.naming import matching, metrics_or_all, several
from ragmeter.runs.comparisons import check_kept, keep_comparison
from ragmeter.runs.judges import differing_judges
from ragmeter.runs.lookup import RunLike
from ragmeter.runs.run import Run, full_name
from ragmeter.stats.clusters import Codes, cluster_codes
from ragmeter.stats.confidence import AUTO, MCNEMAR, RANDOMISATION, TESTS, Confidence
from ragmeter.stats.intervals import difference_limits
from ragmeter.stats.multiple import benjamini_hochberg, holm
from ragmeter.table import NUMBER_COLUMNS, QID, Measure
from ragmeter.wording.comparison import Wording
from ragmeter.wording.numbers import given
from ragmeter.wording.verdicts import headline_metric, no_verdict_reworded, reworded_sentence

#: A spread below this share of the largest difference is rounding: the differences are all the same.
_ROUNDING = 1e-12


def compare(
    runs: Sequence[RunLike] | Mapping[str, RunLike],
    *,
    metrics: str | Iterable[str] | None = None,
    baseline: RunLike | None = None,
    all_pairs: bool = False,
    test: str = RANDOMISATION,
    interval: str = AUTO,
    cluster: str | None = AUTO,
    slices: str | Iterable[str] | None = None,
    where: Where | None = None,
    level: float = 0.95,
    alpha: float = 0.05,
    margin: Margins | None = None,
    seed: int = 0,
    draws: int = 9_999,
    movers: int = 0,
    better: int = 3,
    worse: int = 3,
    keep: bool = False,
    output_dir: str | Path = RUNS,
) -> Comparison:
    """Compare a baseline with other runs, each on the rows that both have, by qid.

    A difference is the candidate minus the baseline.

    Args:
        runs: two runs or more, each what `evaluate()` or `ask()` returned, a folder, or a name in `output_dir`.
        metrics: the metrics to compare; by default those of all runs. Numbers that are no metrics, such as
            latency_ms, are compared only if named.
        baseline: the run that the others are compared with; by default the first of two, and the oldest of more.
        all_pairs: compare every run with every other one, not with the baseline alone.
        test: "randomisation", "bootstrap", "t" or "mcnemar".
        interval: the method of intervals, "auto" or as for `evaluate()`.
        cluster: the column that groups dependent rows, None for independent rows, or "auto": what the runs' own
            intervals are clustered by.
        slices: columns, or pairs of them as "one,two"; None takes all columns with few values.
        where: a slice, `{"topic": "science"}`: only its rows are compared.
        level: the confidence level of intervals.
        alpha: the significance level of tests.
        margin: the difference that is too small to matter: `{"token_f1": 0.02}`; by default 1% of a metric's range.
        seed: the seed of random draws.
        draws: the number of random draws of a test.
        movers: how many of the rows that changed most are listed for each metric by itself.
        better: how many rows are listed that got better, by all metrics together.
        worse: how many rows are listed that got worse.
        keep: write the comparison into the last run's folder: a report of these runs then shows it.
        output_dir: the folder of runs.
    """
    if test not in TESTS:
        raise UsageError(f"unknown test {test!r}", hint=f"there are {', '.join(TESTS)}")
    for name, number in (("movers", movers), ("better", better), ("worse", worse)):
        if number < 0:
            raise UsageError(f"{option(name)} must be at least 0, got {number:,}")
    if not 0 < alpha < 1:
        raise UsageError(f"alpha must be between 0 and 1, got {given(alpha)}", hint="0.05 is usual")
    systems = open_systems(runs, baseline, output_dir)
    opened, labels = systems.runs, systems.labels
    if keep:
        check_kept(opened)
    confidence = Confidence(interval, cluster, level, seed, draws)
    column, other_clusters = cluster_column(opened, labels, confidence)
    if column is not None and test == MCNEMAR:
        raise UsageError(
            f"McNemar's test needs independent rows, but these are clustered by {column!r}",
            hint=f"use {option('test', 'randomisation')}, or {option('cluster', None)} if they are independent",
        )
    margins = margins_of(margin, opened)
    names, columns = metrics_or_all(metrics), None if slices is None else several(slices)
    settings = Settings(replace(confidence, cluster=column), test, alpha, movers, better, worse)
    chosen = _Chosen(names, columns, margins, settings, dict(where or {}))
    places = systems.all_pairs if all_pairs else systems.with_baseline
    pairs = [_compare_two(systems, pair, chosen) for pair in places]
    others = _of_headline(systems, pairs, chosen) if len(opened) > 2 else []
    compared, tests = _corrected([*pairs, *others], Wording(level, alpha, margins=frozenset(margins)))
    comparison = Comparison(
        labels, level, alpha, test, column, seed, draws, tests, compared[: len(pairs)], other_clusters, margins,
        baseline=labels[systems.baseline], ranking=_ranking(systems, compared, chosen.where), where=dict(chosen.where),
    )  # fmt: skip
    if keep:
        stored = ComparisonSettings(
            metrics=names, test=test, interval=interval, cluster=cluster, slices=columns, level=level, alpha=alpha,
            seed=seed, draws=draws, movers=movers, better=better, worse=worse, margin=margins or None,
            baseline=None if baseline is None else labels[systems.baseline], all_pairs=all_pairs,
            where=chosen.where or None,
        )  # fmt: skip
        keep_comparison(opened, stored, comparison.as_dict())
    return comparison


@dataclass(frozen=True)
class _Chosen:
    """What two runs are compared by: the names of metrics and columns of slices (None for all), margins, settings.

    `where` is the slice whose rows are compared.
    """

    names: Sequence[str] | None
    slices: Sequence[str] | None
    margins: Mapping[str, float]
    settings: Settings
    where: dict[str, str]


def _of_headline(systems: Systems, pairs: Sequence[Pair], chosen: _Chosen) -> list[Pair]:
    """The other pairs of runs, by the headline metric alone, which the ranking needs; none where they have none."""
    shared = {name: result for name, result in pairs[0].metrics.items() if all(name in pair.metrics for pair in pairs)}
    if not shared:
        return []
    settings = chosen.settings
    alone = Settings(settings.confidence, settings.test, settings.alpha)
    by_headline = replace(chosen, names=[headline_metric(shared)], slices=(), settings=alone)
    tested = [{pair.a, pair.b} for pair in pairs]
    try:
        return [
            _compare_two(systems, place, by_headline)
            for place in systems.all_pairs
            if {systems.labels[place[0]], systems.labels[place[1]]} not in tested
        ]
    except UsageError:  # runs that have no question in common: then there is no order either
        return []


def _ranking(systems: Systems, pairs: Sequence[Pair], where: Where) -> Ranking | None:
    """The order of several systems by the headline metric that all pairs have."""
    shared = {name: result for name, result in pairs[0].metrics.items() if all(name in pair.metrics for pair in pairs)}
    if len(systems.runs) < 3 or len(pairs) < len(systems.all_pairs) or not shared:
        return None
    if any(pair.mostly_reworded for pair in pairs):
        return None
    metric = headline_metric(shared)
    labelled = zip(systems.labels, systems.runs, strict=True)
    scores = {label: run.scores(metric)[in_slice(run, where)] for label, run in labelled}
    means = {label: None if np.isnan(of_run).all() else float(np.nanmean(of_run)) for label, of_run in scores.items()}
    return ranked(
        metric, shared[metric].direction, means, {(pair.a, pair.b): pair.metrics[metric].verdict for pair in pairs}
    )


def _compare_two(systems: Systems, place: Place, chosen: _Chosen) -> Pair:
    a, b = (systems.runs[run] for run in place)
    labels = systems.labels[place[0]], systems.labels[place[1]]
    pairing = pair(a, b, chosen.where)
    if not len(pairing):
        raise UsageError(f"{a.name} and {b.name} have no qid in common", hint="compare runs of the same questions")
    names, settings = chosen.names, chosen.settings
    told = causes_differ(a, b, labels)
    measures = _measures(a, b, names, told)
    codes = paired_clusters(a, b, pairing, settings.confidence)
    judged = {measure.name: judged_metric(measure.name, a) for measure in measures}
    differing = differing_judges(a, b, dict.fromkeys(judged.values()))
    differ, n_paired = pairing.questions_differ, len(pairing)
    other_questions = no_verdict_reworded(differ, n_paired) if is_mostly_reworded(differ, n_paired) else ""
    metrics, tested = {}, []
    for measure in measures:
        name = measure.name
        bounds = [(run.measures | run.share_measures)[name].bounds for run in (a, b)]
        scores = PairedScores(
            measure=measure,
            a=a.scores(name)[pairing.a],
            b=b.scores(name)[pairing.b],
            codes=codes,
            limits=difference_limits(*bounds),
            margin=chosen.margins.get(name, usual_margin(measure)),
        )
        settings_of_judges = differing.get(judged[name], {})
        metrics[name] = replace(_difference(a, b, scores, pairing, settings), judges_differ=settings_of_judges)
        if forbids_verdict(settings_of_judges):
            (sentence,) = judge_warnings(a, b, labels, {judged[name]: settings_of_judges})
            metrics[name] = withheld(metrics[name], JUDGES_DIFFER, sentence)
        elif other_questions:
            metrics[name] = withheld(metrics[name], NO_VERDICT, f"{name}: {other_questions}")
        else:
            tested.append(scores)
    others = {
        name: f"only in {run.name}"
        for run, other in ((a, b), (b, a))
        for name in run.measures
        if names is None and name not in other.measures
    }
    if told:
        others["causes"] = told
    columns = chosen.slices
    if columns is None:
        columns = [name for name in a.slices() if _same_values(a, b, pairing, name)]
    reworded = [reworded_sentence(differ, n_paired)] if differ and not other_questions else []
    headline = headline_metric(metrics)
    rows = changed_rows(a, b, pairing, tested, headline, better=settings.better, worse=settings.worse)
    return Pair(
        *labels,
        n_paired=n_paired,
        only_a=pairing.only_a,
        only_b=pairing.only_b,
        questions_differ=differ,
        metrics=metrics,
        left_out=others,
        slices=slice_differences(a, pairing.a, tested, columns, headline, settings),
        warnings=[*reworded, *judge_warnings(a, b, labels, differing)],
        headline=headline,
        better_rows=rows.better,
        worse_rows=rows.worse,
        causes=None if other_questions else cause_changes(a, b, pairing, metrics[headline].n),
        missing=missing_metric(a, b, labels) if names is None else "",
        unscored=unscored_rows(a, b, pairing, headline, metrics[headline]),
        declined=declined_besides_right(a, b, pairing, headline),
    )


def _measures(a: Run, b: Run, names: Sequence[str] | None, causes_told: str) -> list[Measure]:
    """What two runs are compared by; `causes_told` says by which metrics, where their causes can't be compared."""
    measures = shared_measures(a, b) if names is None else [_named(name, a, b) for name in names]
    if not measures:
        raise UsageError(
            f"{a.name} and {b.name} have no metric in common",
            hint="; ".join(f"{run.name} has {', '.join(run.measures) or 'no metrics'}" for run in (a, b)),
        )
    shares = [measure.name for measure in measures if measure.name.startswith(SHARE_OF)]
    if shares and causes_told:
        raise UsageError(
            f"{', '.join(shares)} can't be compared: the causes are {causes_told}",
            hint="score both runs by the same metrics",
        )
    return measures


def _named(name: str, a: Run, b: Run) -> Measure:
    """The measure that a name or a short one means in both runs."""
    in_a, in_b = (run.measures | run.share_measures for run in (a, b))
    common = [measure for measure in in_a if measure in in_b]
    if matching(name, common):  # of several that one run has, it may be the only one that both have
        in_a = in_b = {measure: in_b[measure] for measure in common}
    name_a, name_b = full_name(name, in_a, a.name), full_name(name, in_b, b.name)
    if name_a != name_b:
        raise UsageError(
            f"{name} is {name_a} in {a.name}, and {name_b} in {b.name}", hint="name a metric that both runs have"
        )
    return in_b[name_b]


def _same_values(a: Run, b: Run, pairing: Pairing, name: str) -> bool:
    """Whether a column is equal in both runs. A column that differs comes from the system, not from the questions."""
    if name not in b.texts:
        return True
    return bool(a.column(name).take(pairing.a).equals(b.column(name).take(pairing.b)))


def shared_measures(a: Run, b: Run) -> list[Measure]:
    """The metrics that runs are compared by unless some are named: those of both, without numbers such as latency."""
    return [measure for name, measure in a.measures.items() if name in b.measures and name not in NUMBER_COLUMNS]


def _difference(a: Run, b: Run, scores: PairedScores, pairing: Pairing, settings: Settings) -> MetricDifference:
    in_both = scores.scored
    paired = scores.part(in_both)
    part = difference_of(paired, settings)
    differences = paired.b - paired.a
    gains = differences * (-1 if scores.measure.direction == "lower" else 1)
    sd = float(differences.std(ddof=1)) if part.n > 1 else 0.0
    return MetricDifference(
        direction=scores.measure.direction,
        binary=scores.measure.binary,
        n=part.n,
        n_questions=_n_questions(a, pairing, paired.codes, in_both),
        n_clusters=part.n_clusters,
        mean_a=float(paired.a.mean()) if part.n else None,
        mean_b=float(paired.b.mean()) if part.n else None,
        difference=part.mean,
        standard_error=part.standard_error,
        shown_error=part.shown_error,
        interval=part.interval,
        interval_method=part.interval_method,
        excludes_zero=part.excludes_zero,
        p=part.p,
        least_p=part.least_p,
        p_holm=None,
        p_bh=None,
        test=part.test,
        effect_size=float(differences.mean()) / sd
        if sd > _ROUNDING * float(np.abs(differences).max(initial=0))
        else None,
        better=int(np.count_nonzero(gains > 0)),
        worse=int(np.count_nonzero(gains < 0)),
        same=int(np.count_nonzero(gains == 0)),
        scored_only_a=int(np.count_nonzero(~np.isnan(scores.a) & np.isnan(scores.b))),
        scored_only_b=int(np.count_nonzero(np.isnan(scores.a) & ~np.isnan(scores.b))),
        margin=scores.margin,
        verdict=NO_VERDICT,
        movers=_movers(a, b, pairing, scores, settings.movers),
    )


def _n_questions(run: Run, pairing: Pairing, codes: Codes | None, in_both: npt.NDArray[np.bool_]) -> int:
    """The number of questions; of those that were asked several times each once, unless all rows are independent."""
    rows = pairing.a[in_both]
    return len(rows) if codes is None else len(np.unique(cluster_codes(run.column(QID))[rows]))


def _movers(a: Run, b: Run, pairing: Pairing, scores: PairedScores, number: int) -> list[Mover]:
    """At most `number` rows with the largest differences, sorted by size, then by row; none with a difference of 0.

    Only the row groups of their texts are read.
    """
    sizes = np.nan_to_num(np.abs(scores.b - scores.a))
    if number < 1 or not len(sizes):
        return []
    least = np.partition(sizes, -min(number, len(sizes)))[-min(number, len(sizes))]
    large = np.flatnonzero((sizes >= least) & (sizes > 0))
    moved = large[np.argsort(-sizes[large], kind="stable")][:number].tolist()
    return [
        Mover(a=float(scores.a[row]), b=float(scores.b[row]), difference=float(scores.b[row] - scores.a[row]), **texts)
        for row, texts in zip(moved, texts_of(a, b, pairing, moved), strict=True)
    ]


def with_another_test(comparison: Comparison, p: float) -> tuple[Comparison, float]:
    """The comparison with one test more beside the headline metric's, and that test's corrected p-value."""
    wording = Wording(comparison.level, comparison.alpha, margins=frozenset(comparison.margins))
    pairs, tests = _corrected(comparison.pairs, wording, [p])
    p_values = [p_value for _, _, p_value in _tested(pairs, of_headline=False)]
    return replace(comparison, pairs=pairs, tests=tests), float(holm([*p_values, p])[-1])


def _corrected(
    pairs: Sequence[Pair], wording: Wording, others: Sequence[float] = ()
) -> tuple[list[Pair], NumberOfTests]:
    """The pairs with corrected p-values and the verdicts that follow from them, and how many tests were made.

    The headline metric, which is chosen by its name, is corrected over the pairs of runs alone; all other metrics are
    corrected among themselves. `others` are p-values of other tests that this second correction is over as well.
    """
    metrics = [dict(pair.metrics) for pair in pairs]
    counts = []
    for of_headline in (True, False):
        tested = _tested(pairs, of_headline=of_headline)
        p_values = [*(p for _, _, p in tested), *(() if of_headline else others)]
        adjusted = zip(tested, holm(p_values).tolist(), benjamini_hochberg(p_values).tolist(), strict=False)
        for (place, name, _), by_holm, by_bh in adjusted:
            metrics[place][name] = replace(metrics[place][name], p_holm=by_holm, p_bh=by_bh)
        counts.append(len(p_values))
    tests = NumberOfTests(*counts)
    compared = [replace(pair, metrics=results) for pair, results in zip(pairs, metrics, strict=True)]
    return [with_verdicts(pair, wording, tests) for pair in compared], tests


def _tested(pairs: Sequence[Pair], *, of_headline: bool) -> list[tuple[int, str, float]]:
    """The tests of the pairs' headline metrics, or of all others: the place of the pair, the metric, and p."""
    return [
        (place, name, result.p)
        for place, pair in enumerate(pairs)
        for name, result in pair.metrics.items()
        if result.p is not None and (name == pair.headline) == of_headline
    ]
