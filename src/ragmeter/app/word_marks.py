"""Texts with words marked: in several kinds at once, since the words that two of them mean may overlap."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from ragmeter.show.page.elements import Content, Markup, element, in_own_direction

Span = tuple[int, int]
_WORDS = re.compile(r"\w+")


def marked(text: str, kinds: Mapping[str, Sequence[Span]]) -> Markup:
    """A text with the characters at some places marked, by kind; neighbours of a kind are one mark."""
    spans = {kind: list(_together(text, sorted(of_kind))) for kind, of_kind in kinds.items()}
    cuts = sorted({0, len(text), *(end for of_kind in spans.values() for span in of_kind for end in span)})

    def pieces() -> Iterator[Content]:
        for begin, end in pairwise(cuts):
            names = [kind for kind, of_kind in spans.items() if any(b <= begin and end <= e for b, e in of_kind)]
            yield element("mark", text[begin:end], class_=" ".join(names)) if names else text[begin:end]

    return in_own_direction(pieces())


def shared_words(text: str, other: str) -> list[Span]:
    """The words of a text that another one has, too, in any case."""
    known = {word.casefold() for word in _WORDS.findall(other)}
    return [match.span() for match in _WORDS.finditer(text) if match[0].casefold() in known]


def _together(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """Spans with only white space between them as one."""
    before: Span | None = None
    for begin, end in spans:
        if before is not None and not text[before[1] : begin].strip():
            before = (before[0], end)
            continue
        if before is not None:
            yield before
        before = (begin, end)
    if before is not None:
        yield before
