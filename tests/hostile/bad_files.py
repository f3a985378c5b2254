"""Bad files, drawn from a seed: a good file of some format, damaged in one to four places."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ragmeter.io.reading import Reading

_ROWS: list[dict[str, Any]] = [
    {"qid": "1", "question": "capital of France?", "answer": "Paris", "reference": "Paris", "latency_ms": 12.5},
    {
        "qid": "2",
        "question": "¿capital de España?",
        "answer": 'Es "Madrid",\nclaro',
        "reference": "Madrid",
        "latency_ms": 3,
    },
    {"qid": "3", "question": "日本の首都は？", "answer": "=東京", "reference": "東京", "latency_ms": None},
    {"qid": "4", "question": "4", "answer": "", "reference": '["four", "4"]', "latency_ms": 0},
]
_LISTS = [
    {**row, "doc_ids": ["a", "b"][: place % 3], "contexts": [f"context {place}"], "more": {"depth": [place]}}
    for place, row in enumerate(_ROWS)
]
#: What a mutation inserts: whatever means something to one of the readers, or to what reads them later.
_TOKENS: list[bytes] = [
    b"\0",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\xf0\x9f",
    b"\r",
    b"\n",
    b"\r\n",
    b"\n\n\n",
    b"\t",
    b",",
    b";",
    b'"',
    b'""',
    b'"""',
    b"'",
    b"\\",
    b"\\u",
    b"\\ud800",
    b"\\u0000",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b"{}",
    b"[]",
    b"null",
    b"true",
    b"NaN",
    b"Infinity",
    b"-",
    b"1e999",
    b"0x" + b"f" * 5000,
    b"9" * 5000,
    b"[" * 979,
    b"[" * 979 + b"]" * 979,
    b'{"a":' * 300,
    b"[" * 300 + b"]" * 300,
    b'{"a":1,"a":2}',
    b'"answer": "b", ',
    b"[0x" + b"f" * 5000 + b"]",
    b"['a' 'b']",
    b"['a', {1: [2]}]",
    b"[{[]: 1}]",
    b"(" * 300,
    b"[1j, None, ...]",
    b"b'x'",
    b"\x1b[2J",
    b"\xe2\x80\xae",
    b"\xe2\x80\xa8",
    b"\x0b\x0c\x1c",
    b"\x1a",
    b"x" * 3000,
    b"qid",
    b"answer,answer",
    b"PAR1",
    b"\x1f\x8b",
    b"\x28\xb5\x2f\xfd",
    b"=cmd|' /C calc'!A0",
    b"#",
    b"//",
]
_READINGS = [
    *[Reading()] * 60,
    Reading("latin-1"),
    Reading("cp1252"),
    Reading("utf-16"),
    Reading("utf-16-le"),
    Reading("utf-32"),
    Reading("ascii"),
    Reading("utf-7"),
    Reading("shift_jis"),
    Reading(quotes=False),
    Reading(quotes=False, delimiter=";"),
    Reading(delimiter="|"),
    Reading(delimiter="é"),
    Reading(delimiter="\0"),
    Reading(delimiter=" "),
    Reading(max_field=0.001),
]


@dataclass(frozen=True)
class BadFile:
    """A file's name and content, and how it is to be read."""

    name: str
    content: bytes
    reading: Reading


def bad_file(seed: int, number: int) -> BadFile:
    """The file with this number; the same for the same seed."""
    rng = random.Random(f"{seed}:{number}")
    ending, make = rng.choice(_MAKERS)
    content = make(rng)
    if rng.random() < 0.45:
        content = _damaged(content, rng)
    pack = rng.choice([None, None, None, gzip.compress, _zstd, _two_members]) if ending != "parquet" else None
    if pack is None:
        return BadFile(f"r.{ending}", content, rng.choice(_READINGS))
    content = pack(content)
    if rng.random() < 0.4:
        content = _damaged(content, rng)
    return BadFile(f"r.{ending}.{rng.choice(['gz', 'zst'])}", content, rng.choice(_READINGS))


def _zstd(content: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(content, asbytes=True))


def _two_members(content: bytes) -> bytes:
    middle = len(content) // 2
    return gzip.compress(content[:middle]) + gzip.compress(content[middle:])


def _damaged(content: bytes, rng: random.Random) -> bytes:
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        begin = rng.randrange(len(data) + 1)
        end = min(len(data), begin + rng.choice([1, 2, 8, 64, 1000]))
        match rng.choice(["flip", "flip", "token", "token", "token", "delete", "repeat", "cut", "random", "swap"]):
            case "flip":
                if begin < len(data):
                    data[begin] ^= 1 << rng.randrange(8)
            case "token":
                data[begin:begin] = rng.choice(_TOKENS)
            case "delete":
                del data[begin:end]
            case "repeat":
                data[begin:begin] = data[begin:end] * rng.choice([1, 2, 50])
            case "cut":
                del data[begin:]
            case "random":
                data[begin:end] = rng.randbytes(end - begin)
            case _:
                data[begin:end] = bytes(reversed(data[begin:end]))
    return bytes(data)


#: Values of one cell in a file that is otherwise good; in JSON as they stand, or as a text.
_CELLS: list[str] = [
    "[0x" + "f" * 200_000 + "]",
    "[[0x" + "f" * 5000 + "]]",
    "[" + "9" * 5000 + "]",
    "9" * 5000,
    "1" + "0" * 400,
    "1e999",
    "-1e999",
    "[1j, None, ...]",
    "[{[]: 1}]",
    "[{1: {2: {3: 4}}}]",
    "{'a', 'b'}",
    "[b'x', 'y']",
    "['a' 'b']",
    "['a'\n 'b']",
    "[" + "'a', " * 5000,
    "[" + "-" * 5000 + "1]",
    "[" + "(" * 150 + ")" * 150 + "]",
    "[not a list",
    "nan",
    "NaN",
    "Infinity",
    "null",
    "true",
    "{}",
    "[]",
    "''",
    '{"a": 1, "a": 2}',
    '{"a": {"b": [{"c": 1, "c": 1}]}}',
    "[[[]]]",
    '["\\ud800", "\\u0000"]',
    "\ufeff=1",
    "\x1b[2J",
    "\x00",
    "\u2028",
    "x" * 5000,
    "[" + "1," * 5000 + "1]",
    "1_000",
    "٣",
    "0x1p3",
    "[1" + "+1" * 5000 + "]",
    "['\\N{no such name}']",
    "['\\x']",
    "[" + "[]," * 5000 + "]",
]
_HOLE = "@@hole@@"
_LIST_COLUMNS = ("doc_ids", "doc_ids", "doc_ids", "contexts", "contexts", "reference", "more")


def _cell(rng: random.Random) -> str:
    """A hostile value: in every fifth case a list of lists, about as deep as Python can go."""
    if rng.random() < 0.8:
        return rng.choice(_CELLS)
    depth = rng.choice([150, 201, 500, 5000, *[rng.randrange(900, 1000)] * 6])
    return "[" * depth + "]" * depth


def _with_hole(rows: list[dict[str, Any]], rng: random.Random) -> list[dict[str, Any]]:
    """The rows, in most files with one cell that is filled later."""
    if rows and rng.random() < 0.7:
        place = rng.randrange(len(rows))
        rows = [*rows[:place], {**rows[place], rng.choice([*rows[place], *_LIST_COLUMNS]): _HOLE}, *rows[place + 1 :]]
    return rows


def _filled(text: str, rng: random.Random) -> str:
    value = _cell(rng)
    return text.replace(f'"{_HOLE}"', value if rng.random() < 0.6 else json.dumps(value))


def _delimited(delimiter: str) -> Callable[[random.Random], bytes]:
    def make(rng: random.Random) -> bytes:
        quoted = rng.random() < 0.5
        end = rng.choice(["\n", "\n", "\r\n", "\r"])
        rows = [list(_LISTS[0]), *([_text(value) for value in row.values()] for row in _rows(rng))]
        value = _cell(rng)
        rows = [[value if cell == _HOLE else cell for cell in row] for row in rows]
        lines = [delimiter.join(_quoted(cell, delimiter, quoted) for cell in row) for row in rows]
        return end.join([*lines, ""]).encode(rng.choice([*["utf-8"] * 12, *["utf-8-sig"] * 3, "utf-16"]))

    return make


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


def _quoted(cell: str, delimiter: str, always: bool) -> str:
    return '"' + cell.replace('"', '""') + '"' if always or any(mark in cell for mark in f'"\n\r{delimiter}') else cell


def _json_lines(rng: random.Random) -> bytes:
    text = "".join(json.dumps(row, ensure_ascii=rng.random() < 0.5) + "\n" for row in _rows(rng))
    return _filled(text, rng).encode()


def _rows(rng: random.Random) -> list[dict[str, Any]]:
    rows = [
        {**row, "qid": str(place)}
        for place, row in enumerate(rng.choices(_LISTS, k=rng.choice([0, *[1, 2, 3, 5] * 5])))
    ]
    return _with_hole(rows, rng)


def _document(rng: random.Random) -> bytes:
    rows = _with_hole(_LISTS, rng)
    document: Any = rng.choice([rows, rows, rows[0], {"results": rows}, {"data": [1], "rows": rows}, {"records": []}])
    return _filled(json.dumps(document, indent=rng.choice([None, 1]), ensure_ascii=rng.random() < 0.5), rng).encode()


def _parquet(rng: random.Random) -> bytes:
    columns: dict[str, Any] = {
        name: [row[name] for row in _LISTS] for name in ("qid", "answer", "reference", "doc_ids")
    }
    odd = {
        "latency_ms": pa.array([1, 2, None, 2**50], rng.choice([pa.int64(), pa.float64()])),
        "when": pa.array([0, 1, 2**60, None], pa.timestamp(rng.choice(["us", "ns"]))),
        "blob": pa.array([b"\xff\xfe", b"", None, b"a"]),
        "more": pa.array([{"a": [1]}, None, {"a": None}, {"a": []}]),
        "map": pa.array([[("a", 1)], [], None, [("a", 1), ("a", 2)]], pa.map_(pa.string(), pa.int64())),
        "price": pa.array([1, 2, 3, None]).cast(pa.decimal128(30, 2)),
        "flag": pa.array(["x", "y", "x", None]).dictionary_encode(),
        "answer": pa.array([None, 1, 2, 3]),
        "day": pa.array([0, -(2**31), 2**31 - 1, None], pa.int32()).cast(pa.date32()),
        "null": pa.nulls(4),
    }
    columns |= {name: odd[name] for name in rng.sample(list(odd), rng.randrange(4))}
    sink = io.BytesIO()
    pq.write_table(
        pa.table(columns),
        sink,
        compression=rng.choice(["none", "snappy", "zstd", "gzip"]),
        row_group_size=rng.choice([1, 3, 100]),
    )
    return sink.getvalue()


_MAKERS: list[tuple[str, Callable[[random.Random], bytes]]] = [
    *[("csv", _delimited(","))] * 3,
    ("csv", _delimited(";")),
    ("tsv", _delimited("\t")),
    ("jsonl", _json_lines),
    ("jsonl", _json_lines),
    ("json", _document),
    ("parquet", _parquet),
    ("parquet", _parquet),
]
