"""The run's table: its column names, the batches it flows in, and the blocks that metrics see.

A batch is a handful of rows as they were read: a dict of equally long columns. A block is what a metric
computes on: the rows that have every column it needs, with one line per (row, reference) pair where it
needs references, and with the derived columns (tokens, stems ...) memoised beside the given ones.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, compress
from typing import Any

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float64]
Column = list[Any]
#: For each metric its scores, and for each row `scored` or why there is none.
ScoreColumns = dict[str, tuple[Scores, list[str]]]

QID = "qid"
TEXT_COLUMNS = ("qid", "question", "answer", "error", "session_id", "system_name")
LIST_COLUMNS = ("reference", "relevant", "retrieved", "contexts")
NUMBER_COLUMNS = ("latency_ms", "time_to_first_token_ms")
#: What conversations call a score in their results file, and in the run's rows.
OTHER_NAMES = {
    "accuracy": "is_correct",
    "exact_match": "is_exact_match",
    "missing": "is_miss",
    "hallucination_rate": "is_hallucination",
    "mean_multi_turn_conversation_score": "multi_turn_conversation_score",
}
#: What a judge leaves beside a row.
JUDGE_COLUMNS = ("verdict", "reason", "judged_by", "verdict_probability")
NAMED_COLUMNS = (*TEXT_COLUMNS, *LIST_COLUMNS, *NUMBER_COLUMNS)

#: Empty means missing here: without a gold answer or a gold document there is nothing to compare with.
#: An empty list of *retrieved* documents is an answer like any other, and a bad one.
_EMPTY_IS_MISSING = frozenset({"reference", "relevant"})

SCORED = "scored"
UNDEFINED = "undefined"
TARGET_ERROR = "target_error"
NO_RESULT = "no_result"
#: Outcomes of judges and targets: what was not understood, not answered in time, not answered, or not asked.
UNPARSABLE = "unparsable"
REFUSED = "refused"
TIED = "tied"
TIMEOUT = "timeout"
JUDGE_ERROR = "judge_error"
SKIPPED_BUDGET = "skipped_budget"
#: Rows that failed with one of these were never put to the system: that is no fault of its own.
NOT_ASKED = frozenset({SKIPPED_BUDGET})


@dataclass(frozen=True)
class Embeddings:
    """The vectors of a block's distinct texts, and which of them each side of each pair has.

    Vectors have length 1. All empty texts share one that is zero.
    """

    vectors: npt.NDArray[np.float32]
    reference: npt.NDArray[np.int64]
    answer: npt.NDArray[np.int64]


#: Which block an embedded column is for (the columns that it needs, those that are optional), and the column's name.
EmbeddedKey = tuple[tuple[str, ...], tuple[str, ...], str]


@dataclass(slots=True)
class Batch:
    """Some consecutive rows.

    `lines` says where each row begins in its file, where there is a file; `causes` why a row as a whole has failed,
    where some have. `plain`: every cell is a text that can be written as it stands, and need not be looked at.
    `embedded` are the columns of vectors that the engine has filled; they are no part of the run's table.
    """

    columns: dict[str, Column]
    lines: Sequence[int] = field(default_factory=tuple)
    causes: Sequence[str | None] = field(default_factory=tuple)
    plain: bool = False
    embedded: Mapping[EmbeddedKey, Embeddings] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))


@dataclass(frozen=True, slots=True)
class Measure:
    """A column of scores that no metric computes, a judge's for one: what its summary has to know of it."""

    name: str
    binary: bool = False
    direction: str = "higher"
    bounds: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Failed:
    """What a metric returns in place of a number for a row that it could not score."""

    cause: str


def outcome_column(name: str) -> str:
    """The column that says beside a column of scores, or one that a judge filled, how each value came about."""
    return f"{name}.outcome"


def outcomes(
    columns: Mapping[str, Column], needs: Sequence[str], rows: int, optional: Collection[str] = ()
) -> list[str]:
    """For each row `scored`, or why a metric that needs these columns can't score it; `optional` ones may be empty."""
    found = [SCORED] * rows
    for name in needs:
        if name in optional:
            continue
        column = columns.get(name)
        if column is None:
            return [f"no_{name}"] * rows
        if name in _EMPTY_IS_MISSING:
            if not all(column):
                found = [was if value else f"no_{name}" for value, was in zip(column, found, strict=True)]
        elif None in column:
            causes = columns.get(outcome_column(name)) or [f"no_{name}"] * rows
            found = [cause if value is None else was for value, was, cause in zip(column, found, causes, strict=True)]
    return found


def row_causes(batch: Batch) -> list[str | None]:
    """Why each row has failed before any metric saw it, or nothing where no row has."""
    errors = batch.columns.get("error")
    if errors is None or not any(errors):
        return list(batch.causes)
    known = batch.causes or [None] * len(batch)
    return [cause or (TARGET_ERROR if error else None) for cause, error in zip(known, errors, strict=True)]


class Block:
    """Complete rows for one set of needed columns, ready for metrics."""

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        """`columns` holds just what is needed, `reference` as one list per row. Only optional cells may be None."""
        self.columns: dict[str, Sequence[Any]] = dict(columns)
        self.rows = self.pairs = len(next(iter(columns.values()), ()))
        self.memo: dict[Hashable, Any] = {}
        self._firsts: npt.NDArray[np.int64] | None = None  # where each row's pairs begin, if some row has several
        references = columns.get("reference")
        if references is not None:
            self._pair(references)

    @classmethod
    def of(cls, columns: Mapping[str, Column], needs: Sequence[str], found: Sequence[str]) -> Block:
        """The rows of `columns` whose outcome is `scored`. An optional column that is not there is empty."""
        empty: Column = [None] * len(found)
        if found.count(SCORED) == len(found):
            return cls({name: columns.get(name, empty) for name in needs})
        keep = [outcome == SCORED for outcome in found]
        return cls({name: list(compress(columns.get(name, empty), keep)) for name in needs})

    def _pair(self, references: Sequence[Sequence[str]]) -> None:
        counts = np.fromiter(map(len, references), np.int64, self.rows)
        self.columns["reference"] = list(chain.from_iterable(references))
        if self.rows and counts.max() > 1:
            self.pairs = int(counts.sum())
            self._firsts = np.cumsum(counts) - counts
            which = np.repeat(np.arange(self.rows), counts).tolist()
            for name, column in self.columns.items():
                if name != "reference":
                    self.columns[name] = [column[i] for i in which]

    def first_pair(self, row: int) -> int:
        """Where a row's pairs begin."""
        return row if self._firsts is None else int(self._firsts[row])

    def best(self, scores: Scores, lower_is_better: bool) -> Scores:
        """One score per row from one score per pair: the best over the row's references."""
        if self._firsts is None or len(scores) == self.rows:
            return scores
        best = np.fmin if lower_is_better else np.fmax  # these pass over NaN: a pair that failed never wins
        return np.asarray(best.reduceat(scores, self._firsts), dtype=np.float64)
