"""The file of labels: what people said of which answer, and how the rows were drawn.

A CSV for people, and for spreadsheets: a line for each row, `label` beside the texts. The rest is for calibration:
`stratum`, `stratum_rows` (how many rows of the run it has) and `weight` (for how many of them this one stands), and
`answer_hash`, by which a label is known to belong to the answer that the run holds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragmeter.analysis.people.sampling import Sample
from ragmeter.analysis.people.verdicts import read_columns
from ragmeter.errors import ColumnError, InputError, UsageError
from ragmeter.io.cells import as_number, as_text
from ragmeter.io.source import Reading, Source, open_source, stem
from ragmeter.io.write import replacing, write_rows
from ragmeter.show.numbers import given

CORRECT, WRONG, SKIPPED = "correct", "wrong", "skip"
_WORDS = {
    **dict.fromkeys(("correct", "right", "yes", "y", "true", "1", "1.0"), CORRECT),
    **dict.fromkeys(("wrong", "incorrect", "no", "n", "false", "0", "0.0"), WRONG),
    **dict.fromkeys(("skip", "skipped", "?"), SKIPPED),
}
_TEXTS = ("question", "reference", "answer")
_OF_PEOPLE = ("label", "rater", "note")
_OF_DESIGN = ("stratum", "stratum_rows", "weight", "answer_hash")


@dataclass(frozen=True)
class Label:
    """One line of the file. `label` is correct, wrong, skip, or None for what was not looked at."""

    qid: str
    label: str | None
    rater: str = ""
    stratum: str | None = None
    stratum_rows: int | None = None
    weight: float | None = None
    answer_hash: str | None = None
    file: str = "labels"
    line: int = 0

    @property
    def value(self) -> float | None:
        """1 for correct, 0 for wrong, None for neither."""
        return {CORRECT: 1.0, WRONG: 0.0}.get(self.label or "")


def answer_hash(answer: str | None) -> str:
    """What an answer is known by. It begins with letters, or a spreadsheet might take it for a number."""
    return "sha256:" + hashlib.sha256((answer or "").encode("utf-8", "replace")).hexdigest()[:16]


def read_labels(data: Any, reading: Reading = Reading()) -> list[Label]:  # noqa: B008 - frozen
    """The labels of a file, of several, or of a list of dicts or a frame. One person labels a row once."""
    several = isinstance(data, list | tuple) and bool(data) and not isinstance(data[0], Mapping)
    sources = [open_source(each, reading, what="labels") for each in (data if several else [data])]
    found = [label for source in sources for label in _read(source, several and len(sources) > 1)]
    seen: dict[tuple[str, str], Label] = {}
    for each in found:
        first = seen.setdefault((each.qid, each.rater), each)
        if first is not each:
            who = f" by {each.rater!r}" if each.rater else ""
            raise InputError(
                f"qid {each.qid!r} is labelled twice{who}, first in {first.file}, line {first.line}",
                file=each.file,
                line=each.line,
                hint="several people's labels need a column `rater`, or a file for each of them",
            )
    return found


def _read(source: Source, several: bool) -> Iterable[Label]:
    by_file = stem(source.path) if source.path is not None and several else ""
    for line, record in source.records():
        row = {str(title).strip().casefold(): value for title, value in record.items()}
        for needed in ("qid", "label"):
            if needed not in row:
                raise ColumnError(
                    f"a file of labels has the columns qid and label, and here is no {needed!r}",
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
            _rows(row.get("stratum_rows"), source.name, line),
            _weight(row, source.name, line),
            (as_text(row.get("answer_hash")) or "").strip() or None,
            source.name,
            line,
        )


def read_label(cell: Any, file: str = "labels", line: int = 0) -> str | None:
    """A label as people write it."""
    text = (as_text(cell) or "").strip().casefold()
    if not text:
        return None
    if text not in _WORDS:
        raise InputError(
            f"{text[:40]!r} is no label",
            file=file,
            line=line,
            hint="write correct or wrong (1, 0, yes, no), or nothing",
        )
    return _WORDS[text]


def _rows(cell: Any, file: str, line: int) -> int | None:
    number = _number(cell, "stratum_rows", file, line)
    if number is not None and (number < 1 or not number.is_integer()):
        raise InputError(f"stratum_rows is {given(number)}, and should be a number of rows", file=file, line=line)
    return None if number is None else int(number)


def _weight(row: Mapping[str, Any], file: str, line: int) -> float | None:
    """The weight, where nothing better says how the row was drawn: spreadsheets may have rewritten its point."""
    if as_text(row.get("stratum_rows")):
        return None
    number = _number(row.get("weight"), "weight", file, line)
    if number is not None and number <= 0:
        raise InputError(f"the weight is {given(number)}, and should be above 0", file=file, line=line)
    return number


def _number(cell: Any, title: str, file: str, line: int) -> float | None:
    try:
        return as_number(cell)
    except ValueError:
        raise InputError(f"{title} is {as_text(cell)!r}, and should be a number", file=file, line=line) from None


class Sheet:
    """A file of labels being filled in: every change is on the disk before the next question is asked."""

    def __init__(self, path: Path, titles: Sequence[str], rows: list[dict[str, Any]]) -> None:
        self.path = path
        self._titles = tuple(titles)
        self.rows = rows

    @classmethod
    def of(cls, sample: Sample, path: Path, *, contexts: bool = False) -> Sheet:
        """A blank one."""
        texts = (*_TEXTS, "contexts") if contexts else _TEXTS
        columns = read_columns(sample.run, texts, [row.index for row in sample.rows])
        rows = [
            {
                "qid": row.qid,
                **{name: _joined(columns[name][place]) for name in texts},
                **dict.fromkeys(_OF_PEOPLE, ""),
                "stratum": row.stratum,
                "stratum_rows": row.stratum_rows,
                "weight": row.weight,
                "answer_hash": answer_hash(columns["answer"][place]),
            }
            for place, row in enumerate(sample.rows)
        ]
        return cls(path, ("qid", *texts, *_OF_PEOPLE, *_OF_DESIGN), rows)

    @classmethod
    def read(cls, path: Path) -> Sheet:
        """One that was begun, as it stands: every line has been checked."""
        labels = read_labels(path)
        rows = [dict(record) for _, record in open_source(path).records()]
        titles = list(rows[0])
        for title in ("label", "rater"):
            if title not in titles:
                titles.append(title)
        for row, label in zip(rows, labels, strict=True):
            row["label"], row["rater"] = label.label or "", label.rater
        return cls(path, titles, rows)

    def record(self, place: int, label: str | None, rater: str) -> None:
        """Write down what somebody says of a row."""
        if label is not None and label not in (CORRECT, WRONG, SKIPPED):
            raise UsageError(f"{label!r} is no label")
        self.rows[place]["label"] = label or ""
        self.rows[place]["rater"] = rater if label else ""
        self.write()

    def write(self) -> None:
        """Put it on the disk, whole."""
        ending = "tsv" if self.path.suffix.lower() in (".tsv", ".tab") else "csv"
        with replacing(self.path) as (beside,):
            cells = ([row.get(title, "") for title in self._titles] for row in self.rows)
            write_rows(beside, self._titles, cells, ending)


def _joined(value: Any) -> str:
    """A cell for reading: several references each on a line of their own."""
    if value is None:
        return ""
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)
