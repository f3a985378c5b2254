"""A label on the spot: of the row that a person looks at, in the file that the label page writes, too."""

from __future__ import annotations

from ragmeter.analysis.people.sheets import Sheet
from ragmeter.app import wording
from ragmeter.app.labelling import LABELS, Labelling
from ragmeter.app.row_to_label import check_shown
from ragmeter.errors import UsageError
from ragmeter.io.delimited.formulas import guarded
from ragmeter.runs.run import Run
from ragmeter.table import QID


def label_row(run: Run, labelling: Labelling, place: int, rater: str, label: str | None, shown: str) -> str:
    """Give a row a label, and return it; without one, return the label that this person has given it.

    `shown` is the `shown_hash` of the row that the page has shown: a label of another one is refused.

    A person who has no file yet gets one for the rows that they pick. A sample that was drawn takes no other rows:
    those that somebody has picked would bias what its labels say of the run.
    """
    if label is not None and label not in LABELS:
        raise UsageError(f"{label[:40]!r} is not a label")
    if not rater.strip():
        raise UsageError(wording.NAME_NEEDED)
    if place >= run.n_rows or QID not in run.columns:
        raise UsageError(f"{run.name} has no row {place} with a qid")
    row = check_shown(run, place, shown)
    path = labelling.path(run, rater)
    sheet = Sheet.read(path) if path.exists() else None
    at = None if sheet is None else _place(sheet, row[QID])
    if label is None:
        return "" if sheet is None or at is None else str(sheet.rows[at]["label"] or "")
    if sheet is None:
        sheet = Sheet.of_picked(path)
    else:
        sheet.check_rater(rater)
    if at is None:
        if not sheet.is_picked:
            raise UsageError(wording.NOT_IN_SAMPLE.format(qid=row[QID], rater=rater))
        at = sheet.pick(row)
    else:
        labelling.opened(run, rater)  # the file's answers must be those of the run
    sheet.record(at, label, rater)
    return label


def _place(sheet: Sheet, qid: str) -> int | None:
    """Where a row is in a sheet."""
    if sheet.of_claims:
        raise UsageError(f"{sheet.path} has labels of claims", hint="`ragmeter label` goes on with it")
    return next((at for at, row in enumerate(sheet.rows) if guarded(str(row[QID])) == guarded(str(qid))), None)
