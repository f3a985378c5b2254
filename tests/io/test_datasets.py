"""Files by their addresses, and data sets of many files."""

from __future__ import annotations

import gzip
import http.server
import json
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragmeter import evaluate
from ragmeter.documents.summary import Unmatched
from ragmeter.errors import InputError, UsageError
from ragmeter.io.delimited.spans import Span
from ragmeter.io.formats.datasets import files_of
from ragmeter.io.locations import StorePath, location
from ragmeter.io.reading import Reading
from ragmeter.io.source import open_file, open_source

ROWS: list[dict[str, Any]] = [
    {"qid": f"q{n}", "answer": "a b" if n % 3 else "a", "reference": ["a b"], "contexts": ["long " * 20]}
    for n in range(12)
]


def fill(folder: str | Path) -> None:
    """The rows in four formats, in folders that are named after values."""
    for name, place in (("day=1/a.parquet", 0), ("day=1/b.jsonl.gz", 3), ("day=2/c.csv", 6), ("day=2/d.tsv", 9)):
        rows = ROWS[place : place + 3]
        delimiter = "," if name.endswith("csv") else "\t"
        lines = [("qid", "answer", "reference"), *((row["qid"], row["answer"], row["reference"][0]) for row in rows)]
        if name.endswith("parquet"):
            sink = pa.BufferOutputStream()
            pq.write_table(pa.Table.from_pylist(rows), sink)
            content = bytes(sink.getvalue())
        elif name.endswith("gz"):
            content = gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode())
        else:
            content = "".join(delimiter.join(line) + "\n" for line in lines).encode()
        put(f"{folder}/{name}", content)
    put(f"{folder}/_SUCCESS", b"")


def put(address: str, content: bytes) -> None:
    path = location(address)
    if isinstance(path, Path):
        path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


@pytest.fixture(params=["disk", "s3"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A folder with the rows: on a disk, and in a store."""
    address = f"{tmp_path}/data" if request.param == "disk" else f"{request.getfixturevalue('s3')}/data"
    fill(address)
    return address


def test_a_folder_is_one_data_set(folder: str) -> None:
    evaluation = evaluate(folder, metrics="exact_match,token_f1")
    assert evaluation.rows["qid"].to_pylist() == [row["qid"] for row in ROWS]
    assert evaluation.rows["day"].to_pylist() == ["1"] * 6 + ["2"] * 6
    assert evaluation["exact_match"].mean == evaluate(ROWS, metrics="exact_match")["exact_match"].mean
    signature = evaluation.manifest.inputs["results"]
    assert (signature["files"], len(signature["listing_sha256"])) == (4, 64)


def test_what_no_metric_needs_is_not_read(folder: str) -> None:
    assert "contexts" not in evaluate(folder, metrics="exact_match").rows.column_names
    assert "contexts" in evaluate(folder, metrics="exact_match", keep_columns="contexts").rows.column_names
    assert "contexts" in evaluate(folder, metrics="exact_match", keep_columns="all").rows.column_names
    assert "contexts" in evaluate(ROWS, metrics="exact_match").rows.column_names


def test_only_those_columns_of_parquet_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path / "data")
    read: list[list[str]] = []
    plain = pq.ParquetFile.iter_batches

    def iter_batches(self: Any, *args: Any, columns: list[str] | None = None, **rest: Any) -> Any:
        read.append(columns or ["everything"])
        return plain(self, *args, columns=columns, **rest)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", iter_batches)
    evaluate(tmp_path / "data", metrics="exact_match")
    # The others are of the run's own file: its summary counts missing answers and outcomes.
    assert read == [["qid", "answer", "reference"], ["qid", "reference"], ["answer"], ["exact_match.outcome"]]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("day=1/*", ["a.parquet", "b.jsonl.gz"]),
        ("*/*.csv", ["c.csv"]),
        ("**/[cd].*", ["c.csv", "d.tsv"]),
        ("day=?/[!abc].tsv", ["d.tsv"]),
    ],
)
def test_patterns(folder: str, pattern: str, names: list[str]) -> None:
    files = files_of(location(f"{folder}/{pattern}"))
    assert [file.location.name for file in files] == names
    assert all(len(file.partition) == 1 for file in files) == (not pattern.startswith("day=1"))


def test_one_file_in_a_store(s3: str) -> None:
    fill(f"{s3}/data")
    evaluation = evaluate(f"{s3}/data/day=2/c.csv", metrics="exact_match")
    assert evaluation.rows.num_rows == 3
    assert "day" not in evaluation.rows.column_names
    with pytest.raises(InputError, match="no such file"):
        evaluate(f"{s3}/data/nothing.csv", metrics="exact_match")


def test_errors_name_the_file_of_a_data_set(folder: str) -> None:
    put(f"{folder}/day=3/e.jsonl", b'{"qid": "new", "answer": "a", "reference": "a"}\n{"qid": "q4", "answer": "a"}\n')
    with pytest.raises(InputError, match=r"day=3/e\.jsonl, line 2: the qid 'q4' appears here for the second time"):
        evaluate(folder, metrics="exact_match")
    put(f"{folder}/day=3/e.jsonl", b'{"qid": "new", "answer": {"a": 1}}\n')
    with pytest.raises(InputError, match=r"day=3/e\.jsonl, line 1: 'answer' is an object"):
        evaluate(folder, metrics="exact_match")
    put(f"{folder}/notes.md", b"# Notes\n")
    with pytest.raises(InputError, match=r"notes\.md: can't tell the format"):
        evaluate(folder, metrics="exact_match")


def test_a_reference_in_a_store_joins_results_on_a_disk(s3: str, tmp_path: Path) -> None:
    put(f"{s3}/gold.jsonl", b'{"qid": "1", "answer": "a"}\n{"qid": "2", "answer": "b"}\n')
    (tmp_path / "results.csv").write_text("qid,answer\n1,a\n")
    evaluation = evaluate(tmp_path / "results.csv", f"{s3}/gold.jsonl", metrics="exact_match")
    assert evaluation.summary.join.reference_only == Unmatched(1, ["2"])


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    """A web server with a file."""
    (tmp_path / "rows.jsonl").write_text('{"qid": "1", "answer": "a", "reference": "a"}\n')
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "rows.parquet")

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
            """Print nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_file_on_a_web_server(web: str) -> None:
    assert evaluate(f"{web}/rows.jsonl", metrics="exact_match")["exact_match"].mean == 1
    assert evaluate(f"{web}/rows.parquet?version=2", metrics="exact_match").rows.num_rows == 12
    with pytest.raises(InputError, match="404"):
        evaluate(f"{web}/other.jsonl", metrics="exact_match")
    with pytest.raises(UsageError, match="nothing listed or written"):
        location(f"{web}/runs").write_bytes(b"")


def test_addresses() -> None:
    assert location("file:///data/a%20b.csv") == Path("/data/a b.csv")
    assert location("s3://bucket/runs/") == StorePath("s3", "bucket/runs")
    assert location("gs://bucket/x.csv").suffix == ".csv"
    assert str(location("s3://bucket/runs") / "name") == "s3://bucket/runs/name"
    assert location("runs") == Path("runs")
    with pytest.raises(UsageError, match="ftp:// can't be read"):
        location("ftp://host/x.csv")
    with pytest.raises(UsageError, match="no bucket"):
        location("s3://")


@pytest.mark.parametrize(
    "address",
    [
        "http://user:SECRET@127.0.0.1:9/a.jsonl?sig=SECRET",
        "http://user:SEC/SECRET@127.0.0.1:9/a.jsonl",
        "http://127.0.0.1:9/a.jsonl?sig=SECRET",
        "http://127.0.0.1:9/a.jsonl?sig=SECRET SECRET",
        "ftp://user:SECRET@host/a.jsonl",
        "http:///a.jsonl?sig=SECRET",
    ],
)
def test_what_is_secret_in_an_address_is_not_shown(address: str) -> None:
    with pytest.raises((InputError, UsageError)) as caught:
        evaluate(address, metrics="exact_match")
    assert "SECRET" not in str(caught.value) + caught.value.hint


def test_a_web_address_is_asked_for_whole_and_shown_without_its_query() -> None:
    place = location("https://host/a.jsonl?sig=SECRET")
    assert isinstance(place, StorePath)
    assert place.address == "https://host/a.jsonl?sig=SECRET"
    assert str(place) == "https://host/a.jsonl"
    assert "SECRET" not in repr(place)


@pytest.mark.parametrize(
    "address", ["s3://AK:PASSWORD@bucket/runs", "s3://AK:S/PASSWORD@bucket/runs", "gs://PASSWORD@b/r"]
)
def test_keys_belong_into_the_environment(address: str) -> None:
    with pytest.raises(UsageError, match="user name or password") as caught:
        evaluate([{"answer": "a", "reference": "a"}], metrics="exact_match", output_dir=address, run="r")
    assert "environment" in caught.value.hint
    assert "PASSWORD" not in str(caught.value)


def test_spans_have_each_line_once(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"qid": str(n), "answer": "é" * (n % 7)}) + "\n" for n in range(50)))
    size = path.stat().st_size
    for step in (1, 7, 40, size):
        spans = [Span(begin, min(begin + step, size)) for begin in range(0, size, step)]
        rows = [row for span in spans for _, row in open_file(path, Reading(), span=span).records()]
        assert [row["qid"] for row in rows] == [str(n) for n in range(50)]
    table = tmp_path / "rows.tsv"
    table.write_text("qid\tanswer\n1\ta\n2\tb\n3\tc\n")
    spans = [Span(0, 15, header=11), Span(15, 19, header=11), Span(19, 23, header=11)]
    qids = [[row["qid"] for _, row in open_file(table, Reading(quotes=False), span=span).records()] for span in spans]
    assert qids == [["1"], ["2"], ["3"]]


def test_row_groups(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "rows.parquet", row_group_size=5)
    rows = [row["qid"] for _, row in open_file(tmp_path / "rows.parquet", Reading(), groups=[1, 2]).records()]
    assert rows == [row["qid"] for row in ROWS[5:]]
    assert open_source(tmp_path / "rows.parquet").files == ()
