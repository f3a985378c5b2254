"""The rows that people have labelled differently, one after another, until they agree on a label for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragmeter.analysis.people.agreement import Disagreement
from ragmeter.analysis.people.labels import CORRECT, SKIPPED, WRONG
from ragmeter.app import wording
from ragmeter.app.labelling import Labelling, progress
from ragmeter.app.queries import Database
from ragmeter.app.row_to_label import Choice, labelling, row_to_label
from ragmeter.runs.run import Run
from ragmeter.show.page.elements import Content, Markup, address, element, link, text
from ragmeter.show.page.parts import table

_BUTTONS = {
    CORRECT: (wording.AGREED_CORRECT, "c"),
    WRONG: (wording.AGREED_WRONG, "w"),
    SKIPPED: (wording.NOT_AGREED, "s"),
}
_LABELS = {CORRECT: wording.CORRECT, WRONG: wording.WRONG}


def disagreements_page(run: Run, labels: Labelling, database: Database, query: Any) -> list[Content]:
    """The page's content: the next row without an agreed label, or the one that is asked for."""
    agreement = labels.agreement(run)
    rows = agreement.disagreements if agreement else ()
    to_judge = element("p", link(wording.JUDGE_PAGE, address("run", run.name, "agreement")))
    if not rows:
        return [element("p", wording.NOTHING_TO_SETTLE, class_="note"), to_judge]
    todo, n_open = [row.place for row in rows if row.agreed is None], sum(not row.is_settled for row in rows)
    row = _chosen(rows, query.get("place"))
    if row is None:
        done = element("p", wording.ALL_SETTLED, " ", _back(run, rows[-1].place), class_="note good")
        return [progress(len(rows), n_open, agreed_words), done, to_judge]
    agreed = row.agreed
    choice = Choice(_BUTTONS, agreed.label or "" if agreed else "", agreed.note if agreed else "")
    before = rows[max(rows.index(row) - 1, 0)].place
    shown = row_to_label(run, database, row.place, row.place, choice, _back(run, before), _labels(row))
    page = address("run", run.name, "disagreements")
    return [labelling(progress(len(rows), n_open, agreed_words), todo, shown, page=page)]


def agreed_words(total: int, left: int) -> str:
    """How many rows people have agreed on, in words."""
    return wording.AGREED_ON.format(done=total - left, total=total)


def _chosen(rows: Sequence[Disagreement], wanted: str | None) -> Disagreement | None:
    """The row at a place of the run, or the first that is not settled and was not left open."""
    asked = next((row for row in rows if str(row.place) == wanted), None)
    return asked or next((row for row in rows if row.agreed is None), None)


def _labels(row: Disagreement) -> Markup:
    """Who said what, with their notes."""
    cells = [[text(label.rater), _LABELS[label.label or ""], text(label.note)] for label in row.labels]
    return table([wording.PERSON, wording.LABEL, wording.NOTE], cells, caption=wording.LABELS)


def _back(run: Run, place: int) -> Markup:
    where = address("run", run.name, "disagreements", place=place)
    return link([wording.UNDO, " ", element("kbd", "b")], where, id="back", class_="quiet")
