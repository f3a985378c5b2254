"""Labelling in the browser: the same sample and the same file as `ragmeter label`, one key a row."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragmeter.analysis.people.agreement import PeopleAgreement, people_agreement
from ragmeter.analysis.people.claim_items import places_of
from ragmeter.analysis.people.label_files import agreed_path, label_files, labels_path, prefix_of, questions_path
from ragmeter.analysis.people.labels import CORRECT, SKIPPED, WRONG
from ragmeter.analysis.people.sample import choose_sample
from ragmeter.analysis.people.sheets import Sheet
from ragmeter.analysis.people.verdicts import Answers, read_columns
from ragmeter.app import wording
from ragmeter.app.fields import in_folder
from ragmeter.app.queries import Database
from ragmeter.app.row_to_label import Choice, check_shown, labelling, row_to_label
from ragmeter.errors import InputError, UsageError
from ragmeter.runs.layout import stamps_of
from ragmeter.runs.run import Run
from ragmeter.show.page.elements import Content, Markup, address, element, joined, link, text
from ragmeter.show.page.parts import command, field, options, worded
from ragmeter.table import NewRow

LABELS = (CORRECT, WRONG, SKIPPED)
_BUTTONS = {CORRECT: (wording.CORRECT, "c"), WRONG: (wording.WRONG, "w"), SKIPPED: (wording.SKIP, "s")}
#: Of runs with more rows, all short columns are offered to stratify by.
_MOST_COUNTED = 200_000
_LONGEST_NOTE = 1_000


@dataclass(frozen=True)
class OpenSheet:
    """A person's sheet, and the place of each of its rows in the run."""

    sheet: Sheet
    places: list[int]


class Labelling:
    """The sheets in a folder: one for each run and person."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._places: dict[Path, tuple[Hashable, list[int]]] = {}

    def path(self, run: Run, rater: str) -> Path:
        """The file of one person's labels of a run."""
        return labels_path(self._folder, run.name, rater)

    def files(self, run: Run) -> list[Path]:
        """Every file of labels of a run."""
        return label_files(self._folder, run.name)

    def of_questions(self, run: Run) -> Path:
        """The file of what people say of a test set's questions."""
        return questions_path(self._folder, run.name)

    def begun(self, run: Run) -> list[tuple[str, int, int]]:
        """Who has labelled a sample of a run: the name, how many of its rows, and how many these are."""
        begun = []
        for file in self.files(run):
            rows = [] if file == agreed_path(self._folder, run.name) else _rows_of_sample(file)
            labelled = [str(row["rater"]) for row in rows if row["label"]]
            if labelled:
                begun.append((labelled[0] or wording.NAMELESS, len(labelled), len(rows)))
        return sorted(begun, key=lambda person: -person[2])

    def agreement(self, run: Run) -> PeopleAgreement | None:
        """How well the people agree who have labelled a run; None if there are no labels."""
        return people_agreement(run, self.files(run))

    def rename(self, run: Run, new: Run) -> None:
        """The files of a run that has a new name; one whose name is taken stays as it is."""
        old, begin = prefix_of(run.name), prefix_of(new.name)
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
            return OpenSheet(sheet, self._places_of(run, sheet))
        except InputError as error:
            hint = f"begin anew under another name, or move {path} to another folder"
            raise UsageError(error.message, hint=hint) from error

    def _places_of(self, run: Run, sheet: Sheet) -> list[int]:
        """The places of a sheet's rows, kept until the run or the sheet's rows change: a key should take no time."""
        rows = tuple((row["qid"], row.get("answer_hash")) for row in sheet.rows)
        version = (run.path, stamps_of(run.path), rows)
        known = self._places.get(sheet.path)
        if known is None or known[0] != version:
            known = self._places[sheet.path] = version, _places(run, sheet)
        return known[1]

    def record(
        self,
        run: Run,
        rater: str,
        place: int,
        label: str,
        note: str | None = None,
        seen: str | None = None,
        shown: str | None = None,
    ) -> Sheet:
        """Save a label, or remove it with an empty one. A note of None stays as it is. Returns the sheet as it is then.

        `seen` is the row's label that the page has shown: one that was given meanwhile is not replaced. `shown` is the
        `shown_hash` of the row: a label of another one is refused.
        """
        _check(label)
        own = self.opened(run, rater)
        if own is None or not 0 <= place < len(own.sheet.rows):
            raise UsageError("there is no such row in this person's labels")
        if shown is not None:
            check_shown(run, own.places[place], shown)
        if not own.sheet.record(place, label or None, rater, seen=seen, note=_short(note)):
            raise _labelled_elsewhere(own.sheet.rows[place]["label"])
        return own.sheet

    def agree(self, run: Run, place: int, label: str, note: str | None, seen: str, shown: str) -> PeopleAgreement:
        """Save what people agreed on for a row that they labelled differently; an empty label removes it."""
        _check(label)
        check_shown(run, place, shown)
        agreement = self.agreement(run)
        row = next((row for row in agreement.disagreements if row.place == place), None) if agreement else None
        if row is None:
            raise UsageError("people have not labelled this row differently")
        sheet = Sheet.read(Path(row.labels[0].file))
        line = next(line for line in sheet.rows if line["qid"] in (row.qid, f"'{row.qid}"))
        path = agreed_path(self._folder, run.name)
        if not Sheet.agree(path, line, label or None, seen=seen, note=_short(note)):
            raise _labelled_elsewhere(next(line["label"] for line in Sheet.read(path).rows if line["qid"] == row.qid))
        changed = self.agreement(run)
        assert changed is not None  # noqa: S101 - there are the labels of two people
        return changed


def _check(label: str) -> None:
    if label not in (*LABELS, ""):
        raise UsageError(f"{label[:40]!r} is not a label")


def _short(note: str | None) -> str | None:
    return None if note is None else note[:_LONGEST_NOTE]


def _labelled_elsewhere(label: str) -> UsageError:
    return UsageError(wording.LABELLED_ELSEWHERE.format(label=label or wording.NO_LABEL))


def _rows_of_sample(file: Path) -> list[NewRow]:
    """The rows of a sheet of answers that were drawn; none of another file."""
    try:
        sheet = Sheet.read(file)
    except InputError:
        return []
    return [] if sheet.of_claims or sheet.is_picked else sheet.rows


def _places(run: Run, sheet: Sheet) -> list[int]:
    """Where the sheet's rows are in the run, if the run has the same answers as when the sheet was made."""
    rows = places_of(read_columns(run, ["qid"])["qid"], [row["qid"] for row in sheet.rows])
    unknown = next((row["qid"] for row in sheet.rows if row["qid"] not in rows), None)
    if unknown is not None:
        raise InputError(f"the run has no row with qid {unknown!r}", file=str(sheet.path))
    places = [rows[row["qid"]] for row in sheet.rows]
    answers = Answers(run)
    sheet.check_texts("answer", [answers[place] for place in places])
    return places


def label_page(run: Run, labels: Labelling, database: Database, query: Any) -> list[Content]:
    """The page's content: the form to begin, or the next row to label."""
    rater, blind = query.get("rater", ""), query.get("blind", "") == "1"
    own = labels.opened(run, rater) if "rater" in query else None
    if own is None:
        return [_begin(run, rater, labels.begun(run)), _people(run, labels)]
    sheet = own.sheet
    fields = {"rater": rater, "blind": int(blind)}
    todo = [place for place, row in enumerate(sheet.rows) if not row["label"]]
    place = _place(sheet, query.get("place"), todo)
    shown_command = None if blind else command(_command(run, sheet, rater))
    if place is None:
        back = _back(run, fields, len(sheet.rows) - 1)
        done = element("p", wording.ALL_LABELLED, " ", back, class_="note good")
        return [progress(len(sheet.rows), 0), done, _people(run, labels), shown_command]
    row = sheet.rows[place]
    choice = Choice(_BUTTONS, row["label"], str(row.get("note") or ""))
    back = _back(run, fields, place - 1)
    shown = row_to_label(run, database, own.places[place], place, choice, back)
    where = address("run", run.name, "label", **fields)
    return [
        labelling(progress(len(sheet.rows), len(todo)), todo, shown, page=where, rater=rater),
        shown_command,
    ]


def progress_words(total: int, left: int) -> str:
    """How many rows are labelled, in words."""
    return wording.PROGRESS.format(done=total - left, total=total)


def progress(total: int, left: int, words_of: Callable[[int, int], str] = progress_words) -> Markup:
    """How many rows are done, as a bar and in words."""
    bar = element("progress", value=total - left, max=total, aria_label=wording.LABEL)
    words = element("span", words_of(total, left))
    return element("p", words, " ", bar, " ", element("span", class_="soft", id="saving"), id="progress", role="status")


def _people(run: Run, labels: Labelling) -> Content:
    """Links to what people's labels say, if there are any. They show nobody's labels, so that these stay blind."""
    if not labels.files(run):
        return None
    judge = link(wording.JUDGE_PAGE, address("run", run.name, "agreement"))
    return [queue_link(run, labels.agreement(run)), element("p", judge)]


def queue_link(run: Run, agreement: PeopleAgreement | None) -> Content:
    """A link to the rows that people have labelled differently and not agreed on yet, if there are any."""
    count = len(agreement.open) if agreement else 0
    if not count:
        return None
    words = wording.TO_SETTLE[min(count, 2)].format(count=count)
    return element("p", link(words, address("run", run.name, "disagreements")))


def _command(run: Run, sheet: Sheet, rater: str) -> str:
    arguments = ["--rater", rater, "--output", str(sheet.path)] if rater else ["--output", str(sheet.path)]
    return shlex.join([*_labels(run), *arguments])


def _labels(run: Run) -> list[str]:
    """The command that labels a run."""
    return ["ragmeter", "label", run.name, *in_folder(run)]


def _place(sheet: Sheet, wanted: str | None, todo: Sequence[int]) -> int | None:
    """The row that was asked for, or the first one without a label."""
    if wanted and wanted.isdigit() and int(wanted) < len(sheet.rows):
        return int(wanted)
    return next(iter(todo), None)


def _strata(run: Run) -> list[str]:
    """The columns that a sample can be stratified by. Of many rows, the values are not counted."""
    return run.slices() if run.n_rows <= _MOST_COUNTED else [n for n in run.other_columns if run.is_short(n, 100)]


def _begin(run: Run, rater: str, begun: Sequence[tuple[str, int, int]]) -> Markup:
    """The form. It offers as many rows as the others have, so that people label the same ones."""
    strata = _strata(run)
    samples = {name: label for name, label in wording.SAMPLES.items() if strata or name != "stratified"}
    others = "; ".join(wording.HAS_LABELLED.format(person=name, done=done, total=total) for name, done, total in begun)
    n = begun[0][2] if begun else 100
    return element(
        "form",
        element("p", worded(wording.LABEL_INTRO)),
        element("p", text(wording.SAME_ROWS.format(others=others)), class_="note") if begun else None,
        field(wording.RATER, element("input", name="rater", value=rater, maxlength=60, required=True)),
        field(wording.HOW_MANY, element("input", type="number", name="n", value=n, min="1", max="10000")),
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


def _back(run: Run, fields: dict[str, object], place: int) -> Markup:
    """A link to the row before, whose label can be given anew."""
    where = address("run", run.name, "label", **fields, place=max(place, 0))
    return link([wording.UNDO, " ", element("kbd", "b")], where, id="back", class_="quiet")
