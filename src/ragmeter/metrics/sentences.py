"""Sentences and clauses of a text, in any language: by punctuation, with care for abbreviations and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import regex

#: Words that end in a full stop which ends no sentence: short forms and single capitals.
_SHORT_FORM = regex.compile(
    r"(?:^|[\s(\[\"'“‘])(?:\p{Lu}|\p{Lu}\.\p{Lu}|e\.g|i\.e|p\.\s?ej|z\.\s?B|d\.\s?h|u\.\s?a|cf|vs|etc|ca|approx|núm|nr"
    r"|fig|figs|eq|vol|pp?|pág|ed|eds|al|mr|mrs|ms|dr|dra|prof|sr|sra|st|jr|inc|ltd|co|corp|gen|col|lt|sgt|rev|hon|mt"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.$",
    regex.IGNORECASE,
)
_END = regex.compile(
    r"(?<![.!?…])[.!?…]+[\"'”’)\]]*(?=\s)|[。！？｡]+[」』”’）]*|(?<![؟۔।])[؟۔।]+(?=\s)|\n\s*\n|\n(?=\s*(?:[-*•–]|\d{1,3}[.)])\s)"
)
#: Where a sentence may be split: a semicolon or a dash, or a comma and a word that joins clauses.
_JOINT = regex.compile(
    r";\s+|\s+[–—]\s+|,\s+(?=(?:and|but|while|whereas|although|though|y|pero|mientras|aunque|und|aber|während|obwohl|et|mais"
    r"|tandis|e|ma|mentre|mas|enquanto|embora)\s)",
    regex.IGNORECASE,
)
#: A clause with fewer words than this stays with its neighbour.
_FEWEST_WORDS = 4
#: The number of an item of a list.
_NUMBER = regex.compile(r"\s*\d{1,3}\.")
_BULLET = regex.compile(r"^\s*(?:[-*•–]|\d{1,3}[.)])\s+")
#: A shorter text counts as short, however many sentences it has; of a longer one only the beginning is looked at.
_SHORT = 100
_LOOKED_AT = 2_000


def sentences(text: str) -> list[str]:
    """The sentences of a text and the items of its lists, without the marks of lists, in their order."""
    parts: list[str] = []
    begin = 0
    for match in _END.finditer(text):
        part = text[begin : match.end()]
        if match[0].startswith(".") and (_SHORT_FORM.search(part[-12:]) or _NUMBER.fullmatch(part)):
            continue
        parts.append(part)
        begin = match.end()
    parts.append(text[begin:])
    bare = (" ".join(_BULLET.sub("", part).split()) for part in parts)
    return [part for part in bare if any(character.isalnum() for character in part)]


def is_long(text: str) -> bool:
    """Whether a reference is longer than a sentence: more than a name, a date or a phrase."""
    return len(text) >= _SHORT and len(sentences(text[:_LOOKED_AT])) > 1


def count_long(references: Iterable[Sequence[str] | None]) -> int:
    """How many rows have no short reference among theirs."""
    return sum(bool(row) and all(map(is_long, row)) for row in references if row is not None)


def clauses(sentence: str) -> list[str]:
    """The clauses of a sentence, as far as punctuation and joining words show them; short ones are not split off."""
    parts = [part for part in _JOINT.split(sentence) if part.strip()]
    whole = [parts[0]] if parts else []
    for part in parts[1:]:
        before = whole[-1].rpartition(",")[2]  # "such as Uganda, Sudan, and Egypt": a list, and no clause
        if min(len(part.split()), len(before.split())) < _FEWEST_WORDS:
            whole[-1] = f"{whole[-1]}, {part}"
        else:
            whole.append(part)
    return whole
