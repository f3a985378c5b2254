"""What is left out of texts before they are read, and how long ones are cut.

`uncited` and `without_struck_out` are for answers of `offline_correct`, the rest for claims and passages of the support
model. What is left out becomes spaces: neither features nor guards see anything of it.
"""

from __future__ import annotations

import re

import regex

from ragmeter.metrics.citations import CITATION
from ragmeter.metrics.offline.reading.vocabulary import LONGEST

_MOST = 2_000_000  # characters of a passage that are read
#: A line break ends a sentence where a paragraph, a heading or an item of a list begins or ends.
_BREAK = regex.compile(r"(?<=\w)(?=[ \t]*\n\s*(?:\n|[-*•–#|]|\d{1,3}[.)]\s))")
_LIST_MARK = regex.compile(r"(?m)^\s*(?:[-*•–#>]+|\d{1,3}[.)])\s")
_MARKUP = regex.compile(r"\*\*|__|~~|`")
#: Struck-out words in Markdown, on one line or two; not the fence of a code block.
_STRUCK_OUT = regex.compile(r"(?<!~)~~(?=[^\s~])(?:[^~\n]|~(?!~)|\n(?!\s*\n))*?(?<=[^\s~])~~(?!~)")
#: What passages are called, in English and Spanish.
_EN = r"(?:passages?|contexts?|documents?|texts?|information|articles?|sources?|excerpts?|search\ results)"
_ES = r"(?:textos?|pasajes?|contextos?|documentos?|fragmentos?|informaci[oó]n|art[ií]culos?|fuentes?)"
#: Words about the passages themselves: an answer is not less supported for them.
_ABOUT_PASSAGES = regex.compile(
    rf"""
    \b(?:based\ (?:up)?on|according\ to|as\ (?:stated|mentioned|described|noted|explained)\ in|from)
    \ (?:the\ |these\ |this\ )?(?:(?:given|provided|above|retrieved|following)\ )?{_EN}\b
    (?:\ (?:provided|given|above))?(?:\ \d{{1,3}}\b(?:(?:,|\ and|,\ and)\ \d{{1,3}}\b)*)?
  | \b(?:passages?|documents?|excerpts?|sources?)\ \d{{1,3}}\b(?:(?:,|\ and|,\ and)\ (?:passage\ )?\d{{1,3}}\b)*
  | \b(?:seg[uú]n|de\ acuerdo\ (?:con|a)|bas[aá]ndo(?:me|nos|se)\ en|con\ base\ en|en\ base\ a)
    (?:\ (?:el|la|los|las))?\ {_ES}\b(?:\ (?:proporcionad[oa]s?|dad[oa]s?|anterior(?:es)?))?(?:\ \d{{1,3}}\b)?
    """,
    regex.VERBOSE | regex.IGNORECASE,
)
_BLANKED = (CITATION, _LIST_MARK, _MARKUP, _ABOUT_PASSAGES)


def readable(claim: str) -> str:
    """The claim with spaces in place of citations, marks of lists, markup, and words about the passages themselves.

    Every other character keeps its place.
    """
    for pattern in _BLANKED:
        claim = pattern.sub(_spaces, claim)
    return claim


def uncited(answer: str, reference: str) -> str:
    """The answer with spaces in place of citations, whose numbers are no part of what it says.

    Where the gold answer has brackets of that kind itself, "[0, 1]", or nothing else is left, they are the answer.
    """
    may_cite = "[" in answer or "(" in answer or "【" in answer  # most texts don't, and this is fast
    if not may_cite or CITATION.search(answer) is None or CITATION.search(reference):
        return answer
    blanked = CITATION.sub(_spaces, answer)
    return blanked if any(map(str.isalnum, blanked)) else answer


def without_struck_out(answer: str) -> str:
    """The answer with spaces in place of words that are struck out: the writer took them back."""
    return _STRUCK_OUT.sub(_spaces, answer) if "~~" in answer else answer


def _spaces(match: regex.Match[str] | re.Match[str]) -> str:
    return "".join(character if character == "\n" else " " for character in match[0])


def with_stops(text: str) -> str:
    """The text with a full stop where a line ends a sentence without one."""
    return _BREAK.sub(".", text) if "\n" in text else text


def pieces(passage: str) -> list[str]:
    """A passage in parts that are short enough to be read whole. Of a very long one only the beginning is read."""
    text = with_stops(passage[:_MOST])
    parts, begin = [], 0
    while len(text) - begin > LONGEST:
        space = text.rfind(" ", begin + LONGEST // 2, begin + LONGEST)
        end = begin + LONGEST if space < 0 else space
        parts.append(text[begin:end])
        begin = end
    return [*parts, text[begin:]]
