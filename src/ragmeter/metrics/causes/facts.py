"""The facts that causes rest on, read from whole columns: who was right, what was retrieved, what supports what.

The best evidence there is decides for each row: ids of gold documents, else a judge's labels of claims by passage, else
the offline support model, which is asked only about rows where ids and labels do not say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import ragmeter.metrics.causes as c
from ragmeter.metrics.abstention import MARKS, is_unanswerable
from ragmeter.metrics.causes import Facts, Known
from ragmeter.metrics.causes.statements import Statement, has_own_number, statement_of, statements_support
from ragmeter.metrics.ranking import ranked
from ragmeter.metrics.refusals import is_miss
from ragmeter.metrics.support import as_passages, has_text, is_supported
from ragmeter.table import IDS_AS_WRITTEN, SCORED, Column, Scores

#: At least this share of claims, by the labels of a judge.
_SHARE = 0.5
#: A probability of the offline judge between these is no verdict.
SURE_WRONG, SURE_RIGHT = 0.4, 0.6
_UNKNOWN = Known(None, c.NO_EVIDENCE)


@dataclass(frozen=True)
class Correctness:
    """Who says which answers are right: the metric, its scores, and the outcome of each row.

    `is_probability`: the scores are probabilities, of which those near one half say nothing. `reads_texts`: who says so
    reads as much as the support model does, so that asking that one too changes no order of magnitude.
    """

    metric: str
    scores: Scores
    outcomes: Sequence[str]
    is_probability: bool = False
    reads_texts: bool = True

    def of(self, row: int) -> Known:
        """Whether one answer is right."""
        score = self.scores[row]
        if np.isnan(score):
            outcome = self.outcomes[row]
            return Known(None, c.NO_REFERENCE if outcome == SCORED else outcome)
        if self.is_probability and SURE_WRONG < score < SURE_RIGHT:
            return Known(None, c.NOT_SURE)
        return Known(bool(score >= SURE_RIGHT), self.metric)


@dataclass(frozen=True)
class CauseColumns:
    """The columns that causes are read from, and a pattern for the document's id in a chunk's id."""

    columns: Mapping[str, Column]
    n_rows: int
    failures: Sequence[str | None]
    correctness: Correctness
    doc_id: str | None = None
    reference_labels: str | None = None  # the columns with a judge's labels of claims by passage
    answer_labels: str | None = None
    _passages: list[list[str] | None] = field(init=False)

    def __post_init__(self) -> None:
        contexts = self.columns.get("contexts") or [None] * self.n_rows
        object.__setattr__(self, "_passages", [None if row is None else as_passages(row) for row in contexts])

    def facts(self) -> list[Facts]:
        """The facts of every row."""
        retrieved = self._by_documents()
        supported = [_UNKNOWN] * self.n_rows
        answers = [False] * self.n_rows
        rows = [self._of_texts(row) for row in range(self.n_rows)]
        self._add_labels(retrieved, supported, answers)
        self._add_passages(rows, retrieved, supported, answers)
        return [
            Facts(
                row.failure, row.declines, row.unanswerable, row.reference_declines, row.right,
                retrieved[place], supported[place], answers[place],
            )
            for place, row in enumerate(rows)
        ]  # fmt: skip

    def _of_texts(self, row: int) -> _RowTexts:
        answer = self._cell("answer", row)
        failure = self.failures[row] if self.failures else None
        if failure is None and answer is None:
            failure = "no_answer"
        marks = {name: self._cell(name, row) for name in MARKS}
        mark = is_unanswerable(marks)
        references = [text for text in _texts(self._cell("reference", row)) if has_text(text)]
        declines = failure is None and is_miss(answer)
        return _RowTexts(
            failure=failure,
            declines=declines,
            unanswerable=mark if isinstance(mark, bool) else None,
            reference_declines=declines and any(map(is_miss, references)),
            right=self.correctness.of(row),
            question=self._cell("question", row) or "",
            references=references,
            answer=answer or "",
        )

    def _cell(self, name: str, row: int) -> Any:
        column = self.columns.get(name)
        return None if column is None else column[row]

    def _by_documents(self) -> list[Known]:
        """Whether a gold document is among those that were retrieved, where a row has both."""
        retrieved = [_UNKNOWN] * self.n_rows
        gold, ids = self.columns.get("relevant"), self.columns.get("retrieved")
        if gold is None or ids is None:
            return retrieved
        rows = [row for row in range(self.n_rows) if gold[row] and ids[row] is not None]
        if rows:
            as_written = self.columns.get(IDS_AS_WRITTEN) or [None] * self.n_rows
            columns = ([column[row] for row in rows] for column in (gold, ids, as_written))
            hits = ranked.function(*columns, doc_id=self.doc_id).hits()
            for row, n_hits in zip(rows, hits.tolist(), strict=True):
                retrieved[row] = Known(n_hits > 0, c.GOLD_DOCUMENTS)
        return retrieved

    def _add_labels(self, retrieved: list[Known], supported: list[Known], answers: list[bool]) -> None:
        """What a judge says of the claims of the reference and of the answer, passage by passage."""
        for row, share in self._label_shares(self.reference_labels):
            if retrieved[row].holds is None:
                retrieved[row] = Known(share >= _SHARE, c.JUDGED_CLAIMS)
        for row, share in self._label_shares(self.answer_labels):
            supported[row] = Known(share >= _SHARE, c.JUDGED_CLAIMS)
            answers[row] = share >= _SHARE

    def _label_shares(self, name: str | None) -> list[tuple[int, float]]:
        """The share of claims that some passage supports, for the rows with labels."""
        from ragmeter.judge_columns import DECLARED  # a judge's column may be JSON

        column = None if name is None else self.columns.get(name)
        if column is None or name is None:
            return []
        declared = DECLARED[name.split("[")[0]]
        labels = ((row, declared.decoded(value)) for row, value in enumerate(column) if value)
        return [(row, float(is_supported(of_row).any(axis=1).mean())) for row, of_row in labels if of_row and of_row[0]]

    def _add_passages(
        self, rows: Sequence[_RowTexts], retrieved: list[Known], supported: list[Known], answers: list[bool]
    ) -> None:
        """What the texts of the passages say, where it is still to be known."""
        open_rows = []
        for place, row in enumerate(rows):
            if self._passages[place] == []:
                if retrieved[place].holds is None:
                    retrieved[place] = Known(False, c.NO_PASSAGES)
                supported[place] = Known(False, c.NO_PASSAGES)
            elif self._passages[place] is None or not self.correctness.reads_texts:
                if supported[place].holds is None and retrieved[place].holds:
                    supported[place] = Known(None, c.NO_TEXTS)
            elif row.is_open(retrieved[place], supported[place]):
                open_rows.append(place)
        if not open_rows:
            return
        texts = [rows[place] for place in open_rows]
        passages: list[list[str]] = [self._passages[place] or [] for place in open_rows]
        is_open = [retrieved[place].holds is None for place in open_rows]
        asked = [
            row.question if open_ and row.right.holds is False else ""
            for row, open_ in zip(texts, is_open, strict=True)
        ]
        statements = [row.statements(with_references=open_) for row, open_ in zip(texts, is_open, strict=True)]
        results = statements_support(asked, statements, passages)
        for place, row, of_row, of_passages in zip(open_rows, texts, results, passages, strict=True):
            *of_references, of_answer = of_row
            if retrieved[place].holds is None:
                is_said = any(support.is_said for support in of_references) if of_references else None
                retrieved[place] = Known(is_said, c.NO_REFERENCE if is_said is None else c.OFFLINE_SUPPORT)
            if supported[place].holds is None:
                is_there = of_answer.is_there
                if is_there and row.right.holds is False:
                    is_there = not has_own_number(row.answer, of_passages)
                supported[place] = Known(is_there, c.OFFLINE_SUPPORT)
                answers[place] = is_there and of_answer.answers


@dataclass(frozen=True, slots=True)
class _RowTexts:
    failure: str | None
    declines: bool
    unanswerable: bool | None
    reference_declines: bool
    right: Known
    question: str
    references: Sequence[str]
    answer: str

    def is_open(self, retrieved: Known, supported: Known) -> bool:
        """Whether the support model has to be asked about the row."""
        if self.failure is not None or (self.declines and (self.unanswerable or self.reference_declines)):
            return False
        if self.declines:
            return retrieved.holds is None
        if self.right.holds is None:
            return False
        if self.right.holds:
            return not retrieved.holds and supported.holds is None
        return retrieved.holds is None or (retrieved.holds and supported.holds is None) or bool(self.unanswerable)

    def statements(self, *, with_references: bool) -> list[Statement]:
        """What the references, if they are to be looked up, and the answer say about the question, the answer last."""
        texts = (*self.references, self.answer) if with_references else (self.answer,)
        return [statement_of(self.question, text) for text in texts]


def _texts(reference: Any) -> list[str]:
    return [reference] if isinstance(reference, str) else list(reference or ())
