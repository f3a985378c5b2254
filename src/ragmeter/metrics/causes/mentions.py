"""Whether a passage has a text word for word: a quotation, or a short text in scripts where the offline support model
doubts what is copied.

A word of Arabic is written together with its article and with "and", "in", "for" before it; in Chinese, Japanese or
Thai two or three characters are little for a model that weighs words.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import regex

from ragmeter.metrics.normalize import UNSPACED, fold, words

_SCRIPTS = regex.compile(rf"[{UNSPACED}\p{{Arabic}}]")
_ARABIC = regex.compile(r"\p{Arabic}")
#: Marks of short vowels and the line that stretches a word, which may be left out; and letters that stand for others.
_MARKS = regex.compile(r"[\u064B-\u065F\u0670\u0640]")
_LETTERS = str.maketrans("أإآٱىة", "اااايه")
#: What may be written before a word: "and", "so"; then "in", "as", "for"; then the article.
_PREFIXES = regex.compile(r"(?P<and>[وف])?(?P<in>[بكل])?(?P<article>ال|(?<=ل)ل)?")
#: A word keeps at least so many letters.
_LEAST = 2
#: The fewest words of a quotation.
_LONG = 3


def is_quoted(text: str, passage: str) -> bool:
    """Whether the passage has the text's words one after the other, and the text is too long for a coincidence."""
    wanted = _words(text)
    return len(wanted) >= _LONG and f" {' '.join(wanted)} " in f" {' '.join(_words(passage))} "


def has_mention(text: str, passage: str) -> bool:
    """Whether the passage has the text's words one after the other; only of scripts where that is to be looked for."""
    if not _SCRIPTS.search(text):
        return False
    wanted, present = _words(text), _words(passage)
    begins = range(len(present) - len(wanted) + 1)
    return bool(wanted) and any(_same(wanted, present[begin : begin + len(wanted)]) for begin in begins)


def _same(wanted: Sequence[str], present: Sequence[str]) -> bool:
    return all(
        word == other or not _forms(word).isdisjoint(_forms(other)) for word, other in zip(wanted, present, strict=True)
    )


def _words(text: str) -> list[str]:
    """The words in the form in which they are compared."""
    return words(_MARKS.sub("", fold(text)).translate(_LETTERS))


@lru_cache(maxsize=65_536)
def _forms(word: str) -> frozenset[str]:
    """A word of Arabic with and without what is written before it; another word as it is."""
    forms = {word}
    if _ARABIC.match(word):
        prefixes = _PREFIXES.match(word)
        ends = {prefixes.end(name) for name in ("and", "in", "article")} if prefixes else set()
        forms |= {word[end:] for end in ends if 0 < end <= len(word) - _LEAST}
    return frozenset(forms)
