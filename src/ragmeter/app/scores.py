"""A row's score as it is shown everywhere."""

from __future__ import annotations

from ragmeter.app import wording
from ragmeter.show.page.elements import Markup, element, text
from ragmeter.wording import numbers


def score(value: float | None, outcome: str | None) -> Markup:
    """A row's score, or why it has none."""
    if value is None or value != value:
        return element("span", text(outcome or wording.NO_SCORE), class_="lacking")
    return element("span", numbers.number(value))
