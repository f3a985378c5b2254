"""Many rows from and to an object store: memory and cost per row.

The store is moto's server on loopback, which shares the cores with what is measured.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from common import BenchmarkError, cores, progress, ragmeter_command, table
from pyarrow import fs
from samples import Row, Sample

METRICS = "token_f1,exact_match,edit_distance"
_BUCKET = "ragmeter-bench"
#: Rows of one file in the store: the number of files grows with the rows, as a team's do.
_ROWS_IN_STORE = 100_000
_SERVER = """
import sys, time
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""


@dataclass
class Watched:
    """What a command took: wall time, CPU time of the command and of its workers, and the peak memory of the command
    and of its largest worker."""

    seconds: float
    own_cpu: float
    workers_cpu: float
    driver: int
    worker: int


def cluster(folder: Path, *, quick: bool) -> None:
    """Growing data sets, read from a store and written to it."""
    del folder
    sizes = (100_000, 300_000) if quick else (3_000_000, 30_000_000)
    lines = []
    with _server() as environment:
        for count in sizes:
            progress(f"cluster, {count:,} rows from and to a store")
            _fill(environment, count)
            options = ("--engine", f"local:{min(2, cores())}")
            where = f"s3://{_BUCKET}/{count}"
            watched = evaluate(where, f"s3://{_BUCKET}/runs", f"rows-{count}", options, environment)
            moved = [_bytes(environment, f"{_BUCKET}/{place}") / count for place in (count, f"runs/rows-{count}")]
            microseconds = 1e6 * watched.seconds / count
            shown = (
                f"{watched.seconds:.0f}",
                f"{microseconds:.1f}",
                f"{1e6 * (watched.own_cpu + watched.workers_cpu) / count:.1f}",
            )
            sizes_shown = (f"{moved[0]:.0f}", f"{moved[1]:.0f}")
            lines.append((f"{count:,}", *shown, mb(watched.driver), mb(watched.worker), *sizes_shown))
    header = ("rows", "seconds", "µs a row", "CPU µs a row", "command MB", "worker MB", "bytes read", "bytes written")
    table(f"from S3 to S3, {METRICS}, 2 workers; bytes are those of a row, compressed", header, lines)


@lru_cache
def _sample() -> tuple[pa.Table, int]:
    """The sample's rows, which are repeated for as long as one wants, and how many there are."""
    rows = Sample.load("evouna", "en").rows
    return pa.table({name: [getattr(row, name) for row in rows] for name in Row.__dataclass_fields__}), len(rows)


def rows_between(begin: int, end: int) -> pa.Table:
    """So many rows, each with its number as one more word of the answer."""
    numbers = pa.array(np.arange(begin, end))
    qids = numbers.cast(pa.string())
    sample, count = _sample()
    rows = sample.take(pa.array(np.arange(begin, end) % count)).combine_chunks()
    answers = pc.binary_join_element_wise(rows["answer"], pa.chunked_array([qids]), " ")
    return rows.set_column(rows.schema.get_field_index("answer"), "answer", answers).add_column(0, "qid", qids)


def evaluate(
    results: str, runs: str, name: str, options: Sequence[str], environment: dict[str, str], metrics: str = METRICS
) -> Watched:
    """Run the command to its end, and watch its processes."""
    arguments = ("--results", results, "--metrics", metrics, "--output-dir", runs, "--run", name, *options)
    begin = time.perf_counter()
    process = subprocess.Popen(
        ragmeter_command("evaluate", *arguments), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    watched = psutil.Process(process.pid)
    driver = worker = 0
    workers: dict[psutil.Process, float] = {}  # the CPU seconds of each, as they were seen last
    while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
        with suppress(psutil.Error):  # it has just ended
            driver = max(driver, watched.memory_info().rss)
            for child in watched.children(recursive=True):
                worker = max(worker, child.memory_info().rss)
                workers[child] = sum(child.cpu_times()[:2])
        time.sleep(0.05)
    seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(ended[1])
    if process.returncode != 0:
        assert process.stderr is not None
        raise BenchmarkError(f"ragmeter evaluate failed: {process.stderr.read().decode()}")
    usage = ended[
        2
    ]  # of the command alone: workers are ended by a signal, and the process that forks them waits for them
    return Watched(seconds, usage.ru_utime + usage.ru_stime, sum(workers.values()), driver, worker)


@contextmanager
def _server() -> Iterator[dict[str, str]]:
    """A store in a process of its own, as the environment that leads to it."""
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        port = json.loads(process.stdout.readline())
        keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1"}
        environment = {**os.environ, **keys, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}
        _filesystem(environment).create_dir(_BUCKET)
        yield environment
    finally:
        process.terminate()
        process.wait()


def _filesystem(environment: dict[str, str]) -> fs.S3FileSystem:
    return fs.S3FileSystem(
        access_key="test",
        secret_key="test",  # noqa: S106 - moto takes any
        endpoint_override=environment["AWS_ENDPOINT_URL"].removeprefix("http://"),
        scheme="http",
        region="us-east-1",
        allow_bucket_creation=True,
    )


def _fill(environment: dict[str, str], count: int) -> None:
    store = _filesystem(environment)
    for number, begin in enumerate(range(0, count, _ROWS_IN_STORE)):
        with store.open_output_stream(f"{_BUCKET}/{count}/{number:05}.parquet", compression=None) as stream:
            pq.write_table(rows_between(begin, min(begin + _ROWS_IN_STORE, count)), stream)


def _bytes(environment: dict[str, str], place: str) -> int:
    infos = _filesystem(environment).get_file_info(fs.FileSelector(place, recursive=True))
    return sum(info.size for info in infos if info.is_file)


def mb(size: int) -> str:
    return f"{size / 1e6:,.0f}" if size else ""
