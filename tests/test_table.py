"""Columns of texts in Arrow arrays, which everybody may take for lists."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter import evaluate
from ragmeter.io.source import open_source
from ragmeter.table import Block, ListsOfOne, TextColumn, cells_at

texts = st.lists(st.text(st.sampled_from("a[é中"), max_size=3))


def column_of(cells: list[str]) -> TextColumn:
    return TextColumn(pa.array(["before", *cells, "after"], pa.large_string())[1:-1])


@given(texts, st.integers(0, 5), st.integers(0, 5))
def test_it_is_the_list_of_its_texts(cells: list[str], begin: int, end: int) -> None:
    column = column_of(cells)
    assert (len(column), list(column), repr(column)) == (len(cells), cells, repr(cells))
    assert column == cells
    assert column[begin:end] == cells[begin:end]
    assert list(column.containing("[")) == [cell for cell in cells if "[" in cell]
    assert pa.array(column, pa.large_string()).to_pylist() == cells
    assert ("a" in column, None in column) == ("a" in cells, False)
    places = np.arange(0, len(cells), 2)
    assert list(cells_at(column, places)) == cells_at(cells, places) == cells[::2]


@given(texts)
def test_a_column_of_lists_of_one_text(cells: list[str]) -> None:
    lists = ListsOfOne(column_of(cells).array)
    assert lists == [[cell] for cell in cells]
    kind = pa.list_(pa.large_string())
    assert pa.array(lists, kind).equals(pa.array([[cell] for cell in cells], kind))
    assert list(Block({"reference": lists}).columns["reference"]) == cells


@pytest.mark.parametrize("name", ["data.csv", "data.tsv"])
def test_a_file_of_texts_becomes_no_python_strings(name: str, tmp_path: Path) -> None:
    """From the reader to the scores; what a cell holds makes no difference to them."""
    cells = [("1", 'a "b"', "é a"), ("2", "[1] says so", "x"), ("3", "c", "C")]
    file, metrics = tmp_path / name, "token_f1,edit_distance,exact_match"
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream, delimiter="," if name.endswith("csv") else "\t")
        writer.writerows([("qid", "reference", "answer"), *cells])
    (batch,) = open_source(file).batches()
    assert all(isinstance(column, TextColumn) for column in batch.columns.values())
    rows = [dict(zip(("qid", "reference", "answer"), row, strict=True)) for row in cells]
    assert evaluate(file, metrics=metrics).rows.equals(evaluate(rows, metrics=metrics).rows)
