"""Evaluations in parts: the bytes of one by threads, whoever does the parts, and whatever happens on the way."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from ragmeter import Evaluation, add_metrics, evaluate, metric, score_table
from ragmeter.engine.cluster import Cluster
from ragmeter.engine.parts import work
from ragmeter.errors import InputError, UsageError, WorkerError
from ragmeter.io.locations import folders_in, location
from ragmeter.io.write import dumps
from tests.conftest import Run, load_rows
from tests.in_parts import in_parts

METRICS = "token_f1,exact_match,edit_distance"


def rows(count: int = 240) -> list[dict[str, Any]]:
    """Real answers, some of them missing, some calls failed."""
    loaded = load_rows("evouna.jsonl")[:count]
    return [
        {
            "qid": f"q{place}",
            "answer": None if place % 11 == 0 else row["answer"],
            "reference": row["reference"],
            "latency_ms": 1.5 * place,
            "error": "HTTP 500" if place % 17 == 0 else None,
        }
        for place, row in enumerate(loaded)
    ]


def write(folder: Path, content: list[dict[str, Any]], parts: int = 4) -> Path:
    """Rows in files of two formats."""
    folder.mkdir(parents=True, exist_ok=True)
    size = -(-len(content) // parts)
    for number in range(parts):
        piece = content[number * size : (number + 1) * size]
        if number % 2:
            lines = "".join(json.dumps(row) + "\n" for row in piece)
            (folder / f"{number}.jsonl").write_text(lines)
        else:
            pq.write_table(pa.Table.from_pylist(piece), folder / f"{number}.parquet", row_group_size=20)
    return folder


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of few bytes, so that small files are cut."""
    monkeypatch.setattr("ragmeter.engine.parts.sources.PART_BYTES", 6_000)


@pytest.fixture
def client() -> Iterator[Any]:
    """Two worker processes, which take seconds to start: for one test."""
    import distributed

    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        yield client


def content(evaluation: Evaluation) -> tuple[str, dict[str, object]]:
    """The summary and the rows, to the bit."""
    table = evaluation.rows
    columns = {
        name: column.to_numpy().tobytes() if str(column.type) == "double" else column.to_pylist()
        for name, column in zip(table.column_names, table.columns, strict=True)
    }
    return dumps(replace(evaluation.summary, run="")), columns


def files(evaluation: Evaluation) -> dict[str, bytes]:
    """The files with the rows."""
    assert evaluation.folder is not None
    return {path.name: path.read_bytes() for path in (evaluation.folder.path / "rows").iterdir()}


def test_the_same_bytes_by_threads_and_by_workers(
    tmp_path: Path, client: Any, monkeypatch: pytest.MonkeyPatch, small_parts: None
) -> None:
    data = write(tmp_path / "data", rows())
    where: dict[str, Any] = {"metrics": METRICS, "output_dir": tmp_path}
    plain = evaluate(data, run="plain", **where)
    threads = in_parts(data, run="threads", **where)
    workers = evaluate(data, run="workers", engine=client, **where)
    assert content(plain) == content(threads) == content(workers)
    assert files(threads) == files(workers)
    assert len(files(workers)) > 8, "files are cut"
    log = [json.loads(line) for line in (tmp_path / "workers" / "parts.jsonl").read_text().splitlines()]
    assert len({entry["worker"] for entry in log}) == 2
    assert sum(entry["rows"] for entry in log) == 240
    assert not list(tmp_path.glob(".*"))

    (data / "2.parquet").write_bytes((data / "2.parquet").read_bytes()[:-50])
    with pytest.raises(InputError, match=r"2\.parquet: this is not a readable Parquet file"):
        evaluate(data, run="bad", engine=client, **where)

    @metric
    def of_this_test(answer: list[str]) -> list[float]:
        """A metric that no worker can import."""
        return [float(len(text)) for text in answer]

    module = sys.modules[of_this_test.function.__module__]
    monkeypatch.setitem(sys.modules, "mine_alone", module)
    monkeypatch.setattr(of_this_test.function, "__module__", "mine_alone")
    small = write(tmp_path / "small", rows(8))
    with pytest.raises(UsageError, match=r"of_this_test was declared in the module mine_alone(.|\n)*upload_file"):
        evaluate(small, run="parts", engine=client, **{**where, "metrics": [of_this_test]})
    monkeypatch.setattr("ragmeter.__version__", "9.9")
    with pytest.raises(WorkerError, match=r"tcp://\S+: a worker has ragmeter \S+, and the command 9\.9"):
        evaluate(small, run="parts", engine=client, **where)
    assert not (tmp_path / "parts").exists()


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("statistics", [{}, {"interval": "bca"}, {"cluster": None, "level": 0.9}])
def test_intervals_and_clusters_are_the_same(tmp_path: Path, statistics: dict[str, Any]) -> None:
    turns = [{**row, "session_id": f"s{n // 3}", "domain": str(n % 40)} for n, row in enumerate(rows())]
    data = write(tmp_path / "data", turns)
    plain = evaluate(data, metrics=METRICS, run="plain", output_dir=tmp_path, **statistics)
    parts = in_parts(data, metrics=METRICS, run="parts", output_dir=tmp_path, **statistics)
    assert content(plain) == content(parts)
    assert (plain["token_f1"].n_clusters is None) == (statistics.get("cluster", "auto") is None)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("fits", [True, False])
def test_a_join_counts_both_sides(tmp_path: Path, fits: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not fits:
        monkeypatch.setattr("ragmeter.engine.parts.driver.BROADCAST_BYTES", 1_000)
        monkeypatch.setattr("ragmeter.engine.parts.driver.BUCKET_BYTES", 6_000)
    given = rows()
    results = [{"qid": row["qid"], "answer": row["answer"] or "x"} for row in given[30:]] + [
        {"qid": "new", "answer": "x"}
    ]
    gold = [{"qid": row["qid"], "answer": row["reference"]} for row in given]
    data, reference = write(tmp_path / "data", results), write(tmp_path / "gold", gold, 2)
    plain = evaluate(data, reference, metrics=METRICS, run="plain", output_dir=tmp_path)
    parts = in_parts(data, reference, metrics=METRICS, run="parts", output_dir=tmp_path)
    assert content(plain) == content(parts)
    join = parts.summary.join
    assert (join.matched, join.results_only.qids, join.reference_only.count) == (210, ["new"], 30)
    assert parts["token_f1"].n_not_scored["no_result"] == 30
    others = write(tmp_path / "others", [{**row, "qid": f"z{row['qid']}"} for row in gold], 2)
    with pytest.raises(InputError, match="have no qid in common"):
        in_parts(data, others, metrics=METRICS, run="none", output_dir=tmp_path)
    twice = write(tmp_path / "twice", [*gold, gold[3]], 2)
    with pytest.raises(InputError, match=r"1\.jsonl.*line \d+: the qid 'q3' appears here for the second time"):
        in_parts(data, twice, metrics=METRICS, run="none", output_dir=tmp_path)
    (data / "1.jsonl").write_bytes(b"{")
    given_to: dict[str, Any] = {"metrics": METRICS, "output_dir": tmp_path}
    parts = in_parts(data, reference, run="parts", skip_bad_parts=True, **given_to)
    (data / "1.jsonl").unlink()
    plain = evaluate(data, reference, run="plain", **given_to)
    assert content(plain)[1] == content(parts)[1]
    assert plain.summary.join == parts.summary.join
    assert len(parts.summary.parts_skipped) == 1


@pytest.mark.usefixtures("small_parts")
def test_a_qid_that_occurs_twice_is_named(tmp_path: Path) -> None:
    given = rows()
    given[200]["qid"] = "q7"
    data = write(tmp_path / "data", given)
    with pytest.raises(InputError, match=r"3\.jsonl.*line \d+: the qid 'q7' appears here for the second time"):
        in_parts(data, metrics=METRICS, run="parts", output_dir=tmp_path)
    assert not (tmp_path / "parts").exists()


@pytest.mark.usefixtures("small_parts")
def test_rows_without_a_qid_are_numbered_through_all_parts(tmp_path: Path) -> None:
    data = write(tmp_path / "data", [{name: row[name] for name in ("answer", "reference")} for row in rows()])
    plain = evaluate(data, metrics=METRICS, run="plain", output_dir=tmp_path)
    parts = in_parts(data, metrics=METRICS, run="parts", output_dir=tmp_path)
    assert content(plain) == content(parts)
    assert parts.rows["qid"].to_pylist()[-1] == "240"


def test_one_file_keeps_all_of_its_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("ragmeter.engine.parts.sources.PART_BYTES", 9_000)
    data = write(tmp_path / "data", [{**row, "domain": "a"} for row in rows()], 1) / "0.parquet"
    table = tmp_path / "rows.tsv"
    table.write_text("qid\tanswer\treference\n" + "".join(f"{n}\ta {n % 3}\ta 1\n" for n in range(2000)))
    quoted = tmp_path / "quoted.csv"
    quoted.write_text("qid,answer,reference\n" + "".join(f'{n},"a\n""{n % 3}"", b",a 1\n' for n in range(2000)))
    for source, quotes in ((data, True), (table, False), (table, True), (quoted, True)):
        plain = evaluate(source, metrics=METRICS, run="plain", output_dir=tmp_path, quotes=quotes)
        parts = in_parts(source, metrics=METRICS, run="parts", output_dir=tmp_path, quotes=quotes)
        assert content(plain) == content(parts)
        assert len(files(parts)) > 2
    quoted.write_text(quoted.read_text() + 'last,a 5" pipe,a 1\n')
    parts = in_parts(quoted, metrics=METRICS, run="parts", output_dir=tmp_path)
    assert len(files(parts)) == 1
    assert "quoted.csv is one part: a quote stands in a cell that is not quoted" in caplog.text


def test_a_part_that_is_damaged(tmp_path: Path, ragmeter: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    data = write(tmp_path / "data", rows())
    (data / "2.parquet").write_bytes((data / "2.parquet").read_bytes()[:-50])
    arguments = (
        "--results",
        "data",
        "--metrics",
        METRICS,
        "--output-dir",
        tmp_path,
        "--run",
        "bad",
    )
    done = ragmeter("evaluate", *arguments, "--skip-bad-parts")
    assert done.returncode == 0, done.stderr
    assert "part skipped" in done.stdout
    summary = json.loads((tmp_path / "bad" / "summary.json").read_text())
    assert summary["n_rows"] == 180
    (reason,) = summary["parts_skipped"]
    assert "2.parquet" in reason
    for name, content in (("0.parquet", b"PAR1 and no more"), ("1.jsonl", b"{")):
        (data / name).write_bytes(content * 1_000)
    with monkeypatch.context() as patched:
        patched.setattr("ragmeter.engine.parts.sources.PART_BYTES", 6_000)
        rest = in_parts(data, metrics=METRICS, run="rest", output_dir=tmp_path, skip_bad_parts=True)
    assert rest.summary.n_rows == 60
    assert [Path(reason.partition(":")[0]).name for reason in rest.summary.parts_skipped] == [
        "0.parquet",
        "1.jsonl, line 1",
        "2.parquet",
    ]


@pytest.mark.usefixtures("small_parts")
def test_parts_that_are_done_are_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = write(tmp_path / "data", rows())
    write_part = work.write_part
    done: list[int] = []

    broken = {7}

    def until_the_disk_is_full(job: bytes, number: int, *rest: Any) -> Any:
        if number in broken:
            raise InputError("gone")
        done.append(number)
        return write_part(job, number, *rest)

    monkeypatch.setattr(work, "write_part", until_the_disk_is_full)
    with pytest.raises(InputError, match="gone"):
        in_parts(data, metrics=METRICS, run="parts", output_dir=tmp_path)
    assert not (tmp_path / "parts").exists(), "a run is there whole or not at all"
    before = set(done)
    done.clear()
    broken.clear()
    again = in_parts(data, metrics=METRICS, run="parts", output_dir=tmp_path)
    assert not before & set(done)
    assert len(before | set(done)) == len(files(again))
    assert content(again) == content(evaluate(data, metrics=METRICS, run="plain", output_dir=tmp_path))
    assert not list(tmp_path.glob(".parts.*"))


def test_other_metrics_or_other_files_begin_anew(tmp_path: Path) -> None:
    data = write(tmp_path / "data", rows())
    first = in_parts(data, metrics="token_f1", run="parts", output_dir=tmp_path)
    second = in_parts(data, metrics="exact_match", run="parts", output_dir=tmp_path)
    assert list(first) != list(second) == ["exact_match"]


@pytest.mark.usefixtures("small_parts")
def test_a_run_in_a_store_in_parts(tmp_path: Path, s3: str) -> None:
    data = write(tmp_path / "data", rows())
    for path in data.iterdir():
        location(f"{s3}/data/day=1/{path.name}").write_bytes(path.read_bytes())
    plain = evaluate(f"{s3}/data", metrics=METRICS, run="plain", output_dir=tmp_path)
    parts = in_parts(f"{s3}/data", metrics=METRICS, run="parts", output_dir=f"{s3}/runs")
    assert content(plain) == content(parts)
    assert parts.rows["day"].to_pylist() == ["1"] * 240
    again = in_parts(f"{s3}/data", metrics="token_f1", run="parts", output_dir=f"{s3}/runs")
    first = content(again)
    once_more = in_parts(f"{s3}/data", metrics="token_f1", run="parts", output_dir=f"{s3}/runs")
    assert first == content(once_more)
    more = add_metrics("parts", "exact_match,edit_distance", output_dir=f"{s3}/runs")
    at_once = evaluate(f"{s3}/data", metrics="token_f1,exact_match,edit_distance", run="all", output_dir=f"{s3}/runs")
    assert content(more) == content(at_once)
    (version,) = folders_in(location(f"{s3}/runs/parts"))
    assert location(f"{s3}/runs/parts/{version}/parts.jsonl").is_file()
    assert not location(f"{s3}/runs/parts/{version}/rows").is_dir()


def test_metrics_are_added_to_a_run_in_parts(tmp_path: Path) -> None:
    data = write(tmp_path / "data", rows())
    in_parts(data, metrics="token_f1", run="parts", output_dir=tmp_path)
    added = add_metrics(tmp_path / "parts", "exact_match")
    plain = evaluate(data, metrics="token_f1,exact_match")
    assert added.summary.metrics == plain.summary.metrics
    assert added.rows.num_rows == 240
    assert not (tmp_path / "parts" / "rows").exists()


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"engine": "spark"}, "engine can't be 'spark'"),
        ({"engine": 3}, "engine can't be a int"),
        ({"skip_bad_parts": True, "run": None}, "write a run in parts"),
    ],
)
def test_what_an_engine_can_t_be(tmp_path: Path, keywords: dict[str, Any], words: str) -> None:
    data = write(tmp_path / "data", rows(8))
    with pytest.raises(UsageError, match=words):
        evaluate(data, metrics="token_f1", output_dir=tmp_path, **{"run": "parts", **keywords})


def test_an_engine_reads_files(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="parts are read from files"):
        in_parts(rows(8), metrics="token_f1", run="parts", output_dir=tmp_path)


def test_a_scheduler_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragmeter.engine.cluster._PATIENCE", 0.2)
    data = write(tmp_path / "data", rows(8))
    with pytest.raises(WorkerError, match=r"no Dask scheduler at tcp://127\.0\.0\.1:9"):
        evaluate(data, metrics="token_f1", run="parts", output_dir=tmp_path, engine="tcp://127.0.0.1:9")


def test_a_scheduler_that_is_lost_while_a_result_is_on_its_way(monkeypatch: pytest.MonkeyPatch) -> None:
    import distributed
    from distributed.comm import CommClosedError

    def result() -> None:
        raise CommClosedError("Stream is closed")

    future = SimpleNamespace(key="part", status="finished", result=result)
    client = SimpleNamespace(
        submit=lambda *arguments, **options: future,
        cancel=lambda *arguments, **options: None,
        scheduler_info=dict,
        loop=None,
    )

    class Completed(list[Any]):
        futures = ()

    monkeypatch.setattr(distributed, "as_completed", lambda futures, loop: Completed(futures))
    with pytest.raises(WorkerError, match="the connection to the cluster's scheduler is lost"):
        list(Cluster(client).run(len, [("",)]))


def test_options_without_effect(ragmeter: Run) -> None:
    for arguments, words in (
        (("--run", "x", "--skip-bad-parts"), "--skip-bad-parts has no effect without --results"),
        (("--results", "x.csv", "--executor", "processes"), "--executor has no effect any more"),
    ):
        done = ragmeter("evaluate", "--metrics", "token_f1", *arguments)
        assert done.returncode == 2
        assert words in done.stderr


def test_columns_that_are_filled_without_a_model(tmp_path: Path) -> None:
    answers = ["Paris is the capital of France. It has many bridges.", "I don't know.", "Rome."]
    given = [
        {
            "qid": str(n),
            "question": "What is the capital of France?",
            "answer": answers[n % 3],
            "reference": ["Paris is the capital of France. " + "It lies on the Seine. " * 12],
            "unanswerable": str(n % 2 == 0).lower(),
        }
        for n in range(12)
    ]
    data = write(tmp_path / "data", given)
    metrics = "claim_f1[judge=offline],offline_correct"
    plain = evaluate(data, metrics=metrics, run="plain", output_dir=tmp_path)
    parts = in_parts(data, metrics=metrics, run="parts", output_dir=tmp_path)
    assert content(plain) == content(parts)
    assert plain.summary.long_references == 12
    scored = score_table(pa.Table.from_pylist(given), metrics)
    name = next(name for name in plain if name.startswith("claim_f1"))
    assert scored[name].to_numpy().tobytes() == plain.rows[name].to_numpy().tobytes()
