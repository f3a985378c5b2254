"""The quick reader of plain files agrees with the strict one on whatever it reads."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragmeter.errors import InputError
from ragmeter.io.delimited import quick, strict
from ragmeter.io.delimited.blocks import decoded
from ragmeter.io.limits import Limit
from ragmeter.table import Batch

cells = st.text(alphabet=st.sampled_from('ab,\t"\n\r é中'), max_size=6)
tables = st.integers(1, 4).flatmap(lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), max_size=8))


def flat(batches: list[Batch]) -> tuple[dict[str, list[Any]], list[int]]:
    table: dict[str, list[Any]] = {}
    lines: list[int] = []
    for batch in batches:
        lines.extend(batch.lines)
        for name, column in batch.columns.items():
            table.setdefault(name, []).extend(column)
    return {name: column for name, column in table.items() if column}, lines


def strictly(data: bytes) -> Any:
    lines = strict._Lines(decoded(io.BytesIO(data), "utf-8-sig"), Limit())
    try:
        return flat(list(strict._read_strictly(lines, "f", ",", True, [])))
    except InputError as error:
        return str(error)


def as_shipped(data: bytes) -> Any:
    try:
        return flat(list(strict.read(io.BytesIO(data), "utf-8-sig", name="f", delimiter=",", quotes=True)))
    except InputError as error:
        return str(error)


@given(
    rows=tables, terminator=st.sampled_from(["\n", "\r\n"]), quoting=st.sampled_from([0, 1]), piece=st.integers(1, 64)
)
def test_what_a_writer_writes_is_read_back(rows: list[list[str]], terminator: str, quoting: Any, piece: int) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator=terminator, quoting=quoting)
    writer.writerow([f"c{n}" for n in range(len(rows[0]) if rows else 1)])
    writer.writerows(rows)
    data = text.getvalue().encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quick, "_PIECE", piece)
        columns = as_shipped(data)
    assert columns == strictly(data)
    if quoting == csv.QUOTE_MINIMAL and any("\r" in cell for row in rows for cell in row):
        return  # the writer leaves a lone carriage return unquoted, where it ends the row
    for place in range(len(rows[0]) if rows else 0):
        assert columns[0][f"c{place}"] == [row[place] for row in rows]


@given(body=st.text(alphabet=st.sampled_from('ab,"\n\r\0é'), max_size=40), piece=st.integers(1, 64))
@example(body='"a""', piece=3)
@example(body="a,b\r\nc,d\n", piece=4)
@example(body='a,"b\r\nc"\r\nd,e\r\n', piece=64)
def test_whatever_the_file_the_two_agree(body: str, piece: int) -> None:
    data = b"x,y\n" + body.encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quick, "_PIECE", piece)
        assert as_shipped(data) == strictly(data)


def test_plain_files_take_the_quick_way() -> None:
    data = b'\xef\xbb\xbfqid,answer\r\n1,"a ""b"", c\nd"\r\n2,e\r\n'
    rest = quick.Rest()
    ((columns, lines),) = quick.read(io.BytesIO(data), ",", rest)
    assert rest == quick.Rest(pending=b"", line=5, header=["qid", "answer"])
    assert columns == [["1", "2"], ['a "b", c\nd', "e"]]
    assert lines == [2, 4]
