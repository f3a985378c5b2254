"""No cell runs in a spreadsheet, and what no spreadsheet runs is left as it is."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter.io.delimited.formulas import guarded

FORMULAS = [
    "=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1", "|x", "%x", "=", "@x", "＝1", "＠SUM(A1)",
    "-2+3+cmd|' /C calc'!A0", "-cmd", "+cmd", "- cmd|' /C calc'!A0", "-\ncmd|'/C calc'!A0", "－2+3+cmd｜' /C calc'！A0",
    "-HYPERLINK(\"http://x\",\"y\")", "- uno HYPERLINK (\"http://x\")", "- uno\n- dos\n-WEBSERVICE(\"http://x\")",
    "- IMPORTXML（\"http://x\"）", "-'[x.xlsx]S'!A1", "- [x.xlsx]S!A1", "- 'file:///etc/passwd'#$passwd.A1", "-5(1)",
    "-A1", "-$B$2", "- A1", "- A1+B2", "-cmd1", "-1-2", "-2024-01-15", "- 1\n- 2", "-1*2", "-1%+2", "- 5 + 3", "-uno",
    "- file:///etc/passwd#$passwd.A1",
    "-1.5e3-2", "+1+1", "-1&2", "+49-170-123", "\t-5", "\r- uno", "-5\t+cmd|'x'!A0", "−2+3+cmd|'x'!A0", "- uno|dos",
]  # fmt: skip
HARMLESS = [
    "-1", "+3.5", "-.5e-3", "a=b", "", "x", "1-2", "-5", "-3.2e4", "-1,234.50", "-12 %", "-0", "- 5", "−5", "-", "---",
    "- uno", "- item", "-- item", "+ item", "- uno\n- dos\n- tres", "- 2 huevos", "- París, la capital", "- 10-12 años",
    "- l'été \"dernier\"", "- C# y F#", "- (uno)", "- km/h", "- https://example.com/a", "- ¡Hola!", "- a, b; c: d",
    "-Nx7kQ_2", "-a1b2c3", "-1a", "--aZ9_", "-0f8fad5b-d9cb-469f-a165-70867728950e", "+a1b2/c3", "-5kg", "-x_1",
    "'=1", "q=1", "- año 2024", " - uno", "-  uno", "—Hola (dijo)", "* uno", "• uno", "1. uno",
]  # fmt: skip
_SHAPELESS = ("Cc", "Cf", "Zs", "Zl", "Zp", "Mn", "Me", "Mc")
UNSEEN = ["\ufeff", "\u200b", "\u200d", "\u2060", "\u00a0", "\u3000", "\x00", "\x1f", "\u00ad", "\u202e", "\n", "\x0b"]


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_are_guarded(text: str) -> None:
    assert guarded(text) == "'" + text


@pytest.mark.parametrize("text", HARMLESS)
def test_other_cells_are_left_alone(text: str) -> None:
    assert guarded(text) == text


@pytest.mark.parametrize("unseen", UNSEEN)
def test_characters_that_nobody_sees_hide_no_formula(unseen: str) -> None:
    for text in ("=1+1", "@SUM(A1)", "-2+3+cmd|' /C calc'!A0", "+cmd"):
        assert guarded(unseen + text) == "'" + unseen + text
        assert guarded(unseen + " " + unseen + text).startswith("'")
    assert guarded(f'- HYPERLINK{unseen}("http://x")').startswith("'")
    assert guarded(f"{unseen}- uno") == f"{unseen}- uno"


def test_no_character_without_a_shape_hides_a_formula() -> None:
    """All controls, formats, spaces and marks that this Python knows, and fillers that count as letters."""
    shapeless = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) in _SHAPELESS]
    assert len(shapeless) > 2000
    for unseen in [*shapeless, *"\u115f\u1160\u3164\uffa0\u2800\ufffe\uffff", "\ufeff\u200b \u0301\ufeff"]:
        assert guarded(f"{unseen}=HYPERLINK(1)") == f"'{unseen}=HYPERLINK(1)", ascii(unseen)


@given(st.text(alphabet=" \t\n-+=@|!(#'$.,:/AZaz059_\ufeff\u200b－＋（"))
def test_nothing_that_reaches_out_gets_through(text: str) -> None:
    shown = text.replace("\ufeff", "").replace("\u200b", "").lstrip()
    if guarded(text) == text and shown[:1] in "=+-@－＋" and shown:
        assert shown[0] in "+-－＋"
        assert "|" not in shown
        assert "!A" not in shown
        assert "A(" not in shown
        assert "A（" not in shown


@pytest.mark.parametrize("part", ["+++1", "-1", " ", ":/", "a (", "!", "'#", "-a_1", "1,", "a1+", "\ufeff", "= "])
def test_long_cells_take_no_longer_than_they_should(part: str) -> None:
    assert len(guarded("-" + part * 50_000 + "x")) >= 50_000
