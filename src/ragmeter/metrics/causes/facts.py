"""The facts that causes rest on, read from whole columns: who was right, what was retrieved, what supports what.

The best evidence there is decides for each row: ids of gold documents, else a judge's labels of claims by passage, else
the offline support model, which is asked only about rows where ids and labels do not say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ragmeter.definition.judge_columns import DECLARED
from ragmeter.metrics.abstention import MARKS, is_unanswerable
from ragmeter.metrics.causes import (
    GOLD_DOCUMENTS,
    JUDGED_CLAIMS,
    NO_EVIDENCE,
    NO_PASSAGES,
    NO_REFERENCE,
    NO_TEXTS,
    NOT_SURE,
    OFFLINE_SUPPORT,
    Facts,
    Known,
)
from ragmeter.metrics.causes.statements import has_own_number, statement_of, statements_support
from ragmeter.metrics.normalize import same_words
from ragmeter.metrics.offline import RIGHT
from ragmeter.metrics.ranking import ranked
from ragmeter.metrics.refusals import is_miss, is_read_as_refusal
from ragmeter.metrics.support import as_passages, has_text, is_supported
from ragmeter.table import IDS_AS_WRITTEN, SCORED, Column, Scores

#: At least this share of claims, by the labels of a judge.
_SHARE = 0.5
#: Above this probability the offline judge is not sure that an answer is wrong.
SURE_WRONG = 0.4
_UNKNOWN = Known(None, NO_EVIDENCE)
_NO_ANSWER = "no_answer"


@dataclass(frozen=True)
class Correctness:
    """Who says which answers are right: the metric, its scores, and the outcome of each row.

    `is_probability`: the scores are probabilities. An answer is right where the metric calls it right, so that both
    shares agree; where a wrong one has failed is not asked if it may be right. `reads_texts`: who says so reads as much
    as the support model does, so that asking that one too changes no order of magnitude.
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
            return Known(None, NO_REFERENCE if outcome == SCORED else outcome)
        if self.is_probability and SURE_WRONG < score < RIGHT:
            return Known(None, NOT_SURE)
        return Known(bool(score >= RIGHT), self.metric)


@dataclass(frozen=True)
class CauseColumns:
    """The columns that causes are read from, and a pattern for the document's id in a chunk's id.

    `reference_labels` and `answer_labels` are the names of columns with a judge's labels of claims by passage.
    """

    columns: Mapping[str, Column]
    n_rows: int
    failures: Sequence[str | None]
    correctness: Correctness
    doc_id: str | None = None
    reference_labels: str | None = None
    answer_labels: str | None = None

    def facts(self) -> list[Facts]:
        """The facts of every row."""
        rows = [self._row(place) for place in range(self.n_rows)]
        self._add_documents(rows)
        self._add_labels(rows)
        for row in rows:
            row.settle(reads_texts=self.correctness.reads_texts)
        while open_rows := [row for row in rows if row.wants_references or row.wants_answer]:
            _add_passages(open_rows)
        return [row.facts() for row in rows]

    def _row(self, place: int) -> _Row:
        answer, contexts = self._cell("answer", place), self._cell("contexts", place)
        mark = is_unanswerable({name: self._cell(name, place) for name in MARKS})
        return _Row(
            failure=(self.failures[place] if self.failures else None) or (_NO_ANSWER if answer is None else None),
            unanswerable=mark if isinstance(mark, bool) else None,
            right=self.correctness.of(place),
            question=self._cell("question", place) or "",
            references=[text for text in _texts(self._cell("reference", place)) if has_text(text)],
            answer=answer or "",
            passages=None if contexts is None else as_passages(contexts),
        )

    def _cell(self, name: str, row: int) -> Any:
        column = self.columns.get(name)
        return None if column is None else column[row]

    def _add_documents(self, rows: Sequence[_Row]) -> None:
        """Whether a gold document is among those that were retrieved, where a row has both."""
        gold, ids = self.columns.get("relevant"), self.columns.get("retrieved")
        if gold is None or ids is None:
            return
        places = [place for place in range(self.n_rows) if gold[place] and ids[place] is not None]
        as_written = self.columns.get(IDS_AS_WRITTEN) or [None] * self.n_rows
        columns = ([column[place] for place in places] for column in (gold, ids, as_written))
        hits = ranked.function(*columns, doc_id=self.doc_id).hits() if places else np.zeros(0)
        for place, n_hits in zip(places, hits.tolist(), strict=True):
            rows[place].retrieved = Known(n_hits > 0, GOLD_DOCUMENTS)

    def _add_labels(self, rows: Sequence[_Row]) -> None:
        """What a judge says of the claims of the reference and of the answer, passage by passage."""
        for place, share in self._label_shares(self.reference_labels):
            if rows[place].retrieved.holds is None:
                rows[place].retrieved = Known(share >= _SHARE, JUDGED_CLAIMS)
        for place, share in self._label_shares(self.answer_labels):
            rows[place].supported = Known(share >= _SHARE, JUDGED_CLAIMS)

    def _label_shares(self, name: str | None) -> list[tuple[int, float]]:
        """The share of claims that some passage supports, for the rows with labels."""
        column = None if name is None else self.columns.get(name)
        if column is None or name is None:
            return []
        declared = DECLARED[name.partition("[")[0]]
        labels = ((row, declared.decoded(value)) for row, value in enumerate(column) if value)
        return [(row, float(is_supported(of_row).any(axis=1).mean())) for row, of_row in labels if of_row and of_row[0]]


@dataclass(slots=True)
class _Row:
    """One answer with what is known of it so far. `passages` is None where nobody knows them."""

    failure: str | None
    unanswerable: bool | None
    right: Known
    question: str
    references: Sequence[str]
    answer: str
    passages: list[str] | None
    retrieved: Known = _UNKNOWN
    supported: Known = _UNKNOWN
    answers: bool = False
    declines: bool = False
    reference_declines: bool = False
    is_settled: bool = False

    def settle(self, *, reads_texts: bool) -> None:
        """Whether the answer declines, and whether the texts of passages are to be read."""
        if self.failure is None and (self.unanswerable or not (self.right.holds and self.retrieved.holds)):
            self.declines = has_text(self.answer) and is_miss(self.answer) and not self._repeats_reference
            if self.declines:  # one reference that declines lets it
                self.reference_declines = any(map(is_read_as_refusal, self.references))
            elif self.right.holds is False:  # where one has an answer, there was something to retrieve
                self.reference_declines = bool(self.references) and all(map(is_read_as_refusal, self.references))
            if not has_text(self.answer):  # a bad answer, that no passage says
                self.supported = Known(False, OFFLINE_SUPPORT)
        if self.passages == []:
            self.supported = Known(False, NO_PASSAGES)
            if self.retrieved.holds is None:
                self.retrieved = self.supported
        elif self.passages is None or not reads_texts:
            self.is_settled = True
            if self.supported.holds is None and self.retrieved.holds:
                self.supported = Known(None, NO_TEXTS)
        declined_rightly = self.declines and bool(self.unanswerable or self.reference_declines)
        is_open = self.right.holds is not None or self.declines or bool(self.unanswerable)
        is_told = self.failure is not None or declined_rightly or not is_open
        self.is_settled = self.is_settled or is_told or not self.passages

    @property
    def _repeats_reference(self) -> bool:
        """Whether the answer is a reference word for word which nobody reads as declining."""
        return any(same_words(text, self.answer) and not is_read_as_refusal(text) for text in self.references)

    @property
    def wants_references(self) -> bool:
        """Whether the references are to be looked up in the passages."""
        if self.is_settled or self.reference_declines:  # it says nothing that a passage could have
            return False
        return self.retrieved == _UNKNOWN and bool(self.references)

    @property
    def wants_answer(self) -> bool:
        """Whether the answer is to be looked up: of a right one only where the passages don't have the reference."""
        if self.is_settled or self.declines or self.supported.holds is not None:
            return False
        if self.right.holds:
            return not self.wants_references and not self.retrieved.holds
        return self.wants_references or bool(self.retrieved.holds or self.unanswerable or self.reference_declines)

    def facts(self) -> Facts:
        """What is known when all was read."""
        retrieved = self.retrieved
        if retrieved == _UNKNOWN and self.passages and not self.references:
            retrieved = Known(None, NO_REFERENCE)
        return Facts(
            self.failure, self.declines, self.unanswerable, self.reference_declines, self.right,
            retrieved, self.supported, self.answers,
        )  # fmt: skip


def _add_passages(rows: Sequence[_Row]) -> None:
    """What the texts of the passages say of what these rows want to know."""
    wanted = [(list(row.references) if row.wants_references else [], row.wants_answer) for row in rows]
    statements = [
        [statement_of(row.question, text) for text in (*references, *([row.answer] if with_answer else []))]
        for row, (references, with_answer) in zip(rows, wanted, strict=True)
    ]
    # The question's own words tell a wrong reference from a failed retrieval.
    questions = [
        row.question if references and with_answer else ""
        for row, (references, with_answer) in zip(rows, wanted, strict=True)
    ]
    results = statements_support(questions, statements, [row.passages or [] for row in rows])
    for row, (references, with_answer), supports in zip(rows, wanted, results, strict=True):
        if references:
            is_said = any(support.is_said for support in supports[: len(references)])
            row.retrieved = Known(is_said, OFFLINE_SUPPORT)
        if with_answer:
            is_there = supports[-1].is_there
            if is_there and not row.right.holds:
                is_there = not has_own_number(row.answer, row.passages or [])
            row.supported = Known(is_there, OFFLINE_SUPPORT)
            row.answers = is_there and supports[-1].answers


def _texts(reference: Any) -> list[str]:
    return [reference] if isinstance(reference, str) else list(reference or ())
