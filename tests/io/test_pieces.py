"""Files that are cut into parts have the rows of the whole file, wherever the cuts are."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from ragmeter.errors import InputError
from ragmeter.io.delimited.quotes import scan
from ragmeter.io.formats.datasets import single
from ragmeter.io.pieces import Part, cut, open_part, settle
from ragmeter.io.reading import Reading
from ragmeter.io.source import Source, open_file

Rows = list[tuple[object, ...]]


def rows_of(*sources: Source) -> Rows | str:
    """The titles and cells of all rows, or that they can't be read."""
    try:
        return [
            (*batch.columns, *row)
            for source in sources
            for batch in source.batches()
            for row in zip(*batch.columns.values(), strict=True)
        ]
    except InputError:
        return "an error"


def parts_of(path: Path, most: int, reading: Reading = Reading()) -> list[Part]:  # noqa: B008 - frozen
    parts = cut([single(path)], reading, most)
    return settle(parts, {part.number: scan(path, part.span) for part in parts if part.is_rough and part.span})


def opened(parts: list[Part], reading: Reading = Reading()) -> list[Source]:  # noqa: B008 - frozen
    return [open_part(part, reading, is_data_set=False) for part in parts]


QUOTED = 'qid,answer\n1,"two\nlines, and ""quotes"""\n2,plain\n3,""\n"4","a\r\n\r\nb"\n5,é\n6,"""\n"""\n'


@pytest.mark.parametrize(
    "text",
    [
        QUOTED,
        QUOTED.rstrip("\n"),
        "\ufeff" + QUOTED,
        "\n\n" + QUOTED,
        QUOTED.replace("qid,", '"qid\n(a number)",'),
        QUOTED.replace("\n", "\r\n"),
    ],
    ids=["lf", "no last line break", "BOM", "blank lines", "header", "crlf"],
)
def test_a_quoted_file_is_cut_between_rows(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode())
    whole = rows_of(open_file(path, Reading()))
    counts = set()
    for most in range(4, len(text)):
        parts = parts_of(path, most)
        assert rows_of(*opened(parts)) == whole
        counts.add(len(parts))
    assert len(whole) == 6
    assert max(counts) > 4


@pytest.mark.parametrize(
    ("text", "is_cut"),
    [
        ('qid,answer\n1,a 5" pipe\n2,"b"\n3,c\n', False),  # a quote in a cell that is not quoted is text
        ('qid,answer\n1,"never closed\n2,b\n3,c\n', False),
        ('qid,answer\n1,"a"b\n2,b\n3,c\n', False),
        ("qid,answer\r1,a\n2,b\n3,c\n", False),  # the header ends with a carriage return alone
        ("qid,answer\n1,a\r2,b\n3,c\n4,d\n", True),
    ],
)
def test_a_file_whose_quotes_don_t_tell_is_one_part(text: str, is_cut: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode())
    parts = parts_of(path, 12)
    assert (len(parts) > 1) is is_cut
    assert rows_of(*opened(parts)) == rows_of(open_file(path, Reading()))


@pytest.mark.parametrize("quotes", [True, False])
def test_what_is_no_table_of_lines_is_one_part(quotes: bool, tmp_path: Path) -> None:
    reading = Reading(quotes=quotes)
    run = tmp_path / "run.tsv"
    run.write_text("".join(f"q{n}\tQ0\td{n}\t1\t0.5\tmine\n" for n in range(20)))
    packed = tmp_path / "packed.csv"
    packed.write_bytes(gzip.compress(QUOTED.encode()))
    for path in (run, packed):
        parts = parts_of(path, 20, reading)
        assert len(parts) == 1
        assert rows_of(*opened(parts, reading)) == rows_of(open_file(path, reading))


def test_random_files_are_cut_right(tmp_path: Path) -> None:
    draws = random.Random(0)
    path = tmp_path / "a.csv"
    were_cut = 0

    def cell(stray: float) -> str:
        text = "".join(draws.choices('ab ,"\né', k=draws.choice([0, 1, 5, 12])))
        if draws.random() < stray:
            return 'x"y'
        return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\n') or draws.random() < 0.3 else text

    for _ in range(200):
        stray = draws.choice([0, 0, 0, 0.1])
        lines = [f"{cell(stray)},{cell(stray)}" for _ in range(draws.randint(1, 20))]
        path.write_text("\n".join(["first,second", *lines]))
        parts = parts_of(path, draws.randint(5, 60))
        were_cut += len(parts) > 1
        assert rows_of(*opened(parts)) == rows_of(open_file(path, Reading()))
    assert were_cut > 100
