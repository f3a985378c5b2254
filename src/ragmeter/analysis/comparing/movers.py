"""The rows that moved most, with their texts, read from just those parts of the files that hold them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ragmeter.analysis.comparing.comparison import Mover
from ragmeter.analysis.comparing.pairing import Pairing
from ragmeter.runs.folder import ROWS, opened_rows
from ragmeter.runs.stored import StoredRun
from ragmeter.table import QID, Scores


def movers_of(
    a: StoredRun, b: StoredRun, pairing: Pairing, scores_a: Scores, scores_b: Scores, number: int
) -> list[Mover]:
    """The rows with the largest differences, the largest first, then in their order; none that did not move."""
    sizes = np.nan_to_num(np.abs(scores_b - scores_a))
    if number < 1 or not len(sizes):
        return []
    least = np.partition(sizes, -min(number, len(sizes)))[-min(number, len(sizes))]
    large = np.flatnonzero((sizes >= least) & (sizes > 0))
    moved = large[np.argsort(-sizes[large], kind="stable")][:number].tolist()
    first = _rows(a, [int(pairing.a[row]) for row in moved])
    second = _rows(b, [int(pairing.b[row]) for row in moved])
    return [
        Mover(
            qid=old[QID],
            a=float(scores_a[row]),
            b=float(scores_b[row]),
            difference=float(scores_b[row] - scores_a[row]),
            question=old.get("question", new.get("question")),
            reference=old.get("reference", new.get("reference")),
            answer_a=old.get("answer"),
            answer_b=new.get("answer"),
        )
        for row, old, new in zip(moved, first, second, strict=True)
    ]


def _rows(run: StoredRun, wanted: Sequence[int]) -> list[dict[str, Any]]:
    """Some rows' texts, in the order asked for."""
    found: dict[int, dict[str, Any]] = {}
    with opened_rows(run.folder.path / ROWS) as opened:
        there = opened.schema_arrow.names
        columns = [name for name in (QID, "question", "reference", "answer") if name in there]
        begin = 0
        for group in range(opened.num_row_groups):
            end = begin + opened.metadata.row_group(group).num_rows
            inside = [row for row in wanted if begin <= row < end]
            if inside:
                rows = opened.read_row_group(group, columns=columns, use_threads=False)
                table = rows.take([row - begin for row in inside])
                found.update(zip(inside, table.to_pylist(), strict=True))
            begin = end
    return [found[row] for row in wanted]
