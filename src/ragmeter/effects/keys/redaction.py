"""Takes secrets out of texts, in whatever form a server may have written them.

A server that repeats a key may escape it: `\\/` and `\\u002f` in JSON, `%2F` in an address, `&#47;` in HTML, and each
of them inside of another. What is searched is the text with its escapes resolved; what is replaced is the text itself.
"""

from __future__ import annotations

import base64
import html
import re
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import StringIO
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

#: Places in a text, or spans of it in two columns.
Places = NDArray[np.int64]

_HIDDEN = "***"
_DEPTH = 3  # escapes inside of escapes
_LONGEST_KNOWN = 12  # characters of an escape whose meaning is remembered: there are not many of them
#: An escaped character; percent-encoded bytes are those of one character. MARKS are a secret's characters that are no
#: letters or digits. Repeats have limits, so that a body of backslashes takes no longer.
_ESCAPED = (
    r"%(?:25){0,3}(?:[C-Fc-f][0-9A-Fa-f](?:%(?:25){0,3}[89ABab][0-9A-Fa-f]){0,3}|[0-9A-Fa-f]{2})"
    r"|&(?:amp;){0,3}\#?\w{1,31};?"
    r"|\\\\{0,7}(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|MARKS)"
)
#: A line's end, also in the escapes of JSON, after at least as many letters of base64 as the shortest lines of encoders
#: have, with the spaces that begin the next line. It stands for nothing. What is looked back at comes second, so that
#: the search for the line's end stays quick.
_BREAKS = "|".join(
    rf"{end}(?<=[A-Za-z0-9+/_-]{{64}}{end})[ \t]{{0,16}}"
    for mark in ("\\", r"\\", r"\\" * 2, r"\\" * 4)  # a line's end itself, and in JSON, in JSON in JSON, and so on
    for end in (rf"{mark}n", rf"{mark}r{mark}n")
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
        self._escaped = re.compile(_BREAKS + "|" + _ESCAPED.replace("MARKS", "|".join(map(re.escape, marks)) or "(?!)"))

    def __call__(self, text: str) -> str:
        """The text without secrets; everything else in it stays as it was written."""
        if not self._texts:
            return text
        for secret in self._texts:
            if secret in text:
                text = text.replace(secret, _HIDDEN)
        hidden, layers, resolved = [], [], text
        for _ in range(_DEPTH):
            layer = _Layer.of(self._escaped, resolved)
            if layer is None:
                break
            layers.append(layer)
            resolved = layer.resolved
            if places := [place for secret in self._texts for place in _places(resolved, secret)]:
                hidden.append(_written(np.array(places, dtype=np.int64), layers))
        return _without(text, np.concatenate(hidden)) if hidden else text


@dataclass(frozen=True, slots=True)
class _Layer:
    """A text with its escapes resolved once.

    Of each escape: where it begins and ends in the text, and where what it stands for begins and ends in `resolved`.
    """

    resolved: str
    begins: Places
    ends: Places
    resolved_begins: Places
    resolved_ends: Places

    @classmethod
    def of(cls, escaped: re.Pattern[str], text: str) -> _Layer | None:
        """The text with its escapes read, and where each character was; None where nothing in the text is escaped."""
        begins, ends, lengths = array("q"), array("q"), array("q")
        resolved, position = StringIO(newline=""), 0
        known: dict[str, str] = {}  # most texts repeat a few escapes
        for match in escaped.finditer(text):
            written = match[0]
            character = known.get(written)
            if character is None:
                character = _resolved(written)
                if len(written) <= _LONGEST_KNOWN:
                    known[written] = character
            begin, end = match.span()
            if begin > position:
                resolved.write(text[position:begin])
            resolved.write(character)
            begins.append(begin)
            ends.append(end)
            lengths.append(len(character))
            position = end
        if not begins:
            return None
        resolved.write(text[position:])
        begin_places, end_places, sizes = (np.frombuffer(places, dtype=np.int64) for places in (begins, ends, lengths))
        resolved_ends = end_places + np.cumsum(sizes - (end_places - begin_places))
        return cls(resolved.getvalue(), begin_places, end_places, resolved_ends - sizes, resolved_ends)

    def written(self, spans: Places) -> Places:
        """What spans of the resolved text are written as. A part of an escape stands for the whole."""
        begins, ends = spans.T
        # The last escape that begins before the span's end, and how far it is shifted against what it stands for.
        first = np.searchsorted(self.resolved_begins, begins, side="right") - 1
        last = np.searchsorted(self.resolved_begins, ends, side="left") - 1
        in_first = (first >= 0) & (begins < self.resolved_ends[first])
        in_last = (last >= 0) & (ends <= self.resolved_ends[last])
        shift_first = np.where(first >= 0, self.ends[first] - self.resolved_ends[first], 0)
        shift_last = np.where(last >= 0, self.ends[last] - self.resolved_ends[last], 0)
        return np.stack(
            [
                np.where(in_first, self.begins[first], begins + shift_first),
                np.where(in_last, self.ends[last], ends + shift_last),
            ],
            axis=1,
        )


def _written(spans: Places, layers: list[_Layer]) -> Places:
    for layer in reversed(layers):
        spans = layer.written(spans)
    return spans


def _without(text: str, spans: Places) -> str:
    """The text with asterisks in place of these spans, which may overlap."""
    parts, position = [], 0
    for begin, end in spans[np.lexsort((spans[:, 1], spans[:, 0]))].tolist():
        if begin >= position:
            parts += [text[position:begin], _HIDDEN]
        position = max(position, end)
    return "".join([*parts, text[position:]])


def _resolved(written: str) -> str:
    """The text that an escape stands for."""
    if written[0] == "%":
        return unquote(_PERCENT_TWICE.sub("%", written), errors="replace")
    if written[0] == "&":
        return html.unescape(_AMPERSAND_TWICE.sub("&", written))
    rest = written.lstrip("\\")
    if rest[0:1] in ("\n", "\r", "n", "r"):  # the end of a line
        return ""
    return chr(int(rest[1:], 16)) if len(rest) > 1 else rest or "\\"


def _places(text: str, secret: str) -> Iterator[tuple[int, int]]:
    place = text.find(secret)
    while place >= 0:
        end = place + len(secret)
        yield place, end
        place = text.find(secret, end)


def _encoded(text: str) -> Iterator[str]:
    """The text in other alphabets: a form's spaces, hexadecimal, and base64 wherever it begins in what is encoded; and
    as a server has it that reads the header's bytes in another way than they were written.
    """
    yield text.replace(" ", "+")
    for data in {text.encode("utf-8", "replace"), text.encode("latin-1", "replace")}:
        yield from (data.decode(misread, "replace") for misread in ("utf-8", "latin-1", "cp1252", "ascii"))
        yield data.hex()
        yield data.hex().upper()
        for skipped in range(3):
            encoded = base64.b64encode(bytes(skipped) + data).decode()
            own = encoded[-(-skipped * 8 // 6) : (skipped + len(data)) * 8 // 6]  # no part of the neighbours
            yield own
            yield own.translate(str.maketrans("+/", "-_"))
