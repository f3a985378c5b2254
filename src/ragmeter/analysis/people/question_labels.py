"""What people say of a test set's questions: would a user ask this, is the answer right, is it in the passage?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from msgspec import structs

from ragmeter.analysis.testsets import accepted, keep_card
from ragmeter.documents.testset import Acceptance
from ragmeter.errors import InputError, UsageError
from ragmeter.hints import option
from ragmeter.io.lock import file_lock
from ragmeter.io.source import open_source
from ragmeter.io.write import replacing, write_rows
from ragmeter.runs.run import Run
from ragmeter.table import QID, NewRow

#: What is asked of each question, by the column that has the answer.
ASKED = {
    "user_would_ask": "Would a user ask this?",
    "answer_is_right": "Is the answer right?",
    "in_passage": "Is the answer in the passage?",
}
SHOWN = ("question", "reference", "evidence", "source")
USUAL = 20
YES, NO = "yes", "no"
_YES, _NO = ("y", "1", YES, "true"), ("n", "0", NO, "false")


class QuestionSheet:
    """A file with some questions of a test set in random order, and what a person says of each."""

    def __init__(self, path: Path, run: Run, *, n: int = USUAL, seed: int = 0) -> None:
        self.path, self._run = path, run
        self.rows: Sequence[NewRow] = self._read() if path.exists() else self._new(n, seed)

    @property
    def asked(self) -> list[tuple[int, str]]:
        """All that is asked, in its order: the place of a row, and the column for the answer."""
        return [(place, name) for place, row in enumerate(self.rows) for name in asked_of(row)]

    def save(self) -> None:
        """Write the file."""
        with replacing(self.path, private=True) as (temporary,):
            write_rows(temporary, list(self.rows[0]), ([*row.values()] for row in self.rows), "csv")

    def record(self, number: int, answer: str) -> None:
        """Save the answer to what is asked at this place of `asked`, in the file as it is at this moment."""
        if not 0 <= number < len(self.asked) or answer not in (YES, NO):
            raise UsageError("there is no such question in this file")
        place, name = self.asked[number]
        lock = self.path.with_name(f".{self.path.name}.lock")
        with file_lock(lock, f"these labels, {self.path}", "writes labels"):
            if self.path.exists():
                self.rows = self._read()
            self.rows[place][name] = answer
            self.save()

    def keep(self) -> Acceptance | None:
        """Keep in the card what people say so far; None if nobody has said all about a question."""
        answers = self._answers()
        card = self._run.summary().test_set
        if not answers or card is None:
            return None
        keep_card(self._run, structs.replace(card, people=(people := accepted(answers))))
        return people

    def _new(self, n: int, seed: int) -> list[NewRow]:
        places = np.random.default_rng(seed).permutation(self._run.n_rows)[:n].tolist()
        rows = []
        for record in self._run.records(places, [QID, *SHOWN]):
            texts = {name: "\n".join(cell) if isinstance(cell, list) else cell or "" for name, cell in record.items()}
            rows.append({**texts, **dict.fromkeys(ASKED, "")})
        return rows

    def _read(self) -> list[NewRow]:
        rows = [dict(row) for _, row in open_source(self.path).records()]
        file, known = str(self.path), set(self._run.column(QID).to_pylist())
        if not rows or not {QID, *ASKED} <= rows[0].keys():
            raise InputError(f"this is no file of labels of a test set: it needs {', '.join(ASKED)}", file=file)
        if other := next((row[QID] for row in rows if row[QID] not in known), None):
            hint = f"name another file with {option('output')}"
            raise InputError(f"the question {other} is not in {self._run.name}", file=file, hint=hint)
        return rows

    def _answers(self) -> list[tuple[bool, bool, bool]]:
        """The answers about the questions that have all of them."""
        answers = []
        for number, row in enumerate(self.rows, 2):
            words = [str(row[name] or "").strip().casefold() for name in ASKED]
            if bad := next((word for word in words if word and word not in (*_YES, *_NO)), None):
                raise InputError(f"{bad!r} is neither yes nor no", file=str(self.path), line=number)
            if all(word or name not in asked_of(row) for name, word in zip(ASKED, words, strict=True)):
                first, second, third = (word not in _NO for word in words)
                answers.append((first, second, third))
        return answers


def asked_of(row: Mapping[str, object]) -> list[str]:
    """What is asked of a question: nothing about the answer where it has none."""
    return [name for name in ASKED if name != "answer_is_right" or row.get("reference")]
