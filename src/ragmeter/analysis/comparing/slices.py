"""Differences by slice: where the sign is the opposite of the whole's, and which slices are unlike the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ragmeter.analysis.comparing.comparison import Pair, SliceDifference
from ragmeter.analysis.comparing.difference import Difference, PairedScores, Settings, difference_of, p_of_unequal
from ragmeter.analysis.comparing.row_pairs import Rows
from ragmeter.analysis.comparing.significance import is_significant, verdict_on
from ragmeter.documents.comparison import BETTER, DIFFERENT, WORSE
from ragmeter.documents.metrics import is_few
from ragmeter.runs.run import Run, slice_label
from ragmeter.stats.multiple import holm

#: A slice of fewer rows, or clusters of rows, is not tested: the test would have almost no power.
_FEWEST = 10
#: A slice of fewer rows is not listed beside others, nor compared with the rows outside it.
FEWEST_LISTED = 20
#: A slice's p-value is not drawn further when so many draws were as extreme: it is at least a hundredth by then.
_ENOUGH = 100


@dataclass(frozen=True)
class _Part:
    """What was measured of a metric on a slice, the mean difference on all rows, and p of the slice being as others."""

    column: str
    value: str
    scores: PairedScores
    difference: Difference
    mean: float
    p: float
    on_all: float
    p_unequal: float | None


def slice_differences(
    run: Run,
    rows: Rows,
    metrics: Sequence[PairedScores],
    columns: Iterable[str],
    headline: str,
    settings: Settings,
) -> list[SliceDifference]:
    """Each metric's difference in each slice, tested as on all rows, corrected (Holm) over all slices and metrics.

    Whether a slice's difference is another than that on the other rows is tested by the headline metric alone, and
    corrected over those tests.
    """
    parts = [
        part
        for names in columns
        for scores in metrics
        for part in _parts(run, rows, names, scores, settings, is_headline=scores.measure.name == headline)
    ]
    adjusted = holm([part.p for part in parts]).tolist()
    unequal = iter(holm([part.p_unequal for part in parts if part.p_unequal is not None]).tolist())
    return [
        _slice(part, p, None if part.p_unequal is None else next(unequal), settings.alpha)
        for part, p in zip(parts, adjusted, strict=True)
    ]


def _parts(
    run: Run, rows: Rows, names: str, scores: PairedScores, settings: Settings, *, is_headline: bool
) -> Iterator[_Part]:
    """A metric on each slice of a column that has enough rows for a test."""
    groups, values = run.groups(run.columns_of(names))
    groups, scored = groups[rows], scores.scored
    on_all = float((scores.b - scores.a)[scored].mean()) if scored.any() else 0.0
    for group, value in enumerate(values):
        selected = scored & (groups == group)
        if _units(scores, selected) < _FEWEST:
            continue
        difference = difference_of(scores.part(selected), settings, enough=_ENOUGH)
        if difference.mean is None or difference.p is None:
            continue
        p_unequal = None
        if is_headline and difference.n >= FEWEST_LISTED:
            p_unequal = p_of_unequal(scores.part(scored), selected[scored], settings.confidence)
        part = scores.part(selected)
        yield _Part(names, slice_label(value), part, difference, difference.mean, difference.p, on_all, p_unequal)


def _slice(part: _Part, p_adjusted: float, p_differs: float | None, alpha: float) -> SliceDifference:
    """The slice with its verdict, by corrected p-values."""
    difference, measure = part.difference, part.scores.measure
    is_sure = is_significant(p_adjusted, alpha, excludes_zero=difference.excludes_zero)
    verdict = verdict_on(part.mean, measure.direction, part.scores.margin, significant=is_sure)
    return SliceDifference(
        column=part.column,
        value=part.value,
        metric=measure.name,
        n=difference.n,
        n_clusters=difference.n_clusters,
        mean_a=float(part.scores.a.mean()),
        mean_b=float(part.scores.b.mean()),
        difference=part.mean,
        interval=difference.interval,
        p=part.p,
        p_adjusted=p_adjusted,
        verdict=verdict,
        small=is_few(difference.n, difference.n_clusters),
        turns=verdict in (BETTER, WORSE, DIFFERENT) and part.mean * part.on_all < 0,
        p_differs=p_differs,
        differs=p_differs is not None and p_differs < alpha,
    )


def differing_slices(pair: Pair, most: int = 4) -> list[SliceDifference]:
    """The slices whose difference is farthest from that on all rows, the candidate's greatest gain first.

    At most so many with a greater gain than the whole, and as many with a smaller one; those that surely differ are
    taken before the others.
    """
    whole = pair.metrics[pair.headline].difference or 0.0
    parts = [part for parts in pair.headline_slices.values() for part in parts]
    order = sorted(parts, key=lambda part: (not part.differs, -abs(part.difference - whole)))
    way = -1 if pair.metrics[pair.headline].direction == "lower" else 1
    ends = [[part for part in order if (part.difference - whole) * sign > 0][:most] for sign in (1, -1)]
    return sorted([*ends[0], *ends[1]], key=lambda part: -way * part.difference)


def _units(scores: PairedScores, selected: npt.NDArray[np.bool_]) -> int:
    """The number of rows, or of clusters of rows."""
    return int(selected.sum()) if scores.codes is None else len(np.unique(scores.codes[selected]))
