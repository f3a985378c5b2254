"""The samples in `data/`, and files of any length made of them."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Row:
    """One question with its gold answer and a system's."""

    question: str
    reference: str
    answer: str


@dataclass(frozen=True)
class Sample:
    """Rows of one kind, which go on for as long as one wants.

    After the last row they begin again, each with its number as one more word of the answer: every row is different,
    and every repeated row brings a word that was never seen before.
    """

    name: str
    language: str
    rows: tuple[Row, ...]

    @classmethod
    def load(cls, name: str, language: str) -> Sample:
        """The sample of that name."""
        with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows = [Row(**json.loads(line)) for line in lines]
        if name == "evouna":  # its gold answers are two words; with the question they are a short reply
            rows = [replace(row, reference=f"{row.question} {row.reference}") for row in rows]
        return cls(name, language, tuple(rows))

    def row(self, number: int) -> Row:
        """The row of that number, counted from 0."""
        row = self.rows[number % len(self.rows)]
        return row if number < len(self.rows) else Row(row.question, row.reference, f"{row.answer} {number}")

    def write(self, path: Path, count: int) -> None:
        """The first `count` rows as a TSV file with a header, quoted as RFC 4180 has it."""
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter="\t", lineterminator="\n")
            writer.writerow(["qid", "question", "reference", "answer"])
            writer.writerows(self._cells(count))

    def _cells(self, count: int) -> Iterator[tuple[str, str, str, str]]:
        for number in range(count):
            row = self.row(number)
            yield f"q{number}", row.question, row.reference, row.answer

    def words(self) -> str:
        """How many words a reference has, and an answer, on average."""
        reference = mean(len(row.reference.split()) for row in self.rows)
        answer = mean(len(row.answer.split()) for row in self.rows)
        return f"{reference:.0f}/{answer:.0f}"


def spread(total: int, count: int) -> list[int]:
    """So many of the numbers below `total`, evenly spaced."""
    count = min(count, total)
    return [place * total // count for place in range(count)]
