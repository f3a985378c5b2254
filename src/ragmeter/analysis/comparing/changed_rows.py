"""The rows that got better or worse, by all metrics together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ragmeter.analysis.comparing.difference import PairedScores
from ragmeter.analysis.comparing.row_pairs import Pairing
from ragmeter.runs.run import Run
from ragmeter.table import QID, Scores

#: The texts that a row is shown with.
TEXTS = (QID, "question", "reference", "answer")


@dataclass(frozen=True)
class ChangedRow:
    """A row of both runs with its texts; `scores` has both scores by each metric that says another thing of it."""

    qid: str
    scores: dict[str, tuple[float, float]]
    question: str | None
    reference: list[str] | None
    answer_a: str | None
    answer_b: str | None


@dataclass(frozen=True)
class ChangedRows:
    """The rows that changed most for the better and for the worse."""

    better: list[ChangedRow]
    worse: list[ChangedRow]


def changed_rows(
    a: Run, b: Run, pairing: Pairing, metrics: Sequence[PairedScores], headline: str, *, better: int, worse: int
) -> ChangedRows:
    """At most so many rows, the most changed first: by the headline metric, then by the mean of all others.

    Each metric counts by its direction, as a share of its range; without a direction it is left out.
    """
    gains = {scores.measure.name: gain for scores in metrics if (gain := _gain(scores)) is not None}
    if not gains or max(better, worse) < 1:
        return ChangedRows([], [])
    first = gains.get(headline, np.zeros(len(pairing)))
    others = np.mean([gain for name, gain in gains.items() if name != headline] or [np.zeros(len(pairing))], axis=0)
    ends = []
    for way, most in ((-1, worse), (1, better)):
        order = np.lexsort((-way * others, -way * first))  # the last key counts first; ties stay in the rows' order
        changed = (first * way > 0) | ((first == 0) & (others * way > 0))
        ends.append(order[changed[order]][: max(0, most)])
    lost, won = (_records(a, b, pairing, metrics, rows) for rows in ends)
    return ChangedRows(better=won, worse=lost)


def _gain(scores: PairedScores) -> Scores | None:
    """By how much each row got better, as a share of the metric's range; 0 where it has no two scores.

    Where the range has no end, it is a share of the largest difference.
    """
    low, high = scores.measure.bounds
    way = {"higher": 1.0, "lower": -1.0}.get(scores.measure.direction)
    differences = np.nan_to_num(scores.b - scores.a)
    most = high - low if np.isfinite(high - low) else float(np.abs(differences).max(initial=0.0))
    return None if way is None or not most else way * differences / most


def _records(
    a: Run, b: Run, pairing: Pairing, metrics: Sequence[PairedScores], rows: npt.NDArray[np.intp]
) -> list[ChangedRow]:
    texts = texts_of(a, b, pairing, rows.tolist())
    return [
        ChangedRow(
            scores={
                scores.measure.name: (float(scores.a[row]), float(scores.b[row]))
                for scores in metrics
                if scores.a[row] != scores.b[row] and scores.scored[row]
            },
            **of_row,
        )
        for row, of_row in zip(rows.tolist(), texts, strict=True)
    ]


def texts_of(a: Run, b: Run, pairing: Pairing, rows: Sequence[int]) -> list[Mapping[str, Any]]:
    """The texts of some pairs of rows. Only the row groups that they are in are read."""
    before = a.records([int(pairing.a[row]) for row in rows], TEXTS)
    after = b.records([int(pairing.b[row]) for row in rows], TEXTS)
    return [
        {
            "qid": old[QID],
            "question": old.get("question", new.get("question")),
            "reference": old.get("reference", new.get("reference")),
            "answer_a": old.get("answer"),
            "answer_b": new.get("answer"),
        }
        for old, new in zip(before, after, strict=True)
    ]
