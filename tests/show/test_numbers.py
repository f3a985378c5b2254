"""One way to write a number, in Python and in the report's script."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragmeter
from ragmeter.show.numbers import compact, equals, interval, number, p_value, scored, signed, signed_interval
from tests.browser import chromium, missing

SCRIPT = Path(ragmeter.__file__).parent / "show" / "report" / "static" / "numbers.js"
CASES = [
    (0.81284, "0.8128"),
    (0.0, "0.0000"),
    (-0.0, "0.0000"),
    (-0.00004, "0.0000"),
    (0.03125, "0.0313"),  # a half is rounded away from zero, as by toFixed
    (-0.03125, "-0.0313"),
    (0.00005, "0.0001"),
    (9.99994, "9.9999"),
    (9.99996, "10.0000"),
    (10.0, "10.0"),
    (10.25, "10.3"),
    (1234.56, "1,234.6"),
    (-1234567.25, "-1,234,567.3"),
    (1e21, "1e+21"),
    (None, "–"),
    (math.nan, "–"),
    (math.inf, "–"),
]


@pytest.mark.parametrize(("value", "text"), CASES)
def test_a_number(value: float | None, text: str) -> None:
    assert number(value) == text


def test_whole_numbers_have_no_decimals() -> None:
    assert (number(8), number(12345), number(0)) == ("8", "12,345", "0")


def test_differences_have_a_sign() -> None:
    assert [signed(value) for value in (0.3838, -0.5, 0.0, -1e-9, 1234.5, None)] == [
        "+0.3838", "-0.5000", "0.0000", "0.0000", "+1,234.5", "–"
    ]  # fmt: skip


def test_intervals() -> None:
    assert interval((0.14791, 0.7137)) == "0.1479 to 0.7137"
    assert signed_interval((-0.1, 12.0)) == "-0.1000 to +12.0"
    assert (interval(None), signed_interval(None)) == ("–", "–")


def test_p_values_and_counts() -> None:
    assert [p_value(p) for p in (0.0625, 0.0001, 0.00009, 1.0, None)] == ["0.0625", "0.0001", "<0.0001", "1.0000", "–"]
    assert [equals("p", p_value(p)) for p in (0.0625, 0.00001)] == ["p = 0.0625", "p < 0.0001"]
    assert (scored(7, 8), scored(8000, 8000)) == ("7 of 8", "8,000")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_fewer_digits_read_the_same(value: float) -> None:
    assert number(compact(value)) == number(value)
    assert len(repr(compact(0.123456789123))) <= len("0.123457")


@pytest.fixture(scope="module")
def in_script(browser_address: str) -> Any:
    """Calls the functions of the report's script."""
    if missing():
        pytest.skip(missing())
    with chromium(browser_address) as browser:
        page = browser.new_page()
        source = SCRIPT.read_text(encoding="utf-8")
        page.evaluate(f"() => {{ {source}; window.written = {{ figure, signed, interval, signedInterval, pValue }}; }}")
        yield lambda name, values: page.evaluate("([name, values]) => values.map(window.written[name])", [name, values])


def test_the_script_writes_numbers_the_same_way(in_script: Any) -> None:
    values = [value for value, _ in CASES if value is None or math.isfinite(value)]
    values += [numerator / 64 for numerator in range(-640, 1280, 7)]  # halves of the last decimal among them
    values += [numerator / 16 for numerator in range(150, 40_000, 377)] + [10**power / 3 for power in range(-9, 21)]
    assert in_script("figure", values) == [number(value) for value in values]
    assert in_script("signed", values) == [signed(value) for value in values]
    pairs = [None, *([value, other] for value, other in pairwise(values) if value and other)]
    assert in_script("interval", pairs) == [interval(pair) for pair in pairs]
    assert in_script("signedInterval", pairs) == [signed_interval(pair) for pair in pairs]
    ps = [None, 0.0, 0.00009, 0.0001, 0.03125, 0.0625, 0.5, 1.0]
    assert in_script("pValue", ps) == [p_value(p) for p in ps]


def test_nobody_else_rounds() -> None:
    """What shows figures has them from here. Money, places on a chart and weights of evidence are no figures."""
    allowed = re.compile(r"cost|usd|weight|prior")
    package = Path(ragmeter.__file__).parent
    for part in ("cli", "analysis", "show"):
        for path in (*(package / part).rglob("*.py"), *(package / part).rglob("*.js")):
            for line in path.read_text(encoding="utf-8").splitlines():
                rounds = re.search(r":\+?,?\.[34]f\}|toFixed\(", line) and path.name not in ("numbers.js", "charts.js")
                assert not rounds or allowed.search(line), f"{path.name}: {line.strip()}"
