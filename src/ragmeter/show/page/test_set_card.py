"""The card of a test set as paragraphs."""

from __future__ import annotations

from ragmeter.documents.summary import Summary
from ragmeter.show.page.elements import Markup, element, in_own_direction
from ragmeter.wording.judging import WARNING
from ragmeter.wording.testsets import card_lines


def test_set_card(summary: Summary) -> list[Markup]:
    """What the set is and what it is good for; nothing of a run that is no test set."""
    if summary.test_set is None:
        return []
    return [
        element("p", in_own_direction(text.strip()), class_="note" if tone == WARNING else None)
        for text, tone in card_lines(summary.test_set, summary.judge_usage)
    ]
