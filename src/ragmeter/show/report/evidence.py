"""Explains the offline judge's verdicts on the rows of a page."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ragmeter.analysis.explanation import METRICS, explain_rows, settings_of
from ragmeter.errors import RagmeterError
from ragmeter.runs.run import Run
from ragmeter.wording.numbers import hundredths

#: The most rows that are explained, those first of which the judge is least sure; and the most pieces for each.
MOST_ROWS, _MOST_PIECES = 5_000, 6
_LEAST = 0.05  # the smallest weight in log-odds that is shown


def evidence(run: Run, rows: Any, table: Any) -> list[list[tuple[str, str, float]] | None] | None:
    """The evidence for each row of the page: topic, finding and weight; None where the judge gave no score."""
    name = next((metric for metric in run.row_metrics if metric.partition("[")[0] in METRICS), None)
    if name is None or not {"question", "reference", "answer"} <= set(table.column_names):
        return None
    scores = run.scores(name)[rows]
    judged = np.flatnonzero(~np.isnan(scores))
    chosen = judged[np.argsort(np.abs(scores[judged] - 0.5), kind="stable")][:MOST_ROWS].tolist()
    texts = table.select(["question", "reference", "answer"]).take(pa.array(chosen, pa.int64())).to_pylist()
    complete = [place for place, row in enumerate(texts) if None not in row.values() and row["reference"]]
    chosen, texts = [chosen[place] for place in complete], [texts[place] for place in complete]
    settings = settings_of(run)
    try:
        explanations = explain_rows(texts, language=settings.get("language"), calibration=settings.get("calibration"))
    except RagmeterError:  # the calibration's file is missing: the scores can be shown without it
        return None
    evidence_of_row: list[list[tuple[str, str, float]] | None] = [None] * len(scores)
    for place, metric in zip(chosen, explanations, strict=True):
        evidence_of_row[place] = [
            (piece.about, piece.says, float(hundredths(piece.weight)))
            for piece in metric.evidence[:_MOST_PIECES]
            if abs(piece.weight) >= _LEAST
        ]
    return evidence_of_row
