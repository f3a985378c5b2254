"""The rules of a gate: parsed from `token_f1=0.6` or `runs/main:accuracy:0.02`, and checked."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from ragmeter import naming
from ragmeter.errors import UsageError
from ragmeter.hints import by_caller, parameter
from ragmeter.io.locations import Location, location
from ragmeter.io.write import RUNS
from ragmeter.metrics.causes import SHARE_OF
from ragmeter.runs.lookup import find_run
from ragmeter.runs.run import Run, full_name
from ragmeter.wording.numbers import given

if TYPE_CHECKING:
    from ragmeter.table import Measure

FAIL_UNDER, FAIL_OVER, NO_WORSE_THAN, SAME_AS, MAX_FAILED = (
    "fail_under",
    "fail_over",
    "no_worse_than",
    "same_as",
    "max_failed",
)
#: The rules that compare the run with a baseline.
MARGINS = (NO_WORSE_THAN, SAME_AS)
MEAN, INTERVAL = "mean", "interval"
#: The share of rows that may have no score: a gate must not pass because the hard rows failed.
MOST_FAILED = 0.05

#: `token_f1=0.6` or several of them, or a mapping from names to values.
Bounds = str | Iterable[str] | Mapping[str, float]
#: `main:accuracy:0.02` or several of them, or for each baseline, any kind of run, a mapping from names to margins.
Margins = str | Iterable[str] | Mapping[Any, Mapping[str, float]]

_MARGIN = re.compile(
    r"""(?P<baseline>.+)(?<!:cause)
        :(?P<metric>(?:cause:)?[^\W\d][\w.]*(?:@\d+)?(?:\[(?:"(?:[^"\\]|\\.)*"|[^\]"])*\])?)
        :(?P<margin>[^:]*)""",
    re.DOTALL | re.VERBOSE,
)
_EXAMPLES = {
    FAIL_UNDER: "METRIC=VALUE, for example token_f1=0.6",
    FAIL_OVER: "METRIC=VALUE, for example latency_ms=2000",
    NO_WORSE_THAN: "BASELINE:METRIC:MARGIN, for example main:token_f1:0.02",
    SAME_AS: "BASELINE:METRIC:MARGIN, for example main:token_f1:0.02",
}


@dataclass(frozen=True)
class Rule:
    """One requirement: a bound for a metric's mean, or a margin to another run, the baseline.

    `folder` is the baseline's run if it was not given by its name or path.
    """

    kind: str
    metric: str
    value: float
    baseline: str | None = None
    folder: Run | None = None

    def __str__(self) -> str:
        if self.baseline is None:
            return f"{option(self.kind)} {self.metric}={given(self.value)}"
        return f"{option(self.kind)} {self.baseline}:{self.metric}:{given(self.value)}"

    @property
    def what(self) -> str:
        """What a margin is for."""
        return "a difference" if self.kind == SAME_AS else "a loss"

    @property
    def named(self) -> str:
        """The rule as the caller wrote it, on the command line or in Python; for errors."""
        return by_caller(str(self), keyword(self.kind, self.metric, self.value, self.baseline))


def option(kind: str) -> str:
    """The command-line option of a kind of rule."""
    return "--" + kind.replace("_", "-")


def keyword(kind: str, metric: str, value: float, baseline: str | None = None) -> str:
    """A rule in Python: `fail_under={"token_f1": 0.6}`."""
    quoted = [json.dumps(name, ensure_ascii=False) for name in (metric, baseline or "")]
    bound = f"{{{quoted[0]}: {given(value)}}}"
    return f"{kind}={bound}" if baseline is None else f"{kind}={{{quoted[1]}: {bound}}}"


@dataclass(frozen=True)
class Gate:
    """The requirements on a run. `max_failed` is the share of rows that may have no score; None: the default.

    `on` says what is checked against a bound: the mean, or the nearer end of its interval. `sequential`: differences to
    baselines are checked by intervals that hold however often one looks.
    """

    rules: tuple[Rule, ...]
    max_failed: float | None = None
    on: str = MEAN
    output_dir: Location = RUNS
    sequential: bool = False

    @classmethod
    def of(
        cls,
        *,
        fail_under: Bounds | None = None,
        fail_over: Bounds | None = None,
        no_worse_than: Margins | None = None,
        same_as: Margins | None = None,
        max_failed: float | None = None,
        on: str = MEAN,
        output_dir: str | Location = RUNS,
        sequential: bool = False,
    ) -> Gate:
        """Parse the rules; an error names the rule and what is wrong with it."""
        rules = [
            *_bounds(FAIL_UNDER, fail_under),
            *_bounds(FAIL_OVER, fail_over),
            *_margins(NO_WORSE_THAN, no_worse_than),
            *_margins(SAME_AS, same_as),
        ]
        if max_failed is not None and not 0 <= max_failed <= 1:
            raise UsageError(f"{parameter(MAX_FAILED)} must be between 0 and 1, got {given(max_failed)}")
        if on not in (MEAN, INTERVAL):
            raise UsageError(f"{parameter('gate_on')} must be {MEAN} or {INTERVAL}, got {on!r}")
        if not rules and max_failed is None:
            raise UsageError(
                "the gate has no rules, so there is nothing to check",
                hint=f"give {parameter(FAIL_UNDER)}, {parameter(FAIL_OVER)}, {parameter(NO_WORSE_THAN)}, "
                f"{parameter(SAME_AS)} or {parameter(MAX_FAILED)}",
            )
        if sequential and not any(rule.kind in MARGINS for rule in rules):
            raise UsageError(
                f"{parameter('sequential')} is for {parameter(NO_WORSE_THAN)} and {parameter(SAME_AS)}", hint="give one"
            )
        return cls(tuple(dict.fromkeys(rules)), max_failed, on, location(output_dir), sequential)

    @property
    def most_failed(self) -> float:
        """The share of rows that may have no score."""
        return MOST_FAILED if self.max_failed is None else self.max_failed

    def on_run(self, run: str, measures: Mapping[str, Measure]) -> Gate:
        """A copy of the gate with each metric's full name in this run; an error if a rule does not fit the run."""
        rules = tuple(_on_measure(rule, run, measures) for rule in self.rules)
        for rule in rules if self.sequential else ():
            if rule.kind in MARGINS and not math.isfinite(sum(measures[rule.metric].bounds)):
                raise UsageError(
                    f"{rule.named}: {rule.metric} has no upper bound, and an interval that holds at any time needs one",
                    hint=f"leave {parameter('sequential')} out, or choose a metric with bounds",
                )
        return replace(self, rules=rules)


def _on_measure(rule: Rule, run: str, measures: Mapping[str, Measure]) -> Rule:
    measure = measures[full_name(rule.metric, measures, run, named_by=rule.named)]
    _check_direction(rule, measure)
    _check_size(rule, measure)
    return replace(rule, metric=measure.name)


def _check_direction(rule: Rule, measure: Measure) -> None:
    wrong = {
        FAIL_UNDER: ("lower", FAIL_OVER),
        FAIL_OVER: ("higher", FAIL_UNDER),
        NO_WORSE_THAN: ("none", ""),
        SAME_AS: ("", ""),
    }
    direction, instead = wrong[rule.kind]
    if measure.direction != direction:
        return
    if rule.kind == NO_WORSE_THAN:
        raise UsageError(
            f"{rule.named}: {measure.name} has no direction, neither higher nor lower is worse",
            hint="choose another metric",
        )
    raise UsageError(
        f"{rule.named}: for {measure.name} {direction} is better",
        hint=f"write {replace(rule, kind=instead, metric=measure.name).named}",
    )


def _check_size(rule: Rule, measure: Measure) -> None:
    """Refuse a value outside the metric's range, such as 60 for 0.6."""
    low, high = measure.bounds
    if rule.kind in MARGINS:
        low, high = 0.0, high - low
    if low <= rule.value <= high:
        return
    if rule.kind in MARGINS and rule.value < 0:
        allowed = "loss" if rule.kind == NO_WORSE_THAN else "difference"
        raise UsageError(f"{rule.named}: a margin must be at least 0", hint=f"0.02 allows a {allowed} of two points")
    ends = [given(end) for end in measure.bounds]
    span = f"between {ends[0]} and {ends[1]}" if math.isfinite(high) else f"from {given(low)} on"
    points = f"; {given(rule.value)} points are {given(rule.value / 100)}" if measure.bounds == (0.0, 1.0) else ""
    raise UsageError(f"{rule.named}: {measure.name} lies {span}{points}")


def _bounds(kind: str, bounds: Bounds | None) -> Iterator[Rule]:
    if isinstance(bounds, Mapping):
        for metric, value in bounds.items():
            yield Rule(kind, _metric(kind, metric), _number(kind, f"{metric}={value}", value))
        return
    for text in _texts(kind, bounds):
        metric, equals, value = text.rpartition("=")
        if not equals:
            raise _unreadable(kind, text)
        number = _number(kind, text, value)
        yield Rule(kind, _metric(kind, metric, text), number)


def _margins(kind: str, margins: Margins | None) -> Iterator[Rule]:
    if isinstance(margins, Mapping):
        for baseline, by_metric in margins.items():
            if not isinstance(by_metric, Mapping):
                raise UsageError(f"{kind}: {baseline!r} has {by_metric!r}", hint='write {"main": {"token_f1": 0.02}}')
            folder = None if isinstance(baseline, str | PathLike) else find_run(baseline)
            name = str(baseline) if folder is None else folder.name
            for metric, margin in by_metric.items():
                size = _number(kind, f"{name}:{metric}:{margin}", margin)
                yield Rule(kind, _metric(kind, metric), size, name, folder)
        return
    for text in _texts(kind, margins):
        # From the right: a path may have colons, and so may a metric's settings.
        match = _MARGIN.fullmatch(text.strip())
        if match is None:
            raise _unreadable(kind, text)
        margin = _number(kind, text, match["margin"])
        yield Rule(kind, match["metric"], margin, match["baseline"])


def _texts(kind: str, rules: str | Iterable[str] | None) -> list[str]:
    if rules is not None and not isinstance(rules, Iterable):
        raise UsageError(f"{kind} can't be {rules!r}", hint=f"write it as {_EXAMPLES[kind]}")
    texts = [] if rules is None else [rules] if isinstance(rules, str) else list(rules)
    for text in texts:
        if not isinstance(text, str):
            raise UsageError(f"{kind} can't be {text!r}", hint=f"write it as {_EXAMPLES[kind]}")
    return texts


def _metric(kind: str, name: str, rule: str = "") -> str:
    if not isinstance(name, str) or not name.strip():
        raise _unreadable(kind, rule or name)
    name = name.strip()
    if name.startswith(SHARE_OF):  # as tables write it, or as the column does
        name = SHARE_OF + name.removeprefix(SHARE_OF).strip().replace(" ", "_")
    naming.parse(name.removeprefix(SHARE_OF))  # raises if it is not a name
    return name


def _number(kind: str, text: str, value: object) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise _unreadable(kind, text) from None
    if not math.isfinite(number) or isinstance(value, bool):
        raise UsageError(f"{parameter(kind)} {text}: the value must be a finite number, got {value}")
    return number


def _unreadable(kind: str, text: str) -> UsageError:
    return UsageError(f"can't read {parameter(kind)} {text}", hint=f"write it as {_EXAMPLES[kind]}")
