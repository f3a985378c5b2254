"""A sheet: a file of labels that is being filled in, perhaps in several windows at once.

Every change is made under a lock, to the file as it is at that moment and not as this process has last seen it: no
label of another window is lost, and a label that was given meanwhile is not replaced unseen. A sheet holds one person's
labels, and only its owner can read the file.
"""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ragmeter.analysis.people.claim_items import claim_key, places_of
from ragmeter.analysis.people.labels import (
    AGREED,
    CORRECT,
    SKIPPED,
    SUPPORTED,
    UNSUPPORTED,
    WRONG,
    answer_hash,
    read_labels,
)
from ragmeter.analysis.people.sample import Sample
from ragmeter.analysis.people.verdicts import read_columns
from ragmeter.errors import InputError, UsageError
from ragmeter.hints import option
from ragmeter.io.cells import whole
from ragmeter.io.delimited.formulas import guarded
from ragmeter.io.lock import file_lock, real_path
from ragmeter.io.source import open_source
from ragmeter.io.write import check_writable, flush_folder, replacing, write_rows
from ragmeter.runs.places import hold_for
from ragmeter.table import NewRow, Row

_OF_CLAIMS = {CORRECT: SUPPORTED, WRONG: UNSUPPORTED}
_TEXTS = ("question", "reference", "answer")
_OF_PEOPLE = ("label", "rater", "note")
_OF_DESIGN = ("stratum", "stratum_rows", "weight", "answer_hash")
_OWN = {"qid", "claim", "metric", *_OF_PEOPLE, *_OF_DESIGN}


class Sheet:
    """A file of labels being filled in. `rows` is what this process has last seen of it."""

    def __init__(self, path: Path, titles: Sequence[str], rows: list[NewRow]) -> None:
        self.path = path
        self._titles = list(titles)
        self.rows = rows

    @classmethod
    def of(cls, sample: Sample, path: Path, *, contexts: bool = False) -> Sheet:
        """A new sheet without labels."""
        texts: tuple[str, ...] = (*_TEXTS, "contexts") if contexts else _TEXTS
        if sample.claims is not None:
            texts = ("question", sample.claims.source)
        columns = read_columns(sample.run, [*texts, "answer"], [row.index for row in sample.rows])
        keys = [claim_key(row.qid, row.claim) for row in sample.rows if row.claim is not None]
        places = {} if sample.claims is None else places_of(sample.claims.keys, keys)
        rows = []
        for place, row in enumerate(sample.rows):
            labelled: str | None = columns["answer"][place]
            unit: NewRow = {"qid": row.qid}
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

    @classmethod
    def of_picked(cls, path: Path) -> Sheet:
        """A sheet without rows, for those that a person picks; nothing says what these stand for."""
        return cls(path, ("qid", *_TEXTS, *_OF_PEOPLE, "answer_hash"), [])

    @classmethod
    def read(cls, path: Path) -> Sheet:
        """A sheet that was begun earlier; every line is checked."""
        labels = read_labels(path)
        rows = [{_title(title): cell for title, cell in record.items()} for _, record in open_source(path).records()]
        if not rows:
            raise InputError("the file has no rows to label", file=str(path))
        titles = list(rows[0])
        for title in ("label", "rater"):
            if title not in titles:
                titles.append(title)
        for row, label in zip(rows, labels, strict=True):
            row["label"], row["rater"] = label.label or "", label.rater
        return cls(path, titles, rows)

    @property
    def of_claims(self) -> bool:
        """Whether each line is a claim, not an answer."""
        return "claim" in self._titles

    @property
    def is_picked(self) -> bool:
        """Whether a person has picked the rows, so that more can be added. A sample was drawn, with its design."""
        return not self.of_claims and not any(row.get("weight") or row.get("stratum_rows") for row in self.rows)

    def pick(self, row: Row) -> int:
        """Add a row of a run, without a label, and return its place."""
        texts = {name: _joined(row.get(name)) for name in ("qid", *_TEXTS)}
        with self._changed():
            people = dict.fromkeys(_OF_PEOPLE, "")
            self.rows.append({**texts, **people, "answer_hash": answer_hash(row.get("answer"))})
        return len(self.rows) - 1

    def word(self, label: str) -> str:
        """A label as the file has it."""
        return _OF_CLAIMS.get(label, label) if self.of_claims else label

    def check_rater(self, rater: str) -> None:
        """Raise if the sheet holds another person's labels."""
        others = {guarded(row["rater"]) for row in self.rows if row["label"]} - {rater_name(rater)}
        if others:
            raise UsageError(
                f"{self.path} holds the labels of {', '.join(sorted(other or 'somebody' for other in others))}",
                hint=f"go on with that {option('rater')}, or give the other person a file of their own with "
                f"{option('output')}",
            )

    def check_texts(self, unit: str, texts: Sequence[str | None]) -> None:
        """Raise if one of the texts that are labelled, answers or claims, is not the one that the sheet was made of."""
        for text, row in zip(texts, self.rows, strict=True):
            if row.get("answer_hash") not in (None, "", answer_hash(text)):
                raise InputError(
                    f"the {unit} of qid {row['qid']!r} has changed since the file was written",
                    file=str(self.path),
                    hint=f"begin a new file with {option('output')}",
                )

    def create(self) -> bool:
        """Write the new file. False if another process has made it meanwhile: that one stays."""
        with self._locked():
            if self.path.exists():
                return False
            self._write()
        return True

    def sign(self, rater: str) -> None:
        """Write a person's name into the rows that have neither a label nor a name."""
        with self._changed():
            for row in self.rows:
                if not row["label"] and not row["rater"]:
                    row["rater"] = rater_name(rater)

    def record(
        self, place: int, label: str | None, rater: str, *, seen: str | None = None, note: str | None = None
    ) -> bool:
        """Set a row's label in the file; no label removes it.

        False if the row has another label by now than the one that the person has seen, by default that in `rows`: it
        stays, and is in `rows` from now on.
        """
        if label is not None and label not in (CORRECT, WRONG, SKIPPED):
            raise UsageError(f"{label!r} is not a label")
        shown = self.rows[place]["label"] if seen is None else seen
        with self._changed():
            self.check_rater(rater)
            row = self.rows[place]
            if row["label"] not in (shown, label or ""):
                return False
            row["label"], row["rater"] = label or "", rater_name(rater)
            if note is not None:
                row["note"] = whole(note)
                if "note" not in self._titles:
                    self._titles.append("note")
        return True

    @classmethod
    def agree(cls, path: Path, of_person: Row, label: str | None, *, seen: str, note: str | None) -> bool:
        """Set what people agreed on for a row, in the file of such labels; the row is taken from a person's sheet.

        False if the row has another label by now than the one that was `seen`: it stays.
        """
        sheet = cls(path, list(of_person), [])
        with sheet._locked():
            if path.exists():
                sheet = cls.read(path)
            key = _keys([of_person])[0]
            keys = _keys(sheet.rows)
            if key not in keys:
                sheet.rows.append({**of_person, **dict.fromkeys(_OF_PEOPLE, "")})
                keys.append(key)
            row = sheet.rows[keys.index(key)]
            if row["label"] not in (seen, label or ""):
                return False
            row["label"], row["rater"] = label or "", AGREED
            row["note"] = whole(note) if note is not None else row.get("note", "")
            sheet._titles += [title for title in _OF_PEOPLE if title not in sheet._titles]
            sheet._write()
        return True

    @contextmanager
    def _changed(self) -> Iterator[None]:
        """`rows` as the file has them, to be changed; they are written at the end, unless nothing has changed."""
        with self._locked():
            if self.path.exists():  # a file that was removed meanwhile is written anew
                self._read_again()
            before = [dict(row) for row in self.rows]
            yield
            if self.rows != before or not self.path.exists():
                self._write()

    def _read_again(self) -> None:
        """Take over what the file has by now. Rows keep their places here, even if a spreadsheet has sorted them."""
        current = Sheet.read(self.path)
        rows = dict(zip(_keys(current.rows), current.rows, strict=True))
        if rows.keys() != set(_keys(self.rows)):
            raise InputError(
                "the file has other rows by now",
                file=str(self.path),
                hint="run the same command again to go on with it",
            )
        self.rows[:] = [rows[key] for key in _keys(self.rows)]
        self._titles = current._titles

    @contextmanager
    def _locked(self) -> Iterator[None]:
        real = real_path(self.path)
        check_writable(real.parent, option("output"))
        real.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = real.with_name(f".{real.name}.lock")
        with hold_for(real, "writes labels"), file_lock(lock, f"these labels, {self.path}", "writes labels"):
            yield

    def _write(self) -> None:
        """Write the file; the old one is replaced in one step."""
        ending = "tsv" if self.path.suffix.lower() in (".tsv", ".tab") else "csv"
        real = real_path(self.path)
        for leftover in real.parent.glob(f".{glob.escape(real.name)}.*.tmp"):  # of a process that was killed
            leftover.unlink(missing_ok=True)
        with replacing(real, private=True) as (temporary,):
            cells = (
                [self.word(row["label"]) if title == "label" else row.get(title, "") for title in self._titles]
                for row in self.rows
            )
            write_rows(temporary, self._titles, cells, ending)
        flush_folder(real.parent)


def rater_name(name: str) -> str:
    """A person's name as a sheet has it."""
    return guarded(whole(name).strip())


def _title(title: str) -> str:
    """A column's title; our own as we write them, whatever a person has made of their case."""
    plain = str(title).strip().casefold()
    return plain if plain in _OWN else str(title)


def _keys(rows: Sequence[Row]) -> list[tuple[str, int]]:
    """What identifies each row of a sheet, in memory or as the file has it; a second line of a qid has the number 2."""
    counts: Counter[str] = Counter()
    keys = []
    for row in rows:
        qid = guarded(str(row["qid"]))
        key = qid if row.get("claim") in (None, "") else claim_key(qid, int(float(row["claim"])))
        counts[key] += 1
        keys.append((key, counts[key]))
    return keys


def _joined(value: Any) -> str:
    """A cell for people: several references are on a line each; a NUL, which no CSV file may have, is shown as ␀."""
    if value is None:
        return ""
    cell = "\n".join(map(str, value)) if isinstance(value, list) else str(value)
    return cell.replace("\0", "\u2400")
