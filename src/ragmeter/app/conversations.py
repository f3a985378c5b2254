"""A conversation: its turns one after another, each with its answer and scores."""

from __future__ import annotations

from ragmeter.app import wording
from ragmeter.app.layout import beside
from ragmeter.app.scores import score
from ragmeter.errors import UnknownNameError
from ragmeter.runs.conversations import TURN, turns_of
from ragmeter.runs.run import Run
from ragmeter.show.page.elements import Content, Markup, address, breakable, element, joined, link, text
from ragmeter.table import Row, outcome_column
from ragmeter.wording.texts import shortened

#: Turns of a page, metrics of a turn, and characters of a text: ten screens of a phone. The row has all of it.
_TURNS, _MOST_METRICS, _LONGEST = 10, 8, 700


def conversation_address(run: Run, session: str, page: int = 1) -> str:
    """The address of a page of a conversation."""
    return address("run", run.name, "conversation", session=session, page=page if page > 1 else None)


def conversation_page(run: Run, session: str, page: int) -> list[Content]:
    """The page's content."""
    places = turns_of(run, session)
    if not places:
        raise UnknownNameError("conversation", session, [])
    metrics = run.row_metrics[:_MOST_METRICS]
    names = [TURN, "qid", "question", "reference", "answer", "error", *metrics, *map(outcome_column, metrics)]
    begin, last = (page - 1) * _TURNS, (len(places) + _TURNS - 1) // _TURNS
    shown = places[begin : begin + _TURNS]
    turns = [
        _turn(run, place, number, record)
        for number, (place, record) in enumerate(zip(shown, run.records(shown, names), strict=True), begin + 1)
    ]
    where = wording.TURNS_SHOWN.format(first=begin + 1, last=begin + len(shown), total=len(places))
    pages = beside(page, last, lambda number: conversation_address(run, session, number), where)
    return [pages, element("ol", turns, class_="turns"), pages if last > 1 else None]


def _turn(run: Run, place: int, number: int, record: Row) -> Markup:
    """One turn: its question, answer, reference and scores."""
    label = link(wording.TURN.format(turn=number), address("run", run.name, "row", place))
    answer = record.get("answer")
    why = f": {record['error']}" if record.get("error") else ""
    said = element("span", text(wording.NO_ANSWER + why), class_="lacking") if answer is None else _text(answer)
    references = record.get("reference") or []
    expected = " / ".join([references] if isinstance(references, str) else references)
    scores = [
        joined(" · " if at else "", breakable(name), " ", score(record[name], record.get(outcome_column(name))))
        for at, name in enumerate(run.row_metrics[:_MOST_METRICS])
    ]
    return element(
        "li",
        element("p", label, " ", text(record.get("qid") or ""), class_="soft"),
        element("div", _text(record.get("question") or ""), class_="said asked"),
        element("div", said, class_="said answered"),
        element("p", f"{wording.REFERENCE}: ", _text(expected), class_="soft") if expected else None,
        element("p", scores, class_="soft"),
    )


def _text(content: str) -> Markup:
    return text(shortened(content, _LONGEST))
