"""A row as a person needs it to judge it: question and answer on the left, what the system had read on the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragmeter.analysis.passages import COLUMNS, Passage, passages_of
from ragmeter.analysis.people.labels import answer_hash
from ragmeter.app import wording
from ragmeter.app.queries import Database
from ragmeter.errors import UsageError
from ragmeter.io.write import dumps
from ragmeter.runs.conversations import SESSION, conversation
from ragmeter.runs.run import Run
from ragmeter.show.page.elements import Content, Markup, element, text
from ragmeter.show.page.parts import folded, section
from ragmeter.table import QID, Row
from ragmeter.wording.texts import shortened

#: A passage with more characters is folded. No text is longer than the last of these: nobody reads a megabyte.
_LONG, _BEGINNING, _LONGEST = 600, 200, 20_000
_MOST_PASSAGES, _MOST_TURNS = 50, 30
_SHOWN = (QID, "question", "reference", "answer")


def shown_hash(row: Row) -> str:
    """Identifies what a page shows of a row: its qid and its texts. A label comes back with it."""
    return answer_hash(dumps([row.get(name) for name in _SHOWN]))


def check_shown(run: Run, place: int, shown: str) -> Row:
    """The row at a place, if it is still the one that the page has shown: the run may have been written anew."""
    row: Row = {}
    if 0 <= place < run.n_rows:
        (row,) = run.records([place], [name for name in _SHOWN if name in run.columns])
    if shown != shown_hash(row):
        raise UsageError(wording.ROW_HAS_CHANGED.format(run=run.name))
    return row


@dataclass(frozen=True)
class Choice:
    """What a page asks of a row: the buttons with their keys, and what has been chosen before."""

    buttons: dict[str, tuple[str, str]]
    label: str
    note: str


def labelling(progress: Markup, todo: Sequence[int], row: Markup, **data: str) -> Markup:
    """The part of a page that a script goes through the rows with: `todo` are the places of those without a label."""
    attributes = {f"data_{name}": value for name, value in data.items()}
    return element(
        "div", progress, row, id="labelling", data_todo=dumps(list(todo)), data_saving=wording.SAVING,
        data_failed=wording.NOT_SAVED, **attributes,
    )  # fmt: skip


def row_to_label(
    run: Run, database: Database, place: int, number: int, choice: Choice, back: Content, about: Content = None
) -> Markup:
    """The row at a place of the run. `number` is its place in what is labelled; `about` stands under the question."""
    names = ["qid", "question", "reference", "answer", "error", SESSION, *COLUMNS]
    (record,) = database.records(run, [place], names)
    references = record.get("reference") or []
    answer = record.get("answer")
    beside = [_passages(passages_of(run, record)), _turns(run, database, place)]
    return element(
        "div",
        element(
            "div",
            element(
                "div",
                element("h2", _cut(str(record.get("question") or record.get("qid") or place + 1)), tabindex="-1"),
                about,
                section(
                    wording.ANSWER, element("div", _cut(answer or wording.NO_ANSWER), class_="card"), name="answer"
                ),
                section(
                    wording.REFERENCE,
                    [
                        element("p", _cut(reference))
                        for reference in ([references] if isinstance(references, str) else references)
                    ],
                    name="reference",
                ),
                class_="to-judge",
            ),
            element("div", beside, class_="to-read") if any(beside) else None,
            class_="to-label",
        ),
        foot(choice, back),
        id="label",
        data_place=number,
        data_seen=choice.label,
        data_shown=shown_hash(record),
    )


def foot(choice: Choice, back: Content) -> Markup:
    """The buttons, always at the foot of the window, and the note."""
    buttons = [
        element(
            "button", words, " ", element("kbd", key), type="button", class_="quiet", data_label=value, data_key=key,
            aria_pressed="true" if value == choice.label else "false",
        )
        for value, (words, key) in choice.buttons.items()
    ]  # fmt: skip
    note = element(
        "input", id="note", dir="auto", value=choice.note, maxlength=1000, aria_label=wording.NOTE,
        placeholder=wording.NOTE_KEY, autocomplete="off",
    )  # fmt: skip
    return element("div", element("div", buttons, back, class_="buttons"), note, class_="foot-of-page")


def _passages(passages: Sequence[Passage]) -> Content:
    items = [_passage(passage, rank) for rank, passage in enumerate(passages[:_MOST_PASSAGES], 1)]
    more = len(passages) - len(items)
    rest = element("p", wording.AND_MORE.format(count=more), class_="soft") if more > 0 else None
    is_long = any(len(passage.text) > _LONG for passage in passages)
    return section(wording.CONTEXTS, items, rest, name="contexts", about=wording.UNFOLD_ALL if is_long else None)


def _passage(passage: Passage, rank: int) -> Markup:
    """A passage under its rank and id; a long one is folded to its beginning."""
    name = [" ", element("code", text(shortened(passage.id, 80)))] if passage.id else None
    gold = [" ", element("span", wording.GOLD, class_="badge gold")] if passage.is_gold else None
    title: list[Content] = [str(rank), name, gold]
    class_ = "passage is-gold" if passage.is_gold else "passage"
    if len(passage.text) <= _LONG:
        return element("div", element("p", title, class_="soft"), _cut(passage.text), class_=class_)
    beginning = element("span", text(shortened(" ".join(passage.text.split()), _BEGINNING)), class_="beginning")
    return element("div", folded([title, " ", beginning], _cut(passage.text)), class_=class_)


def _turns(run: Run, database: Database, place: int) -> Content:
    """The turns of the conversation before this one."""
    if SESSION not in run.columns:
        return None
    (record,) = database.records(run, [place], [SESSION])
    turns = conversation(run, record)
    before = turns[: turns.index(place)] if place in turns else []
    shown = before[-_MOST_TURNS:]
    records = database.records(run, shown, ["question", "answer"])
    items = [
        element(
            "li",
            element("div", _cut(turn.get("question") or ""), class_="said asked"),
            element("div", _cut(turn.get("answer") or wording.NO_ANSWER), class_="said answered"),
        )
        for turn in records
    ]
    return section(wording.EARLIER_TURNS, element("ol", items, class_="turns"), name="turns") if items else None


def _cut(whole: str) -> Markup:
    whole = whole.strip()
    return text(whole if len(whole) <= _LONGEST else f"{whole[:_LONGEST]} … ({len(whole):,} characters)")
