"""A row's score as it is shown everywhere, and what a metric means."""

from __future__ import annotations

from functools import cache

from ragmeter.app import wording
from ragmeter.show.page.elements import Markup, element, text
from ragmeter.wording import numbers
from ragmeter.wording.causes import cause_meaning, cause_name
from ragmeter.wording.metrics import explained


@cache
def metric_meanings(names: tuple[str, ...]) -> dict[str, str]:
    """What metrics mean, on hover; to look for those of other packages takes longer than the rest of the page."""
    return {name: meaning.replace("`", "") for name, meaning in explained(names).items()}


def score(value: float | None, outcome: str | None, binary: bool = False, *, in_words: bool = False) -> Markup:
    """A row's score with two decimals (all of them on hover), or yes or no, or why it has none, here or on hover."""
    if value is None or value != value:
        says = cause_meaning(outcome) if outcome else ""
        words = cause_name(outcome) if outcome else wording.NO_SCORE
        shown = f"{words}: {says}" if in_words and says else words
        return element("span", text(shown), class_="lacking", title=None if in_words else says or None)
    if binary and value in (0, 1):
        return element("span", wording.YES_NO[int(value)])
    decimals = 2 if abs(value) < 10 else None
    return element("span", numbers.number(value, decimals=decimals), title=numbers.significant(value, 12))
