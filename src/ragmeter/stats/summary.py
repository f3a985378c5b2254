"""The summary of a column of scores. Every aggregate has its n; the mean of no scores is None."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ragmeter.documents.metrics import MetricSummary, Percentiles
from ragmeter.stats.clusters import Codes
from ragmeter.stats.confidence import Confidence
from ragmeter.stats.intervals import interval_of, limits_of, within
from ragmeter.table import OTHER_TURN, Scores


def summarise(
    scores: Scores,
    not_scored: Mapping[str, int],
    *,
    binary: bool = False,
    direction: str = "higher",
    bounds: tuple[float, float] = (0.0, 1.0),
    confidence: Confidence = Confidence(),  # noqa: B008 - it is immutable
    codes: Codes | None = None,
) -> MetricSummary:
    """Summarise one metric's column: NaN where a row has no score, with the causes counted in `not_scored`.

    The other turns of a conversation don't count where a metric has one score for each. `codes` has the cluster of each
    row. The interval is clipped to `bounds`, the metric's range.
    """
    is_scored = ~np.isnan(scores)
    values = scores if is_scored.all() else scores[is_scored]  # a column may be long: no copy of it without need
    n = len(values)
    scored_codes = None if codes is None else codes[is_scored]
    if scored_codes is not None and OTHER_TURN in not_scored and len(np.unique(scored_codes)) == n:
        scored_codes = None  # one score for each conversation: they are no clusters
    limits = limits_of(bounds, values)
    interval, method = interval_of(values, confidence, binary=binary, codes=scored_codes, limits=limits)
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
        n_total=len(scores) - not_scored.get(OTHER_TURN, 0),
        n_scored=n,
        n_not_scored={cause: count for cause, count in sorted(not_scored.items()) if cause != OTHER_TURN},
        level=confidence.level,
        n_clusters=None if scored_codes is None else len(np.unique(scored_codes)),
        binary=binary,
    )


def percentiles(values: Scores) -> Percentiles:
    """The number of values, their mean, and their 50th, 95th and 99th percentiles."""
    p50, p95, p99 = np.percentile(values, [50, 95, 99])
    mean, greatest = float(values.mean()), float(values.max())
    return Percentiles(len(values), mean, float(p50), float(p95), float(p99), greatest)


def finite(bounds: tuple[float, float]) -> tuple[float | None, float | None]:
    """The ends of a range, None in place of infinity, which JSON can't write."""
    low, high = (None if math.isinf(end) else end for end in bounds)
    return low, high
