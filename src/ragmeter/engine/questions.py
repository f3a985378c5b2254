"""The questions of a dataset: all of them or the first ones, as often as each is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from ragmeter.documents.manifest import Limit
from ragmeter.errors import InputError, UsageError
from ragmeter.hints import option, parameter
from ragmeter.io.columns import Typed, missing_column
from ragmeter.io.join import rows_of
from ragmeter.io.reading import Reading
from ragmeter.io.source import Source, open_source
from ragmeter.table import REPEAT, Batch
from ragmeter.targets.port import Question, session_of

_WHOLE = re.compile(r"\s*\d+(\.0*)?\s*")


@dataclass(frozen=True)
class Dataset:
    """A dataset that was read: its rows, as often as each question is asked, and the questions.

    `n_rows` is how many rows there are in all: more than are asked if there is a limit.
    """

    source: Source
    batches: list[Batch]
    questions: list[Question]
    repeats: int
    n_rows: int

    @classmethod
    def read(cls, source: Source, columns: Mapping[str, str], repeats: int = 1, limit: int | None = None) -> Self:
        """Read a dataset, and keep the first `limit` rows of it."""
        for name, value in (("repeats", repeats), ("limit", limit)):
            if value is not None and value < 1:
                raise UsageError(f"{parameter(name)} must be at least 1, got {value}")
        rows = list(rows_of(Typed(source, "reference", dict(columns))))
        n_rows = sum(map(len, rows))
        rows = rows if limit is None else list(_first(rows, limit))
        times = range(1, repeats + 1)
        questions = [question for time in times for batch in rows for question in _questions(batch, source, time)]
        return cls(source, _repeated(rows, repeats), questions, repeats, n_rows)

    @property
    def is_limited(self) -> bool:
        """Whether some of its questions are not asked."""
        return len(self.questions) < self.n_rows * self.repeats

    def limit(self) -> Limit | None:
        """How many questions are asked, where these are not all."""
        return Limit(len(self.questions) // self.repeats, self.n_rows) if self.is_limited else None


def first_question(dataset: Any, reading: Reading, columns: Mapping[str, str]) -> str:
    """The first question of a dataset."""
    return Dataset.read(open_source(dataset, reading, what="dataset"), columns, limit=1).questions[0].text


def _first(batches: Sequence[Batch], limit: int) -> Iterator[Batch]:
    """The first rows, as they were read from a file."""
    for batch in batches:
        if limit > 0:
            yield batch.part(0, limit)
        limit -= len(batch)


def _repeated(batches: list[Batch], repeats: int) -> list[Batch]:
    """All rows as often as each question is asked, with the number of the time in a column of its own."""
    if repeats == 1:
        return batches
    if any(REPEAT in batch.columns for batch in batches):
        raise UsageError(f"the dataset has a column {REPEAT!r}, which {option('repeats')} would fill")
    return [
        Batch({**batch.columns, REPEAT: [str(number)] * len(batch)}, batch.lines)
        for number in range(1, repeats + 1)
        for batch in batches
    ]


def _questions(batch: Batch, source: Source, time: int) -> Iterator[Question]:
    if "question" not in batch.columns:
        raise missing_column("question", "ask", list(batch.columns), source.name)
    rows = len(batch)
    sessions = batch.columns.get("session_id") or [None] * rows
    turns = batch.columns.get("turn_idx") or [None] * rows
    for place, (qid, text, session, turn) in enumerate(
        zip(batch.columns["qid"], batch.columns["question"], sessions, turns, strict=True)
    ):
        line = batch.lines[place] if len(batch.lines) else None
        if text is None or not text.strip():
            raise InputError("the row has no question", file=source.name, line=line)
        if turn is not None and not _WHOLE.fullmatch(str(turn)):
            raise InputError(f"turn_idx is {turn!r}, and should be a whole number", file=source.name, line=line)
        number = 0 if turn is None else int(float(turn))
        yield Question(qid, text, session_of(session, time), turn=number, repeat=time)
