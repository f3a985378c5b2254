"""The same rows in every format give the same table; text stays text."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import json
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragmeter import ask, evaluate
from ragmeter.errors import UsageError
from ragmeter.io.cells import as_number
from ragmeter.io.columns import Typed
from ragmeter.io.reading import Reading
from ragmeter.io.source import open_source
from tests.conftest import DATA

ROWS: list[dict[str, Any]] = [
    {"qid": "007", "query": "None?", "actual_response": "None", "ground_truth": "NA", "doc_ids": ["a", "b"]},
    {
        "qid": "1e5",
        "query": "two\nlines",
        "actual_response": 'a "quote", and\ttab',
        "ground_truth": "null",
        "doc_ids": [],
    },
    {"qid": " x ", "query": "día", "actual_response": "nan", "ground_truth": "1.10", "doc_ids": ["c'd", 'e"f']},
]
EXPECTED = {
    "qid": ["007", "1e5", " x "],
    "question": ["None?", "two\nlines", "día"],
    "answer": ["None", 'a "quote", and\ttab', "nan"],
    "reference": [["NA"], ["null"], ["1.10"]],
    "retrieved": [["a", "b"], [], ["c'd", 'e"f']],
}


def delimited(delimiter: str, terminator: str, cell: Any = json.dumps) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(ROWS[0]), delimiter=delimiter, lineterminator=terminator)
    writer.writeheader()
    writer.writerows({**row, "doc_ids": cell(row["doc_ids"])} for row in ROWS)
    return text.getvalue().encode()


def parquet() -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ROWS), sink)
    return sink.getvalue()


def zstd(data: bytes) -> bytes:
    return bytes(pa.compress(data, codec="zstd", asbytes=True))


LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
FILES = {
    "unix.csv": delimited(",", "\n"),
    "windows.csv": delimited(",", "\r\n"),
    "python-lists.tsv": delimited("\t", "\n", repr),
    "bom.csv": b"\xef\xbb\xbf" + delimited(",", "\r\n"),
    "no-last-newline.csv": delimited(",", "\n").rstrip(b"\n"),
    "rows.jsonl": LINES,
    "blank-lines.jsonl": LINES.replace(b"\n", b"\n\n"),
    "list.json": json.dumps(ROWS).encode(),
    "object.json": json.dumps({"metrics": {}, "results": ROWS}, indent=1).encode(),
    "rows.parquet": parquet(),
    "rows.csv.gz": gzip.compress(delimited(",", "\n")),
    "rows.jsonl.gz": gzip.compress(LINES),
    "rows.tsv.zst": zstd(delimited("\t", "\n")),
    "rows.jsonl.zst": zstd(LINES),
}


def read(data: Any, **options: Any) -> dict[str, list[Any]]:
    table: dict[str, list[Any]] = {}
    for batch in Typed(open_source(data, Reading(**options)), "both", {}).batches():
        for name, column in batch.columns.items():
            table.setdefault(name, []).extend(column)
    return table


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_table(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(FILES[name])
    assert read(tmp_path / name) == EXPECTED


def test_a_list_of_dicts() -> None:
    assert read(ROWS) == EXPECTED


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame(library: str) -> None:
    if library == "pyarrow":
        assert read(pa.Table.from_pylist(ROWS)) == EXPECTED
    else:
        assert read(pytest.importorskip(library).DataFrame(ROWS)) == EXPECTED


def test_missing_cells_of_a_frame_stay_missing() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"qid": [1, 2], "answer": ["a", None], "score": [0.5, float("nan")]})
    assert read(frame) == {"qid": ["1", "2"], "answer": ["a", None], "score": ["0.5", None]}


def test_the_encoding_can_be_said(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_bytes("qid,answer\n1,café\n".encode("latin-1"))
    assert read(tmp_path / "r.csv", encoding="latin-1")["answer"] == ["café"]
    (tmp_path / "r.csv").write_bytes("qid,answer\n1,café\n".encode("utf-16"))
    assert read(tmp_path / "r.csv", encoding="utf-16")["answer"] == ["café"]


def test_quotes_can_be_just_characters(tmp_path: Path) -> None:
    (tmp_path / "r.tsv").write_text('qid\tanswer\n1\t"so" he said\n2\t"\n')
    assert read(tmp_path / "r.tsv", quotes=False)["answer"] == ['"so" he said', '"']


@pytest.mark.parametrize("row", [ROWS[0], {**ROWS[0], "data": ["a", "b"], "results": "x"}])
def test_one_object_is_one_row(tmp_path: Path, row: dict[str, Any]) -> None:
    (tmp_path / "r.json").write_text(json.dumps(row, indent=2))
    (tmp_path / "r.jsonl").write_text(json.dumps(row))
    assert read(tmp_path / "r.json") == read(tmp_path / "r.jsonl")
    assert len(read(tmp_path / "r.json")["answer"]) == 1


def test_json_values_as_text(tmp_path: Path) -> None:
    rows = [{"qid": 7, "answer": 3.5, "note": {"a": [1]}}, {"qid": 8, "answer": True}]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    expected = {"qid": ["7", "8"], "answer": ["3.5", "true"], "note": ['{"a": [1]}', None]}
    assert read(tmp_path / "r.jsonl") == expected


def test_half_an_emoji_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"qid": "1", "answer": "cut \\ud83d", "reference": ["\\ude00"]}\n')
    table = read(tmp_path / "r.jsonl")
    assert table["answer"] == ["cut \ufffd"]
    assert table["reference"] == [["\ufffd"]]


def test_titles_in_capitals_and_with_spaces(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("QID,Question,Answer,Ground Truth,Note\n1,q,a,g,n\n")
    assert list(read(tmp_path / "r.csv")) == ["qid", "question", "answer", "reference", "Note"]


def test_another_delimiter(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text('qid;answer\n1;"a;b"\n')
    assert read(tmp_path / "r.csv", delimiter=";")["answer"] == ["a;b"]


def test_several_references(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text('qid,golden_answers\n1,"[""a"", ""b""]"\n')
    assert read(tmp_path / "r.csv")["reference"] == [["a", "b"]]
    (tmp_path / "r.jsonl").write_text('{"ground_truth": ["a", "b"]}\n{"ground_truth": "[1] is a citation"}\n')
    assert read(tmp_path / "r.jsonl")["reference"] == [["a", "b"], ["[1] is a citation"]]
    (tmp_path / "t.csv").write_text("qid,ground_truth\n1,['a' is text here]\n2,\"['a', 'b']\"\n3,[7]\n")
    assert read(tmp_path / "t.csv")["reference"] == [["['a' is text here]"], ["a", "b"], ["[7]"]]


def test_a_cell_of_100_megabytes(tmp_path: Path) -> None:
    big = "word " * 20_000_000
    (tmp_path / "r.csv").write_text(f'qid,answer\n1,"{big}"\n2,b\n')
    assert [len(cell) for cell in read(tmp_path / "r.csv")["answer"]] == [100_000_000, 1]
    (tmp_path / "r.csv").write_text(f'qid,answer\n1,"{big}"\n2,"b"\n3,c "d"\n')  # the last row takes the strict reader
    assert [len(cell) for cell in read(tmp_path / "r.csv")["answer"]] == [100_000_000, 1, 5]


def test_a_real_reference_file() -> None:
    source = open_source(DATA / "liverag_reference.tsv")
    (batch,) = Typed(source, "reference", {}).batches()
    assert batch.columns["qid"] == ["1", "2"]
    assert batch.columns["reference"][0][0].startswith("The Kwara State Public Library was established")
    for gold in batch.columns["relevant"]:
        assert gold
        assert all(document.startswith("<urn:uuid:") for document in gold)
    assert any('"' in text for text in batch.columns["context"])
    assert list(batch.columns)[-1] == "context_length"


def test_missing_is_missing_whatever_it_is_called() -> None:
    pandas, numpy = pytest.importorskip("pandas"), pytest.importorskip("numpy")
    missing = [None, float("nan"), pandas.NA, pandas.NaT, numpy.float32("nan")]
    rows = [{"answer": value, "doc_ids": ["a", value]} for value in missing]
    assert read(rows) == {"answer": [None] * 5, "retrieved": [["a"]] * 5}


def test_numbers_dates_and_arrays_of_other_libraries() -> None:
    numpy = pytest.importorskip("numpy")
    rows = [
        {"qid": numpy.int64(7), "answer": datetime.date(2024, 1, 2), "reference": numpy.array(["a", "b"])},
        {"qid": numpy.int64(8), "answer": Decimal("1.10"), "reference": numpy.str_("c")},
    ]
    assert read(rows) == {"qid": ["7", "8"], "answer": ["2024-01-02", "1.10"], "reference": [["a", "b"], ["c"]]}
    assert read(pa.table({"answer": [datetime.date(2024, 1, 2)]})) == {"answer": ["2024-01-02"]}


def test_no_error_is_no_error() -> None:
    assert read([{"error": False}, {"error": 0}, {"error": ""}, {"error": "HTTP 500"}])["error"] == [
        None, None, None, "HTTP 500",
    ]  # fmt: skip


def test_half_an_emoji_in_an_object_or_a_title(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"answer": "a", "meta": {"x": "\\ud83d"}, "t\\ud83d": "y"}\n')
    assert read(tmp_path / "r.jsonl") == {"answer": ["a"], "meta": ['{"x": "\ufffd"}'], "t\ufffd": ["y"]}


def test_a_blank_first_line_and_a_bom_inside(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("\nqid,answer\n1,a\n")
    assert read(tmp_path / "r.csv") == {"qid": ["1"], "answer": ["a"]}
    (tmp_path / "b.csv").write_bytes(b"\xef\xbb\xbfqid,answer\n1,a\n")
    assert read(tmp_path / "b.csv", encoding="utf-8") == {"qid": ["1"], "answer": ["a"]}


def test_a_list_with_quotes_inside_is_no_numpy_array(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text(json.dumps({"doc_ids": """['say "x" "y"', 'a', ' ']"""}) + "\n")
    assert read(tmp_path / "r.jsonl")["retrieved"] == [['say "x" "y"', "a", " "]]


SPANISH = (
    "Id;Pregunta;Respuesta;Respuesta esperada;latency_ms\n1;¿Cuál es?;París;París;1.234,5\n2;¿Y?;Roma;Lima;812,5\n"
)


def test_spanish_titles_and_decimal_commas(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(SPANISH, encoding="utf-8")
    evaluation = evaluate(tmp_path / "r.csv", metrics="exact_match", delimiter=";", decimal=",")
    assert evaluation["exact_match"].mean == 0.5
    rows = evaluation.rows.to_pydict()
    assert (rows["question"], rows["latency_ms"]) == (["¿Cuál es?", "¿Y?"], [1234.5, 812.5])
    with pytest.raises(UsageError, match="a decimal mark is a point or a comma"):
        evaluate(tmp_path / "r.csv", metrics="exact_match", decimal=";")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0,5", 0.5),
        ("-1.234.567,25", -1234567.25),
        ("1.234", 1234),
        ("12.5", 12.5),
        ("7", 7),
        ("", None),
        ("1e3", 1000),
    ],
)
def test_numbers_with_a_decimal_comma(text: str, number: float | None) -> None:
    assert as_number(text, ",") == number


@pytest.mark.parametrize("text", ["1,2,3", "a,5", ",", "nan"])
def test_what_is_no_number_with_a_decimal_comma(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - Python's own messages
        as_number(text, ",")


def test_a_dataset_in_spanish() -> None:
    rows = [{"Pregunta": "¿Y?", "Respuesta": "Lima"}]
    service = ask(rows, lambda question: "Lima", metrics="exact_match", output_dir=tempfile.mkdtemp())
    assert service["exact_match"].mean == 1


@pytest.mark.parametrize(
    ("given", "known"),
    [
        ({"sources": ["d1"], "gold_documents": ["d1"]}, {"retrieved": ["d1"], "relevant": ["d1"]}),
        ({"sources": [{"id": "d1"}], "gold_documents": '["d1"]'}, {"retrieved": ["d1"], "relevant": ["d1"]}),
        ({"chunks": ["a text"]}, {"contexts": ["a text"]}),
        (
            {"chunks": [{"id": "c1", "text": "a text"}]},
            {"contexts": ["a text"], "retrieved": ["c1"]},
        ),
        # beside the names that they had before, and with other contents, they are the user's own columns
        ({"sources": ["d1"], "doc_ids": ["d2"]}, {"retrieved": ["d2"], "sources": '["d1"]'}),
        ({"sources": "wiki"}, {"sources": "wiki"}),
        ({"sources": [{"url": "https://example.org"}]}, {"sources": '[{"url": "https://example.org"}]'}),
        ({"chunks": [7, 8]}, {"chunks": "[7, 8]"}),
        ({"chunks": 3}, {"chunks": "3"}),
        ({"generated_answer": "x", "respuesta": "y"}, {"answer": "x", "respuesta": "y"}),
    ],
)
def test_names_of_documents_and_passages(given: dict[str, Any], known: dict[str, Any]) -> None:
    answer = {} if "generated_answer" in given else {"answer": "x"}
    row = evaluate([{"reference": "x", **answer, **given}], metrics="token_f1").rows.to_pylist()[0]
    assert {name: row[name] for name in known} == known


def test_a_guess_is_said() -> None:
    evaluation = evaluate([{"sources": ["d1"], "gold_documents": ["d1"]}], metrics="recall@5")
    assert evaluation["recall@5"].mean == 1
    assert evaluation.summary.notes == ["results: retrieved = sources", "results: relevant = gold_documents"]


def test_maps_of_a_parquet_file_are_documents(tmp_path: Path) -> None:
    """Also within lists, structs and maps; keys need not be texts."""
    texts = pa.map_(pa.string(), pa.string())
    structs = pa.list_(pa.struct([("a", texts), ("b", pa.string())]))
    table = pa.table(
        {
            "answer": ["x", "y", "z"],
            "meta": pa.array([[("k", "1"), ("k", "2"), ("l", None)], None, []], texts),
            "numbers": pa.array([[(1, 2.5)], [], None], pa.map_(pa.int64(), pa.float64())),
            "deep": pa.array([[{"a": [("k", "v")], "b": "map<"}], [], None], structs),
            "maps": pa.array([[("m", [("k", "v")])], [], None], pa.map_(pa.string(), texts)),
        }
    )
    pq.write_table(table, tmp_path / "rows.parquet")
    for source in (tmp_path / "rows.parquet", table):
        columns = read(source)
        assert columns["meta"] == ['{"k": "2", "l": null}', None, "{}"]
        assert columns["numbers"] == ['{"1": 2.5}', "{}", None]
        assert columns["deep"] == ['[{"a": {"k": "v"}, "b": "map<"}]', "[]", None]
        assert columns["maps"] == ['{"m": {"k": "v"}}', "{}", None]


def test_a_whole_number_is_one_id_however_it_is_written() -> None:
    rows = [{"qid": "1", "relevant": [7], "retrieved": [7.0, 1.5, "7.0"]}]
    evaluation = evaluate(rows, metrics="recall@1")
    assert evaluation.rows["retrieved"].to_pylist() == [["7", "1.5", "7.0"]]
    assert evaluation["recall@1"].mean == 1
