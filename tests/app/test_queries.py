"""Filter, sort and search by DuckDB."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ragmeter
from ragmeter.app.conditions import Condition
from ragmeter.app.latest import Latest
from ragmeter.app.queries import Database
from ragmeter.app.row_query import RowQuery
from ragmeter.app.search_texts import SearchTexts
from ragmeter.runs.run import Run
from tests.in_parts import in_parts

ROWS: list[dict[str, Any]] = [
    {"qid": f"q{i}", "question": f"Straße {i}? (a+b) [x] 100%", "answer": "ab"[: i % 3], "reference": ["ab", "ÄB"]}
    for i in range(60)
]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    ragmeter.evaluate(ROWS, metrics="token_f1,edit_distance", run="r", output_dir=tmp_path)
    return Run(tmp_path / "r")


@pytest.mark.parametrize(
    ("search", "total"),
    [
        ("STRASSE", 0),
        ("straße 5? (A+B)", 1),
        ("[X] 100%", 60),
        (".", 0),
        ("\\d", 0),
        ("äb", 60),
        ("q1", 11),
        ("$", 0),
        ("^q", 0),
        ("'; --", 0),
    ],
)
def test_a_search_is_for_characters_in_any_case(run: Run, search: str, total: int) -> None:
    database = Database()
    assert database.rows(run, RowQuery(search=search)).total == total
    assert database.rows(run, RowQuery(search, (Condition("token_f1", ">=", "2"),), sort="edit_distance")).total == 0


def test_texts_for_searches_are_written_once_for_each_version_of_a_run(run: Run, tmp_path: Path) -> None:
    database = Database()
    database._texts = texts = SearchTexts(tmp_path, fewest_rows=1, most=1)
    wish = RowQuery(search="STRAßE 5", sort="edit_distance", descending=True)
    before = database.rows(run, wish)
    texts.wait()
    database._orders = Latest(9)
    assert database.rows(run, wish) == before
    assert [file.name for file in tmp_path.glob("texts-*")] == ["texts-0.parquet"]
    ragmeter.evaluate(ROWS[:7], metrics="token_f1,edit_distance", run="r", output_dir=run.path.parent)
    for _ in range(2):  # as it is, then in its texts
        assert database.rows(Run(run.path), wish).total == 1
        texts.wait()
        database._orders = Latest(9)
    assert [file.name for file in tmp_path.glob("texts-*")] == ["texts-1.parquet"]  # the older one was deleted


def test_a_run_whose_texts_can_not_be_written_is_searched_as_it_is(run: Run, tmp_path: Path) -> None:
    database = Database()
    database._texts = SearchTexts(tmp_path / "nowhere", fewest_rows=1)
    for _ in range(2):
        assert database.rows(run, RowQuery(search="straße 5")).total == 11
        database._texts.wait()


def test_what_was_found_is_kept_until_the_run_changes(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    database, wish = Database(), RowQuery(sort="edit_distance", descending=True)
    asked: list[str] = []
    ask = database._ask

    def listened(query: str, *rest: Any) -> Any:
        asked.append(query)
        return ask(query, *rest)

    monkeypatch.setattr(database, "_ask", listened)
    first = database.rows(run, wish)
    place = first.places[1]
    assert database.neighbours(run, wish, place) == (first.places[0], first.places[2])
    assert database.rows(run, RowQuery(sort="edit_distance", descending=True, page=2)).total == 60
    assert list(database.all_rows(run, wish))[:50] == first.places
    assert len(asked) == 1
    ragmeter.evaluate(ROWS[:5], metrics="token_f1,edit_distance", run="r", output_dir=run.path.parent)
    assert database.rows(Run(run.path), wish).total == 5


def test_rows_without_filter_and_order_need_no_query(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    database = Database()
    monkeypatch.setattr(database, "_ask", None)
    assert database.rows(run, RowQuery(page=2)).places == list(range(50, 60))
    assert database.neighbours(run, RowQuery(), 0) == (None, 1)
    assert database.neighbours(run, RowQuery(), 59) == (58, None)


def test_records_are_those_of_the_run(run: Run) -> None:
    places, columns = [41, 3, 3, 20], ["qid", "answer", "reference", "token_f1", "token_f1.outcome", "nothing"]
    assert repr(Database().records(run, places, columns)) == repr(run.records(places, columns))
    assert Database().records(run, [], columns) == []


def test_a_run_in_parts(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    for part in range(3):
        lines = (json.dumps(row) + "\n" for row in ROWS[20 * part : 20 * part + 20])
        (data / f"{part}*.jsonl").write_text("".join(lines))
    in_parts(data, metrics="token_f1", run="parts", output_dir=tmp_path, keep_columns="all")
    run, database = Run(tmp_path / "parts"), Database()
    assert run.manifest().parts
    selection = database.rows(run, RowQuery(search="q5"))
    assert selection.places == [5, *range(50, 60)]
    qids = [record["qid"] for record in database.records(run, selection.places, ["qid"])]
    assert qids == [record["qid"] for record in run.records(selection.places, ["qid"])]


def test_results_that_were_not_used_for_longest_are_dropped() -> None:
    latest = Latest(80, len)
    for key in "abc":
        latest.once(key, lambda: bytes(40))
        latest.once("a", lambda: bytes(40))
    assert [key in latest for key in "abc"] == [True, False, True]
    assert latest.once("large", lambda: bytes(100)) == bytes(100)
    assert "large" not in latest


def test_a_result_is_made_once_and_after_a_failure_again() -> None:
    latest = Latest(3)
    results: list[int | ValueError] = [ValueError("no"), 1, 2]
    made = iter(results)

    def make() -> int:
        result = next(made)
        if isinstance(result, ValueError):
            raise result
        return result

    with pytest.raises(ValueError, match="no"):
        latest.once("a", make)
    assert [latest.once("a", make) for _ in range(2)] == [1, 1]


@pytest.mark.parametrize("is_in_parts", [False, True])
def test_names_that_differ_only_in_case_and_names_of_duckdb(is_in_parts: bool, tmp_path: Path) -> None:
    """To DuckDB the first are one name, and the others are columns of its own."""
    rows = [
        {
            "qid": f"q{i}", "question": "what?", "answer": "a b" if i % 2 else "c", "reference": ["a b"],
            "Lang": f"big {i % 2}", "lang": f"small {i % 3}", "Token_F1": f"{9 - i}", "LANG": "no",
            "file_row_number": f"n{9 - i}", "file_index": "x", "filename": "y", "place": "z", "c0": "first",
        }
        for i in range(10)
    ]  # fmt: skip
    if is_in_parts:
        data = tmp_path / "data"
        data.mkdir()
        for number in (0, 1):
            pq.write_table(pa.Table.from_pylist(rows[5 * number :][:5]), data / f"{number}.parquet")
        in_parts(data, metrics="token_f1", run="r", output_dir=tmp_path, keep_columns="all")
    else:
        ragmeter.evaluate(rows, metrics="token_f1", run="r", output_dir=tmp_path)
    run, database = Run(tmp_path / "r"), Database()
    for column, value in (("Lang", "big 1"), ("lang", "small 2"), ("Token_F1", "3"), ("file_row_number", "n4")):
        expected = [place for place, row in enumerate(rows) if row[column] == value]
        assert database.rows(run, RowQuery(conditions=(Condition(column, value=value),))).places == expected
    assert database.rows(run, RowQuery(sort="Token_F1")).places == list(reversed(range(10)))
    assert database.rows(run, RowQuery(sort="file_row_number")).places == list(reversed(range(10)))
    assert database.rows(run, RowQuery(conditions=(Condition("token_f1", ">=", "1"),))).places == [1, 3, 5, 7, 9]
    assert database.rows(run, RowQuery(search="what")).total == 10
    names = [name for name in rows[0] if name in run.columns and name != "reference"]
    assert {"Lang", "lang", "LANG", "file_row_number", "c0"} <= set(names)
    (record,) = database.records(run, [3], names)
    assert record == {name: rows[3][name] for name in names}
