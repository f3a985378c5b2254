"""Takes secrets out of texts, in whatever form a server may have written them.

A server that repeats a key may escape it: `\\/` and `\\u002f` in JSON, `%2F` in an address, `&#47;` in HTML, and each
of them inside of another. What is searched is the text with its escapes resolved; what is replaced is the text itself.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

_HIDDEN = "***"
_DEPTH = 3  # escapes inside of escapes
#: An escaped character, or a run of percent-encoded bytes. MARKS are a secret's characters that are no letters or
#: digits. Repeats have limits, so that a body of backslashes takes no longer.
_ESCAPED = (
    r"%(?:25){0,3}[0-9A-Fa-f]{2}(?:%(?:25){0,3}[0-9A-Fa-f]{2})*"
    r"|&(?:amp;){0,3}\#?\w{1,31};?"
    r"|\\\\{0,7}(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|MARKS)"
)
_PERCENT_TWICE = re.compile("%(?:25)+(?=[0-9A-Fa-f]{2})")
_AMPERSAND_TWICE = re.compile("&(?:amp;)+(?=.)")


class Cleaner:
    """Replaces secrets by asterisks."""

    def __init__(self, secrets: Iterable[str]) -> None:
        distinct = set(secrets)
        shortest = {text for text in distinct if not any(other in text for other in distinct - {text})}
        written = {form for text in shortest for form in _encoded(text)}
        self._texts = sorted(distinct | written, key=len, reverse=True)
        marks = sorted({mark for text in self._texts for mark in text if not mark.isalnum()})
        self._escaped = re.compile(_ESCAPED.replace("MARKS", "|".join(map(re.escape, marks)) or "(?!)"))

    def __call__(self, text: str) -> str:
        """The text without secrets."""
        for secret in self._texts:
            if secret in text:
                text = text.replace(secret, _HIDDEN)
        return self._without_escaped(text) if self._texts and self._has_escaped(text) else text

    def _has_escaped(self, text: str) -> bool:
        for _ in range(_DEPTH):
            resolved, count = self._escaped.subn(_resolved, text)
            if not count:
                return False
            if any(secret in resolved for secret in self._texts):
                return True
            text = resolved
        return False

    def _without_escaped(self, text: str) -> str:
        """The text without escaped secrets; everything else in it stays as it was written."""
        resolved, spans = text, [(place, place + 1) for place in range(len(text))]
        hidden: list[tuple[int, int]] = []
        for _ in range(_DEPTH):
            resolved, spans = _resolve(self._escaped, resolved, spans)
            for secret in self._texts:
                hidden += [(spans[place][0], spans[place + len(secret) - 1][1]) for place in _places(resolved, secret)]
        parts, position = [], 0
        for start, end in sorted(hidden):
            if start >= position:
                parts += [text[position:start], _HIDDEN]
            position = max(position, end)
        return "".join([*parts, text[position:]])


def _resolved(match: re.Match[str]) -> str:
    """What an escape stands for."""
    written = match[0]
    if written[0] == "%":
        return unquote(_PERCENT_TWICE.sub("%", written), errors="replace")
    if written[0] == "&":
        return html.unescape(_AMPERSAND_TWICE.sub("&", written))
    rest = written.lstrip("\\")
    return chr(int(rest[1:], 16)) if len(rest) > 1 else rest or "\\"


def _resolve(escaped: re.Pattern[str], text: str, spans: list[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
    """The text with its escapes resolved, and for each of its characters the span of the original it stands for."""
    parts: list[str] = []
    resolved_spans: list[tuple[int, int]] = []
    position = 0
    for match in escaped.finditer(text):
        start, end = match.span()
        character = _resolved(match)
        parts += [text[position:start], character]
        resolved_spans += spans[position:start]
        resolved_spans += [(spans[start][0], spans[end - 1][1])] * len(character)
        position = end
    return "".join([*parts, text[position:]]), resolved_spans + spans[position:]


def _places(text: str, secret: str) -> Iterator[int]:
    place = text.find(secret)
    while place >= 0:
        yield place
        place = text.find(secret, place + 1)


def _encoded(text: str) -> Iterator[str]:
    """The text in other alphabets: a form's spaces, hexadecimal, and base64 wherever it begins in what is encoded; and
    as a server has it that reads the header's bytes otherwise than as UTF-8.
    """
    data = text.encode("utf-8", "replace")
    yield text.replace(" ", "+")
    yield from (data.decode(misread, "replace") for misread in ("latin-1", "cp1252", "ascii"))
    yield data.hex()
    yield data.hex().upper()
    for skipped in range(3):
        encoded = base64.b64encode(bytes(skipped) + data).decode()
        own = encoded[-(-skipped * 8 // 6) : (skipped + len(data)) * 8 // 6]  # without what depends on the neighbours
        yield own
        yield own.translate(str.maketrans("+/", "-_"))
