"""One way to write a number, in Python and in the report's script."""

from __future__ import annotations

import ast
import math
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragmeter
from ragmeter import evaluate
from ragmeter.wording.numbers import (
    about,
    compact,
    compared,
    compared_percents,
    deserved_decimals,
    equals,
    hundredths,
    interval,
    money,
    number,
    p_value,
    percent,
    probability,
    rate_with_interval,
    scored,
    signed,
    signed_interval,
    significant,
    three_digits,
    whole,
    with_interval,
)
from ragmeter.wording.numbers import given as as_given
from tests.browser import chromium, missing
from tests.conftest import Run

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


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_difference_is_rounded_itself(before: float, after: float) -> None:
    assert compared(before, after, 3)[2] == signed(after - before, decimals=3)
    *_, difference, decimals = compared_percents(before, after, 0)
    assert difference == signed(100 * after - 100 * before, decimals=decimals)


def test_a_difference_is_not_that_of_rounded_means() -> None:
    assert compared(0.6814, 0.6546, 3) == ("0.681", "0.655", "-0.027")


def test_rates_have_a_digit_more_where_the_sum_would_look_wrong() -> None:
    assert compared_percents(139 / 220, 131 / 220, 0) == ("63.2%", "59.5%", "-3.6", 1)
    assert compared_percents(0.44, 0.7, 0) == ("44%", "70%", "+26", 0)
    assert compared(None, 0.5, 2) == ("–", "0.50", "–")


def test_digits_of_estimates_and_of_milliseconds() -> None:
    assert with_interval(0.45, (0.2582, 0.6579)) == ("0.45", "0.26 to 0.66")
    assert [three_digits(value) for value in (0.9139, 12.345, 1234.5, 0.0, None)] == [
        "0.914",
        "12.3",
        "1,235",
        "0",
        "–",
    ]


def test_a_probability_is_not_rounded_to_certainty_or_to_a_verdict() -> None:
    chances = (0.9843, 0.9961, 0.4996, 0.6666, 0.0012, 1.0)
    assert [probability(chance) for chance in chances] == ["0.98", "0.996", "0.4996", "0.67", "0.001", "1.00"]


def test_whole_numbers_have_no_decimals() -> None:
    assert (number(8), number(12345), number(0)) == ("8", "12,345", "0")


def test_differences_have_a_sign() -> None:
    assert [signed(value) for value in (0.3838, -0.5, 0.0, -1e-9, 1234.5, None)] == [
        "+0.3838", "-0.5000", "0.0000", "0.0000", "+1,234.5", "–"
    ]  # fmt: skip


def test_no_difference_looks_like_none() -> None:
    differences = (0.00003, -0.000049, 2e-9, 0.00005)
    assert [signed(value) for value in differences] == ["+0.00003", "-0.00005", "+0.000000002", "+0.0001"]
    assert signed_interval((-0.00001, 0.2)) == "-0.00001 to +0.2000"


def test_rounding_does_not_hide_the_side_of_a_limit() -> None:
    beside = [(0.59998, 0.6), (0.60004, 0.6), (0.6, 0.6), (0.1 + 0.2, 0.3), (0.5, 0.6), (0.60003, 0.60004)]
    assert [number(value, limit) for value, limit in beside] == [
        "0.59998", "0.60004", "0.6000", "0.3000", "0.5000", "0.6000"
    ]  # fmt: skip
    assert (number(1999.97, 2000), number(2000.04, 2000), number(None, 1)) == ("1,999.97", "2,000.04", "–")
    assert interval((0.59996, 0.7), 0.6) == "0.59996 to 0.7000"
    assert [p_value(p, 0.05) for p in (0.04997, 0.05003, 0.05, 0.3)] == ["0.04997", "0.05003", "0.0500", "0.3000"]


def test_intervals() -> None:
    assert interval((0.14791, 0.7137)) == "0.1479 to 0.7137"
    assert interval((0, 34.1)) == "0.0000 to 34.1", "the end of a range may be an int, and is a mean's end all the same"
    assert signed_interval((-0.1, 12.0)) == "-0.1000 to +12.0"
    assert (interval(None), signed_interval(None)) == ("–", "–")


def test_p_values_and_counts() -> None:
    assert [p_value(p) for p in (0.0625, 0.0001, 0.00009, 1.0, None)] == ["0.0625", "0.0001", "<0.0001", "1.0000", "–"]
    assert [equals("p", p_value(p)) for p in (0.0625, 0.00001)] == ["p = 0.0625", "p < 0.0001"]
    assert (scored(7, 8), scored(8000, 8000)) == ("7 of 8", "8,000")


def test_numbers_that_somebody_gave() -> None:
    assert [as_given(value) for value in (0.05, 2000.0, 1e6, 0.1 + 0.2, 5)] == ["0.05", "2000", "1000000", "0.3", "5"]
    assert as_given(123456.75, thousands=True) == "123,456.75"
    assert [percent(share) for share in (0.95, 0.999, 0.05)] == ["95%", "99.9%", "5%"]
    assert percent(3 / 7, decimals=1) == "42.9%"


def test_digits_as_the_uncertainty_deserves() -> None:
    assert deserved_decimals((0.45, 0.91)) == 2
    assert deserved_decimals((0.42, 0.51)) == 3
    assert deserved_decimals((0.7012, 0.7019)) == 4
    assert deserved_decimals((10.0, 60.0)) == 0
    assert (deserved_decimals(None), deserved_decimals((0.5, 0.5)), deserved_decimals((0.0, math.inf))) == (None,) * 3
    assert interval((0.4522, 0.91), decimals=2) == "0.45 to 0.91"
    assert rate_with_interval(0.7221, (0.6594, 0.7817)) == ("72%", "66 to 78")
    assert rate_with_interval(0.70031, (0.6996, 0.7009)) == ("70.03%", "69.96 to 70.09")
    assert rate_with_interval(1.0, None) == ("100%", "")


def test_numbers_of_other_kinds() -> None:
    assert [about(count) for count in (5, 1234, 1250.0, 98_765)] == ["5", "1,200", "1,200", "99,000"]
    assert (whole(1234.56), money(1234.5), hundredths(0.9084)) == ("1,235", "$1,234.5000", "0.91")
    assert [hundredths(weight, sign=True) for weight in (2.214, -0.5, 0)] == ["+2.21", "-0.50", "+0.00"]
    assert [significant(value) for value in (0.0123456, 50.876)] == ["0.01235", "50.88"]


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
        names = "figure, signedHundredths, tick"
        page.evaluate(f"() => {{ {source}; window.written = {{ {names} }}; }}")
        yield lambda name, values: page.evaluate("([name, values]) => values.map(window.written[name])", [name, values])


def test_the_script_writes_numbers_the_same_way(in_script: Any) -> None:
    values = [value for value, _ in CASES if value is None or math.isfinite(value)]
    values += [numerator / 64 for numerator in range(-640, 1280, 7)]  # halves of the last decimal among them
    values += [numerator / 16 for numerator in range(150, 40_000, 377)] + [10**power / 3 for power in range(-9, 21)]
    assert in_script("figure", values) == [number(value) for value in values]
    weights = [-0.73, 0.0, 0.08, 2.21, 12.5]
    assert in_script("signedHundredths", weights) == [hundredths(weight, sign=True) for weight in weights]


def test_the_ends_of_an_axis(in_script: Any) -> None:
    ends = [-2.04e-8, 1.9e-8, -0.0, 0.25, 1.0, 12345.678, 1.1e15]
    assert in_script("tick", ends) == ["-2e-8", "1.9e-8", "0", "0.25", "1", "12,350", "1,100,000,000,000,000"]


#: Formats that round a number: .3f, ,.0f, g, +.2f, .1%; not those of counts (,), widths (>10) and dates (%Y-%m-%d).
ROUNDS = re.compile(r"^[^%]*(\.\d+|\.\{\})?[eEfFgG]$|%$|\.(\d+|\{\})$")
IN_TEMPLATES = re.compile(r"\{\w*:[^{}]*(\.\d+[efg%]?|[efg%])\}|%[+,]?\.\d+[efg]")
IN_SCRIPTS = re.compile(r"\.(toFixed|toPrecision|toLocaleString)\(|Intl\.NumberFormat")
#: What writes texts for people.
SOURCES = [
    *(f"{room}/**/*.*" for room in ("cli", "show", "analysis", "compat", "engine", "runs", "wording")),
    "io/progress.py", "io/tabular.py",
]  # fmt: skip
#: What looks like rounding and writes no figure.
ALLOWED = {
    "wording/numbers.py": "writes them all",
    "show/report/static/numbers.js": "writes them all on the page",
    "show/page/charts/drawing.py": "places on a chart",
    "show/report/static/charts.js": "places on a chart",
    "io/progress.py": "seconds, and a count that a progress bar holds as a float",
}


def roundings(path: Path) -> list[str]:
    """The places in a file where a number is rounded to be shown."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".js":
        return [line.strip() for line in source.splitlines() if IN_SCRIPTS.search(line)]
    places = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
            parts = node.format_spec.values if isinstance(node.format_spec, ast.JoinedStr) else []
            spec = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)
            rounds = bool(ROUNDS.search(spec))
        elif isinstance(node, ast.Call):
            name = getattr(node.func, "id", "")
            rounds = (name == "round" and len(node.args) > 1) or name == "format"
        else:
            rounds = (
                isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(IN_TEMPLATES.search(node.value))
            )
        if rounds:
            places.append(ast.unparse(node))
    return places


def test_nobody_else_rounds() -> None:
    """A figure is written here or not at all, so that the same mean looks the same wherever it is shown."""
    package = Path(ragmeter.__file__).parent
    files = [path for source in SOURCES for path in package.glob(source) if path.suffix in (".py", ".js")]
    places = {path.relative_to(package).as_posix(): roundings(path) for path in files}
    assert {name: lines for name, lines in places.items() if lines and name not in ALLOWED} == {}
    assert all(places[name] for name in ALLOWED), "what rounds no more needs no leave to"


@pytest.mark.parametrize(
    "line",
    [
        'f"{mean:.4f}"', 'f"{mean:,.1f}"', 'f"{mean:g}"', 'f"{mean:+.2f}"', 'f"{share:.0%}"', 'f"{mean:.{digits}g}"',
        'round(mean, 3)', 'format(mean, ".3f")', '"{mean:.3f}".format(mean=mean)', '"%.3f" % mean',
    ],
)  # fmt: skip
def test_rounding_is_seen(line: str, tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(f"text = {line}", encoding="utf-8")
    assert roundings(tmp_path / "module.py")


@pytest.mark.parametrize(
    "line", ['f"{n:,}"', 'f"{name:10}"', 'f"{title:{width}}"', 'f"{now:%Y%m%d-%H%M%S}"', "round(x)"]
)
def test_counts_widths_and_dates_are_no_figures(line: str, tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(f"text = {line}", encoding="utf-8")
    assert roundings(tmp_path / "module.py") == []


def test_the_same_mean_everywhere(tmp_path: Path, ragmeter: Run) -> None:
    """One run, and its mean in the terminal, a sentence, a repr, a notebook, Markdown, LaTeX, JUnit and on the page."""
    data = [{"qid": str(n), "reference": "a b c", "answer": "a b" if n % 3 else "a b c"} for n in range(30)]
    evaluation = evaluate(data, metrics="token_f1", run="r", output_dir=tmp_path)
    mean = evaluation["token_f1"].mean
    assert mean is not None
    files = {name: str(tmp_path / name) for name in ("r.html", "r.md", "r.tex", "gate.xml", "gate.md")}
    gate = ("--fail-under", "token_f1=0.1", "--junit", files["gate.xml"], "--markdown", files["gate.md"])
    printed = [
        ragmeter("summary", "r", "--output-dir", str(tmp_path)).stdout,
        ragmeter("gate", "r", "--output-dir", str(tmp_path), *gate).stdout,
    ]
    texts = ("--markdown", files["r.md"], "--latex", files["r.tex"])
    ragmeter("report", "r", "--output-dir", str(tmp_path), "--output", files["r.html"], *texts)
    shown = [
        *printed,
        repr(evaluation),
        evaluation._repr_html_(),
        *(Path(path).read_text("utf-8") for path in files.values()),
    ]
    written = number(mean, decimals=deserved_decimals(evaluation["token_f1"].interval))
    assert [written in text for text in shown] == [True] * len(shown)
    assert written == "0.867"
