"""Grades of relevance: how relevant each judged document is, beside the list of those that are relevant at all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from ragmeter.definition import column
from ragmeter.errors import UsageError
from ragmeter.metrics.bags import Ids
from ragmeter.metrics.chunks import documents
from ragmeter.metrics.hits import IdLists
from ragmeter.metrics.tokens import text_array
from ragmeter.table import IDS_AS_WRITTEN, Scores


@dataclass(frozen=True)
class Graded:
    """The judged documents that were retrieved, by row and rank with their grades, and all grades of each row.

    `retrieved` is the number of distinct documents that each row retrieved. The grades of `ideal_row` are in descending
    order, so that their rank is the best one possible.
    """

    row: Ids
    rank: Ids
    grade: Scores
    retrieved: Ids
    ideal_row: Ids
    ideal_rank: Ids
    ideal_grade: Scores

    def count(self, k: int | None) -> Ids:
        """How many of each row's first k documents are judged."""
        return np.bincount(self.row if k is None else self.row[self.rank <= k], minlength=len(self.retrieved))

    def discounted(self, gains: Scores, *, ideal: bool, k: int | None) -> Scores:
        """The sum of gains over log2(rank + 1) of each row, within the first k."""
        row, rank = (self.ideal_row, self.ideal_rank) if ideal else (self.row, self.rank)
        within = slice(None) if k is None else rank <= k
        values = gains[within] / np.log2(rank[within] + 1)
        return np.asarray(np.bincount(row[within], values, len(self.retrieved)), dtype=np.float64)


@column(may_lack=(IDS_AS_WRITTEN,))
def graded(
    relevant: IdLists,
    retrieved: IdLists,
    relevance_grades: Sequence[str | None],
    ids_as_written: Sequence[str | None],
    *,
    doc_id: str | None,
) -> Graded | None:
    """The grades of the retrieved documents; None if no row has grades. In a row without any, relevant is grade 1."""
    if not any(relevance_grades):
        return None
    pairs = zip(relevant, relevance_grades, strict=True)
    judged = [read_grades(text) if text else dict.fromkeys(gold, 1.0) for gold, text in pairs]
    return grade_documents(judged, retrieved, doc_id, as_written=any(ids_as_written))


@column(may_lack=(IDS_AS_WRITTEN,))
def judgements(
    retrieved: IdLists, relevance_grades: Sequence[str], ids_as_written: Sequence[str | None], *, doc_id: str | None
) -> Graded:
    """The graded documents of rows that may have no relevant document at all."""
    judged = [read_grades(text) for text in relevance_grades]
    return grade_documents(judged, retrieved, doc_id, as_written=any(ids_as_written))


def grade_documents(
    judged: Sequence[dict[str, float]], retrieved: IdLists, doc_id: str | None, *, as_written: bool = False
) -> Graded:
    """Find the judged documents among those that were retrieved. A document has its best grade, and its first rank."""
    rows = len(judged)
    names = text_array([*chain.from_iterable(judged), *chain.from_iterable(retrieved)])
    numbers = documents(names, doc_id, as_written=as_written)
    n_judged = sum(map(len, judged))
    step = int(numbers.max(initial=0)) + 1
    judged_keys = np.repeat(np.arange(rows), [len(of) for of in judged]) * step + numbers[:n_judged]
    all_grades = np.fromiter(chain.from_iterable(of.values() for of in judged), np.float64, n_judged)
    keys, place = np.unique(judged_keys, return_inverse=True)
    grades = np.full(len(keys), -np.inf)
    np.maximum.at(grades, place, all_grades)

    counts = np.fromiter(map(len, retrieved), np.int64, rows)
    retrieved_keys = np.repeat(np.arange(rows), counts) * step + numbers[n_judged:]
    firsts = np.sort(np.unique(retrieved_keys, return_index=True)[1])
    distinct = retrieved_keys[firsts]
    row_of = distinct // step
    per_row = np.bincount(row_of, minlength=rows)
    rank = np.arange(len(distinct)) - (np.cumsum(per_row) - per_row)[row_of] + 1
    at = np.minimum(np.searchsorted(keys, distinct), max(0, len(keys) - 1))
    is_judged = keys[at] == distinct if len(keys) else np.zeros(len(distinct), dtype=bool)
    best_first = np.lexsort((-grades, keys // step))
    ideal_row = keys[best_first] // step
    per_ideal = np.bincount(ideal_row, minlength=rows)
    return Graded(
        row_of[is_judged],
        rank[is_judged],
        grades[at[is_judged]] if len(keys) else np.zeros(0),
        per_row,
        ideal_row,
        np.arange(len(keys)) - (np.cumsum(per_ideal) - per_ideal)[ideal_row] + 1,
        grades[best_first],
    )


def read_grades(text: str) -> dict[str, float]:
    """The grades of a row, written as a JSON object of documents and grades."""
    try:
        grades = json.loads(text)
        return {document: float(grade) for document, grade in grades.items()}
    except (ValueError, TypeError, AttributeError):
        raise UsageError(
            f'relevance_grades must be an object such as {{"d1": 2, "d2": 0}}, got {text[:60]!r}'
        ) from None
