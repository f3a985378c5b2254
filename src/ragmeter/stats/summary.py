"""From a column of scores to its summary. No aggregate without its n, no average of nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any

import numpy as np

from ragmeter.stats.clusters import Codes
from ragmeter.stats.confidence import Confidence
from ragmeter.stats.intervals import Interval, interval_of, limits_of, within
from ragmeter.table import Scores


@dataclass(frozen=True)
class MetricSummary:
    """What the scores of one metric say. Everything but the counts is None where nothing was scored."""

    mean: float | None
    sd: float | None
    min: float | None
    max: float | None
    median: float | None
    interval: Interval | None
    interval_method: str
    direction: str
    range: tuple[float | None, float | None]
    n_total: int
    n_scored: int
    n_not_scored: dict[str, int]
    level: float = 0.95
    n_clusters: int | None = None
    binary: bool = False

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    @classmethod
    def of(cls, held: Mapping[str, Any]) -> MetricSummary:
        """From JSON; a later version may have written more than this one knows."""
        known: dict[str, Any] = {each.name: held[each.name] for each in fields(cls) if each.name in held}
        known.update({name: tuple(value) for name, value in known.items() if isinstance(value, list)})
        return cls(**known)

    @classmethod
    def required(cls) -> set[str]:
        """What there has to be in JSON."""
        return {each.name for each in fields(cls) if each.default is MISSING}


def summarise(
    scores: Scores,
    not_scored: Mapping[str, int],
    *,
    binary: bool = False,
    direction: str = "higher",
    bounds: tuple[float, float] = (0.0, 1.0),
    how: Confidence = Confidence(),  # noqa: B008 - it can't be changed
    codes: Codes | None = None,
) -> MetricSummary:
    """Summarise one metric's column, NaN where a row was not scored for one of the causes in `not_scored`.

    `codes` say for each row which cluster it belongs to. The interval is clipped to `bounds`, the metric's range.
    """
    there = ~np.isnan(scores)
    values = scores[there]
    held = None if codes is None else codes[there]
    n = len(values)
    limits = limits_of(bounds, values)
    interval, method = interval_of(values, how, binary=binary, codes=held)
    return MetricSummary(
        mean=float(values.mean()) if n else None,
        sd=float(values.std(ddof=1)) if n > 1 else None,
        min=float(values.min()) if n else None,
        max=float(values.max()) if n else None,
        median=float(np.median(values)) if n else None,
        interval=within(interval, limits),
        interval_method=method,
        direction=direction,
        range=finite(limits),
        n_total=len(scores),
        n_scored=n,
        n_not_scored=dict(sorted(not_scored.items())),
        level=how.level,
        n_clusters=None if held is None else len(np.unique(held)),
        binary=binary,
    )


def percentiles(values: Scores) -> dict[str, float]:
    """How many values, their mean, and the values below which half, 95% and 99% of them lie."""
    p50, p95, p99 = np.percentile(values, [50, 95, 99])
    mean, most = float(values.mean()), float(values.max())
    return {"n": len(values), "mean": mean, "p50": float(p50), "p95": float(p95), "p99": float(p99), "max": most}


def finite(bounds: tuple[float, float]) -> tuple[float | None, float | None]:
    """The ends of a range, None where it has no end: JSON knows no infinity."""
    low, high = (None if math.isinf(end) else end for end in bounds)
    return low, high
