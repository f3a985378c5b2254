"""The file of labels: people's labels of answers, and how the rows were sampled.

A CSV file for people and spreadsheets: a line for each row, with the texts and the column `label`. The others are for
calibration: `stratum`, `stratum_rows` (the stratum's rows in the run), `weight` (how many of them this row stands for),
and `answer_hash`, which shows that a label belongs to the run's answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unicodedata import normalize

from ragmeter.analysis.people.claims import claim_key, places_of
from ragmeter.analysis.people.sampling import Sample
from ragmeter.analysis.people.verdicts import read_columns
from ragmeter.errors import ColumnError, InputError, UsageError
from ragmeter.io.cells import as_number, as_text
from ragmeter.io.source import Reading, Source, open_source, stem
from ragmeter.io.write import replacing, write_rows
from ragmeter.runs.places import hold_for
from ragmeter.show.numbers import given

CORRECT, WRONG, SKIPPED = "correct", "wrong", "skip"
_WORDS = {
    **dict.fromkeys(("correct", "right", "yes", "y", "true", "1", "1.0", "1,0", "supported"), CORRECT),
    **dict.fromkeys(("wrong", "incorrect", "no", "n", "false", "0", "0.0", "0,0", "unsupported"), WRONG),
    **dict.fromkeys(("skip", "skipped", "?"), SKIPPED),
    **dict.fromkeys(("correcto", "correcta", "sí", "si", "verdadero", "verdadera"), CORRECT),
    **dict.fromkeys(("incorrecto", "incorrecta", "falso", "falsa"), WRONG),
}
#: What a label of a claim says.
SUPPORTED, UNSUPPORTED = "supported", "unsupported"
_OF_CLAIMS = {CORRECT: SUPPORTED, WRONG: UNSUPPORTED}
_TEXTS = ("question", "reference", "answer")
_OF_PEOPLE = ("label", "rater", "note")
_OF_DESIGN = ("stratum", "stratum_rows", "weight", "answer_hash")


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

    @property
    def key(self) -> str:
        """What identifies the labelled row, or the claim."""
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


def _whole_number(row: Mapping[str, Any], title: str, what: str, file: str, line: int) -> int | None:
    number = _number(row.get(title), title, file, line)
    if number is not None and (number < 1 or not number.is_integer()):
        raise InputError(f"{title} must be {what}, got {given(number)}", file=file, line=line)
    return None if number is None else int(number)


def _weight(row: Mapping[str, Any], file: str, line: int) -> float | None:
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


class Sheet:
    """A file of labels being filled in: every label is written before the next row is shown."""

    def __init__(self, path: Path, titles: Sequence[str], rows: list[dict[str, Any]]) -> None:
        self.path = path
        self._titles = tuple(titles)
        self.rows = rows

    @classmethod
    def of(cls, sample: Sample, path: Path, *, contexts: bool = False) -> Sheet:
        """A new sheet without labels."""
        texts: tuple[str, ...] = (*_TEXTS, "contexts") if contexts else _TEXTS
        if sample.claims is not None:
            texts = ("question", sample.claims.source)
        columns = read_columns(sample.run, [*texts, "answer"], [row.index for row in sample.rows])
        places = {} if sample.claims is None else places_of(sample.claims.keys)
        rows = []
        for place, row in enumerate(sample.rows):
            labelled: str | None = columns["answer"][place]
            unit: dict[str, Any] = {"qid": row.qid}
            if sample.claims is not None and row.claim is not None:
                labelled = sample.claims.texts[places[claim_key(row.qid, row.claim)]]
                unit |= {"claim": row.claim, "metric": sample.claims.metric, "claim_text": labelled}
            rows.append(
                {
                    **unit,
                    **{name: _joined(columns[name][place]) for name in texts},
                    **dict.fromkeys(_OF_PEOPLE, ""),
                    "stratum": row.stratum,
                    "stratum_rows": row.stratum_rows,
                    "weight": row.weight,
                    "answer_hash": answer_hash(labelled),
                }
            )
        return cls(path, tuple(rows[0]), rows)

    @property
    def of_claims(self) -> bool:
        """Whether each line is a claim, not an answer."""
        return "claim" in self._titles

    def word(self, label: str) -> str:
        """A label as the file has it."""
        return _OF_CLAIMS.get(label, label) if self.of_claims else label

    @classmethod
    def read(cls, path: Path) -> Sheet:
        """A sheet that was begun earlier; every line is checked."""
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
        """Set a row's label and write the file."""
        if label is not None and label not in (CORRECT, WRONG, SKIPPED):
            raise UsageError(f"{label!r} is not a label")
        self.rows[place]["label"] = label or ""
        self.rows[place]["rater"] = rater if label else ""
        self.write()

    def write(self) -> None:
        """Write the file; the old one is replaced in one step."""
        ending = "tsv" if self.path.suffix.lower() in (".tsv", ".tab") else "csv"
        with hold_for(self.path, "writes labels"), replacing(self.path) as (temporary,):
            cells = (
                [self.word(row["label"]) if title == "label" else row.get(title, "") for title in self._titles]
                for row in self.rows
            )
            write_rows(temporary, self._titles, cells, ending)


def _joined(value: Any) -> str:
    """A cell for people: several references are on a line each."""
    if value is None:
        return ""
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)
