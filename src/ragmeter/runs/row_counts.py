"""What is counted row by row in a table, for its summary: of a table in parts, by whoever has written the part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragmeter.documents.summary import Abstained, Answers, QuestionSet
from ragmeter.metrics.abstention import MARKS, is_unanswerable
from ragmeter.runs.question_set import MOST_ROWS, Digests, digests_of, fingerprint
from ragmeter.runs.rows import StoredRows
from ragmeter.table import ABSTAINED, Failed, outcome_column

#: Rows whose outcomes are looked at together.
_AT_ONCE = 262_144


@dataclass(frozen=True)
class RowCounts:
    """Answers with something in them, empty ones, and those that decline; with digests of the questions, if few.

    Of the answers that decline, `right` and `wrong` are those of questions that are marked as (un)answerable.
    """

    rows: int
    given: int
    empty: int
    declined: int
    right: int
    wrong: int
    digests: Digests | None

    @classmethod
    def of(cls, rows: StoredRows, parts: int = 1) -> Self:
        """Count in a table, or in one of so many parts. Millions of rows have no digests."""
        most = MOST_ROWS if parts == 1 else 2 * MOST_ROWS  # other parts may be smaller
        digests = digests_of(rows) if rows.n_rows * parts <= most else None
        return cls(rows.n_rows, *_answers(rows), *_declined(rows), digests)

    @classmethod
    def sum(cls, parts: Iterable[RowCounts]) -> Self:
        """The counts of a table in these parts."""
        counts = list(parts)
        numbers = np.sum([own._numbers for own in counts], axis=0).tolist()
        digests = [own.digests for own in counts if own.digests is not None]
        has_all = len(digests) == len(counts) and numbers[0] <= MOST_ROWS
        return cls._of_numbers(numbers, np.concatenate(digests) if has_all else None)

    @property
    def _numbers(self) -> tuple[int, ...]:
        return self.rows, self.given, self.empty, self.declined, self.right, self.wrong

    def to_bytes(self) -> bytes:
        """The counts as a file has them."""
        digests = np.empty(0, "<u8") if self.digests is None else self.digests.astype("<u8")
        return np.array([*self._numbers, self.digests is not None], "<i8").tobytes() + digests.tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The counts of `to_bytes`."""
        *numbers, has_digests = np.frombuffer(data, "<i8", 7).tolist()
        digests = np.frombuffer(data, "<u8", offset=56).astype(np.uint64) if has_digests else None
        return cls._of_numbers(numbers, digests)

    @classmethod
    def _of_numbers(cls, numbers: Sequence[int], digests: Digests | None) -> Self:
        rows, given, empty, declined, right, wrong = numbers
        return cls(rows, given, empty, declined, right, wrong, digests)

    def questions(self, rows: StoredRows) -> QuestionSet | None:
        """The questions of the table; None for an empty one, and for one of millions of rows."""
        if not 0 < self.rows <= MOST_ROWS:
            return None
        digests = digests_of(rows) if self.digests is None else self.digests
        return None if digests is None else fingerprint(digests)

    def answers(self, rows: StoredRows) -> Answers | None:
        """How many answers there are; None for a table without the column, and where every row has one."""
        is_plain = "answer" not in rows.schema.names or self.given == self.rows
        return None if is_plain else Answers(self.given, self.empty)

    def abstained(self) -> Abstained | None:
        """How many answers decline; None without any that some metric did not score because of that."""
        return Abstained(self.declined, self.right, self.wrong) if self.declined else None


def _answers(rows: StoredRows) -> tuple[int, int]:
    given = empty = 0
    for batch in rows.batches(_AT_ONCE, ["answer"]) if "answer" in rows.schema.names else ():
        texts = batch["answer"].cast(pa.large_string())
        n_empty = int(pc.sum(pc.equal(pc.utf8_trim_whitespace(texts), "")).as_py() or 0)
        empty += n_empty
        given += len(texts) - texts.null_count - n_empty
    return given, empty


def _declined(rows: StoredRows) -> tuple[int, int, int]:
    """How many answers decline, and how many of them rightly and wrongly, where questions are marked."""
    outcomes = [name for name in rows.schema.names if name.endswith(outcome_column(""))]
    marks = [name for name in rows.schema.names if name in MARKS]
    declined = 0
    flags: list[bool | Failed] = []
    for batch in rows.batches(_AT_ONCE, [*outcomes, *marks]) if outcomes else ():
        is_declined = np.zeros(batch.num_rows, dtype=np.bool_)
        for name in outcomes:
            texts = batch[name].cast(pa.string())
            is_declined |= pc.equal(texts, ABSTAINED).fill_null(False).to_numpy(zero_copy_only=False)
        declined += int(is_declined.sum())
        if marks and is_declined.any():
            flags += map(is_unanswerable, batch.select(marks).filter(pa.array(is_declined)).to_pylist())
    return declined, flags.count(True), flags.count(False)
