"""Columns of texts in Arrow arrays, which everybody may take for lists."""

from __future__ import annotations

import ast
import csv
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragmeter
from ragmeter import evaluate, table
from ragmeter.io.source import open_source
from ragmeter.table import SCORED, Block, ListsOfOne, TextColumn, cells_at
from ragmeter.wording.causes import cause_meaning

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


def outcomes_in(source: Path) -> Iterator[tuple[str, object]]:
    """What a module gives as the outcome of a failure: names of constants with their values, and literals."""
    module = ".".join(source.relative_to(Path(ragmeter.__file__).parents[1]).with_suffix("").parts).removesuffix(
        ".__init__"
    )
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or not node.args:
            continue
        if node.func.id in {"GiveUp", "TryAgain", "Failure", "Judgement", "Failed"}:
            for argument in ast.walk(node.args[0]):
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield f"{module}:{node.lineno}", argument.value
                elif isinstance(argument, ast.Name) and argument.id.isupper():
                    yield f"{module}.{argument.id}", getattr(import_module(module), argument.id)


def test_every_outcome_has_a_meaning() -> None:
    sources = Path(ragmeter.__file__).parent.rglob("*.py")
    given = {place: value for source in sources for place, value in outcomes_in(source)}
    assert {"ragmeter.targets.web.page.BLOCKED", "ragmeter.effects.limits.caller.STOPPED"} <= given.keys()
    unknown = {
        place: value
        for place, value in given.items()
        if value != SCORED and not str(value).startswith(("no_", "scorer_error: ")) and not cause_meaning(str(value))
    }
    assert not unknown


def test_outcomes_without_a_verdict_are_those_of_judges_and_silence() -> None:
    named = {name for name, value in vars(table).items() if isinstance(value, str) and value in table.MEANINGS}
    assert len(named) == len(table.MEANINGS)  # no two outcomes have one name
    undecided = {
        "unparsable",
        "refused",
        "tied",
        "no_quorum",
        "timeout",
        "judge_error",
        "image_error",
        "skipped_budget",
    }
    assert table.OUTCOMES_WITHOUT_VERDICT == undecided <= table.MEANINGS.keys()
