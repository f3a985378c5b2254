"""The file of labels: people's labels of answers, and how the rows were sampled.

A CSV file for people and spreadsheets: a line for each row, with the texts and the column `label`. The others are for
calibration: `stratum`, `stratum_rows` (the stratum's rows in the run), `weight` (how many of them this row stands for),
and `answer_hash`, which shows that a label belongs to the run's answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from unicodedata import normalize

from ragmeter.analysis.people.claim_items import claim_key
from ragmeter.errors import ColumnError, InputError
from ragmeter.io.cells import as_number, as_text
from ragmeter.io.reading import Reading
from ragmeter.io.source import Source, open_source, stem
from ragmeter.table import Row
from ragmeter.wording.numbers import given

CORRECT, WRONG, SKIPPED = "correct", "wrong", "skip"
_WORDS = {
    **dict.fromkeys(("correct", "right", "yes", "y", "true", "1", "1.0", "1,0", "supported"), CORRECT),
    **dict.fromkeys(("wrong", "incorrect", "no", "n", "false", "0", "0.0", "0,0", "unsupported"), WRONG),
    **dict.fromkeys(("skip", "skipped", "?"), SKIPPED),
    **dict.fromkeys(("correcto", "correcta", "sí", "si", "verdadero", "verdadera"), CORRECT),
    **dict.fromkeys(("incorrecto", "incorrecta", "falso", "falsa"), WRONG),
}
#: In the place of a person's name: the label is what people agreed on after they had labelled the row differently.
AGREED = "agreed"
#: What a label of a claim says.
SUPPORTED, UNSUPPORTED = "supported", "unsupported"


@dataclass(frozen=True)
class Label:
    """One line of the file. `label` is correct, wrong, skip, or None for a row without a label."""

    qid: str
    label: str | None
    rater: str = ""
    stratum: str | None = None
    stratum_rows: int | None = None
    weight: float | None = None
    answer_hash: str | None = None
    file: str = "labels"
    line: int = 0
    claim: int | None = None
    metric: str | None = None
    note: str = ""

    @property
    def is_agreed(self) -> bool:
        """Whether people agreed on it after they had labelled the row differently."""
        return self.rater.casefold() == AGREED

    @property
    def key(self) -> str:
        """The key of the labelled row, or of the claim."""
        return self.qid if self.claim is None else claim_key(self.qid, self.claim)

    @property
    def value(self) -> float | None:
        """1 for correct, 0 for wrong, None for neither."""
        return {CORRECT: 1.0, WRONG: 0.0}.get(self.label or "")

    def error(self, message: str, hint: str) -> InputError:
        """An error about this line."""
        return InputError(message, file=self.file, line=self.line, hint=hint)


def answer_hash(answer: str | None) -> str:
    """The hash that identifies an answer. It begins with letters, so that spreadsheets don't read it as a number."""
    return "sha256:" + hashlib.sha256((answer or "").encode("utf-8", "replace")).hexdigest()[:16]


def read_labels(data: Any, reading: Reading = Reading()) -> list[Label]:  # noqa: B008 - frozen
    """The labels of one file or several, of a list of dicts, or of a frame. A person may label a row only once."""
    several = isinstance(data, list | tuple) and bool(data) and not isinstance(data[0], Mapping)
    sources = [open_source(file, reading, what="labels") for file in (data if several else [data])]
    labels = [label for source in sources for label in _read(source, several and len(sources) > 1)]
    first_labels: dict[tuple[str, str], Label] = {}
    for label in labels:
        first = first_labels.setdefault((label.key, label.rater), label)
        if first is not label:
            rater = f" by {label.rater!r}" if label.rater else ""
            raise label.error(
                f"qid {label.qid!r} is labelled twice{rater}, first in {first.file}, line {first.line}",
                "several people's labels need a column `rater`, or a file for each of them",
            )
    return labels


def _read(source: Source, several: bool) -> Iterable[Label]:
    by_file = stem(source.path) if source.path is not None and several else ""
    for line, record in source.records():
        row = {str(title).strip().casefold(): value for title, value in record.items()}
        for needed in ("qid", "label"):
            if needed not in row:
                raise ColumnError(
                    f"a file of labels needs the columns qid and label, and {needed!r} is missing",
                    file=source.name,
                    hint="`ragmeter label RUN --blank` writes such a file",
                )
        qid = as_text(row["qid"])
        if not qid:
            raise InputError("the qid is empty", file=source.name, line=line)
        yield Label(
            qid,
            read_label(row["label"], source.name, line),
            (as_text(row.get("rater")) or "").strip() or by_file,
            as_text(row.get("stratum")) or None,
            _whole_number(row, "stratum_rows", "a number of rows", source.name, line),
            _weight(row, source.name, line),
            (as_text(row.get("answer_hash")) or "").strip() or None,
            source.name,
            line,
            _whole_number(row, "claim", "the claim's number, from 1", source.name, line),
            (as_text(row.get("metric")) or "").strip() or None,
            as_text(row.get("note")) or "",
        )


def read_label(cell: Any, file: str = "labels", line: int = 0) -> str | None:
    """Read a label as people write it."""
    text = normalize("NFC", (as_text(cell) or "").strip().casefold())
    if not text:
        return None
    if text not in _WORDS:
        raise InputError(
            f"{text[:40]!r} is not a label",
            file=file,
            line=line,
            hint="write correct or wrong, of a claim supported or unsupported (1, 0, yes, no), or nothing",
        )
    return _WORDS[text]


def _whole_number(row: Row, title: str, what: str, file: str, line: int) -> int | None:
    number = _number(row.get(title), title, file, line)
    if number is not None and (number < 1 or not number.is_integer()):
        raise InputError(f"{title} must be {what}, got {given(number)}", file=file, line=line)
    return None if number is None else int(number)


def _weight(row: Row, file: str, line: int) -> float | None:
    """The weight, unless `stratum_rows` is there: that is exact, and spreadsheets may change a decimal point."""
    if as_text(row.get("stratum_rows")):
        return None
    number = _number(row.get("weight"), "weight", file, line)
    if number is not None and number <= 0:
        raise InputError(f"the weight must be above 0, got {given(number)}", file=file, line=line)
    return number


def _number(cell: Any, title: str, file: str, line: int) -> float | None:
    try:
        return as_number(cell)
    except ValueError:
        raise InputError(f"{title} must be a number, got {as_text(cell)!r}", file=file, line=line) from None
