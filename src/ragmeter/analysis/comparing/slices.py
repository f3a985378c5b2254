"""Differences by slice: where the sign is the opposite of the difference on all rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ragmeter.analysis.comparing.comparison import SliceDifference
from ragmeter.analysis.comparing.difference import PairedScores, Settings, difference_of
from ragmeter.analysis.comparing.row_pairs import Rows
from ragmeter.documents.metrics import is_few
from ragmeter.runs.run import Run, slice_label
from ragmeter.stats.multiple import holm

#: A slice of fewer rows, or clusters of rows, is not tested: the test would have almost no power.
_FEWEST = 10
#: A slice's p-value is not drawn further when so many draws were as extreme: it is at least a hundredth by then.
_ENOUGH = 100


def slice_differences(
    run: Run, rows: Rows, metrics: Sequence[PairedScores], columns: Iterable[str], settings: Settings
) -> list[SliceDifference]:
    """Each metric's difference in each slice, tested as on all rows, corrected (Holm) over all slices and metrics."""
    results = []
    for names in columns:
        groups, values = run.groups(run.columns_of(names))
        groups = groups[rows]
        for scores in metrics:
            scored = scores.scored
            on_all = float((scores.b - scores.a)[scored].mean()) if scored.any() else 0.0
            for group, value in enumerate(values):
                selected = scored & (groups == group)
                if _units(scores, selected) < _FEWEST:
                    continue
                part = difference_of(scores.part(selected), settings, enough=_ENOUGH)
                if part.mean is None or part.p is None:
                    continue
                matters = part.excludes_zero and abs(part.mean) >= (scores.margin or 0.0)
                results.append(
                    SliceDifference(
                        column=names,
                        value=slice_label(value),
                        metric=scores.measure.name,
                        n=part.n,
                        n_clusters=part.n_clusters,
                        difference=part.mean,
                        interval=part.interval,
                        p=part.p,
                        p_adjusted=part.p,
                        small=is_few(part.n, part.n_clusters),
                        turns=matters and part.mean * on_all < 0,
                    )
                )
    adjusted = holm([result.p for result in results]).tolist()
    return [
        replace(result, p_adjusted=p, turns=result.turns and p < settings.alpha)
        for result, p in zip(results, adjusted, strict=True)
    ]


def _units(scores: PairedScores, selected: npt.NDArray[np.bool_]) -> int:
    """The number of rows, or of clusters of rows."""
    return int(selected.sum()) if scores.codes is None else len(np.unique(scores.codes[selected]))
