"""How numbers are written: in tables, sentences, Markdown, LaTeX, XML and on the page the same number looks the same.

Nobody else rounds, and a test says so. A count is an int and needs no rounding: `f"{n:,}"` may stand anywhere. The
report's script follows the same rules (`report/static/numbers.js`), and a test holds the two to the same values.
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
    return MISSING if bounds is None else f"{number(float(bounds[0]))} to {number(float(bounds[1]))}"


def signed_interval(bounds: Sequence[float] | None) -> str:
    """The two ends of a difference's interval: -0.1291 to +0.6382."""
    return MISSING if bounds is None else f"{signed(float(bounds[0]))} to {signed(float(bounds[1]))}"


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


def given(value: float, *, thousands: bool = False) -> str:
    """A number as somebody wrote it, a bound or a level of significance: 0.05, 2000; 2,000 in a sentence."""
    return f"{value:,.12g}" if thousands else f"{value:.12g}"


def percent(share: float, *, decimals: int | None = None) -> str:
    """A share as people say it: 95%, and 99.9% is not 100%. With `decimals`, one that was computed: 42.9%."""
    return f"{given(100 * share)}%" if decimals is None else f"{share:.{decimals}%}"


def whole(value: float) -> str:
    """A large number whose decimals mean nothing: milliseconds, or what labels are worth."""
    return f"{value:,.0f}"


def hundredths(value: float, *, sign: bool = False) -> str:
    """A factor, or with its sign a weight of evidence: 0.91, +2.21."""
    return f"{value:+.2f}" if sign else f"{value:.2f}"


def significant(value: float, digits: int = 4) -> str:
    """A number of any size by its first digits, for a variance: 0.01234, 50.88."""
    return f"{value:.{digits}g}"


def two_digits(value: float) -> float:
    """The number with two digits, for a plan: 1,234 questions are no better known than 1,200."""
    return float(significant(value, 2))


def about(count: float) -> str:
    """A number of questions in a plan: 1,200."""
    return whole(two_digits(count))


def money(usd: float) -> str:
    """A cost: $0.0123."""
    return f"${usd:,.4f}"


def compact(value: float) -> float:
    """The same number with six digits, or as many more as it takes to be written the same."""
    for digits in (6, 9, 12):
        short = float(significant(value, digits))
        if number(short) == number(value):
            return short
    return value
