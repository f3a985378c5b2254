"""Signs, letters and units that make something else of the same words: C and C++, hepatitis A and B, 64 GB and 64 MB.

The words of both are the same, so that only the texts tell. They are read where the gold answer is short.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache

import numpy as np
import regex

from ragmeter.metrics.offline.reading.values import read_number
from ragmeter.metrics.offline.reading.vocabulary import Bools, Chunked

_MOST_OF_GOLD, _MOST = 120, 4000  # characters that are read
#: A capital letter, or the blood group AB, and the sign or the word after it. A hyphen before a word is none: A-level.
#: Nor is an article such a letter: A dog.
_LETTER = regex.compile(
    r"(?<![\p{L}\p{M}\p{N}_'’&.-])(AB|\p{Lu})"
    r"(?:(\+\+|[+#♯]|[-−–](?![\p{L}\p{N}]))|[ -](plus|minus|positive|negative|sharp|más|menos|positivo|negativo)\b)?"
    r"(?![\p{L}\p{M}\p{N}_'’&])(?!(?<=[AEIOUY]) \p{Ll})"
)
_SIGN_OF = {"plus": "+", "positive": "+", "más": "+", "positivo": "+", "sharp": "#", "♯": "#"} | dict.fromkeys(
    ("minus", "negative", "menos", "negativo", "−", "–"), "-"
)
#: A capital letter that tells things of one name apart: hepatitis A, USB-C. Longer words, and an article, are none.
_NAMED = regex.compile(
    r"(?<![\p{L}\p{M}\p{N}])([\p{L}\p{M}]{3,})[ -](\p{Lu})(?![\p{L}\p{M}\p{N}'’&])(?!(?<=[AEIOUY]) [\p{L}])"
)
_PREFIX_OF = {"kilo": "k", "mega": "M", "giga": "G", "tera": "T", "peta": "P", "milli": "m", "mili": "m", "micro": "µ"}
_BASES = ("byte", "bit", "hert", "hz", "wat", "vat", "volt", "gram", "lit", "bps", "wh", "pa", "b", "w", "v", "g", "l")
_SAME_BASE = {"byte": "b", "bit": "b", "hert": "hz", "wat": "w", "vat": "w", "volt": "v", "gram": "g", "lit": "l"}
#: A number and a unit with a prefix, or without: 64 GB, 5mg, 64 gigabytes, 5 g.
_QUANTITY = regex.compile(
    r"(?<![\p{L}\p{N}.,])(\p{Nd}+(?:[.,]\p{Nd}+)*)[\s\p{Pd}]?"
    rf"(?:({'|'.join(_PREFIX_OF)})?(bytes?|bits?|hert(?:z|zios?)|[wv]at(?:t|io)s?|volt(?:io)?s?|gram(?:me|o)?s?|lit(?:er|re|ro)s?)"
    r"|(mc|[kKMGTPmµμ]?)i?(Hz|hz|bps|Wh|Pa|[BbWVgLl])|([kmgtp])(b))(?![\p{L}\p{N}])"
)  # fmt: skip
#: How a number compares: p < 0.05.
_COMPARED = regex.compile(r"([<>≤≥]=?)\s?(\p{Nd}+(?:[.,]\p{Nd}+)*)")
_SAME_COMPARISON = {"≤": "<", "≥": ">", "<=": "<", ">=": ">"}  # whether the end belongs to it is seldom meant


def another_sign(references: Chunked, answers: Chunked) -> Bools:
    """Pairs in which a letter's sign, a name's letter or a number's unit is another than in the gold answer."""
    differs = np.zeros(len(answers.of_row), bool)
    signed = [_signs(text) if len(text) <= _MOST_OF_GOLD else {} for text in references.texts]
    for pair in np.flatnonzero(np.array(list(map(bool, signed)), bool)[references.of_row]).tolist():
        gold, said = signed[references.of_row[pair]], _signs(answers.text(pair)[:_MOST])
        differs[pair] = any(said[name].isdisjoint(signs) for name, signs in gold.items() if name in said)
    return differs


@lru_cache(maxsize=4096)
def _signs(text: str) -> dict[tuple[str, str | float], set[str]]:
    """The signs of each letter, the letters after each word, the unit of each number and how it compares."""
    signs: dict[tuple[str, str | float], set[str]] = defaultdict(set)
    for letter, sign, word in _LETTER.findall(text):
        mark = sign or word
        signs["letter", letter].add(_SIGN_OF.get(mark, mark))
    for word, letter in _NAMED.findall(text):
        signs["named", word.casefold()].add(letter)
    if any(map(str.isdigit, text)):
        for figures, named, name, prefix, symbol, small, byte in _QUANTITY.findall(text):
            base = next(base for base in _BASES if (name or symbol or byte).lower().startswith(base))
            short = _short(prefix, symbol) or _short(small, byte)
            unit = _PREFIX_OF.get(named, short) + _SAME_BASE.get(base, base)
            signs["unit", read_number(figures)].add(unit)
        for sign, figures in _COMPARED.findall(text):
            signs["compared", read_number(figures)].add(_SAME_COMPARISON.get(sign, sign))
    return dict(signs)


def _short(prefix: str, symbol: str) -> str:
    """The prefix of a symbol: a kilobyte is written kB and KB, and no byte has milli before it."""
    if symbol.lower() in ("b", "bps"):
        prefix = prefix.upper()
    return {"K": "k", "μ": "µ", "mc": "µ"}.get(prefix, prefix)
