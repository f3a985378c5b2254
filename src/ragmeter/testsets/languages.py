"""The language of a text, by its function words."""

from __future__ import annotations

from functools import cache

from ragmeter.metrics.normalize import fold, known_languages, words
from ragmeter.metrics.offline.reading.tables import Mark, plain, tables

#: A language needs so many of a text's words to be function words of it.
_LEAST = 0.08
_READ = 2_000
UNKNOWN = "en"


def language_of(text: str) -> str:
    """The code of the language whose function words the text has most of; English where none has many."""
    folded = [plain(word) for word in words(fold(text[:_READ]))]
    shares = {code: sum(word in known for word in folded) / max(1, len(folded)) for code, known in _function_words()}
    best = max(shares, key=lambda code: shares[code])
    return best if shares[best] >= _LEAST else UNKNOWN


@cache
def _function_words() -> tuple[tuple[str, frozenset[str]], ...]:
    return tuple(
        (code, frozenset(word for word, marks in table.marks.items() if marks & Mark.FUNCTION))
        for code, table in tables().items()
    )


def language_name(code: str) -> str:
    """The English name of a language."""
    return known_languages().get(code, code).capitalize()
