"""Tables that fit, and cut no number."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from ragmeter.show.terminal import tables
from ragmeter.show.terminal.tables import Column, Figures, broken
from tests.conftest import Run

COLUMNS = [
    Column("metric", figures=False),
    Column("mean"),
    Column("95% interval"),
    Column("better/\nworse", optional=True),
]


def shown(table: Figures, width: int) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False, markup=False).print(table, crop=False)
    return [line.rstrip() for line in out.getvalue().splitlines()]


def example() -> Figures:
    table = Figures(COLUMNS)
    table.add("rouge_l_score[language=en] ↑", "0.4308", "0.1479 to 0.7137", "0/84")
    table.add("token_f1 ↑", "0.5083", "0.4920 to 0.5247", Text("1,592/608"))
    return table


def test_a_table_that_has_room() -> None:
    assert shown(example(), 80) == [
        "",
        "                                                              better/",
        " metric                           mean       95% interval       worse",
        " " + "─" * 68,
        " rouge_l_score[language=en] ↑   0.4308   0.1479 to 0.7137        0/84",
        " token_f1 ↑                     0.5083   0.4920 to 0.5247   1,592/608",
        "",
    ]


def test_names_are_broken_before_anything_is_left_out() -> None:
    assert shown(example(), 60) == [
        "",
        "                                                    better/",
        " metric                   mean      95% interval      worse",
        " " + "─" * 58,
        " rouge_l_score          0.4308  0.1479 to 0.7137       0/84",
        "   [language=en] ↑",
        " token_f1 ↑             0.5083  0.4920 to 0.5247  1,592/608",
        "",
    ]


def test_what_is_left_out_is_named() -> None:
    lines = shown(example(), 46)
    assert "0/84" not in "".join(lines)
    assert " ".join(lines[-2:]).strip().startswith("no room for: better/worse (a wider terminal")


def test_rows_become_lines_where_there_is_no_room_at_all() -> None:
    assert shown(example(), 30) == [
        "",
        "rouge_l_score[language=en] ↑",
        "  mean: 0.4308",
        "  95% interval: 0.1479 to",
        "  0.7137",
        "  better/worse: 0/84",
        "token_f1 ↑",
        "  mean: 0.5083",
        "  95% interval: 0.4920 to",
        "  0.5247",
        "  better/worse: 1,592/608",
        "",
    ]


def test_the_same_name_again_is_not_repeated_in_a_table() -> None:
    table = Figures([Column("kind", figures=False), Column("metric", figures=False), Column("mean")], "by kind")
    table.add("music", "token_f1", "0.1000")
    table.add("music", "ndcg", "0.2000")
    assert [line.split() for line in shown(table, 80) if line.split()][-2:] == [
        ["music", "token_f1", "0.1000"],
        ["ndcg", "0.2000"],
    ]
    assert "music, ndcg" in shown(table, 20)
    assert shown(table, 80)[0] == "by kind"


def test_a_row_has_a_cell_for_each_column() -> None:
    with pytest.raises(ValueError, match="1 cells for 4 columns"):
        example().add("token_f1")


@given(
    st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cc", "Cs", "Mn", "Me", "Cf"]), max_size=60),
    st.integers(4, 40),
)
def test_a_broken_name_fits_and_loses_nothing(name: str, width: int) -> None:
    lines = broken(name, width).split("\n")
    assert all(cell_len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(name.split())


@pytest.mark.parametrize("width", range(9, 40))
def test_numbers_in_prose_are_not_broken(width: int) -> None:
    text = broken("the answer has 1,000.5 and -0.25 and 3/4", width)
    for figure in ("1,000.5", "-0.25"):
        assert figure in text


@pytest.mark.parametrize(("columns", "least", "most"), [("40", 20, 40), ("160", 81, 160), ("", 60, 80), ("x", 60, 80)])
def test_texts_in_a_pipe_are_as_wide_as_columns_says(columns: str, least: int, most: int, ragmeter: Run) -> None:
    lines = ragmeter("metrics", "token_f1", env={"COLUMNS": columns}).stdout.splitlines()
    assert least <= max(len(line.rstrip()) for line in lines) <= most


@pytest.mark.parametrize("text", ["word " * 200_000, "x" * 1_000_000], ids=["words", "one word"])
def test_a_huge_cell_is_broken_in_linear_work(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = 0

    def counted(part: str) -> int:
        nonlocal measured
        measured += len(part)
        return cell_len(part)

    monkeypatch.setattr(tables, "cell_len", counted)
    for width in (40, len(text)):
        assert "".join(broken(text, width, indent="").split()) == "".join(text.split())
    assert measured < 50 * len(text)
