"""One run: opened once, its columns read when they are needed and kept, and read anew where it was replaced."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import ragmeter
from ragmeter import Run, evaluate
from ragmeter.analysis.slices import summarise_run
from ragmeter.engine.evaluation import add_metrics
from ragmeter.errors import InputError
from tests.make_runs import make_run
from tests.runs.watching import Opened
from tests.show.report.helpers import keep, rows

LABELS = [{"qid": f"q{i}", "label": "correct" if i < 4 else "wrong"} for i in range(8)]
#: What opens the table of each run once.
CALLS: dict[str, Callable[[Path], object]] = {
    "compare": lambda folder: ragmeter.compare(["a", "b"], output_dir=folder),
    "report": lambda folder: ragmeter.report(["a", "b"], folder / "out.html", output_dir=folder),
    "gate": lambda folder: ragmeter.gate("b", no_worse_than={"a": {"token_f1": 0.1}}, output_dir=folder),
}
CALLS_OF_ONE: dict[str, Callable[[Path], object]] = {
    "calibrate": lambda folder: ragmeter.calibrate("b", LABELS, metric="exact_match", output_dir=folder),
    "choose_sample": lambda folder: ragmeter.choose_sample("b", 4, by="stratified", strata="domain", output_dir=folder),
    "explain": lambda folder: ragmeter.explain("b", "q1", output_dir=folder),
    "summarise_run": lambda folder: summarise_run("b", slices="domain", output_dir=folder),
}


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """Two runs of eight rows."""
    keep(tmp_path, "a", metrics="token_f1,exact_match,recall@2")
    keep(tmp_path, "b", [{**row, "answer": row["reference"][0]} for row in rows()], "token_f1,exact_match,recall@2")
    return tmp_path


@pytest.mark.parametrize("call", CALLS)
def test_each_table_is_opened_once(call: str, two: Path) -> None:
    with Opened(two / "a", two / "b") as opened:
        CALLS[call](two)
    assert opened.counts == {"a": 1, "b": 1}


@pytest.mark.parametrize("call", CALLS_OF_ONE)
def test_the_table_of_a_run_alone_is_opened_once(call: str, two: Path) -> None:
    with Opened(two / "b") as opened:
        CALLS_OF_ONE[call](two)
    assert opened.counts == {"b": 1}


def test_adding_metrics_opens_the_table_once(two: Path) -> None:
    with Opened(two / "b") as opened:
        add_metrics("b", "token_recall", output_dir=two)
    assert opened.counts == {"b": 1}


def test_results_that_are_asked_again_and_again_open_it_once(two: Path) -> None:
    kept = evaluate(rows(), metrics="token_f1", run="c", output_dir=two)
    with Opened(two / "c") as opened:
        for _ in range(3):
            assert kept.rows.num_rows == 8
            ragmeter.gate(kept, fail_under={"token_f1": 0.1})
            summarise_run(kept)
    assert opened.counts == {"c": 1}


def test_results_that_were_not_kept_touch_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    fresh = evaluate(rows(), metrics="token_f1,exact_match")
    assert ragmeter.compare([fresh, evaluate(rows(), metrics="token_f1")])["token_f1"].difference == 0
    assert ragmeter.gate(fresh, fail_under={"token_f1": 0.1}, max_failed=0.2)
    assert len(ragmeter.choose_sample(fresh, 3)) == 3
    assert list(tmp_path.iterdir()) == []
    assert fresh.run_folder().path.is_relative_to(tmp_path)  # which is there as soon as somebody asks for it


def test_a_run_that_is_replaced_is_read_anew(two: Path) -> None:
    run = Run(two / "a")
    assert run.n_rows == len(run.scores("token_f1")) == 8
    assert "token_recall" not in run.measures
    add_metrics("a", "token_recall", output_dir=two)
    assert len(run.scores("token_recall")) == 8
    assert "token_recall" in run.measures
    keep(two, "a", rows(4))
    assert run.n_rows == len(run.scores("token_f1")) == run.summary().n_rows == 4


def test_what_it_gives_away_may_be_changed(two: Path) -> None:
    run = Run(two / "a")
    run.scores("token_f1")[:] = 9
    run.metrics().clear()
    assert np.nanmax(run.scores("token_f1")) == 1
    assert list(run.metrics()) == list(run.row_metrics) == ["token_f1", "exact_match", "recall@2"]
    assert run.manifest().run == "a"


def test_columns_are_those_of_the_file(two: Path) -> None:
    run = Run(two / "a")
    table = pq.read_table(two / "a" / "rows.parquet")
    assert run.rows(["domain", "qid", "domain", "nothing"]).column_names == ["domain", "qid"]
    assert run.rows(["nothing"]).num_rows == 8
    assert repr(run.rows().to_pydict()) == repr(table.to_pydict())  # a NaN is no NaN for equals()
    assert run.rows().schema.equals(table.schema, check_metadata=True)
    assert run.rows(["answer"]).equals(table.select(["answer"]), check_metadata=True)
    assert run.columns == table.column_names
    assert [batch.num_rows for batch in run.batches(3)] == [3, 3, 2]


@pytest.mark.parametrize("read_before", [False, True])
def test_rows_are_found_by_their_places(tmp_path: Path, read_before: bool) -> None:
    run = make_run(tmp_path / "r", {"score": np.arange(6) / 6}, {"note": list("abcdef")})
    if read_before:
        run.rows()
    assert run.records([4, 0], ["qid", "note", "nothing"]) == [{"qid": "4", "note": "e"}, {"qid": "0", "note": "a"}]
    assert run.records([], ["qid"]) == []


@pytest.mark.parametrize("is_kept", [True, False])
def test_without_their_columns_there_are_as_many_rows(tmp_path: Path, is_kept: bool) -> None:
    keep(tmp_path, "a", metrics="token_f1")
    run = Run(tmp_path / "a")
    if is_kept:
        run.column("question")
    assert run.records([2, 0], ["no_such_column"]) == [{}, {}]


def test_it_travels_and_is_the_same_by_its_path(two: Path) -> None:
    run = Run(two / "a")
    run.rows()
    pickled = pickle.loads(pickle.dumps(run))  # noqa: S301 - it is our own
    for other in (pickled, copy.deepcopy(run), Run(str(two / "a"))):
        assert other == run
        assert hash(other) == hash(run)
        assert other.rows(["qid"]).equals(run.rows(["qid"]))
    assert run != Run(two / "b")
    assert repr(run) == f"Run({str(two / 'a')!r})"


def test_one_that_was_let_go_is_opened_again(two: Path) -> None:
    run = Run(two / "a")
    with Opened(two / "a") as opened:
        run.rows()
        run.close()
        assert run.scores("token_f1")[0] == 1
    assert opened.counts == {"a": 2}


def test_what_can_not_be_read_is_said(two: Path) -> None:
    run = Run(two / "a")
    assert run.n_rows == 8
    (two / "a" / "rows.parquet").unlink()
    with pytest.raises(InputError, match=r"rows\.parquet: can't be read: No such file or directory"):
        run.rows()
    (two / "a" / "rows.parquet").write_bytes(b"PAR1 nonsense")
    with pytest.raises(InputError, match=r"rows\.parquet: can't be read"):
        run.rows()
    (two / "a" / "summary.json").write_text("[1]")
    with pytest.raises(InputError, match=r"summary\.json: can't be read: it is not a JSON object"):
        run.summary()
    (two / "a" / "summary.json").write_text('{"metrics": {"token_f1": {}}}')
    with pytest.raises(InputError, match="token_f1 has no mean"):
        run.metrics()


def test_a_flipped_bit_is_never_another_value(tmp_path: Path) -> None:
    texts = [f"a{row % 7} b{row * row}" for row in range(60)]
    make_run(tmp_path / "r", {"right": [row % 2 for row in range(60)]}, {"answer": texts})
    path = tmp_path / "r" / "rows.parquet"
    whole = path.read_bytes()
    with pq.ParquetFile(path) as file:
        group = file.metadata.row_group(0)
        chunks = [group.column(place) for place in range(group.num_columns)]
        rows = Run(tmp_path / "r").rows().to_pylist()
    begin = min(chunk.dictionary_page_offset or chunk.data_page_offset for chunk in chunks)
    end = begin + sum(chunk.total_compressed_size for chunk in chunks)
    refused = 0
    for place in range(begin, end, 3):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
        try:
            read = Run(tmp_path / "r").rows().to_pylist()
        except InputError as error:
            refused += "rows.parquet" in str(error)
        else:
            assert read == rows, f"byte {place}"
    assert refused > (end - begin) / 3 / 2
