"""A small compressed file that holds too much is refused with its line, in little memory; blank lines cost nothing."""

from __future__ import annotations

import gzip
import io
import json
import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragmeter import evaluate
from ragmeter.errors import InputError, UsageError
from ragmeter.io import batches, limits
from ragmeter.io.delimited import blocks, strict
from ragmeter.io.formats import parquet
from ragmeter.io.formats.jsons import read_document, read_lines
from ragmeter.io.limits import Limit
from ragmeter.io.reading import Reading
from ragmeter.io.source import open_source
from tests.conftest import Run

MIB = 1 << 20
GOOD = {"qid": "1", "answer": "a", "reference": "a"}
HEADER = b"qid,answer,reference\n1,a,a\n"
LINE = json.dumps(GOOD).encode() + b"\n"


def zstd(content: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(content, asbytes=True))


class Endless(io.RawIOBase):
    """A file that begins in some way, and then repeats one piece for ever."""

    def __init__(self, begin: bytes, piece: bytes) -> None:
        self._begin, self._piece, self.size = begin, piece * 1000, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        assert size >= 0, "somebody wants all of it"
        while len(self._begin) < size:
            self._begin += self._piece * (size // len(self._piece) + 1)
        data, self._begin = self._begin[:size], self._begin[size:]
        self.size += size
        return data


LIMIT = Limit(0.125)
csv_reader = partial(strict.read, name="f", delimiter=",", quotes=True, limit=LIMIT)
lines_reader, document_reader = (partial(read, name="f", limit=LIMIT) for read in (read_lines, read_document))
#: name of the case: the reader, how the file begins, what it repeats, and the line of the row that is too large
BOMBS: dict[str, tuple[Callable[..., Any], bytes, bytes, int]] = {
    "a cell": (csv_reader, HEADER + b"2,", b"x", 3),
    "a quoted cell": (csv_reader, HEADER + b'2,"', b'x""', 3),
    "a cell of many lines": (csv_reader, HEADER + b'2,"', b"some words\r\n", 3),
    "a cell of blank lines": (csv_reader, HEADER + b'\n2,"', b"\n", 4),
    "a quote that never ends": (csv_reader, HEADER + b'2,"', b"a,b,c\n", 3),
    "nothing but separators": (csv_reader, HEADER, b",", 3),
    "a header": (csv_reader, b"a,", b"x", 1),
    "a line of JSON": (lines_reader, LINE + b'{"answer": "', b"x", 2),
    "a line of brackets": (lines_reader, LINE, b"[", 2),
    "a line of spaces": (lines_reader, LINE, b" ", 2),
    "a document": (document_reader, b'[{"answer": "', b"x", 1),
    "a document of spaces": (document_reader, b"", b" ", 1),
}


@pytest.mark.parametrize("case", BOMBS)
def test_a_row_that_never_ends_is_refused_with_its_line(case: str) -> None:
    read, begin, piece, line = BOMBS[case]
    endless = Endless(begin, piece)
    with pytest.raises(InputError, match=r"larger than 0\.125 MiB") as caught:
        for _ in read(endless, "utf-8-sig"):
            pass
    assert caught.value.line == line
    assert endless.size < 16 * MIB


@pytest.mark.parametrize("compress", [gzip.compress, zstd])
@pytest.mark.parametrize("name", ["r.csv.gz", "r.tsv.zst", "r.jsonl.gz", "r.json.zst"])
def test_a_compressed_file(name: str, compress: Callable[[bytes], bytes], tmp_path: Path, ragmeter: Run) -> None:
    """The ending says the format, the first bytes the compression."""
    table = HEADER.replace(b",", b"\t" if ".tsv" in name else b",") + b"x" * 2 * MIB
    (tmp_path / name).write_bytes(compress(b'{"answer": "%s"}' % table[-2 * MIB :] if ".json" in name else table))
    done = ragmeter("evaluate", "--metrics", "token_f1", "--results", name, "--max-field", "1")
    assert done.returncode == 2
    assert f"{name}, line {1 if '.json' in name else 3}: " in done.stderr
    assert "larger than 1 MiB" in done.stderr


@pytest.mark.parametrize("compression", ["snappy", "gzip", "zstd"])
def test_a_row_of_a_parquet_file(compression: str, tmp_path: Path) -> None:
    file = tmp_path / "r.parquet"
    pq.write_table(pa.table({"answer": ["a", "b", "x" * 3 * MIB]}), file, compression=compression)
    with pytest.raises(InputError, match="larger than 1 MiB") as caught:
        list(open_source(file, Reading(max_field=1)).batches())
    assert caught.value.line == 3
    assert sum(map(len, open_source(file).batches())) == 3


def test_a_long_text_that_a_parquet_file_has_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dictionary's text may be the value of every row: what is unpacked at a time stays small."""
    monkeypatch.setattr(parquet, "CHARACTERS", MIB)
    unpacked: list[int] = []
    monkeypatch.setattr(parquet, "_check_rows", lambda batch, *rest: unpacked.append(batch.nbytes))
    text = "x" * (MIB // 8)
    table = pa.table({"answer": [text, None] * 60, "contexts": [["y", text], None, []] * 40})
    pq.write_table(table, tmp_path / "r.parquet", compression="zstd", store_schema=False)
    parts = list(open_source(tmp_path / "r.parquet").batches())
    assert [cell for batch in parts for cell in batch.columns["contexts"]] == table["contexts"].to_pylist()
    assert max(unpacked) <= 2 * MIB
    with pytest.raises(InputError, match=r"larger than 0\.125 MiB") as caught:
        list(open_source(tmp_path / "r.parquet", Reading(max_field=0.125)).batches())
    assert caught.value.line == 1


def test_a_long_text_that_a_map_of_a_parquet_file_has_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "CHARACTERS", MIB)
    unpacked: list[int] = []
    monkeypatch.setattr(parquet, "_check_rows", lambda batch, *rest: unpacked.append(batch.nbytes))
    text = "x" * (MIB // 8)
    maps = pa.array([[("a", text), ("b", "y")], None, []] * 40, pa.map_(pa.string(), pa.string()))
    pq.write_table(pa.table({"answer": ["a"] * 120, "meta": maps}), tmp_path / "r.parquet", compression="zstd")
    parts = list(open_source(tmp_path / "r.parquet").batches())
    assert [cell for batch in parts for cell in batch.columns["meta"]] == [{"a": text, "b": "y"}, None, {}] * 40
    assert max(unpacked) <= 2 * MIB
    with pytest.raises(InputError, match=r"larger than 0\.125 MiB"):
        list(open_source(tmp_path / "r.parquet", Reading(max_field=0.125)).batches())


def test_a_pipe_that_never_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_MAX_ONCE", 10_000)
    os.mkfifo(tmp_path / "r.jsonl")
    writer = threading.Thread(target=(tmp_path / "r.jsonl").write_bytes, args=(LINE * 1000,), daemon=True)
    writer.start()
    with pytest.raises(InputError, match="save it as a file first"):
        list(open_source(tmp_path / "r.jsonl").batches())
    writer.join()


def test_large_rows_come_in_small_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (batches, strict, parquet):
        monkeypatch.setattr(module, "CHARACTERS", 160_000)
    rows = [{"answer": "x" * 10_000, "contexts": ["y" * 10_000]} for _ in range(24)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "r.parquet", compression="zstd")
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "r.csv").write_text(
        "answer,contexts\n\n" + "".join(f"{r['answer']},{r['contexts'][0]}\n" for r in rows)
    )
    for name in ("r.parquet", "r.jsonl", "r.csv"):
        parts = list(open_source(tmp_path / name).batches())
        assert sum(map(len, parts)) == 24
        assert max(map(len, parts)) <= 16
        assert parts[0].lines[0] == (3 if name == "r.csv" else 1)


def test_what_is_large_is_read_if_that_is_allowed(tmp_path: Path, ragmeter: Run) -> None:
    (tmp_path / "r.csv").write_text(f"qid,answer,reference\n1,{'a ' * MIB},a\n")
    command = ("evaluate", "--metrics", "exact_match", "--results", "r.csv", "--run", "r", "--max-field")
    refused = ragmeter(*command, "1.5")
    assert refused.returncode == 2
    assert "r.csv, line 2: the row that begins here is larger than 1.5 MiB" in refused.stderr
    assert "--max-field" in refused.stderr.partition("\n")[2]
    assert ragmeter(*command, "2.1").returncode == 0
    with pytest.raises(InputError, match=r"larger than 1\.5 MiB[^$]*max_field="):
        evaluate(tmp_path / "r.csv", metrics="exact_match", max_field=1.5)
    for wrong in ("0", "-1", "nan", "inf"):
        done = ragmeter(*command, wrong)
        assert done.returncode == 2
        assert "--max-field must be above 0" in done.stderr


@pytest.mark.parametrize("wrong", [0, -1, float("nan")])
def test_the_limit_is_a_size(wrong: float, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_bytes(HEADER)
    with pytest.raises(UsageError, match="max_field must be above 0"):
        open_source(tmp_path / "r.csv", Reading(max_field=wrong))


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_blank_lines_are_skipped_a_block_at_a_time(end: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_BLOCK", 1 << 14)
    blank = 100_000
    rows = HEADER.replace(b"\n", end) + end * blank + b"2,b,b" + end
    (tmp_path / "r.csv.gz").write_bytes(gzip.compress(rows))
    given: list[int] = []
    split = strict._split

    def counted(block: str) -> list[str]:
        given.append(len(block))
        return split(block)

    monkeypatch.setattr(strict, "_split", counted)
    parts = list(open_source(tmp_path / "r.csv.gz").batches())
    assert [line for batch in parts for line in batch.lines] == [2, 2 + blank + 1]
    assert sum(given) <= 4 << 14  # the first and the last block


def test_blank_lines_of_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_BLOCK", 1 << 14)
    (tmp_path / "r.jsonl.gz").write_bytes(gzip.compress(LINE + b" \t\r\n" * 50_000 + LINE + b"\n" * 50_000))
    (batch,) = open_source(tmp_path / "r.jsonl.gz").batches()
    assert batch.lines == [1, 50_002]


def test_rows_with_keys_of_their_own_take_no_square(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "_CELLS", 10_000)
    rows = "".join(json.dumps({"qid": str(n), f"key{n}": 1}) + "\n" for n in range(500))
    (tmp_path / "r.jsonl").write_text(rows)
    parts = list(open_source(tmp_path / "r.jsonl").batches())
    assert [line for batch in parts for line in batch.lines] == list(range(1, 501))
    assert all(len(batch) * len(batch.columns) <= 10_000 for batch in parts)


class Title(str):
    """A title that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Title.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_titles_are_not_compared_with_each_other() -> None:
    titles = [Title(f"column {n}") for n in range(2000)]
    assert batches.repeated(titles) == []
    assert batches.repeated([*titles, Title("column 7")]) == ["column 7"]
    assert Title.compared < 100


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_as_many_columns_as_there_may_be(ending: str, tmp_path: Path) -> None:
    """10,000 columns of CSV took 23 seconds once, 3,000 of Parquet 52."""
    columns = {**{name: [value] for name, value in GOOD.items()}, **{f"column{n}": ["x"] for n in range(16_381)}}
    file = tmp_path / f"r.{ending}"
    if ending == "csv":
        file.write_text("".join(",".join(row) + "\n" for row in (columns, [cells[0] for cells in columns.values()])))
    else:
        pq.write_table(pa.table(columns), file)
    done = evaluate(file, metrics="token_f1", run="r", output_dir=tmp_path)
    assert done.rows.num_columns == 16_386
