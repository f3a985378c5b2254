"""Kinds of text that have made programs slow, of any length: one repeated piece each, or words that never repeat."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable

#: Repeated until the text is long enough.
PIECES = {
    "spaces": " ",
    "tabs": "\t",
    "line breaks": "\n",
    "line breaks of Windows": "\r\n",
    "lines of one letter": "a\n",
    "lines with spaces": "a \n ",
    "pipes": "|",
    "rows of a table": "| a | b |\n",
    "no-break spaces": "\u00a0",
    "separators of information": "\x1c\x1d",
    "zero-width spaces": "\u200b",
    "nulls": "\x00",
    "one letter": "a",
    "one letter, in capitals": "A",
    "one word": "word ",
    "one name": "Paris ",
    "the gold answer": "Paris is the capital of France. ",
    "no no no": "no ",
    "not not not": "not ",
    "not the gold answer": "not Paris ",
    "or or or": "or Paris or Lyon ",
    "but but but": "but Paris ",
    "neither nor": "neither Paris nor Lyon ",
    "refusals": "I don't know. ",
    "sorry": "sorry, ",
    "labels": "Final answer: ",
    "questions": "Paris? ",
    "commas": ",",
    "full stops": ".",
    "exclamation marks": "!",
    "hyphens": "-",
    "underscores": "_",
    "slashes": "/",
    "Paris or Lyon with slashes": "Paris/Lyon/",
    "backquotes": "`",
    "apostrophes": "'",
    "words with apostrophes": "a'",
    "quotation marks": '"',
    "typographic quotation marks": "“a”",
    "open brackets": "(",
    "open and closed brackets": "()",
    "square brackets": "[",
    "citations": "[1]",
    "asterisks": "*",
    "bold words": "**a** ",
    "headings": "# a\n",
    "code fences": "```\n",
    "HTML tags": "<b>a</b>",
    "open tags": "<",
    "open tags with a name": "<a ",
    "ends of thoughts": "</think>",
    "LaTeX": "\\boxed{",
    "dollars": "$",
    "digits": "7",
    "numbers": "12 ",
    "numbers with separators": "1,000",
    "numbers with points and commas": "1.2,",
    "spelled numbers": "twenty ",
    "hundreds": "hundred ",
    "twenty and one": "twenty and one ",
    "Roman numerals": "I ",
    "dates": "1990-01-01 ",
    "dates without spaces": "1990-",
    "years": "1984 ",
    "decades": "the 1990s ",
    "abbreviations": "U.S. ",
    "letters with points": "a.",
    "initials": "J. ",
    "acronyms": "NASA ",
    "glued words": "aB",
    "glued numbers": "a1",
    "marks of one class": "\u0301",
    "alternating marks": "\u0301\u0323",
    "letters with alternating marks": "e\u0301\u0323",
    "marks that decompose": "\u0344\u0f73",
    "Arabic marks": "\u064e\u0651",
    "capital dotted I": "İ",
    "sharp s": "ß",
    "Greek with two accents": "ΐ",
    "Hangul": "각",
    "parts of Hangul": "\u1100\u1161\u11a8",
    "Chinese": "巴黎是法国的首都",
    "Chinese without stops": "的",
    "Chinese stops": "。",
    "Japanese": "パリはフランスの首都です。",
    "Thai": "ปารีสเป็นเมืองหลวง",
    "Arabic": "باريس عاصمة فرنسا ",
    "Hindi": "पेरिस फ्रांस की राजधानी है। ",
    "Spanish": "¿Qué? Él niño ",
    "emoji": "🙂",
    "emoji with joiners": "👩\u200d👩\u200d👧\u200d👦",
    "flags": "🇫🇷",
    "variation selectors": "a\ufe0f",
    "joiners": "\u200d",
    "direction marks": "\u202e\u202c",
    "private use": "\ue000",
    "lone surrogates": "\ud800",
    "JSON": '{"a": [1, 2, {"b": "c"}]}, ',
    "URLs": "https://example.org/a?b=c&d=e ",
}  # fmt: skip


def _distinct_words(length: int) -> str:
    return " ".join(f"w{number}" for number in range(length // 7))


def _distinct_numbers(length: int) -> str:
    return " ".join(str(7 * number) for number in range(length // 7))


def _distinct_names(length: int) -> str:
    letters = "abcdefghijklmnopqrstuvwxyz"
    draw = random.Random(1)
    return " ".join("P" + "".join(draw.choices(letters, k=6)) for _ in range(length // 8))


def _base64(length: int) -> str:
    return base64.b64encode(random.Random(2).randbytes(length * 3 // 4)).decode()


def _sentence_without_end(length: int) -> str:
    draw = random.Random(3)
    words = ["the", "of", "Paris", "in", "a", "river", "not", "or", "and", "capital", "is", "was", "by", "12", "May"]
    return " ".join(draw.choices(words, k=length // 4))


def _nested(length: int) -> str:
    return "(" * (length // 2) + ")" * (length // 2)


def _line_breaks_within(length: int) -> str:
    return "Paris" + "\n" * length + "is the capital of France"


def _spaces_within(length: int) -> str:
    return "Paris" + " " * length + "."


#: Texts that are not one piece.
OTHERS: dict[str, Callable[[int], str]] = {
    "distinct words": _distinct_words,
    "distinct numbers": _distinct_numbers,
    "distinct names": _distinct_names,
    "base64": _base64,
    "a sentence without an end": _sentence_without_end,
    "nested brackets": _nested,
    "line breaks within": _line_breaks_within,
    "spaces within": _spaces_within,
}
KINDS = [*PIECES, *OTHERS]


def text_of(kind: str, length: int) -> str:
    """A text of this kind with about so many characters."""
    if kind in OTHERS:
        return OTHERS[kind](length)
    piece = PIECES[kind]
    return piece * (length // len(piece))
