"""Formats numbers: in tables, sentences, Markdown, LaTeX, XML and on the page the same number looks the same.

No other module rounds, and a test checks that. A count is an int and needs no rounding: `f"{n:,}"` is allowed anywhere.
The report's script has the same rules (`report/static/numbers.js`), and a test compares the two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal

#: Shown in place of a missing number.
MISSING = "–"
#: Below this a number has four decimals, from it on one.
_LARGE = 10.0
#: Above this a number is written with an exponent.
_HUGE = 1e21
_ROUNDING = Context(prec=40, rounding=ROUND_HALF_UP)
#: The smallest p-value that is written in full; 9,999 random draws tell no smaller ones apart.
_SMALLEST_P = 0.0001
#: A difference up to this is floating-point noise, and shown as none.
_NOISE = 1e-9
#: Of an interval's half width, so many digits are shown, and at most this many decimals.
_DIGITS_OF_DOUBT, _MOST_DECIMALS = 2, 4
#: A number this near to a limit is equal to it, as for a gate; in proportion where the limit is above 1.
_EQUAL = 1e-12


def number(value: float | None, limit: float | None = None, decimals: int | None = None) -> str:
    """A mean or another figure: 0.4308, 1,234.5. A whole number (an int) has no decimals.

    Halves are rounded away from zero, as people do and as JavaScript's toFixed does. Where rounding would hide on which
    side of a `limit` the number is, it has more digits: 0.59998 beside 0.6. `decimals` are as many as its uncertainty
    deserves, if that is known.
    """
    if value is None or not math.isfinite(value):
        return MISSING
    if isinstance(value, int):
        return f"{value:,}"
    if abs(value) >= _HUGE:
        return repr(float(value))
    if decimals is None:
        decimals = _MOST_DECIMALS if abs(value) < _LARGE else 1
    rounded = _rounded(value, decimals)
    if limit is not None and abs(value - limit) > _EQUAL * max(1.0, abs(limit)):
        bound = Decimal(repr(float(limit)))
        while rounded == bound or (rounded < bound) != (value < limit):
            decimals += 1
            rounded = _rounded(value, decimals)
    return f"{rounded if rounded else abs(rounded):,f}"


def _rounded(value: float, decimals: int) -> Decimal:
    return Decimal(float(value)).quantize(Decimal(1).scaleb(-decimals), context=_ROUNDING)


def signed(value: float | None, limit: float | None = None, decimals: int | None = None) -> str:
    """A difference: like a number, and with a + where it is above 0. No difference but 0 looks like 0."""
    if limit is None and value is not None and abs(value) > _NOISE:
        limit = 0.0
    text = number(value, limit, decimals)
    if text in (MISSING, number(0), number(0.0, decimals=decimals)) or text.startswith("-"):
        return text
    return f"+{text}"


def deserved_decimals(bounds: Sequence[float] | None) -> int | None:
    """How many decimals an estimate with this interval deserves: 0.72 with 0.45 to 0.91, and 0.465 with 0.42 to 0.51.

    The half of the interval's width has two digits. None where there is no interval, or one of no width.
    """
    half = 0.0 if bounds is None else abs(bounds[1] - bounds[0]) / 2
    if half <= _NOISE or not math.isfinite(half):
        return None
    return min(_MOST_DECIMALS, max(0, _DIGITS_OF_DOUBT - 1 - math.floor(math.log10(half))))


def with_interval(value: float | None, bounds: Sequence[float] | None) -> tuple[str, str]:
    """An estimate and its interval, with as many decimals as the interval deserves: 0.45, 0.26 to 0.66."""
    decimals = deserved_decimals(bounds)
    return number(value, decimals=decimals), interval(bounds, decimals=decimals)


def probability(chance: float) -> str:
    """A probability with two decimals, or as many as tell it from one half, from 0 and from 1: 0.98, 0.996, 0.499."""
    return number(float(chance), min((0.0, 0.5, 1.0), key=lambda limit: abs(chance - limit)), 2)


def three_digits(value: float | None) -> str:
    """A number with three significant digits, or all before the point: 0.914, 12.3, 1,234; for example milliseconds."""
    if value is None or not math.isfinite(value):
        return MISSING
    return number(float(value), decimals=max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0)


def compared(before: float | None, after: float | None, decimals: int | None) -> tuple[str, str, str]:
    """Two means and their difference, which is rounded itself: rounded means may differ by a digit more or less."""
    means = number(before, decimals=decimals), number(after, decimals=decimals)
    return *means, MISSING if before is None or after is None else signed(after - before, decimals=decimals)


def compared_percents(before: float | None, after: float | None, decimals: int) -> tuple[str, str, str, int]:
    """Two rates in percent, their difference in points, and the decimals of all: one more where they don't add up."""
    if before is None or after is None:
        return MISSING, MISSING, MISSING, decimals
    rates = 100 * before, 100 * after
    if _rounded(rates[1], decimals) - _rounded(rates[0], decimals) != _rounded(rates[1] - rates[0], decimals):
        decimals += 1
    first, second, difference = compared(*rates, decimals)
    return f"{first}%", f"{second}%", difference, decimals


def points(share: float | None, decimals: int) -> str:
    """A difference of two rates in percentage points: +26."""
    return signed(None if share is None else 100 * share, decimals=decimals)


def rounded_percent(share: float | None, decimals: int) -> str:
    """A rate as a percentage, rounded as a person does: 47% for 0.465."""
    return MISSING if share is None else f"{number(100 * share, decimals=decimals)}%"


def rate_with_interval(rate: float | None, bounds: Sequence[float] | None) -> tuple[str, str]:
    """A rate as a percentage, and its interval in percent: 72%, 66 to 78. A digit less than a number has beside it."""
    ends = None if bounds is None else [100 * float(end) for end in bounds]
    decimals = max(0, (deserved_decimals(ends) or 1) - 1)
    return rounded_percent(rate, decimals), "" if ends is None else interval(ends, decimals=decimals)


def interval(bounds: Sequence[float] | None, limit: float | None = None, decimals: int | None = None) -> str:
    """The two ends of an interval: 0.1479 to 0.7137, or 0.15 to 0.71 with two `decimals`."""
    return MISSING if bounds is None else " to ".join(number(float(end), limit, decimals) for end in bounds)


def margins(value: float, bounds: Sequence[float]) -> str:
    """How far the ends of an interval are from its estimate: ±.045, or -.03 +.05 where the two differ."""
    decimals = deserved_decimals(bounds)
    below, above = (number(abs(end - value), decimals=decimals).removeprefix("0") or "0" for end in bounds)
    return f"±{above}" if below == above else f"−{below} +{above}"


def signed_interval(bounds: Sequence[float] | None, decimals: int | None = None) -> str:
    """The two ends of a difference's interval: -0.1291 to +0.6382."""
    if bounds is None:
        return MISSING
    return " to ".join(signed(float(end), decimals=decimals) for end in bounds)


def p_value(p: float | None, alpha: float | None = None) -> str:
    """A p-value: 0.0625, or <0.0001. Beside `alpha` it has as many digits as tell the two apart."""
    if p is None or math.isnan(p):
        return MISSING
    return f"<{number(_SMALLEST_P)}" if p < _SMALLEST_P else number(float(p), alpha)


def equals(name: str, text: str) -> str:
    """A name with its number, in a sentence: p = 0.0625, p < 0.0001."""
    return f"{name} < {text[1:]}" if text.startswith("<") else f"{name} = {text}"


def scored(n: int, total: int) -> str:
    """How many rows have a score: 8, or 7 of 8."""
    return f"{n:,}" if n == total else f"{n:,} of {total:,}"


def given(value: float, *, thousands: bool = False) -> str:
    """A number that a user gave, such as a bound or a level of significance: 0.05, 2000; 2,000 in a sentence."""
    return f"{value:,.12g}" if thousands else f"{value:.12g}"


def percent(share: float, *, decimals: int | None = None) -> str:
    """A share as a percentage: 95%, and 99.9% is not 100%. With `decimals`, rounded: 42.9%."""
    return f"{given(100 * share)}%" if decimals is None else f"{share:.{decimals}%}"


def whole(value: float) -> str:
    """A number without decimals, for example of milliseconds."""
    return f"{value:,.0f}"


def tick(value: float) -> str:
    """The figure at an end of an axis, with three digits at most: 0, 0.5, 1,840."""
    return given(float(significant(value, 3)), thousands=True)


def hundredths(value: float, *, sign: bool = False) -> str:
    """A factor, or with its sign a weight of evidence: 0.91, +2.21."""
    return f"{value:+.2f}" if sign else f"{value:.2f}"


def significant(value: float, digits: int = 4) -> str:
    """A number with some significant digits, for example a variance: 0.01234, 50.88."""
    return f"{value:.{digits}g}"


def two_digits(value: float) -> float:
    """The number with two significant digits, for a plan: 1,234 questions become 1,200."""
    return float(significant(value, 2))


def about(count: float) -> str:
    """A number of questions in a plan: 1,200."""
    return whole(two_digits(count))


def money(usd: float) -> str:
    """A cost: $0.0123."""
    return f"${usd:,.4f}"


def compact(value: float) -> float:
    """The number with six significant digits, or more if it would be formatted differently."""
    for digits in (6, 9, 12):
        short = float(significant(value, digits))
        if number(short) == number(value):
            return short
    return value
