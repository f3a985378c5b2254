"""Differences by slice: where the sign is the opposite of the difference on all rows."""

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

#: A slice of fewer rows is not tested: the test would have almost no power.
_FEWEST = 10


def slice_differences(
    run: Run,
    rows: Rows,
    differences: Mapping[str, Scores],
    limits: Mapping[str, Interval],
    codes: Codes | None,
    columns: Iterable[str],
    confidence: Confidence,
    alpha: float,
) -> list[SliceDifference]:
    """Each metric's difference in each slice, by Student's test, corrected (Holm) over all slices and metrics.

    `limits` has the possible range of each metric's difference.
    """
    results = []
    by_t = Confidence("t", level=confidence.level)
    for names in columns:
        groups, values = run.groups(run.columns_of(names))
        groups = groups[rows]
        for metric, all_rows in differences.items():
            scored = ~np.isnan(all_rows)
            for group, value in enumerate(values):
                selected = scored & (groups == group)
                part = all_rows[selected]
                n = len(part)
                if n < _FEWEST:
                    continue
                part_codes = None if codes is None else codes[selected]
                units = Clustered.of(part, part_codes)
                if len(units) < 2:
                    continue
                interval = within(interval_of(part, by_t, codes=part_codes)[0], limits[metric])
                p = paired_p(units, STUDENT, 0, 0)
                mean = float(part.mean())
                opposite = mean * float(all_rows[scored].mean()) < 0
                label = slice_label(value)
                results.append(SliceDifference(names, label, metric, n, mean, interval, p, p, n < SMALL, opposite))
    adjusted = holm([result.p for result in results]).tolist()
    return [
        replace(result, p_adjusted=p, turns=result.turns and p < alpha)
        for result, p in zip(results, adjusted, strict=True)
    ]
