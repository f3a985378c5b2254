"""Differences on parts of the rows: where a verdict turns around."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from ragmeter.analysis.comparing.comparison import SliceDifference
from ragmeter.analysis.comparing.pairing import Rows
from ragmeter.runs.run import Run, slice_label
from ragmeter.stats.clusters import Clustered, Codes
from ragmeter.stats.confidence import STUDENT, Confidence
from ragmeter.stats.intervals import SMALL, Interval, interval_of, within
from ragmeter.stats.multiple import holm
from ragmeter.stats.paired import paired_p
from ragmeter.table import Scores

#: A slice of fewer rows is not tested: hardly anything could be seen in it.
_FEWEST = 10


def slice_differences(
    run: Run,
    rows: Rows,
    differences: Mapping[str, Scores],
    limits: Mapping[str, Interval],
    codes: Codes | None,
    columns: Iterable[str],
    how: Confidence,
    alpha: float,
) -> list[SliceDifference]:
    """Each metric's difference in each slice, by Student's test, corrected (Holm) over all that were looked at.

    `limits` has for each metric how far a difference can go.
    """
    found = []
    by_t = Confidence("t", level=how.level)
    for names in columns:
        groups, values = run.groups(run.columns_of(names))
        groups = groups[rows]
        for metric, all_rows in differences.items():
            there = ~np.isnan(all_rows)
            for number, value in enumerate(values):
                inside = there & (groups == number)
                kept = all_rows[inside]
                if len(kept) < _FEWEST:
                    continue
                held = None if codes is None else codes[inside]
                units = Clustered.of(kept, held)
                if len(units) < 2:
                    continue
                interval = within(interval_of(kept, by_t, codes=held)[0], limits[metric])
                p = paired_p(units, STUDENT, 0, 0)
                label = slice_label(value)
                opposite = float(kept.mean()) * float(all_rows[there].mean()) < 0
                mean, small = float(kept.mean()), len(kept) < SMALL
                found.append(SliceDifference(names, label, metric, len(kept), mean, interval, p, p, small, opposite))
    adjusted = holm([each.p for each in found]).tolist()
    return [
        replace(each, p_adjusted=p, turns=each.turns and p < alpha) for each, p in zip(found, adjusted, strict=True)
    ]
