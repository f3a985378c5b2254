"""The rows that moved most, with their texts, read from just those parts of the files that hold them."""

from __future__ import annotations

import numpy as np

from ragmeter.analysis.comparing.comparison import Mover
from ragmeter.analysis.comparing.pairing import Pairing
from ragmeter.runs.run import Run
from ragmeter.table import QID, Scores

_TEXTS = (QID, "question", "reference", "answer")


def movers_of(a: Run, b: Run, pairing: Pairing, scores_a: Scores, scores_b: Scores, number: int) -> list[Mover]:
    """The rows with the largest differences, the largest first, then in their order; none that did not move."""
    sizes = np.nan_to_num(np.abs(scores_b - scores_a))
    if number < 1 or not len(sizes):
        return []
    least = np.partition(sizes, -min(number, len(sizes)))[-min(number, len(sizes))]
    large = np.flatnonzero((sizes >= least) & (sizes > 0))
    moved = large[np.argsort(-sizes[large], kind="stable")][:number].tolist()
    first = a.records([int(pairing.a[row]) for row in moved], _TEXTS)
    second = b.records([int(pairing.b[row]) for row in moved], _TEXTS)
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
