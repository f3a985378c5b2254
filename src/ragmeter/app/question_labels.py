"""The label page of a test set: what `ragmeter label` asks of its questions, in the same file."""

from __future__ import annotations

import shlex
from typing import Any

from ragmeter.analysis.people.question_labels import ASKED, NO, SHOWN, YES, QuestionSheet
from ragmeter.app import wording
from ragmeter.app.labelling import Labelling, progress
from ragmeter.app.row_to_label import Choice, foot, labelling
from ragmeter.runs.run import Run
from ragmeter.show.page.elements import Content, address, element, link, text
from ragmeter.show.page.parts import command, section
from ragmeter.wording.testsets import people_line

_BUTTONS = {YES: (wording.YES_NO[1], "y"), NO: (wording.YES_NO[0], "n")}


def questions_page(run: Run, labels: Labelling, query: Any) -> list[Content]:
    """The page's content: what is asked next of a question, or what was said of all."""
    sheet = QuestionSheet(labels.of_questions(run), run)
    todo = _todo(sheet)
    same = command(shlex.join(["ragmeter", "label", run.name, "--output", str(sheet.path)]))
    wanted = query.get("place", "")
    number = int(wanted) if wanted.isdigit() and int(wanted) < len(sheet.asked) else next(iter(todo), None)
    where = address("run", run.name, "label")
    back = link([wording.UNDO, " ", element("kbd", "b")], f"{where}?place={max((number or len(sheet.asked)) - 1, 0)}",
                id="back", class_="quiet")  # fmt: skip
    if number is None:
        card = run.summary().test_set
        said = people_line(card.people) if card and card.people else wording.ALL_LABELLED
        return [element("p", said, " ", back, class_="note good"), same]
    place, name = sheet.asked[number]
    row = sheet.rows[place]
    texts = [section(title, element("p", text(str(row[title]))), name=title) for title in SHOWN if row[title]]
    shown = element(
        "div", element("h2", ASKED[name], tabindex="-1"), texts,
        foot(Choice(_BUTTONS, str(row[name]), ""), back), id="label", data_place=number, data_seen=str(row[name]),
    )  # fmt: skip
    return [labelling(progress(len(sheet.asked), len(todo)), todo, shown, page=where, rater=""), same]


def record_answer(run: Run, labels: Labelling, number: int, answer: str) -> tuple[int, int]:
    """Save an answer, and in the card what people say so far. Returns how much is asked, and how much of it is left."""
    sheet = QuestionSheet(labels.of_questions(run), run)
    sheet.record(number, answer)
    sheet.keep()
    return len(sheet.asked), len(_todo(sheet))


def _todo(sheet: QuestionSheet) -> list[int]:
    return [number for number, (place, name) in enumerate(sheet.asked) if not sheet.rows[place][name]]
