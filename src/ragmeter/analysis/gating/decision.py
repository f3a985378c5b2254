"""`gate()`: check a run against rules, with the reason for each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from ragmeter.analysis.comparing import Comparison, MetricDifference, compare, shared_measures
from ragmeter.analysis.gating.checks import Check, Verdict
from ragmeter.analysis.gating.rules import (
    FAIL_UNDER,
    INTERVAL,
    MARGINS,
    MAX_FAILED,
    MEAN,
    SAME_AS,
    Bounds,
    Gate,
    Margins,
    Rule,
    option,
)
from ragmeter.analysis.slices import summarise_run
from ragmeter.documents.comparison import JUDGES_DIFFER, NOT_SIGNIFICANT
from ragmeter.documents.metrics import MetricSummary, is_few
from ragmeter.documents.record import Interval
from ragmeter.errors import UsageError
from ragmeter.io.locations import Location, same_place
from ragmeter.io.write import RUNS
from ragmeter.metrics.causes import CAUSES, SHARE_OF, direction_of, hides_in
from ragmeter.registry import declared
from ragmeter.runs.looks import earlier_looks
from ragmeter.runs.lookup import RunLike, find_run
from ragmeter.runs.question_set import missing_questions
from ragmeter.runs.run import Run, known_names
from ragmeter.stats.anytime import level_of_look
from ragmeter.stats.confidence import ANYTIME
from ragmeter.stats.intervals import difference_limits
from ragmeter.stats.power import Variances, questions_for_sequence, questions_needed
from ragmeter.table import NUMBER_COLUMNS, QID, Measure
from ragmeter.wording import gate as words
from ragmeter.wording.answer_causes import cause_words
from ragmeter.wording.limits import limit_lines
from ragmeter.wording.numbers import given
from ragmeter.wording.verdicts import not_ruled_out

#: Outcomes of rows without what an answer, or what was retrieved, is compared with.
NO_REFERENCE, NO_RELEVANT = "no_reference", "no_relevant"
#: Tolerance for rounding, so that a mean equal to its bound passes.
_ROUNDING = 1e-12


def gate(
    run: RunLike,
    *,
    fail_under: Bounds | None = None,
    fail_over: Bounds | None = None,
    no_worse_than: Margins | None = None,
    same_as: Margins | None = None,
    max_failed: float | None = None,
    gate_on: str = MEAN,
    sequential: bool = False,
    output_dir: str | Path = RUNS,
) -> Verdict:
    """Is this run good enough?

    Args:
        run: what `evaluate()` or `ask()` returned, a folder, or a name in `output_dir`.
        fail_under: the least mean that is required: `{"token_f1": 0.6}`.
        fail_over: the greatest mean that is allowed: `{"latency_ms": 2000}`.
        no_worse_than: baselines and margins: `{"main": {"token_f1": 0.02}}` requires that the 95% interval of the
            difference to the run `main`, on the same questions, rules out a loss of more than 0.02.
        same_as: the same, for a difference of more than 0.02 either way: two one-sided tests at 2.5%.
        max_failed: the share of rows that may have no score; by default 0.05.
        gate_on: "mean", or "interval": then the whole interval has to be within the bound.
        sequential: compare with baselines by intervals that hold however often one looks, for a gate of every night.
        output_dir: the folder of runs.
    """
    rules = Gate.of(
        fail_under=fail_under,
        fail_over=fail_over,
        no_worse_than=no_worse_than,
        same_as=same_as,
        max_failed=max_failed,
        on=gate_on,
        output_dir=output_dir,
        sequential=sequential,
    )
    return decide(rules, run)


def decide(gate: Gate, run: RunLike) -> Verdict:
    """Check a run against a gate."""
    opened = find_run(run, gate.output_dir)
    measures = measures_of(opened)
    _check_answers(gate, opened, measures)
    gate = gate.on_run(opened.name, measures)
    baselines = _Baselines(gate)
    baselines.check(lambda: opened.location)
    names = list(dict.fromkeys(rule.metric for rule in gate.rules)) or [
        n for n in measures if not n.startswith(SHARE_OF)
    ]
    summaries = _summaries(opened, names)
    checks, sentences = [], limit_lines(opened.manifest())
    unscored = [(name, _unscored_rows(opened, name, summaries[name])) for name in names]
    for rule in gate.rules:
        if rule.kind not in MARGINS:
            checks.append(_check_bound(rule, summaries[rule.metric], gate.on))
            continue
        check, missing, texts = _check_margin(rule, opened, baselines)
        checks.append(check)
        unscored.append((rule.metric, missing))
        sentences += texts
    checks += _check_unscored(unscored, gate.most_failed)
    return Verdict(opened.name, checks, summaries, list(dict.fromkeys(sentences)))


def _check_answers(gate: Gate, run: Run, measures: Mapping[str, Measure]) -> None:
    """Refuse a rule for a metric that the run lacks because no row has an answer."""
    answers = run.summary().answers
    if answers is None or answers.given:
        return
    for rule in gate.rules:
        metric = declared(rule.metric)
        needs_answers = rule.metric.startswith(SHARE_OF) or (metric is not None and "answer" in metric.reads)
        if needs_answers and not known_names(rule.metric, measures):
            raise UsageError(
                f"{rule.named}: {run.name} has no {rule.metric}, since no row has an answer",
                hint="look at what the system returned: was the right column read?",
            )


def measures_of(run: Run) -> dict[str, Measure]:
    """The measures that a rule may name: the run's metrics, numbers such as latency, and shares of causes."""
    measures = dict(run.measures)
    for name, summary in run.metrics().items():
        measures.setdefault(name, Measure(name, False, summary.direction, summary.bounds))
    return measures | run.share_measures


def cause_shares(run: Run) -> dict[str, MetricSummary]:
    """The share of each cause, by the name that a rule has for it: `cause:not_retrieved`."""
    cause = run.summary().cause
    return {} if cause is None else {f"{SHARE_OF}{name}": summary for name, summary in cause.shares.items()}


def check_baselines(gate: Gate, run: Location | None) -> None:
    """Refuse baselines that don't exist, don't have the metric, or are the run itself."""
    _Baselines(gate).check(lambda: run)


def _summaries(run: Run, names: Sequence[str]) -> dict[str, MetricSummary]:
    """The run's own summaries, and those of numbers such as latency if they are named."""
    summaries = run.metrics() | {name: of for name, of in cause_shares(run).items() if name in names}
    missing = [name for name in names if name not in summaries]
    return summaries | summarise_run(run, metrics=missing).metrics if missing else summaries


def _check_bound(rule: Rule, summary: MetricSummary, on: str) -> Check:
    """Check a mean, or the nearer end of its interval, against a bound."""
    under = rule.kind == FAIL_UNDER
    interval, whole = summary.interval, on == INTERVAL
    edge = None if interval is None else interval[0 if under else 1]
    inside = edge is not None and _reaches(edge, rule.value, under)
    passed = summary.mean is not None and (inside if whole else _reaches(summary.mean, rule.value, under))
    doubtful = passed and not inside
    reason = words.bound_reason(rule.metric, summary, rule.value, under=under, whole=whole, doubtful=doubtful)
    return _check(rule, passed, reason, summary.mean, interval, summary.level, summary.n_scored)


def _check(
    rule: Rule, passed: bool, reason: str, value: float | None, interval: Interval | None, level: float, n: int
) -> Check:
    measured = (value, interval, level, n)
    return Check(str(rule), rule.kind, rule.metric, passed, reason, rule.value, *measured, rule.baseline)


def _reaches(value: float, bound: float, under: bool) -> bool:
    slack = _ROUNDING * max(1.0, abs(bound))
    return value >= bound - slack if under else value <= bound + slack


@dataclass(frozen=True)
class _Unscored:
    """How many rows or questions (`unit`) have no score by a metric, and why."""

    unit: str
    failed: int
    total: int
    causes: tuple[tuple[str, int], ...]
    baseline: str | None = None
    n_fine: int = 0  # rows that need no score

    @classmethod
    def rows(cls, summary: MetricSummary, expected: Mapping[str, int] | None = None) -> _Unscored:
        """The rows of a summary; of each outcome, so many as `expected` says are as they should be."""
        fine = expected or {}
        left = {outcome: n - fine.get(outcome, 0) for outcome, n in summary.n_not_scored.items()}
        n_fine = sum(fine.values())
        failed = summary.n_total - summary.n_scored - n_fine
        causes = tuple((outcome, n) for outcome, n in left.items() if n)
        return cls("rows", failed, summary.n_total, causes, n_fine=n_fine)


def _as_it_should_be(run: Run, name: str) -> dict[str, int]:
    """The rows that a metric rightly has no score for, by outcome.

    A question that is marked as one without an answer has no gold document; whoever declines it need not be compared
    with a reference.
    """
    if name not in run.row_metrics:
        return {}
    codes, outcomes = run.outcomes(name)
    fine = {NO_REFERENCE: run.rightly_declined, NO_RELEVANT: run.marked_unanswerable}
    return {
        outcome: int((flags() & (codes == outcomes.index(outcome))).sum())
        for outcome, flags in fine.items()
        if outcome in outcomes
    }


def _unscored_rows(run: Run, name: str, summary: MetricSummary) -> _Unscored:
    """The rows that say nothing of a metric; of a cause, those behind which it may hide: answers that failed."""
    hidden, causes = hides_in(name.removeprefix(SHARE_OF)), run.summary().cause
    if not name.startswith(SHARE_OF):
        return _Unscored.rows(summary, _as_it_should_be(run, name) if summary.n_not_scored else {})
    if causes is None or not hidden:
        return _Unscored.rows(summary)
    counts = {cause_words(cause): sum(causes.evidence.get(cause, {}).values()) for cause in CAUSES if cause in hidden}
    present = tuple((words, count) for words, count in counts.items() if count)
    return _Unscored("rows", sum(counts.values()), summary.n_total, present)


def _check_unscored(unscored: Sequence[tuple[str, _Unscored]], most: float) -> Iterator[Check]:
    """Check the shares without a score; metrics with the same counts share a check."""
    metrics_by_count: dict[_Unscored, list[str]] = {}
    for metric, count in unscored:
        metrics_by_count.setdefault(count, []).append(metric)
    for count, metrics in metrics_by_count.items():
        share = count.failed / count.total if count.total else 0.0
        names = ", ".join(dict.fromkeys(metrics))
        versus = "" if count.baseline is None else f" versus {count.baseline}"
        yield Check(
            rule=f"{option(MAX_FAILED)} {given(most)} for {names}{versus}",
            kind=MAX_FAILED,
            metric=names,
            passed=share <= most + _ROUNDING,
            reason=words.unscored_reason(
                names, count.unit, count.failed, count.total, dict(count.causes), most, count.n_fine
            ),
            required=most,
            value=share,
            interval=None,
            level=None,
            n=count.total,
            baseline=count.baseline,
        )


class _Baselines:
    """The runs that a run is compared with, each once and by all metrics that both have.

    So the verdict on a difference is that of `ragmeter compare`, with the same number of tests to correct for.
    """

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._runs: dict[Run | str, Run] = {}
        self._comparisons: dict[Run, tuple[Comparison, list[str]]] = {}

    def run(self, rule: Rule) -> Run:
        """The run that a rule compares with."""
        assert rule.baseline is not None  # noqa: S101 - such a rule has one
        key = rule.folder or rule.baseline
        if key not in self._runs:
            self._runs[key] = rule.folder or find_run(rule.baseline, self._gate.output_dir)
        return self._runs[key]

    def check(self, run_path: Callable[[], Location | None]) -> None:
        """Refuse baselines that don't exist, don't have the metric, or are the run itself."""
        for rule in self._gate.rules:
            if rule.baseline is None:
                continue
            baseline, path = self.run(rule), run_path()
            if path is not None and same_place(path, baseline.location):
                raise UsageError(
                    f"{rule.named}: the baseline is the run itself", hint="give the new run a name of its own"
                )
            if rule.metric not in baseline.measures | baseline.share_measures:
                raise UsageError(
                    f"{rule.named}: {baseline.name} has no {rule.metric}",
                    hint=f"it has {', '.join(baseline.measures)}; score both runs by the same metrics",
                )

    def compared(self, rule: Rule, run: Run) -> tuple[Run, Comparison, list[str]]:
        """The baseline of a rule, the run compared with it, and what is to be said of earlier looks at it."""
        baseline = self.run(rule)
        if baseline not in self._comparisons:
            named = [other.metric for other in self._gate.rules if other.baseline and self.run(other) == baseline]
            metrics = [measure.name for measure in shared_measures(baseline, run)]
            metrics += [name for name in dict.fromkeys(named) if name not in metrics]  # such as latency_ms
            how = dict[str, Any](slices=[], better=0, worse=0)
            looks = earlier_looks(baseline, run, must_count=self._gate.sequential)
            if self._gate.sequential:
                level = level_of_look(len(looks) + 1, 0.95)
                how |= {"interval": ANYTIME, "level": level, "alpha": 1 - level}
            comparison = compare([baseline, run], metrics=metrics, **how)
            said = words.looked_before(baseline.name, looks, comparison.level, sequential=self._gate.sequential)
            self._comparisons[baseline] = comparison, said
        return baseline, *self._comparisons[baseline]


def _check_margin(rule: Rule, run: Run, baselines: _Baselines) -> tuple[Check, _Unscored, list[str]]:
    """Check the interval of the difference to the baseline against a margin; also the questions without a pair."""
    baseline, comparison, looks = baselines.compared(rule, run)
    pair = comparison.pairs[0]
    result = pair.metrics[rule.metric]
    passed, said = False, [pair.sentence]
    if result.interval is not None and result.verdict != JUDGES_DIFFER:
        worst, _ = _ends(rule, result.interval, result.direction)
        # Without a known range no pseudo-rows keep the interval wide, and one of no width rules nothing out.
        passed = _reaches(worst, -rule.value, under=True) and result.interval[0] < result.interval[1]
        if result.verdict == NOT_SIGNIFICANT and rule.metric == pair.headline and not passed:
            said.append(not_ruled_out(rule.what, -worst, rule.value, result))
    span = difference_limits(*((of.measures | of.share_measures)[rule.metric].bounds for of in (run, baseline)))[1]
    reason = _reason(rule, result, passed, span, comparison.alpha)
    if pair.mostly_reworded:
        passed, reason = False, words.other_questions(rule.metric, pair.questions_differ, pair.n_paired, pair.a)
    elif pair.questions_differ:
        reason += words.reworded(pair.questions_differ, pair.a)
    check = _check(rule, passed, reason, result.difference, result.interval, comparison.level, result.n)
    return check, _unpaired_questions(rule, run, baseline), [*said, *pair.warnings, *looks]


def _reason(rule: Rule, result: MetricDifference, passed: bool, span: float, alpha: float) -> str:
    """The comparison's sentence, whether the interval is within the margin, and how many questions would decide it.

    `span` is the largest difference that there can be: of n questions of which none moved, 3 may move that far.
    """
    if result.verdict == JUDGES_DIFFER:
        return result.sentence
    if result.interval is None:
        return result.sentence if result.difference is None else words.no_interval(result.sentence)
    worst, best = _ends(rule, result.interval, result.direction)
    worse = not passed and best < -rule.value
    error, n = result.standard_error or 0.0, result.n_questions
    sequential = result.interval_method == ANYTIME
    needed: float = 0.0
    if rule.value and sequential:
        needed = questions_for_sequence(n, (result.interval[1] - result.interval[0]) / 2, error, rule.value)
    elif rule.value:
        needed = questions_needed(Variances(error**2 * n), rule.value, alpha=alpha)
        if math.isfinite(span):
            needed = max(needed, 3 * span / rule.value * n / (result.n_clusters or result.n))
    unmoved = not (sequential or passed or result.better or result.worse)
    unclear = not passed and not worse and needed > n
    few = ("rows" if result.n_clusters is None else "clusters") if is_few(result.n, result.n_clusters) else None
    return words.margin_reason(
        result.sentence,
        rule.value,
        worst,
        passed=passed,
        lost=worse,
        needed=needed if unclear else None,
        few=few,
        unmoved=(result.n_clusters or result.n) if unmoved else None,
        alike=result.interval[0] == result.interval[1],
        unit="questions" if result.n_clusters is None else "clusters",
        what=rule.what,
    )


def _ends(rule: Rule, interval: Interval, direction: str) -> Interval:
    """The interval's end that is farther beyond the rule's margin, and the other one; a loss is below 0."""
    low, high = interval
    if rule.kind == SAME_AS:  # a difference in any direction counts
        return -max(-low, high), 0.0 if low <= 0 <= high else -min(abs(low), abs(high))
    return (low, high) if direction == "higher" else (-high, -low)


def _unpaired_questions(rule: Rule, run: Run, baseline: Run) -> _Unscored:
    """Questions scored in the baseline but not in the run: leaving out hard questions must not pass the gate."""
    required, missing = missing_questions(baseline, run, rule.metric)
    in_run = int(pc.sum(pc.is_in(missing, value_set=run.column(QID))).as_py() or 0)
    counts = {"not in the run": len(missing) - in_run, "with no score": in_run}
    causes = tuple((cause, count) for cause, count in counts.items() if count)
    unit = f"questions that {baseline.name} has a score for"
    return _Unscored(unit, len(missing), len(required), causes, rule.baseline)


def usual_measures() -> dict[str, Measure]:
    """What a run may have beside its metrics: numbers such as latency, and shares of causes."""
    numbers = {name: Measure(name, direction="lower", bounds=(0.0, math.inf)) for name in NUMBER_COLUMNS}
    shares = (Measure(f"{SHARE_OF}{cause}", True, direction_of(cause)) for cause in CAUSES)
    return numbers | {share.name: share for share in shares}
