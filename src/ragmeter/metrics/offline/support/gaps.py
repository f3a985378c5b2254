"""Which words of a claim no passage has, in any form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import regex

from ragmeter.metrics.normalize import UNSPACED, fold
from ragmeter.metrics.offline.reading.omissions import readable
from ragmeter.metrics.offline.reading.tables import Mark
from ragmeter.metrics.offline.reading.vocabulary import Floats
from ragmeter.metrics.offline.support.model import compare

#: A run of a script without spaces, or a word with what is attached to it, without punctuation around it.
_WORD = regex.compile(
    rf"""
    [{UNSPACED}][{UNSPACED}\p{{M}}]*
  | [[\p{{L}}\p{{M}}\p{{N}}$€£¥]--[{UNSPACED}]](?:[^\s{UNSPACED}]*[[\p{{L}}\p{{M}}\p{{N}}%°]--[{UNSPACED}]])?
    """,
    regex.VERBOSE | regex.VERSION1,
)
_UNSPACED = regex.compile(rf"[{UNSPACED}]", regex.VERSION1)
_ALPHABET = regex.compile(r"[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]")

Span = tuple[int, int]


def unsupported_spans(claim: str, passages: Sequence[str]) -> list[Span]:
    """Where the words of the claim begin and end, in characters, that no passage has."""
    spans = [match.span() for match in _WORD.finditer(readable(claim))]
    words = [claim[begin:end] for begin, end in spans]
    is_lacking = _lacking(words, passages)
    unspaced = _in_passages(passages) if any(map(_UNSPACED.match, words)) else ""
    lacking: list[Span] = []
    for (begin, end), word, lacks in zip(spans, words, is_lacking, strict=True):
        if _UNSPACED.match(word):
            lacking += ((begin + first, begin + last) for first, last in _in_letters(word, unspaced))
        elif lacks:
            lacking.append((begin, end))
    return lacking


def supported_spans(text: str, others: Sequence[str]) -> list[Span]:
    """Where the content words of a text begin and end, in characters, that one of the other texts has in any form."""
    spans = [match.span() for match in _WORD.finditer(readable(text))]
    words = [text[begin:end] for begin, end in spans]
    if not words:
        return []
    counts = _counts(words, others)
    covered = ((counts.content > 0) & (counts.lacking == 0)).tolist()
    unspaced = _in_passages(others) if any(map(_UNSPACED.match, words)) else ""
    shared: list[Span] = []
    for (begin, end), word, is_covered in zip(spans, words, covered, strict=True):
        if _UNSPACED.match(word):
            ends = [begin, *(begin + place for span in _in_letters(word, unspaced) for place in span), end]
            shared += ((first, last) for first, last in zip(ends[::2], ends[1::2], strict=True) if first < last)
        elif is_covered:
            shared.append((begin, end))
    return shared


def speak_of(claims: Sequence[str], texts: Sequence[str]) -> list[bool]:
    """Which claims have a content word that the texts have in any form, or have no content word at all."""
    if not claims:
        return []
    counts = _counts(claims, texts)
    return [bool(speaks) for speaks in (counts.lacking < counts.content) | (counts.content == 0)]


def _lacking(words: Sequence[str], passages: Sequence[str]) -> list[bool]:
    """Which words the passages lack. "3 million" is there if they have 3,000,000."""
    if not words:
        return []
    twos = [f"{word} {following}" for word, following in pairwise(words)]
    counts = _counts([*words, *twos], passages)
    lacks, n_items = counts.lacking > 0, counts.items
    first, second = n_items[: len(words) - 1], n_items[1 : len(words)]
    is_one_number = (n_items[len(words) :] < first + second) & (counts.lacking[len(words) :] == 0)
    lacks[: len(words) - 1][is_one_number] = False
    lacks[1 : len(words)][is_one_number] = False
    return [bool(lack) for lack in lacks[: len(words)]]


class _Counts(NamedTuple):
    """How many content words of each text the best passage lacks, how many it has, and how many items."""

    lacking: Floats
    content: Floats
    items: Floats


def _counts(texts: Sequence[str], passages: Sequence[str]) -> _Counts:
    n_passages = max(len(passages), 1)
    lacking, content, items = np.zeros((3, len(texts) * n_passages))
    for block in compare([(texts, passages)]):
        words, claims = block.compared.words, block.compared.claims
        says_something = ~claims.has(Mark.FUNCTION)[words.item]
        lacking[block.pairs] = words.per_pair(~words.is_covered & says_something)
        content[block.pairs] = words.per_pair(says_something)
        items[block.pairs] = np.diff(claims.starts)[block.compared.pairs.claim]
    return _Counts(*(column.reshape(-1, n_passages).min(axis=1) for column in (lacking, content, items)))


def _in_passages(passages: Sequence[str]) -> str:
    return fold("\n".join(passages))


def _in_letters(word: str, passages: str) -> Iterator[Span]:
    """Letters of a script without spaces that are in no group of two (three in an alphabet) that the passages have."""
    size = min(3 if _ALPHABET.match(word) else 2, len(word))
    folded = [fold(letter) for letter in word]
    lacking = [True] * len(word)
    for place in range(len(word) - size + 1):
        if "".join(folded[place : place + size]) in passages:
            lacking[place : place + size] = [False] * size
    begin = None
    for place, lacks in enumerate([*lacking, False]):
        if lacks and begin is None:
            begin = place
        elif not lacks and begin is not None:
            yield begin, place
            begin = None
