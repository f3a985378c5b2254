"""How numbers are written: in tables, sentences, Markdown, LaTeX, XML and on the page the same number looks the same.

The report's script follows the same rules (`static/elements.js`), and a test holds the two to the same values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal

#: What stands where there is no number.
MISSING = "–"
#: Below this a number has four decimals, from it on one.
_LARGE = 10.0
_FOUR_DECIMALS, _ONE_DECIMAL = Decimal("0.0001"), Decimal("0.1")
#: Above this a number is written with an exponent.
_HUGE = 1e21
_ROUNDING = Context(prec=40, rounding=ROUND_HALF_UP)
#: The smallest p-value that is written in full; 9,999 random draws tell no smaller ones apart.
_SMALLEST_P = 0.0001


def number(value: float | None) -> str:
    """A mean or another figure: 0.4308, 1,234.5. A whole number (an int) has no decimals.

    Halves are rounded away from zero, as people do and as JavaScript's toFixed does.
    """
    if value is None or not math.isfinite(value):
        return MISSING
    if isinstance(value, int):
        return f"{value:,}"
    if abs(value) >= _HUGE:
        return repr(float(value))
    decimals = _FOUR_DECIMALS if abs(value) < _LARGE else _ONE_DECIMAL
    rounded = Decimal(float(value)).quantize(decimals, context=_ROUNDING)
    return f"{rounded if rounded else abs(rounded):,}"


def signed(value: float | None) -> str:
    """A difference: like a number, and with a + where it is above 0."""
    text = number(value)
    if text in (MISSING, number(0), number(0.0)) or text.startswith("-"):
        return text
    return f"+{text}"


def interval(bounds: Sequence[float] | None) -> str:
    """The two ends of an interval: 0.1479 to 0.7137."""
    return MISSING if bounds is None else f"{number(bounds[0])} to {number(bounds[1])}"


def signed_interval(bounds: Sequence[float] | None) -> str:
    """The two ends of a difference's interval: -0.1291 to +0.6382."""
    return MISSING if bounds is None else f"{signed(bounds[0])} to {signed(bounds[1])}"


def p_value(p: float | None) -> str:
    """A p-value: 0.0625, or <0.0001."""
    if p is None or math.isnan(p):
        return MISSING
    return f"<{number(_SMALLEST_P)}" if p < _SMALLEST_P else number(float(p))


def equals(name: str, text: str) -> str:
    """A name with its number, in a sentence: p = 0.0625, p < 0.0001."""
    return f"{name} < {text[1:]}" if text.startswith("<") else f"{name} = {text}"


def scored(n: int, total: int) -> str:
    """How many rows have a score: 8, or 7 of 8."""
    return f"{n:,}" if n == total else f"{n:,} of {total:,}"


def compact(value: float) -> float:
    """The same number with six digits, or as many more as it takes to be written the same."""
    for digits in (6, 9, 12):
        short = float(f"{value:.{digits}g}")
        if number(short) == number(value):
            return short
    return value
