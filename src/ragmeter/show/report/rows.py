"""The rows of a page: which ones, and as columns of numbers and of places in one list of texts.

Texts that come again, a question in five runs or a passage in a hundred rows, are written once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ragmeter.metrics.ranking import Pattern, documents
from ragmeter.metrics.tokens import text_array
from ragmeter.runs.run import Run
from ragmeter.show.numbers import compact
from ragmeter.show.report.evidence import evidence
from ragmeter.show.report.shapes import domain
from ragmeter.show.report.slices import slice_columns
from ragmeter.table import JUDGE_COLUMNS, LIST_COLUMNS, NUMBER_COLUMNS, QID, Scores, outcome_column

#: A text on the page is no longer than this, and shorter if all of them together would be more than a browser likes.
LONGEST_TEXT = 4000
_MOST_CHARACTERS = 60_000_000
_WHOLE = re.compile(r"\d{1,9}(\.0+)?")


class Texts:
    """Every distinct text once, by its place."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def place(self, text: str | None) -> int:
        """Where a text is; -1 for none."""
        return -1 if text is None else self._places.setdefault(text, len(self._places))

    def places(self, texts: Sequence[str | None]) -> list[int]:
        """Where some texts are."""
        return [self.place(each) for each in texts]

    def cut(self) -> tuple[list[str], dict[int, int], int]:
        """The texts, none too long; the whole length of each one that was cut, by its place; and the limit."""
        held = list(self._places)
        limit = LONGEST_TEXT
        lengths = np.fromiter(map(len, held), np.int64, len(held))
        while limit > 200 and np.minimum(lengths, limit).sum() > _MOST_CHARACTERS:
            limit //= 2
        whole = {int(place): int(lengths[place]) for place in np.flatnonzero(lengths > limit)}
        return [text[:limit] for text in held], whole, limit


def choose(runs: Sequence[Run], most: int) -> list[Any]:
    """Each run's rows that the page has room for, in the order of the run.

    If not all have room, the same questions are taken of every run: those first that failed somewhere, then those
    that some run did worst on.
    """
    room = max(1, most // len(runs))
    if all(run.n_rows <= room for run in runs):
        return [np.arange(run.n_rows) for run in runs]
    worst: dict[Any, float] = {}
    keys = [_keys(run) for run in runs]
    for run, held in zip(runs, keys, strict=True):
        for key, value in zip(held, quality(run).tolist(), strict=True):
            worst[key] = min(value, worst.get(key, np.inf))
    chosen = set(sorted(worst, key=worst.__getitem__)[:room])
    return [np.flatnonzero([key in chosen for key in held]) for held in keys]


def _keys(run: Run) -> list[Any]:
    qids = run.column(QID).to_pylist() if QID in run.texts else [None] * run.n_rows
    return [place if qid is None else qid for place, qid in enumerate(qids)]


def quality(run: Run) -> Scores:
    """How well each row did: the mean over the metrics, each between 0 and 1 on its axis; -1 where one is missing."""
    scaled = []
    for name in run.row_metrics:
        direction = run.metrics()[name]["direction"]
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
    held: dict[str, Any] = {"n": len(rows), "total": run.n_rows}
    present = set(table.column_names)
    for name in ("qid", "question", "answer", "error", "session_id", *JUDGE_COLUMNS):
        if name in present:
            held[name] = texts.places(table[name].to_pylist())
    for name in LIST_COLUMNS:
        if name in present:
            held[name] = [None if cell is None else texts.places(cell) for cell in table[name].to_pylist()]
    if {"relevant", "retrieved"} <= present:
        held["hits"], held["found"] = _hits(run, table)
    held["numbers"] = {name: _rounded(table[name].to_pylist()) for name in NUMBER_COLUMNS if name in present}
    held["turn"] = [_turn(value) for value in table["turn_idx"].to_pylist()] if "turn_idx" in present else None
    dividing = set(slice_columns(run))
    for kind in ("slices", "others"):
        held[kind] = {
            name: texts.places(table[name].to_pylist())
            for name in run.other_columns
            if (name in dividing) == (kind == "slices")
        }
    found = evidence(run, rows, table)
    if found is not None:
        held["evidence"] = [
            None if each is None else [[texts.place(about), texts.place(says), weight] for about, says, weight in each]
            for each in found
        ]
    held["scores"] = {name: _rounded(run.scores(name)[rows].tolist()) for name in run.row_metrics}
    held["outcomes"] = {
        name: texts.places(table[outcome_column(name)].to_pylist())
        for name in run.row_metrics
        if outcome_column(name) in present
    }
    return held


def _hits(run: Run, table: Any) -> tuple[list[list[int]], list[list[int]]]:
    """Which retrieved ids stand for a gold document, and which gold ones were found: 1 or 0 for each id of each row."""
    sides = [[cell or [] for cell in table[name].to_pylist()] for name in ("relevant", "retrieved")]
    names = [name for side in sides for cell in side for name in cell]
    numbers = iter(documents(text_array(names), _doc_id(run)).tolist() if names else [])
    gold, found = ([[next(numbers) for _ in cell] for cell in side] for side in sides)
    return (
        [[int(each in wanted) for each in cell] for cell, wanted in zip(found, map(set, gold), strict=True)],
        [[int(each in there) for each in cell] for cell, there in zip(gold, map(set, found), strict=True)],
    )


def _doc_id(run: Run) -> Pattern | None:
    """The pattern by which the run's own metrics knew the document of a chunk."""
    for metric in run.manifest().get("metrics") or []:
        pattern = (metric.get("settings") or {}).get("doc_id")
        if isinstance(pattern, str):
            return Pattern.parse(pattern)
    return None


def _turn(value: str | None) -> int | None:
    return int(float(value)) if value is not None and _WHOLE.fullmatch(value) else None


def _rounded(values: Sequence[float | None]) -> list[float | None]:
    """Numbers as far as a page shows them; null for what is none."""
    return [None if value is None or value != value else compact(value) for value in values]
