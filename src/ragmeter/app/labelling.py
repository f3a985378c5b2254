"""Labelling in the browser: the same sample and the same file as `ragmeter label`, one key a row."""

from __future__ import annotations

import glob
import hashlib
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragmeter.analysis.people.claim_items import places_of
from ragmeter.analysis.people.labels import CORRECT, SKIPPED, WRONG
from ragmeter.analysis.people.sample import choose_sample
from ragmeter.analysis.people.sheets import Sheet
from ragmeter.analysis.people.verdicts import Answers, read_columns
from ragmeter.app import wording
from ragmeter.app.agreement import agreement_link
from ragmeter.app.calibration import calibration_part
from ragmeter.errors import InputError, UsageError
from ragmeter.io.cells import whole
from ragmeter.io.write import RUNS
from ragmeter.runs.run import Run
from ragmeter.show.page.elements import Content, Markup, address, element, joined, link, text
from ragmeter.show.page.parts import command, field, options, section, worded

LABELS = (CORRECT, WRONG, SKIPPED)
#: What file names don't have: of a run's name, and of a person's.
_PLAIN, _NOT_IN_NAMES = re.compile(r"[^\w-]+"), re.compile(r"\W+")
_OF_A_PERSON = re.compile(r"\w+(?:-[0-9a-f]{8})?")
_LONGEST_NAME = 40
#: Calibration needs a few labels of each kind.
_ENOUGH = 10
#: Of runs with more rows, all short columns are offered to stratify by.
_MOST_COUNTED = 200_000


@dataclass(frozen=True)
class OpenSheet:
    """A person's sheet, and the place of each of its rows in the run."""

    sheet: Sheet
    places: list[int]


class Labelling:
    """The sheets in a folder: one for each run and person."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, run: Run, rater: str) -> Path:
        """The file of one person's labels of a run. Neither name becomes a path: other characters are replaced.

        A person's has no hyphen, but before a hash: so that `x-y` of the run `base` is not `y` of the run `base-x`.
        """
        return self._folder / f"labels-{_plain(run.name)}-{_plain(whole(rater).strip() or 'me', _NOT_IN_NAMES)}.csv"

    def files(self, run: Run) -> list[Path]:
        """Every person's file of labels of a run."""
        begin = f"labels-{_plain(run.name)}-"
        files = sorted(self._folder.glob(f"{glob.escape(begin)}*.csv"))
        return [file for file in files if _OF_A_PERSON.fullmatch(file.stem.removeprefix(begin))]

    def rename(self, run: Run, new: Run) -> None:
        """The files of a run that has a new name; one whose name is taken stays as it is."""
        old, begin = f"labels-{_plain(run.name)}-", f"labels-{_plain(new.name)}-"
        for file in self.files(run):
            target = file.with_name(begin + file.name.removeprefix(old))
            if not target.exists():
                file.rename(target)

    def begin(self, run: Run, rater: str, n: int, by: str, seed: int, strata: Sequence[str] = ()) -> None:
        """Draw the sample, unless this person has begun already. `strata` are columns, for a stratified one."""
        if by not in wording.SAMPLES:
            raise UsageError(f"{by[:40]!r} is not one of {', '.join(wording.SAMPLES)}")
        if not 1 <= n <= 10_000:
            raise UsageError(f"the number of rows must be from 1 to 10,000, got {n}")
        path = self.path(run, rater)
        if not path.exists():
            columns = strata if by == "stratified" else ()
            Sheet.of(choose_sample(run, n, by=by, strata=columns, seed=seed), path).create()

    def opened(self, run: Run, rater: str) -> OpenSheet | None:
        """This person's sheet, if they have begun. Labels of other answers than the run's are refused."""
        path = self.path(run, rater)
        if not path.exists():
            return None
        try:
            sheet = Sheet.read(path)
            sheet.check_rater(rater)
            if sheet.of_claims:
                raise UsageError(f"{path} has labels of claims", hint="`ragmeter label` goes on with it")
            return OpenSheet(sheet, _places(run, sheet))
        except InputError as error:
            hint = f"begin anew under another name, or move {path} to another folder"
            raise UsageError(error.message, hint=hint) from error

    def record(
        self, run: Run, rater: str, place: int, label: str, note: str | None = None, seen: str | None = None
    ) -> None:
        """Save a label, or remove it with an empty one. A note of None stays as it is.

        `seen` is the row's label that the page has shown: one that was given meanwhile is not replaced.
        """
        if label not in (*LABELS, ""):
            raise UsageError(f"{label[:40]!r} is not a label")
        own = self.opened(run, rater)
        if own is None or not 0 <= place < len(own.sheet.rows):
            raise UsageError("there is no such row in this person's labels")
        note = None if note is None else note[:1_000]
        if not own.sheet.record(place, label or None, rater, seen=seen, note=note):
            raise UsageError(
                wording.LABELLED_ELSEWHERE.format(label=own.sheet.rows[place]["label"] or wording.NO_LABEL)
            )


def _places(run: Run, sheet: Sheet) -> list[int]:
    """Where the sheet's rows are in the run, if the run has the same answers as when the sheet was made."""
    rows = places_of(read_columns(run, ["qid"])["qid"])
    unknown = next((row["qid"] for row in sheet.rows if row["qid"] not in rows), None)
    if unknown is not None:
        raise InputError(f"the run has no row with qid {unknown!r}", file=str(sheet.path))
    places = [rows[row["qid"]] for row in sheet.rows]
    answers = Answers(run)
    sheet.check_texts("answer", [answers[place] for place in places])
    return places


def _plain(name: str, replaced: re.Pattern[str] = _PLAIN) -> str:
    """A name for a file; where characters had to be replaced or cut, a hash keeps it distinct."""
    plain = replaced.sub("_", name)[:_LONGEST_NAME]
    return plain if plain == name else f"{plain}-{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}"


def label_page(run: Run, labelling: Labelling, query: Any) -> list[Content]:
    """The page's content: the form to begin, or the next row to label."""
    rater, blind = query.get("rater", ""), query.get("blind", "") == "1"
    own = labelling.opened(run, rater) if "rater" in query else None
    if own is None:
        return [_begin(run, rater), agreement_link(run, labelling.files(run))]
    sheet = own.sheet
    done = sum(bool(row["label"]) for row in sheet.rows)
    place = _place(sheet, query.get("place"))
    progress = element("progress", value=done, max=len(sheet.rows), aria_label=wording.LABEL)
    status = element("p", wording.PROGRESS.format(done=done, total=len(sheet.rows)), " ", progress, id="progress")
    file = None if blind else command(_command(run, sheet, rater))
    if place is None:
        back = _back(run, _fields(query), len(sheet.rows))
        done_note = element("p", wording.ALL_LABELLED, " ", back, class_="note good")
        return [status, done_note, agreement_link(run, labelling.files(run)), _calibration(run, sheet, query), file]
    return [status, _row(run, own, place, query), _calibration(run, sheet, query), file]


def _command(run: Run, sheet: Sheet, rater: str) -> str:
    arguments = ["--rater", rater, "--output", str(sheet.path)] if rater else ["--output", str(sheet.path)]
    folder = [] if run.path.parent == RUNS else ["--output-dir", str(run.path.parent)]
    return shlex.join(["ragmeter", "label", run.name, *arguments, *folder])


def _place(sheet: Sheet, wanted: str | None) -> int | None:
    """The row that was asked for, or the first one without a label."""
    if wanted and wanted.isdigit() and int(wanted) < len(sheet.rows):
        return int(wanted)
    return next((place for place, row in enumerate(sheet.rows) if not row["label"]), None)


def _strata(run: Run) -> list[str]:
    """The columns that a sample can be stratified by. Of many rows, the values are not counted."""
    return run.slices() if run.n_rows <= _MOST_COUNTED else [n for n in run.other_columns if run.is_short(n, 100)]


def _begin(run: Run, rater: str) -> Markup:
    strata = _strata(run)
    samples = {name: label for name, label in wording.SAMPLES.items() if strata or name != "stratified"}
    return element(
        "form",
        element("p", worded(wording.LABEL_INTRO)),
        field(wording.RATER, element("input", name="rater", value=rater, maxlength=60, required=True)),
        field(wording.HOW_MANY, element("input", type="number", name="n", value="100", min="1", max="10000")),
        field(wording.SAMPLE, options("by", samples, "random")),
        _columns(strata) if strata else None,
        field(wording.SEED, element("input", type="number", name="seed", value="0", min="0")),
        field(wording.BLIND, element("input", type="checkbox", name="blind", value="1", checked=True)),
        element("button", wording.BEGIN, class_="quiet"),
        id="begin",
        class_="filter",
    )


def _columns(names: Sequence[str]) -> Markup:
    """One or several columns to stratify by; the style shows them for a stratified sample."""
    boxes = [field(text(name), element("input", type="checkbox", name="strata", value=name)) for name in names]
    return element("fieldset", element("legend", wording.STRATA), [joined(box, " ") for box in boxes], class_="strata")


def _row(run: Run, own: OpenSheet, place: int, query: Any) -> Markup:
    row = own.sheet.rows[place]
    rater, blind = query.get("rater", ""), query.get("blind", "") == "1"
    fields = _fields(query)
    (record,) = run.records([own.places[place]], ["question", "reference", "answer"])
    reference = record.get("reference") or []
    buttons = [
        element("button", label, type="button", class_="quiet", data_label=value)
        for value, label in zip(LABELS, (wording.CORRECT, wording.WRONG, wording.SKIP), strict=True)
    ]
    back = _back(run, fields, place)
    current = element("p", text(f"{wording.LABEL}: {row['label']}"), class_="chip") if row["label"] else None
    return element(
        "div",
        None if blind else element("p", text(run.name), class_="soft"),
        element("h2", text(record.get("question") or row["qid"])),
        element(
            "p",
            f"{wording.REFERENCE}: ",
            text(" / ".join([reference] if isinstance(reference, str) else reference)),
            class_="soft",
        ),
        element("div", text(record.get("answer") or wording.NO_ANSWER), class_="card"),
        current,
        element("p", [joined(button, " ") for button in buttons], back, class_="keys"),
        field(wording.NOTE, element("input", id="note", dir="auto", value=str(row.get("note") or ""), maxlength=1000)),
        element("p", wording.KEYS, class_="soft"),
        id="label",
        data_place=place,
        data_rater=rater,
        data_seen=row["label"],
        data_next=address("run", run.name, "label", **fields),
    )


def _fields(query: Any) -> dict[str, object]:
    """The fields of an address that say who labels, and how."""
    return {
        "rater": query.get("rater", ""),
        "blind": int(query.get("blind", "") == "1"),
        "metric": query.get("metric"),
    }


def _back(run: Run, fields: Mapping[str, object], place: int) -> Markup:
    """A link to the row before, whose label can be given anew."""
    return link(wording.UNDO, address("run", run.name, "label", **fields, place=max(place - 1, 0)), id="back")


def _calibration(run: Run, sheet: Sheet, query: Any) -> Content:
    """What the labels so far say of the run's own judge, if there are enough."""
    given = sum(row["label"] in (CORRECT, WRONG) for row in sheet.rows)
    if given < _ENOUGH:
        too_few = wording.TOO_FEW_LABELS.format(given=given, needed=_ENOUGH)
        is_complete = all(row["label"] for row in sheet.rows)
        return section(wording.CALIBRATION, element("p", too_few), name="calibration") if is_complete else None
    return calibration_part(run, [sheet.path], "label", dict(query))
