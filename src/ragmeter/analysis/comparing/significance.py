"""Verdicts on differences (better, worse or not significant) and their sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from ragmeter.analysis.comparing.comparison import (
    BETTER,
    DIFFERENT,
    JUDGES_DIFFER,
    NOT_SIGNIFICANT,
    WORSE,
    MetricDifference,
    Pair,
)
from ragmeter.show.sentences.comparison import Wording, overview, would_show


def verdict(result: MetricDifference, alpha: float) -> str:
    """Better, worse, different or not significant, by the corrected p-value."""
    if result.p_holm is None or result.p_holm >= alpha or not result.difference:
        return NOT_SIGNIFICANT
    if result.direction not in ("higher", "lower"):
        return DIFFERENT
    return BETTER if (result.difference > 0) == (result.direction == "higher") else WORSE


def with_verdicts(pair: Pair, wording: Wording) -> Pair:
    """Add verdicts and sentences to a pair with corrected p-values."""
    metrics = {}
    for name, result in pair.metrics.items():
        if result.verdict == JUDGES_DIFFER:
            metrics[name] = result
            continue
        judged = replace(result, verdict=verdict(result, wording.alpha))
        metrics[name] = replace(judged, sentence=wording.difference(name, pair.a, pair.b, judged))
    of_slices = replace(wording, tests=len(pair.slices))
    slices = []
    for part in pair.slices:
        measured = (part.difference, part.interval, part.p_adjusted, part.n)
        sentence = of_slices.turned(f"{part.column} is {part.value}", part.metric, *measured) if part.turns else ""
        slices.append(replace(part, sentence=sentence))
    sentences = [*pair.warnings, _overview(metrics)]
    return replace(pair, metrics=metrics, slices=slices, sentence=" ".join(filter(None, sentences)))


def _overview(metrics: Mapping[str, MetricDifference]) -> str:
    """A sentence on the significant differences, the others, and the smallest difference these rows can detect."""
    significant = {
        name: result.sentence
        for kind in (BETTER, WORSE, DIFFERENT)
        for name, result in metrics.items()
        if result.verdict == kind
    }
    with_verdict = {name: result for name, result in metrics.items() if result.verdict != JUDGES_DIFFER}
    others = {name: result for name, result in with_verdict.items() if name not in significant}
    nearest = min(others, key=lambda name: math.inf if (p := others[name].p_holm) is None else p, default=None)
    planned = [
        (result.needed, result.smallest, result.point)
        for result in others.values()
        if result.needed and result.smallest and result.point
    ]
    needed, smallest, point = max(planned, key=lambda plan: plan[0], default=(0, 0.0, 0.0))
    more = would_show(point, needed, smallest) if planned else ""
    return overview(significant, {name: result.sentence for name, result in others.items()}, nearest, more)
