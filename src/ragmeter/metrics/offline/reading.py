"""Claims and passages as the support model reads them: without marks that say nothing, in parts of bounded length."""

from __future__ import annotations

import re

import regex

from ragmeter.metrics.citations import CITATION
from ragmeter.metrics.offline.vocabulary import LONGEST

_MOST = 2_000_000  # characters of a passage that are read
#: A line break ends a sentence where a paragraph, a heading or an item of a list begins or ends.
_BREAK = regex.compile(r"(?<=\w)(?=[ \t]*\n\s*(?:\n|[-*•–#|]|\d{1,3}[.)]\s))")
_LIST_MARK = regex.compile(r"(?m)^\s*(?:[-*•–#>]+|\d{1,3}[.)])\s")
_MARKUP = regex.compile(r"\*\*|__|~~|`")
#: Words about the passages themselves: an answer is not less supported for them.
_ABOUT_PASSAGES = regex.compile(
    r"""
    \b(?:based\ (?:up)?on|according\ to|as\ (?:stated|mentioned|described|noted|explained)\ in|from)
    \ (?:the\ |these\ |this\ )?(?:(?:given|provided|above|retrieved|following)\ )?
    (?:passages?|contexts?|documents?|texts?|information|articles?|sources?|excerpts?|search\ results)\b
    (?:\ (?:provided|given|above))?(?:\ \d{1,3}\b(?:(?:,|\ and|,\ and)\ \d{1,3}\b)*)?
  | \b(?:passages?|documents?|excerpts?|sources?)\ \d{1,3}\b(?:(?:,|\ and|,\ and)\ (?:passage\ )?\d{1,3}\b)*
  | \b(?:seg[uú]n|de\ acuerdo\ (?:con|a)|bas[aá]ndo(?:me|nos|se)\ en|con\ base\ en|en\ base\ a)
    \ (?:(?:el|la|los|las)\ )?
    (?:textos?|pasajes?|contextos?|documentos?|fragmentos?|informaci[oó]n|art[ií]culos?|fuentes?)\b
    (?:\ (?:proporcionad[oa]s?|dad[oa]s?|anterior(?:es)?))?(?:\ \d{1,3}\b)?
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
