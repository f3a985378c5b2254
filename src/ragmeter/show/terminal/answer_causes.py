"""Shows where answers failed, on the terminal."""

from __future__ import annotations

from ragmeter.documents.summary import AnswerCauses
from ragmeter.show.terminal.console import console
from ragmeter.show.terminal.tables import Column, Figures
from ragmeter.wording.answer_causes import cause_lines, cause_titles, hops_sentence
from ragmeter.wording.texts import printable


def show_causes(causes: AnswerCauses | None) -> None:
    """The share of each cause, with its interval; nothing for a run without causes."""
    lines = cause_lines(causes)
    if not lines:
        return
    titles = cause_titles(lines)
    names = (0, len(titles) - 1)
    table = Figures([Column(title, place not in names, title == "evidence") for place, title in enumerate(titles)])
    for line in lines:
        table.add(*map(printable, line.cells))
    console().print(table)
    if causes is not None and causes.hops and (sentence := hops_sentence(causes.hops)):
        console().sentence(printable(sentence))
