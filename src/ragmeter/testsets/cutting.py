"""Documents into passages: paragraphs of one section together, none too long to be asked about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ragmeter.metrics.sentences import sentences

#: A passage ends when it has so many words; a paragraph with more than the most is divided between sentences.
_ENOUGH, _MOST = 80, 220
#: Of a script without spaces, about so many characters stand for a word; words of other scripts are shorter.
_CHARACTERS = 12
_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*")
_FENCE = re.compile(r"\s*(```|~~~)")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of a document, and the headings that it stands under."""

    heading: str
    text: str


def paragraphs_of(text: str) -> Iterator[Paragraph]:
    """The paragraphs of a text or of Markdown in their order. A fenced block of code is one."""
    headings: dict[int, str] = {}
    lines: list[str] = []
    in_code = False
    for line in [*text.replace("\r\n", "\n").split("\n"), ""]:
        heading = None if in_code else _HEADING.fullmatch(line)
        if _FENCE.match(line):
            in_code = not in_code
        if (line.strip() and heading is None) or in_code:
            lines.append(line.rstrip())
            continue
        if lines:
            yield Paragraph("\n".join(headings[level] for level in sorted(headings)), "\n".join(lines).strip())
            lines = []
        if heading is not None:
            level = len(heading[1])
            headings = {above: title for above, title in headings.items() if above < level} | {level: heading[2]}
    if lines:
        yield Paragraph("\n".join(headings[level] for level in sorted(headings)), "\n".join(lines).strip())


def passages_of(paragraphs: Iterable[Paragraph]) -> Iterator[Paragraph]:
    """Paragraphs that belong together, as one; long ones in pieces."""
    heading, texts, size = "", list[str](), 0
    for paragraph in paragraphs:
        for piece in _pieces(paragraph.text):
            words = size_of(piece)
            if texts and (paragraph.heading != heading or size >= _ENOUGH or size + words > _MOST):
                yield Paragraph(heading, "\n\n".join(texts))
                texts, size = [], 0
            heading = paragraph.heading
            texts.append(piece)
            size += words
    if texts:
        yield Paragraph(heading, "\n\n".join(texts))


def size_of(text: str) -> int:
    """About how many words a text has, also in scripts without spaces."""
    return max(len(text.split()), len(text) // _CHARACTERS)


def _pieces(paragraph: str) -> Iterator[str]:
    """A paragraph, or its sentences in groups that are short enough."""
    if size_of(paragraph) <= _MOST:
        yield paragraph
        return
    group: list[str] = []
    for sentence in sentences(paragraph):
        if group and sum(map(size_of, [*group, sentence])) > _MOST:
            yield " ".join(group)
            group = []
        group.append(sentence)
    if group:
        yield " ".join(group)
