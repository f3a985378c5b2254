"""Where rows begin in a range of a CSV or TSV file whose quoted cells may have line breaks.

A line break ends a row if the number of quotes before it is even. So a range is looked at by itself, for both cases: it
begins outside of a quoted cell, or inside. Once all ranges are known, the first one says which case holds for the
second, and so on. This needs every quote to open a quoted cell, to close one, or to be half of a doubled one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ragmeter.io.delimited.spans import BOM, Span
from ragmeter.io.locations import Location

Bytes = npt.NDArray[np.uint8]
_NEWLINE, _RETURN, _QUOTE = b'\n\r"'


@dataclass(frozen=True)
class Quotes:
    """What the quotes of a range say: pairs are for a range that begins outside of a quoted cell, and inside.

    `regular`: whether every quote is where one may be. `first_row`: where the first row begins, if one does.
    """

    is_odd: bool
    regular: tuple[bool, bool]
    first_row: tuple[int | None, int | None]


def scan(location: Location, span: Span) -> Quotes:
    """Look at the quotes of a range."""
    first = max(span.begin - 1, 0)  # with the bytes before and after the range
    with location.open("rb") as file:
        file.seek(first)
        raw = np.frombuffer(file.read(span.end + 1 - first), np.uint8)
    begin, end = span.begin - first, span.end - first
    quotes = np.flatnonzero(raw[:end] == _QUOTE)
    quotes = quotes[quotes >= begin]
    edges = [ord(span.delimiter), _NEWLINE, _RETURN, _QUOTE]
    may_open = np.isin(raw[quotes - 1], edges) | (quotes + first == _text_begin(raw, span))
    may_close = np.isin(raw[np.minimum(quotes + 1, len(raw) - 1)], edges)  # at the file's end, the quote itself
    line_breaks = np.flatnonzero(raw[: end - 1] == _NEWLINE)
    is_inside = np.searchsorted(quotes, line_breaks) % 2 == 1
    return Quotes(
        len(quotes) % 2 == 1,
        (
            bool(may_open[::2].all() and may_close[1::2].all()),
            bool(may_open[1::2].all() and may_close[::2].all()),
        ),
        (_first(line_breaks[~is_inside], first), _first(line_breaks[is_inside], first)),
    )


def _text_begin(raw: Bytes, span: Span) -> int:
    """Where the file's text begins, of its first range."""
    return len(BOM) if span.begin == 0 and raw[: len(BOM)].tobytes() == BOM else 0


def _first(line_breaks: npt.NDArray[np.int64], offset: int) -> int | None:
    return int(line_breaks[0]) + offset + 1 if len(line_breaks) else None


def row_begins(ranges: Iterable[Quotes]) -> list[int] | None:
    """The first row of each range in which one begins; None if quotes don't tell where rows begin."""
    begins = []
    inside = False
    for quotes in ranges:
        if not quotes.regular[inside]:
            return None
        if (begin := quotes.first_row[inside]) is not None:
            begins.append(begin)
        inside ^= quotes.is_odd
    return None if inside else begins
