"""More charts of a comparison: rows by both scores, both distributions, recall by rank, quality against time."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from ragmeter.analysis.comparing import Comparison
from ragmeter.documents.comparison import BETTER
from ragmeter.show.page.charts.drawing import Axis
from ragmeter.show.page.charts.planes import Curve, Offer, Spot, curves, offers, scatter
from ragmeter.show.page.charts.shares import overlay
from ragmeter.show.page.compare.view import CompareView, way
from ragmeter.show.page.elements import Markup, element, joined, text
from ragmeter.table import Scores
from ragmeter.wording.numbers import number

BOTH_SCORES, DISTRIBUTIONS, RECALL, QUALITY = (
    "Both scores",
    "Distributions",
    "Recall by rank",
    "Quality against latency",
)
_CELLS, _BARS, _MOST = 24, 20, 12
_CUT = re.compile(r"recall@(\d+)")
_LATENCY = "latency_ms"


def both_scores(view: CompareView) -> Markup:
    """Rows by their scores in both runs; nothing for a metric of right and wrong, which has cards of its own."""
    if view.headline.binary:
        return Markup()
    before, after, axis = _paired(view, view.pair.headline)
    if not len(before):
        return Markup()
    step = (axis.high - axis.low) / _CELLS
    columns, lines = (
        np.clip((scores - axis.low) // step, 0, _CELLS - 1).astype(int).tolist() for scores in (before, after)
    )
    counts = Counter(zip(columns, lines, strict=True))
    factor = way(view.headline.direction)
    letters = [view.letters[name] for name in (view.pair.a, view.pair.b)]
    spots = []
    for (x, y), count in sorted(counts.items()):
        gain = factor * (y - x)
        tone = "better" if gain > 0 else "worse" if gain < 0 else "even"
        here = [axis.low + (place + 0.5) * step for place in (x, y)]
        about = ", ".join(
            f"{letter} {_between(axis.low + place * step, step)}" for letter, place in zip(letters, (x, y), strict=True)
        )
        spots.append(Spot(here[0], here[1], count, tone, f"{count:,} row{'s' if count > 1 else ''}: {about}"))
    names = view.lettered(view.pair.a), view.lettered(view.pair.b)
    return scatter(spots, axis, axis, names, f"{BOTH_SCORES}: {view.pair.headline}, {len(before):,} rows")


def _between(low: float, step: float) -> str:
    """The scores of a cell."""
    return f"{number(low, decimals=2)} to {number(low + step, decimals=2)}"


def distributions(view: CompareView) -> list[Markup]:
    """For each metric of more than two values, the histograms of both runs over each other."""
    figures = []
    names = [name for name, result in view.pair.metrics.items() if not result.binary and result.n]
    for name in names[:_MOST]:
        before, after, axis = _paired(view, name)
        counts = [
            np.histogram(np.clip(scores, axis.low, axis.high), _BARS, (axis.low, axis.high))[0].tolist()
            for scores in (before, after)
        ]
        runs = (view.pair.a, view.pair.b)
        label = f"{DISTRIBUTIONS}: {name}, {len(before):,} rows"
        tinted = view.tints[runs[0]], view.tints[runs[1]]
        drawn = overlay(counts[0], counts[1], axis, label, (view.letters[runs[0]], view.letters[runs[1]]), tinted)
        figures.append(element("div", element("h3", text(name)), drawn))
    return figures


def recall_by_rank(view: CompareView) -> Markup:
    """Recall at each cut that the runs have; nothing for fewer than two cuts."""
    lines = []
    for name in view.names:
        metrics = view.runs[name].metrics()
        cuts = sorted(
            (int(found[1]), mean.mean)
            for metric in metrics
            if (found := _CUT.fullmatch(metric)) and (mean := view.summary(name, metric)) is not None
        )
        values = [(float(cut), mean) for cut, mean in cuts if mean is not None]
        if len(values) > 1:
            lines.append(Curve(joined(view.letters[name], " ", text(name)), view.tints[name], values))
    return curves(lines, ("k", "recall@k"), RECALL) if lines else Markup()


def quality_by_time(view: CompareView, tested: Comparison | None) -> Markup:
    """A dot for each run; `tested` has all pairs of runs by the headline metric and by latency.

    A run is at the front where a test says of each other one that it is better or quicker than that.
    """
    points = []
    for name in view.names:
        quality, latency = view.summary(name, view.pair.headline), view.summary(name, _LATENCY)
        if quality is None or latency is None or quality.mean is None or latency.median is None:
            return Markup()
        href, is_front = view.addresses.run(name) or "#main", _is_front(name, tested)
        points.append(Offer(name, latency.median, quality.mean, quality.interval, view.tints[name], href, is_front))
    return offers(points, ("median latency, ms", text(view.pair.headline)), QUALITY)


def _is_front(name: str, tested: Comparison | None) -> bool:
    """Whether a test says that this run beats each other one by some metric."""
    if tested is None:
        return False
    for pair in tested.pairs:
        if name not in (pair.a, pair.b):
            continue
        wins = BETTER if name == pair.b else "worse"
        if not any(result.verdict == wins for result in pair.metrics.values()):
            return False
    return True


def _paired(view: CompareView, metric: str) -> tuple[Scores, Scores, Axis]:
    """The scores of the rows that have one in both runs, and the axis that has all of them."""
    before, after = view.baseline.scores(metric)[view.pairing.a], view.candidate.scores(metric)[view.pairing.b]
    scored = ~np.isnan(after - before)
    before, after = before[scored], after[scored]
    low, high = view.candidate.measure(metric).bounds
    ends = [float(end) for scores in (before, after) if len(scores) for end in (scores.min(), scores.max())]
    finite = [end for end in (low, high) if np.isfinite(end)]
    return before, after, Axis.around([*finite, *ends], zero=False)
