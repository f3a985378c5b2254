"""The words of a text that carry its meaning."""

from __future__ import annotations

from ragmeter.metrics.normalize import fold, words
from ragmeter.metrics.offline.reading.tables import Mark, plain, table


def content_words(text: str, language: str) -> list[str]:
    """The folded words of a text in their order, without function words of its language."""
    marks = table(language).marks
    return [word for word in words(fold(text)) if not marks.get(plain(word), 0) & Mark.FUNCTION]
