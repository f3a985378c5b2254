"""The language of a text, by its function words."""

from __future__ import annotations

from collections import Counter
from functools import cache

from ragmeter.metrics.normalize import fold, known_languages, words
from ragmeter.metrics.offline.reading.tables import Mark, plain, tables

#: A language needs so many of a text's words to be function words of it.
_LEAST = 0.08
_READ = 600
UNKNOWN = "en"


def language_of(text: str) -> str:
    """The code of the language whose function words the text has most of; English where none has many."""
    in_order = words(fold(text[:_READ]))
    counts: Counter[str] = Counter()
    for word in in_order:
        counts.update(_languages_of_words().get(plain(word), ()))
    [(best, count)] = counts.most_common(1) or [(UNKNOWN, 0)]
    return best if count >= _LEAST * max(1, len(in_order)) else UNKNOWN


@cache
def _languages_of_words() -> dict[str, tuple[str, ...]]:
    """The languages that each function word belongs to."""
    languages: dict[str, tuple[str, ...]] = {}
    for code, table in tables().items():
        for word, marks in table.marks.items():
            if marks & Mark.FUNCTION:
                languages[word] = (*languages.get(word, ()), code)
    return languages


def language_name(code: str) -> str:
    """The English name of a language."""
    return known_languages().get(code, code).capitalize()
