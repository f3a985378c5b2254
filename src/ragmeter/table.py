"""The run's table: its column names, the batches it is read in, and the blocks that metrics compute on.

A batch is some consecutive rows: a dict of columns of equal length. A block is what a metric computes on: the
rows that have every column it needs, with one line per (row, reference) pair where it needs references, and
with memoised derived columns (tokens, stems ...).

Columns of texts may stay in Arrow arrays: a reader fills them, and what scores and writes takes them as they are. For
everybody else they are sequences, whose cells become Python strings when somebody looks at them.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, compress
from typing import Any, Self, TypeAlias, TypeVar, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ragmeter.passages import graded_documents, passage_texts

Scores = npt.NDArray[np.float64]
Column = Sequence[Any]
Cell = TypeVar("Cell")
#: One row of a table, by the names of its columns: a cell is a text, a number, a list of texts or None, or whatever a
#: user's own column has. What has no columns is no row, even where it is a dict.
Row: TypeAlias = Mapping[str, Any]
#: A row that is still being made, or that its receiver may change.
NewRow: TypeAlias = dict[str, Any]
#: For each metric its scores, and for each row `scored` or the cause why it has no score.
ScoreColumns = dict[str, tuple[Scores, list[str]]]

QID = "qid"
TEXT_COLUMNS = ("qid", "question", "answer", "error", "session_id", "system_name")
LIST_COLUMNS = ("reference", "relevant", "retrieved", "contexts")
NUMBER_COLUMNS = ("latency_ms", "time_to_first_token_ms")
#: What had arrived of an answer that broke off. It has no score.
PARTIAL_ANSWER = "partial_answer"
#: The system's own scores of what it retrieved, in the order of `retrieved`: a JSON list of numbers as a text.
RETRIEVED_SCORES = "retrieved_scores"
#: Which time a question was asked, from "1" on, where it was asked several times.
REPEAT = "repeat"
#: The columns that a judge adds to a row.
JUDGE_COLUMNS = ("verdict", "reason", "judged_by", "verdict_probability")
#: How relevant each judged document is: a JSON object of documents and grades. `relevant` has those above 0.
RELEVANCE_GRADES = "relevance_grades"
#: Not empty in rows of a TREC run or of qrels: an id is compared as it is written there, and no chunk's is shortened.
IDS_AS_WRITTEN = "ids_as_written"
#: The language of a row's texts, by code or English name.
LANGUAGE = "language"
#: What passages have besides their texts: a JSON list with an object for each, with its id, score and metadata.
CONTEXT_DETAILS = "context_details"
#: The columns that say what is right. Where a reference file has them, those of the results don't count.
GOLD_COLUMNS = ("reference", "relevant", RELEVANCE_GRADES)
NAMED_COLUMNS = (*TEXT_COLUMNS, *LIST_COLUMNS, *NUMBER_COLUMNS)

#: Columns in which an empty list means missing: a row without gold answers or gold documents can't be scored.
#: An empty list of *retrieved* documents is a valid, bad result.
_EMPTY_IS_MISSING = frozenset({"reference", "relevant"})

#: What each outcome below means, in words for people.
MEANINGS: dict[str, str] = {}
_undecided: set[str] = set()


def _outcome(name: str, meaning: str, *, undecided: bool = False) -> str:
    """Declare an outcome. `undecided`: somebody was to score the row, and said nothing that counts."""
    MEANINGS[name] = meaning
    if undecided:
        _undecided.add(name)
    return name


SCORED = "scored"
UNDEFINED = _outcome("undefined", "the metric has no value here")
ABSTAINED = _outcome("abstained", "the answer declines to answer")
TARGET_ERROR = _outcome("target_error", "the system failed to answer")
NO_RESULT = _outcome("no_result", "the results have no such question")
#: A call that was not made because of Ctrl-C; it is written to no file.
STOPPED = _outcome("stopped", "not asked: the run was stopped")
EMBEDDING_ERROR = _outcome("embedding_error", "the embedding model could not be reached")
#: Outcomes of judges and targets that gave no usable answer, or were not asked.
UNPARSABLE = _outcome("unparsable", "the judge's reply could not be read", undecided=True)
REFUSED = _outcome("refused", "the judge refused", undecided=True)
TIED = _outcome("tied", "the judge's verdicts were tied", undecided=True)
IMAGE_ERROR = _outcome("image_error", "the picture could not be shown to the judge", undecided=True)
NO_QUORUM = _outcome("no_quorum", "too few of the jurors have a verdict", undecided=True)
TIMEOUT = _outcome("timeout", "no reply in time", undecided=True)
JUDGE_ERROR = _outcome("judge_error", "the judge could not be reached", undecided=True)
SKIPPED_BUDGET = _outcome("skipped_budget", "not asked: the budget was spent", undecided=True)
#: Outcomes of a page in a browser.
SELECTOR_NOT_FOUND = _outcome("selector_not_found", "the page has no such element")
NAVIGATION_ERROR = _outcome("navigation_error", "the page could not be opened")
PAGE_CRASHED = _outcome("page_crashed", "the page or the browser ended")
UNSURE = _outcome("unsure", "what was read may not be the whole answer, or not only the answer")
BLOCKED = _outcome("blocked", "the page refuses, wants a login, or leads elsewhere")
#: Outcomes of conversations, whose score stands in the row of their last turn: the other rows do not lack one.
ENDED = _outcome("ended", "not asked: the conversation had ended")
OTHER_TURN = _outcome("other_turn", "the score of the conversation is with its last turn")
TURN_NOT_SCORED = _outcome("turn_not_scored", "a turn of the conversation has no score")
NOT_MARKED = _outcome("no_unanswerable", "the question is not marked as answerable or unanswerable")
NOT_YES_OR_NO = _outcome("not_yes_or_no", "what marks the question as answerable is neither yes nor no")
NO_EXPECTATION = _outcome("no_expectation", "nothing is expected of the answer")
NO_NUMBER = _outcome("no_number", "there is no number to check")
SLOW_PATTERN = _outcome("pattern_too_slow", "the pattern took over a second")
NOT_HOPS = _outcome("not_hops", "what the system did is not known")
NO_HOP_IDS = _outcome("no_hop_ids", "what was retrieved on the way has no ids")
NEVER_FOUND = _outcome("never_found", "no retrieval found it")
NO_CALLS = _outcome("no_calls", "which tools were called is not known")
NOTHING_TO_USE = _outcome("nothing_to_use", "the passages support no claim of the reference")
#: The outcome of an answer, or of a reference, that claims nothing.
NO_CLAIMS = "no_claims"
#: Outcomes of rows that have no score though nothing failed.
NOTHING_FAILED = frozenset(
    {ABSTAINED, NO_CLAIMS, ENDED, OTHER_TURN, TURN_NOT_SCORED, NOT_MARKED, NOTHING_TO_USE, NEVER_FOUND}
)
#: Outcomes of rows that were to be scored by somebody who said nothing that counts.
OUTCOMES_WITHOUT_VERDICT = frozenset(_undecided)
#: Outcomes of rows that the system was never asked about: they don't count as its failures.
NOT_ASKED = frozenset({SKIPPED_BUDGET})


class _ArrowColumn(Sequence[Cell]):
    """A column in an Arrow array of texts, of which none is missing."""

    __hash__ = None  # type: ignore[assignment]  # as lists

    def __init__(self, array: Any) -> None:
        self.array = array

    @cached_property
    @abstractmethod
    def _cells(self) -> list[Cell]: ...

    @overload
    def __getitem__(self, place: int) -> Cell: ...
    @overload
    def __getitem__(self, place: slice) -> Self: ...
    def __getitem__(self, place: int | slice) -> Cell | Self:
        return type(self)(self.array[place]) if isinstance(place, slice) else self._cells[place]

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Any:
        return iter(self._cells)

    def __contains__(self, value: object) -> bool:
        return value is not None and value in self._cells

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._cells == list(other)

    def __repr__(self) -> str:
        return repr(self._cells)


class TextColumn(_ArrowColumn[str]):
    """A column of texts."""

    @cached_property
    def _cells(self) -> list[str]:
        texts: list[str] = self.array.to_numpy(zero_copy_only=False).tolist()
        return texts

    def __arrow_array__(self, type: Any = None) -> Any:  # noqa: A002 - its name
        """The Arrow array, for `pa.array`, which calls this."""
        return self.array

    def containing(self, character: str) -> TextColumn:
        """The texts that have this character of ASCII."""
        if not len(self):
            return self
        _, offsets, data = self.array.buffers()
        bounds = np.frombuffer(offsets, np.int64)[self.array.offset :][: len(self) + 1]
        letters = np.frombuffer(data, np.uint8)[bounds[0] : bounds[-1]] if data is not None else np.empty(0, np.uint8)
        places = bounds[0] + np.flatnonzero(letters == ord(character))
        return TextColumn(self.array.take(pa.array(np.unique(np.searchsorted(bounds, places, "right") - 1))))


class ListsOfOne(_ArrowColumn[list[str]]):
    """A column of lists that have one text each, as a file with one reference a row gives them."""

    @property
    def texts(self) -> TextColumn:
        """The only text of each list."""
        return TextColumn(self.array)

    @cached_property
    def _cells(self) -> list[list[str]]:
        return [[text] for text in self.texts]

    def __arrow_array__(self, type: Any = None) -> Any:  # noqa: A002 - its name
        """The Arrow array, for `pa.array`, which calls this."""
        return pa.ListArray.from_arrays(np.arange(len(self) + 1, dtype=np.int32), self.array)


def cells_at(column: Sequence[str], places: npt.NDArray[np.int64]) -> Sequence[str]:
    """The texts at these places."""
    if isinstance(column, TextColumn):
        return TextColumn(column.array.take(pa.array(places)))
    return [column[place] for place in places.tolist()]


@dataclass(frozen=True)
class Embeddings:
    """The vectors of a block's distinct texts, and for each pair the indices of its reference and its answer.

    Vectors have length 1. All empty texts share a zero vector.
    """

    vectors: npt.NDArray[np.float32]
    reference: npt.NDArray[np.int64]
    answer: npt.NDArray[np.int64]


#: The block that an embedded column belongs to (its needed and its optional columns), and the column's name.
EmbeddedKey = tuple[tuple[str, ...], tuple[str, ...], str]


@dataclass(slots=True)
class Batch:
    """Some consecutive rows.

    `lines` has the line of each row in its file, if there is one; `file` is that file, where a source has several;
    `causes` why a whole row has failed, if any has.
    `embedded` has the columns of vectors that the engine has filled; they are not part of the run's table. `numbers`
    are columns of numbers besides NUMBER_COLUMNS.
    """

    columns: Mapping[str, Column]
    lines: Sequence[int] = field(default_factory=tuple)
    causes: Sequence[str | None] = field(default_factory=tuple)
    embedded: Mapping[EmbeddedKey, Embeddings] = field(default_factory=dict)
    numbers: Collection[str] = ()
    file: str = ""

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def part(self, begin: int, end: int) -> Batch:
        """Some of the rows as a batch of their own."""
        columns = {name: column[begin:end] for name, column in self.columns.items()}
        return replace(self, columns=columns, lines=self.lines[begin:end], causes=self.causes[begin:end], embedded={})


@dataclass(frozen=True, slots=True)
class Measure:
    """The properties of a column of scores that no metric computes, for example a judge's, for its summary."""

    name: str
    binary: bool = False
    direction: str = "higher"
    bounds: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Failed:
    """Returned by a metric in place of a number, for a row that it can't score."""

    cause: str


def plain_column(name: str, column: Column, metric: str) -> dict[str, Column]:
    """A column as a caller in Python may write it, with the cells that a table has: lists, and texts of passages.

    Documents with grades, `{"d1": 2, "d2": 0}`, become two columns.
    """
    kinds = set(map(type, column))
    if name == "contexts":
        return {name: [None if row is None else passage_texts(row) for row in column]}
    if name == "relevant" and dict in kinds:
        graded = [graded_documents(cell) if isinstance(cell, dict) else (cell, None) for cell in column]
        grades = [None if of is None else json.dumps(of) for _, of in graded]
        return {name: [documents for documents, _ in graded], RELEVANCE_GRADES: grades}
    if name == "reference" and str in kinds:
        return {name: [[value] if isinstance(value, str) else value for value in column]}
    if name in LIST_COLUMNS and str in kinds:
        raise TypeError(f"{metric} needs a list of ids for each row of {name}")
    return {name: column}


def outcome_column(name: str) -> str:
    """The column with the outcome of each value of a column of scores, or of one that a judge filled."""
    return f"{name}.outcome"


def outcomes(
    columns: Mapping[str, Column], needs: Sequence[str], rows: int, optional: Collection[str] = ()
) -> list[str]:
    """Outcomes: `scored`, or why a metric with these needs can't score the row; `optional` columns may be empty."""
    row_outcomes = [SCORED] * rows
    for name in needs:
        if name in optional:
            continue
        column = columns.get(name)
        if column is None:
            return [f"no_{name}"] * rows
        if name in _EMPTY_IS_MISSING:
            if not isinstance(column, ListsOfOne) and not all(column):
                row_outcomes = [
                    outcome if value else f"no_{name}" for value, outcome in zip(column, row_outcomes, strict=True)
                ]
        elif None in column:
            causes = columns.get(outcome_column(name)) or [None] * rows
            row_outcomes = [
                outcome if value is not None else cause or f"no_{name}"
                for value, outcome, cause in zip(column, row_outcomes, causes, strict=True)
            ]
    return row_outcomes


def row_causes(batch: Batch) -> list[str | None]:
    """Each row's cause of failure before any metric ran, None if it has none; an empty list if no row has failed."""
    errors = batch.columns.get("error")
    if errors is None or not any(errors):
        return list(batch.causes)
    batch_causes = batch.causes or [None] * len(batch)
    return [cause or (TARGET_ERROR if error else None) for cause, error in zip(batch_causes, errors, strict=True)]


class Block:
    """The complete rows for a set of needed columns."""

    def __init__(self, columns: Mapping[str, Sequence[Any]], *, paired: bool = True) -> None:
        """`columns` has the needed columns, `reference` as one list per row. Only optional cells may be None.

        A block that is not `paired` keeps these lists: it has a line for each row.
        """
        self.columns: dict[str, Sequence[Any]] = dict(columns)
        self.rows = self.pairs = len(next(iter(columns.values()), ()))
        self.memo: dict[Hashable, Any] = {}
        self._firsts: npt.NDArray[np.int64] | None = None  # the first pair of each row, if a row has several
        references = columns.get("reference")
        if references is not None and paired:
            self._pair(references)

    @classmethod
    def of(
        cls, columns: Mapping[str, Column], needs: Sequence[str], row_outcomes: Sequence[str], *, paired: bool = True
    ) -> Block:
        """The rows of `columns` whose outcome is `scored`. A missing optional column is filled with None."""
        empty: Column = [None] * len(row_outcomes)
        if row_outcomes.count(SCORED) == len(row_outcomes):
            return cls({name: columns.get(name, empty) for name in needs}, paired=paired)
        keep = [outcome == SCORED for outcome in row_outcomes]
        return cls({name: list(compress(columns.get(name, empty), keep)) for name in needs}, paired=paired)

    def _pair(self, references: Sequence[Sequence[str]]) -> None:
        if isinstance(references, ListsOfOne):
            self.columns["reference"] = references.texts
            return
        counts = np.fromiter(map(len, references), np.int64, self.rows)
        self.columns["reference"] = list(chain.from_iterable(references))
        if self.rows and counts.max() > 1:
            self.pairs = int(counts.sum())
            self._firsts = np.cumsum(counts) - counts
            row_of_pair = np.repeat(np.arange(self.rows), counts).tolist()
            for name, column in self.columns.items():
                if name != "reference":
                    self.columns[name] = [column[i] for i in row_of_pair]

    def first_pair(self, row: int) -> int:
        """The index of a row's first pair."""
        return row if self._firsts is None else int(self._firsts[row])

    def best(self, scores: Scores, lower_is_better: bool) -> Scores:
        """One score per row from one score per pair: the best over the row's references."""
        if self._firsts is None or len(scores) == self.rows:
            return scores
        best = np.fmin if lower_is_better else np.fmax  # these ignore NaN, so a failed pair never wins
        return np.asarray(best.reduceat(scores, self._firsts), dtype=np.float64)
