"""`gate()`: hold a run against what is asked of it, and say for each rule what was found."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragmeter.analysis.comparing import Comparison, MetricDifference, compare
from ragmeter.analysis.gating.rules import (
    FAIL_UNDER,
    INTERVAL,
    MAX_FAILED,
    MEAN,
    NO_WORSE_THAN,
    Bounds,
    Gate,
    Margins,
    Rule,
    option,
)
from ragmeter.analysis.gating.verdict import Check, Verdict
from ragmeter.analysis.slicing import summarise_run
from ragmeter.errors import UsageError
from ragmeter.io.write import RUNS
from ragmeter.runs.finding import RunLike, find_run
from ragmeter.runs.run import Run
from ragmeter.show.numbers import given
from ragmeter.show.sentences.gate import bound_reason, margin_reason, no_interval, reworded, unscored_reason
from ragmeter.stats.intervals import is_few
from ragmeter.stats.summary import MetricSummary
from ragmeter.table import NUMBER_COLUMNS, QID, Measure

#: What rounding may cost a mean that is just what was asked for.
_ROUNDING = 1e-12


def gate(
    run: RunLike,
    *,
    fail_under: Bounds | None = None,
    fail_over: Bounds | None = None,
    no_worse_than: Margins | None = None,
    max_failed: float | None = None,
    gate_on: str = MEAN,
    output_dir: str | Path = RUNS,
) -> Verdict:
    """Is this run good enough?

    `fail_under={"token_f1": 0.6}` asks for a mean of at least that, `fail_over={"latency_ms": 2000}` of at most that;
    with `gate_on="interval"` for an interval that lies there as a whole. `no_worse_than={"main": {"token_f1": 0.02}}`
    asks that the run `main`, on the same questions, is better by no more than 0.02, by the 95% interval of the
    difference. No more than the share `max_failed` of the rows may be without a score, 0.05 if nothing is said. `run`,
    and the baseline too, is what `evaluate()` or `ask()` returned, a folder, or a name in `output_dir`.
    """
    asked = Gate.of(
        fail_under=fail_under,
        fail_over=fail_over,
        no_worse_than=no_worse_than,
        max_failed=max_failed,
        on=gate_on,
        output_dir=output_dir,
    )
    return decide(asked, run)


def decide(gate: Gate, run: RunLike) -> Verdict:
    """Hold a run against a gate."""
    held = find_run(run, gate.output_dir)
    known = measures_of(held)
    full = gate.on_run(held.name, known)
    baselines = _Baselines(full)
    baselines.check(lambda: held.path)
    names = list(dict.fromkeys(rule.metric for rule in full.rules)) or list(known)
    found = _summaries(held, names)
    checks, sentences = [], []
    unscored = [(name, _Unscored.rows(found[name])) for name in names]
    for rule in full.rules:
        if rule.kind != NO_WORSE_THAN:
            checks.append(_bound(rule, found[rule.metric], full.on))
            continue
        check, missing, sentence = _no_worse(rule, held, baselines)
        checks.append(check)
        unscored.append((rule.metric, missing))
        sentences.append(sentence)
    checks += _shares(unscored, full.most_failed)
    return Verdict(held.name, checks, found, list(dict.fromkeys(sentences)))


def measures_of(run: Run) -> dict[str, Measure]:
    """What a run can be held against: every metric of its summary, and latency and the like."""
    found = dict(run.measures)
    for name, each in run.metrics().items():
        low, high = each["range"]
        ends = (-math.inf if low is None else low, math.inf if high is None else high)
        found.setdefault(name, Measure(name, False, each["direction"], ends))
    return found


def check_baselines(gate: Gate, run: Path | None) -> None:
    """Refuse baselines that are not there, don't have the metric, or are the run itself."""
    _Baselines(gate).check(lambda: run)


def _summaries(run: Run, names: Sequence[str]) -> dict[str, MetricSummary]:
    """The run's own summaries, and those of latency and the like where they are asked for."""
    found = {name: MetricSummary.of(each) for name, each in run.metrics().items()}
    missing = [name for name in names if name not in found]
    return found | summarise_run(run, metrics=missing).metrics if missing else found


def _bound(rule: Rule, found: MetricSummary, on: str) -> Check:
    """A mean, or the end of its interval that is nearer, against a bound."""
    under = rule.kind == FAIL_UNDER
    interval, whole = found.interval, on == INTERVAL
    edge = None if interval is None else interval[0 if under else 1]
    inside = edge is not None and _reaches(edge, rule.value, under)
    passed = found.mean is not None and (inside if whole else _reaches(found.mean, rule.value, under))
    doubtful = passed and not inside
    return Check(
        rule=str(rule),
        kind=rule.kind,
        metric=rule.metric,
        passed=passed,
        reason=bound_reason(rule.metric, found, rule.value, under=under, whole=whole, doubtful=doubtful),
        required=rule.value,
        value=found.mean,
        interval=interval,
        level=found.level,
        n=found.n_scored,
    )


def _reaches(value: float, bound: float, under: bool) -> bool:
    slack = _ROUNDING * max(1.0, abs(bound))
    return value >= bound - slack if under else value <= bound + slack


@dataclass(frozen=True)
class _Unscored:
    """How many of what have no score by a metric, and why."""

    what: str
    failed: int
    total: int
    causes: tuple[tuple[str, int], ...]
    baseline: str | None = None

    @classmethod
    def rows(cls, found: MetricSummary) -> _Unscored:
        return cls("rows", found.n_total - found.n_scored, found.n_total, tuple(found.n_not_scored.items()))


def _shares(unscored: Sequence[tuple[str, _Unscored]], most: float) -> Iterator[Check]:
    """The shares without a score; metrics of which there is the same to say are one check."""
    together: dict[_Unscored, list[str]] = {}
    for metric, each in unscored:
        together.setdefault(each, []).append(metric)
    for each, metrics in together.items():
        share = each.failed / each.total if each.total else 0.0
        names = ", ".join(dict.fromkeys(metrics))
        beside = "" if each.baseline is None else f" beside {each.baseline}"
        yield Check(
            rule=f"{option(MAX_FAILED)} {given(most)} for {names}{beside}",
            kind=MAX_FAILED,
            metric=names,
            passed=share <= most + _ROUNDING,
            reason=unscored_reason(names, each.what, each.failed, each.total, dict(each.causes), most),
            required=most,
            value=share,
            interval=None,
            level=None,
            n=each.total,
            baseline=each.baseline,
        )


class _Baselines:
    """The runs that a run is held against. Each is compared with it once, by all metrics that both have.

    So a difference is judged as `ragmeter compare` judges it, with the same number of tests to correct for.
    """

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._runs: dict[Run | str, Run] = {}
        self._comparisons: dict[Run, Comparison] = {}

    def run(self, rule: Rule) -> Run:
        """The run that a rule compares with."""
        assert rule.baseline is not None  # noqa: S101 - such a rule has one
        key = rule.folder or rule.baseline
        if key not in self._runs:
            self._runs[key] = rule.folder or find_run(rule.baseline, self._gate.output_dir)
        return self._runs[key]

    def check(self, where: Callable[[], Path | None]) -> None:
        """Refuse baselines that are not there, don't have the metric, or are the run itself; `where` gives its path."""
        for rule in self._gate.rules:
            if rule.baseline is None:
                continue
            baseline, path = self.run(rule), where()
            if path is not None and path.exists() and path.samefile(baseline.path):
                raise UsageError(
                    f"{rule.named}: the baseline is the run itself", hint="give the new run a name of its own"
                )
            if rule.metric not in baseline.measures:
                raise UsageError(
                    f"{rule.named}: {baseline.name} has no {rule.metric}",
                    hint=f"it has {', '.join(baseline.measures)}; score both runs by the same metrics",
                )

    def compared(self, rule: Rule, run: Run) -> tuple[Run, Comparison]:
        """The baseline of a rule, and the run compared with it."""
        baseline = self.run(rule)
        if baseline not in self._comparisons:
            self._comparisons[baseline] = compare([baseline, run], slices=[], movers=0)
        return baseline, self._comparisons[baseline]


def _no_worse(rule: Rule, run: Run, baselines: _Baselines) -> tuple[Check, _Unscored, str]:
    """The interval of the difference to the baseline against a margin, and the questions that could not be paired."""
    baseline, comparison = baselines.compared(rule, run)
    pair = comparison.pairs[0]
    found = pair.metrics[rule.metric]
    passed = False
    if found.interval is not None:
        worst = found.interval[0] if found.direction == "higher" else -found.interval[1]
        passed = _reaches(worst, -rule.value, under=True)
    reason = _reason(rule, found, passed)
    if pair.questions_differ:
        reason += reworded(pair.questions_differ, pair.a)
    check = Check(
        rule=str(rule),
        kind=rule.kind,
        metric=rule.metric,
        passed=passed,
        reason=reason,
        required=rule.value,
        value=found.difference,
        interval=found.interval,
        level=comparison.level,
        n=found.n,
        baseline=rule.baseline,
    )
    return check, _without_partner(rule, run, baseline), pair.sentence


def _reason(rule: Rule, result: MetricDifference, passed: bool) -> str:
    """The comparison's own judgement; then what the interval says of the margin, and what it would take to be sure."""
    if result.interval is None:
        return result.sentence if result.difference is None else no_interval(result.sentence)
    best = result.interval[1] if result.direction == "higher" else -result.interval[0]
    lost = not passed and best < -rule.value
    needed = result.n * (result.smallest / rule.value) ** 2 if result.smallest and rule.value else 0.0
    unclear = not passed and not lost and needed > result.n
    few = ("rows" if result.n_clusters is None else "clusters") if is_few(result.n, result.n_clusters) else None
    return margin_reason(
        result.sentence, rule.value, passed=passed, lost=lost, needed=needed if unclear else None, few=few
    )


def _without_partner(rule: Rule, run: Run, baseline: Run) -> _Unscored:
    """Questions that the baseline has a score for and the run has none: leaving out the hard ones is no way to pass."""
    wanted, there = _scored_questions(baseline, rule.metric), _scored_questions(run, rule.metric)
    missing = wanted.filter(pc.invert(pc.is_in(wanted, value_set=there)))
    asked = int(pc.sum(pc.is_in(missing, value_set=run.column(QID))).as_py() or 0)
    causes = {"not in the run": len(missing) - asked, "not scored": asked}
    held = tuple((cause, count) for cause, count in causes.items() if count)
    what = f"questions that {baseline.name} has a score for"
    return _Unscored(what, len(missing), len(wanted), held, rule.baseline)


def _scored_questions(run: Run, metric: str) -> pa.Array:
    return pc.unique(run.column(QID).filter(pa.array(~np.isnan(run.scores(metric)))))


def usual_measures() -> dict[str, Measure]:
    """Latency and the like, which a run may have whatever it is scored by."""
    return {name: Measure(name, direction="lower", bounds=(0.0, math.inf)) for name in NUMBER_COLUMNS}
