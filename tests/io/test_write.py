"""Files are written whole or not at all, and no cell runs in a spreadsheet."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ragmeter.errors import OutputError
from ragmeter.io.write import dumps, replacing, write_rows


def test_numbers_are_written_in_full_and_missing_cells_empty(tmp_path: Path) -> None:
    rows = [["=x", 0.1 + 0.2, None, 3], ["a\tb\n", float(2), True, -1]]
    write_rows(tmp_path / "t.tsv", ["a", "b", "c", "d"], rows, "tsv")
    assert (tmp_path / "t.tsv").read_text() == 'a\tb\tc\td\n\'=x\t0.30000000000000004\t\t3\n"a\tb\n"\t2.0\tTrue\t-1\n'
    write_rows(tmp_path / "t.csv", ["a", "b", "c", "d"], rows[:1], "csv", guard=False)
    assert (tmp_path / "t.csv").read_text() == "a,b,c,d\n=x,0.30000000000000004,,3\n"
    write_rows(tmp_path / "t.jsonl", ["a", "b", "c", "d"], rows[:1], "jsonl")
    assert (tmp_path / "t.jsonl").read_text() == '{"a": "=x", "b": 0.30000000000000004, "c": null, "d": 3}\n'


def test_a_failure_leaves_the_old_file_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.tsv"
    path.write_text("old")

    def write_half() -> None:
        with replacing(path) as (temporary,):
            temporary.write_text("half")
            raise RuntimeError("interrupted")

    with pytest.raises(RuntimeError):
        write_half()
    assert path.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.tsv"]


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="can't write"), replacing(tmp_path / "file" / "out.tsv") as (temporary,):
        temporary.write_text("never")


@pytest.mark.parametrize(
    ("number", "winerror", "hint"),
    [
        (13, 5, "close the program that has it open, or choose another folder"),  # Windows, where Excel has the file
        (13, 32, "close the program that has it open, or choose another folder"),
        (13, None, "choose another folder"),
        (28, None, "choose another folder, or free some space"),
    ],
)
def test_the_hint_fits_the_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, winerror: int | None, hint: str
) -> None:
    def refuse(written: Path, path: Path) -> None:
        error = OSError(number, "refused", str(written), winerror, str(path))
        error.winerror = winerror  # type: ignore[attr-defined, unused-ignore]  # elsewhere than on Windows there is none
        raise error

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OutputError) as raised, replacing(tmp_path / "out.csv") as (temporary,):
        temporary.write_text("never")
    assert (raised.value.message, raised.value.hint) == (f"can't write {tmp_path / 'out.csv'}: refused", hint)


def test_a_carriage_return_stays_inside_its_cell(tmp_path: Path) -> None:
    write_rows(tmp_path / "t.csv", ["=a", "b"], [["safe\r=cmd", "x\ny"]], "csv")
    text = (tmp_path / "t.csv").read_bytes().decode()
    assert text == '\'=a,b\n"safe\r=cmd","x\ny"\n'
    assert list(csv.reader(text.splitlines(keepends=True)))[1] == ["safe\r=cmd", "x\ny"]


def test_nan_and_mixed_cells(tmp_path: Path) -> None:
    assert dumps({"a": [float("nan"), 1.0, float("inf")]}) == '{"a": [null, 1.0, null]}'
    write_rows(tmp_path / "t.parquet", ["a"], [["x"], [["y", "z"]], [None]], "parquet")
    assert pq.read_table(tmp_path / "t.parquet")["a"].to_pylist() == ["x", '["y", "z"]', None]
