"""A row's score as it is shown everywhere."""

from __future__ import annotations

from ragmeter.app import wording
from ragmeter.show.page.elements import Markup, element, text
from ragmeter.wording import numbers
from ragmeter.wording.causes import cause_name


def score(value: float | None, outcome: str | None, *, binary: bool = False) -> Markup:
    """A row's score with two decimals (all of them on hover), or yes or no, or why it has none."""
    if value is None or value != value:
        return element("span", text(cause_name(outcome) if outcome else wording.NO_SCORE), class_="lacking")
    if binary and value in (0, 1):
        return element("span", wording.YES_NO[int(value)])
    decimals = 2 if abs(value) < 10 else None
    return element("span", numbers.number(value, decimals=decimals), title=numbers.significant(value, 12))
