"""What the offline judge found in the rows of a page, in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from ragmeter.analysis.explaining import METRICS, explain_rows, settings_of
from ragmeter.errors import RagmeterError
from ragmeter.runs.run import Run
from ragmeter.show.numbers import hundredths

#: At most so many rows are explained, those first of which the judge is least sure; and so much is told of each.
MOST_ROWS, _MOST_PIECES = 5_000, 6
_LEAST = 0.05  # of the log-odds; what weighs less decides nothing


def evidence(run: Run, rows: Any, table: Any) -> list[list[tuple[str, str, float]] | None] | None:
    """For each row of the page what decided, what was found and what it weighs; None where the judge said nothing."""
    name = next((each for each in run.row_metrics if each.partition("[")[0] in METRICS), None)
    if name is None or not {"question", "reference", "answer"} <= set(table.column_names):
        return None
    scores = run.scores(name)[rows]
    judged = np.flatnonzero(~np.isnan(scores))
    chosen = judged[np.argsort(np.abs(scores[judged] - 0.5), kind="stable")][:MOST_ROWS].tolist()
    texts = table.select(["question", "reference", "answer"]).take(chosen).to_pylist()
    settings = settings_of(run)
    try:
        found = explain_rows(texts, language=settings.get("language"), calibration=settings.get("calibration"))
    except RagmeterError:  # the calibration's file is not there any more: the scores can be shown without it
        return None
    told: list[list[tuple[str, str, float]] | None] = [None] * len(scores)
    for place, each in zip(chosen, found, strict=True):
        told[place] = [
            (piece.about, piece.says, float(hundredths(piece.weight)))
            for piece in each.evidence[:_MOST_PIECES]
            if abs(piece.weight) >= _LEAST
        ]
    return told
