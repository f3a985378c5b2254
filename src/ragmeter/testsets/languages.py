"""The language of a text, by its function words."""

from __future__ import annotations

from collections import Counter
from functools import cache

from ragmeter.metrics.normalize import fold, known_languages, words
from ragmeter.metrics.offline.reading.tables import Mark, plain, tables

#: A language needs so large a share of a text's words to be function words of it, and so many.
_LEAST, _FEWEST = 0.08, 3
_READ = 600
#: The code of a language that is not known (ISO 639).
UNKNOWN = "und"


def language_of(text: str) -> str:
    """The code of the language whose function words the text has most of; `UNKNOWN` where none has many, or two do.

    Names don't count: Los Angeles is no Spanish.
    """
    in_order = [fold(word) for word in words(text[:_READ]) if not word[0].isupper()]
    counts: Counter[str] = Counter()
    for word in in_order:
        counts.update(_languages_of_words().get(plain(word), ()))
    (best, count), (_, second) = [*counts.most_common(2), ("", 0), ("", 0)][:2]
    return best if count >= max(_FEWEST, _LEAST * len(in_order), second + 1) else UNKNOWN


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
    return "the language of the passage" if code == UNKNOWN else known_languages().get(code, code).capitalize()
