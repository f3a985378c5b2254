"""Normalisation of texts: folding, words and languages.

Folding is NFC, casefold, NFC again, with one form for all quotes and apostrophes. It is applied to distinct words, not
to whole columns: a block of texts has few distinct words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from typing import Self

import regex
import Stemmer

from ragmeter.errors import UnknownNameError
from ragmeter.io.normal_form import normalized

#: Variants of the apostrophe, the quotation mark and the minus sign.
_QUOTES = str.maketrans(dict.fromkeys("’‘‛ʼ՚＇`´′", "'") | dict.fromkeys("“”„‟«»″＂", '"') | {"−": "-"})

#: Scripts without spaces between words: there, a character with its marks is a word.
UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}"

#: A word is a run of letters, marks, digits and underscores. An apostrophe stays inside a word (don't, 1923'te), a
#: point or a comma inside a number (3.5, 1,000), and a minus sign before one (-5), but not between two (1939-45).
_WORD = regex.compile(
    rf"""
    [\p{{L}}&&[{UNSPACED}]]\p{{M}}*
  | (?: (?<![^\s(\[])-(?=\p{{N}}) )?
    (?: (?: \p{{N}}+ (?:[.,]\p{{N}}+)* | [[\p{{L}}\p{{M}}_]--[[{UNSPACED}]&&\p{{L}}]]+ ) (?:'(?=\p{{L}}))? )+
    """,
    regex.VERBOSE | regex.VERSION1,
)
#: The same for ASCII, in a third of the time.
_ASCII_WORD = re.compile(r"(?:(?<![^\s(\[])-(?=[0-9]))?(?:(?:[0-9]+(?:[.,][0-9]+)*|[A-Za-z_]+)(?:'(?=[A-Za-z]))?)+")
#: What stands before a figure as its sign, and between a figure and its ending, as Turkish writes it.
_AROUND_FIGURES = regex.compile(r"(?<![^\s(\[])-(?=\p{N})|(?<=\p{N})'(?=\p{L})")

_CODES = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "eo": "esperanto",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "st": "sesotho",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}
#: Languages without stemming.
_UNSTEMMED = {"zh": "chinese", "ja": "japanese", "th": "thai"}
AUTO = "auto"


class Language(str):
    """A language's code, from its code or its English name: `es`, `Spanish` and `spanish` are the same."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """The language with this code or name, or an error with similar names."""
        folded = text.strip().casefold()
        base = folded.replace("_", "-").split("-")[0]
        languages = known_languages()
        if folded == AUTO or base in languages:
            return cls(AUTO if folded == AUTO else base)
        for code, name in languages.items():
            if folded == name:
                return cls(code)
        raise UnknownNameError(
            "language",
            text,
            [*languages, *languages.values()],
            hint="choose from " + ", ".join(languages) + "; without a language, words are compared unstemmed",
        )


def known_languages() -> dict[str, str]:
    """Code and name of every supported language."""
    available = set(Stemmer.algorithms())
    named = {code: name for code, name in _CODES.items() if name in available}
    unnamed = {name: name for name in available - set(_CODES.values())}  # `porter`, and newer algorithms
    return named | dict(sorted(unnamed.items())) | _UNSTEMMED


def language_code(text: str | None) -> str | None:
    """The code of the language that a row says its texts are in; None where it says nothing, or nothing known."""
    with suppress(UnknownNameError):
        return Language.parse(text) if text and text.strip().casefold() != AUTO else None
    return None


def count_unknown(languages: Iterable[str | None]) -> int:
    """How many rows say a language that is not known."""
    return sum(
        count
        for text, count in Counter(languages).items()
        if text and text.strip() and text.strip().casefold() != AUTO and language_code(text) is None
    )


def stemmer(language: str) -> Stemmer.Stemmer | None:
    """The Snowball stemmer of a language, or None if it has none. A stemmer must not be shared by threads."""
    if language in _UNSTEMMED:
        return None
    return Stemmer.Stemmer(_CODES.get(language, language), 0)  # without its cache: each word is stemmed once


def fold(text: str) -> str:
    """The form in which texts are compared."""
    if text.isascii():
        return text.lower().replace("`", "'")
    text = normalized("NFC", text).translate(_QUOTES)
    # A capital dotted İ folds to i with a dot above, which is not how Turkish is written in lower case.
    return normalized("NFC", text.casefold().replace("i\u0307", "i"))


def words(folded: str) -> list[str]:
    """The words of a folded text."""
    matches: list[str] = (_ASCII_WORD if folded.isascii() else _WORD).findall(folded)
    return matches


def words_and_figures(folded: str) -> list[str]:
    """The words, with figures apart from signs and endings, for code that reads numbers: 1923'te is 1923 and te."""
    return words(_AROUND_FIGURES.sub(" ", folded))


def same_words(text: str, other: str) -> bool:
    """Whether two texts have the same words and figures in the same order, and at least one."""
    own = words_and_figures(fold(text))
    return bool(own) and own == words_and_figures(fold(other))


def strip_accents(folded: str) -> str:
    """The text without accents; vowel signs of scripts like Hindi stay."""
    if folded.isascii():
        return folded
    decomposed = normalized("NFD", folded)
    return normalized("NFC", "".join(c for c in decomposed if not "\u0300" <= c <= "\u036f"))
