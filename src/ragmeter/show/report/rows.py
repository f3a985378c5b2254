"""The rows of a page: which are chosen, and their columns, as numbers and as indices into one list of texts.

Repeated texts, such as a question in five runs or a passage in a hundred rows, are written once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ragmeter.analysis.claim_support import claim_columns
from ragmeter.metrics.chunks import Pattern, documents
from ragmeter.metrics.tokens import text_array
from ragmeter.runs.run import Run
from ragmeter.show.page.shapes import domain
from ragmeter.show.report.evidence import evidence
from ragmeter.show.report.page_claims import claims
from ragmeter.show.report.page_texts import Texts
from ragmeter.show.report.slices import slice_columns
from ragmeter.table import LIST_COLUMNS, NUMBER_COLUMNS, QID, Scores, outcome_column
from ragmeter.wording.numbers import compact

#: The names of a judge's columns, in their order.
_JUDGED = ("value", "reason", "by", "probability")
_WHOLE = re.compile(r"\d{1,9}(\.0+)?")


def choose(runs: Sequence[Run], most: int) -> list[Any]:
    """Each run's rows for the page, in the order of the run.

    If not all fit, the same questions are chosen for every run: first those that failed in a run, then those with the
    worst scores.
    """
    room = max(1, most // len(runs))
    if all(run.n_rows <= room for run in runs):
        return [np.arange(run.n_rows) for run in runs]
    worst: dict[Any, float] = {}
    keys = [_keys(run) for run in runs]
    for run, run_keys in zip(runs, keys, strict=True):
        for key, value in zip(run_keys, quality(run).tolist(), strict=True):
            worst[key] = min(value, worst.get(key, np.inf))
    chosen = set(sorted(worst, key=worst.__getitem__)[:room])
    return [np.flatnonzero([key in chosen for key in run_keys]) for run_keys in keys]


def _keys(run: Run) -> list[Any]:
    qids = run.column(QID).to_pylist() if QID in run.texts else [None] * run.n_rows
    return [place if qid is None else qid for place, qid in enumerate(qids)]


def quality(run: Run) -> Scores:
    """Each row's mean over the metrics, scaled to 0..1 by their axes; -1 where a score is missing."""
    scaled = []
    for name in run.row_metrics:
        direction = run.metrics()[name].direction
        if direction != "none":
            low, high = domain(run, name)
            share = np.clip((run.scores(name) - low) / (high - low), 0.0, 1.0)
            scaled.append(1 - share if direction == "lower" else share)
    if not scaled:
        return np.zeros(run.n_rows)
    mean = np.mean(scaled, axis=0)
    return np.where(np.isnan(mean), -1.0, mean)


def columns(run: Run, rows: Any, texts: Texts) -> dict[str, Any]:
    """A run's rows for the page."""
    table = run.rows().take(rows)
    page_columns: dict[str, Any] = {"n": len(rows), "total": run.n_rows}
    present = set(table.column_names)
    for name in ("qid", "question", "answer", "error", "session_id"):
        if name in present:
            page_columns[name] = texts.places(table[name].to_pylist())
    for name in LIST_COLUMNS:
        if name in present:
            page_columns[name] = [None if cell is None else texts.places(cell) for cell in table[name].to_pylist()]
    if {"relevant", "retrieved"} <= present:
        page_columns["hits"], page_columns["found"] = _hits(run, table)
    shown_as_claims = claim_columns(run)
    page_columns["judges"] = [
        {
            "name": name,
            **{
                cell_name: texts.places([None if cell is None else str(cell) for cell in table[column].to_pylist()])
                for cell_name, column in zip(_JUDGED, filled, strict=False)
                if column in present
            },
        }
        for name, filled in run.judged_columns.items()
        if name not in shown_as_claims
    ]
    page_columns["claims"] = claims(run, rows, texts)
    page_columns["numbers"] = {name: _rounded(table[name].to_pylist()) for name in NUMBER_COLUMNS if name in present}
    page_columns["turn"] = [_turn(value) for value in table["turn_idx"].to_pylist()] if "turn_idx" in present else None
    dividing = set(slice_columns(run))
    for group in ("slices", "others"):
        page_columns[group] = {
            name: texts.places(table[name].to_pylist())
            for name in run.other_columns
            if (name in dividing) == (group == "slices") and name not in shown_as_claims
        }
    explanations = evidence(run, rows, table)
    if explanations is not None:
        page_columns["evidence"] = [
            None
            if pieces is None
            else [[texts.place(about), texts.place(says), weight] for about, says, weight in pieces]
            for pieces in explanations
        ]
    page_columns["scores"] = {name: _rounded(run.scores(name)[rows].tolist()) for name in run.row_metrics}
    page_columns["outcomes"] = {
        name: texts.places(table[outcome_column(name)].to_pylist())
        for name in run.row_metrics
        if outcome_column(name) in present
    }
    return page_columns


def _hits(run: Run, table: Any) -> tuple[list[list[int]], list[list[int]]]:
    """Which retrieved ids are gold documents, and which gold ones were retrieved: 1 or 0 for each id of each row."""
    sides = [[cell or [] for cell in table[name].to_pylist()] for name in ("relevant", "retrieved")]
    names = [name for side in sides for cell in side for name in cell]
    numbers = iter(documents(text_array(names), _doc_id(run)).tolist() if names else [])
    gold, retrieved = ([[next(numbers) for _ in cell] for cell in side] for side in sides)
    return (
        [[int(number in golds) for number in cell] for cell, golds in zip(retrieved, map(set, gold), strict=True)],
        [[int(number in hits) for number in cell] for cell, hits in zip(gold, map(set, retrieved), strict=True)],
    )


def _doc_id(run: Run) -> Pattern | None:
    """The pattern that the run's metrics used for the document of a chunk."""
    for metric in run.manifest().metrics:
        pattern = metric.settings.get("doc_id")
        if isinstance(pattern, str):
            return Pattern.parse(pattern)
    return None


def _turn(value: str | None) -> int | None:
    return int(float(value)) if value is not None and _WHOLE.fullmatch(value) else None


def _rounded(values: Sequence[float | None]) -> list[float | None]:
    """Numbers with the precision of the page; None for NaN."""
    return [None if value is None or value != value else compact(value) for value in values]
