"""The margins of a comparison: which difference of a metric is too small to matter."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from ragmeter import naming
from ragmeter.errors import UnknownNameError, UsageError
from ragmeter.hints import parameter
from ragmeter.runs.run import Run, known_names
from ragmeter.table import Measure
from ragmeter.wording.numbers import given

#: `token_f1=0.02` or several of them, or a mapping from metrics to numbers.
Margins = str | Iterable[str] | Mapping[str, float]
#: The margin of a metric that has none of its own, as a share of the metric's range.
_USUAL_SHARE = 0.01


def margins_of(margin: Margins | None, runs: Sequence[Run]) -> dict[str, float]:
    """The margins that were given, by the metrics' full names in these runs."""
    measures = {name: measure for run in runs for name, measure in (run.measures | run.share_measures).items()}
    margins = {}
    for name, value in _given(margin):
        names = known_names(name, measures)
        if not names:
            raise UnknownNameError("metric", name, measures, hint=f"the runs have {', '.join(measures)}")
        if len(names) > 1:
            raise UsageError(
                f"{parameter('margin')}: {name} could be {' or '.join(names)}", hint="write the name in full"
            )
        _check(measures[names[0]], value)
        margins[names[0]] = value
    return margins


def usual_margin(measure: Measure) -> float | None:
    """1% of the metric's range; None where the range has no end."""
    low, high = measure.bounds
    return _USUAL_SHARE * (high - low) if math.isfinite(high - low) else None


def _given(margin: Margins | None) -> list[tuple[str, float]]:
    if isinstance(margin, Mapping):
        return [(name, _number(f"{name}={value}", value)) for name, value in margin.items()]
    pairs = []
    for rule in naming.chosen_names(margin):
        name, equals, value = rule.rpartition("=")
        if not equals:
            raise _unreadable(rule)
        pairs.append((name.strip(), _number(rule, value)))
    return pairs


def _number(rule: str, value: object) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise _unreadable(rule) from None
    if isinstance(value, bool) or not math.isfinite(number) or number < 0:
        raise UsageError(f"{parameter('margin')} {rule}: a margin is a finite number of at least 0")
    return number


def _check(measure: Measure, value: float) -> None:
    """Refuse a margin that no difference can reach, such as 5 for 0.05."""
    low, high = measure.bounds
    if value > high - low:
        points = f"; {given(value)} points are {given(value / 100)}" if measure.bounds == (0.0, 1.0) else ""
        raise UsageError(
            f"{parameter('margin')} {measure.name}={given(value)}: a difference is at most {given(high - low)}{points}"
        )


def _unreadable(rule: str) -> UsageError:
    return UsageError(f"can't read {parameter('margin')} {rule}", hint="write it as METRIC=X, such as token_f1=0.02")
