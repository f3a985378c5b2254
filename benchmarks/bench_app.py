"""The app over runs of a million rows: how long its pages take, and how much memory its server needs."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from common import BenchmarkError, measure, progress, ragmeter_command, table

from ragmeter.runs.writer import table_writer

_METRICS = (
    "token_f1,exact_match,rouge_l_score,edit_distance,normalized_distance,token_precision,token_recall,"
    "cosine_similarity,meteor_score,average_score"
)
_REPEATS = 5
#: Milliseconds of the clock, and of the server's CPU.
Milliseconds = tuple[float, float]
#: Rows of a row group, as an evaluation writes them.
_GROUP = 16_384
_FIRST_MS, _FILTER_MS, _MEMORY_MB = 1_000, 300, 400
#: What is asked, by which address, and within how many milliseconds. The first request of each is not counted: `first`.
_ASKED = (
    ("the list of all runs", "/", _FIRST_MS),
    ("first page of a run", "/run/big1", _FIRST_MS),
    ("filter by score", "/run/big1?filter=token_f1%3E%3D0.9", _FILTER_MS),
    ("filter by outcome", "/run/big1?show=no_score", _FILTER_MS),
    ("filter by slice", "/run/big1?filter=domain%3Dd3", _FILTER_MS),
    (
        "two filters and a slice",
        "/run/big1?filter=token_f1%3E%3D0.5&filter=exact_match%3D0&filter=domain%3Dd3",
        _FILTER_MS,
    ),
    ("metrics by a slice", "/run/big1?by=domain", _FIRST_MS),
    ("histograms and slices", "/run/big2/parts", _FIRST_MS),
    ("sort", "/run/big1?sort=token_f1", _FILTER_MS),
    ("sort, page 100", "/run/big1?sort=rouge_l_score&descending=1&page=100", _FILTER_MS),
    ("search for a frequent word", "/run/big1?search=word17", _FILTER_MS),
    ("search for another, in page 3", "/run/big1?search=word170&page=3", _FILTER_MS),
    ("search for what is not there", "/run/big1?search=xyzzy", _FILTER_MS),
    ("a row of a sorted run", "/run/big1/row/77777?sort=token_f1", _FILTER_MS),
    ("side by side", "/compare?run=big1&run=big2", _FIRST_MS),
    ("side by side, got better", "/compare?run=big1&run=big2&change=better&metric=token_f1", _FILTER_MS),
    ("side by side, got worse", "/compare?run=big1&run=big2&change=worse&metric=rouge_l_score", _FILTER_MS),
    ("side by side, differ", "/compare?run=big1&run=big2&change=differs&metric=meteor_score", _FILTER_MS),
    (
        "side by side, differ, and a filter",
        "/compare?run=big1&run=big2&change=differs&metric=token_f1&filter=token_f1%3E%3D0.5",
        _FILTER_MS,
    ),
    ("side by side, failed there", "/compare?run=big1&run=big2&change=failed&metric=token_f1", _FILTER_MS),
    ("side by side, page 50", "/compare?run=big1&run=big2&change=worse&metric=token_f1&page=50", _FILTER_MS),
)


def app(folder: Path, *, quick: bool) -> None:
    """Make two large runs and many small ones, and ask for every kind of page."""
    count = 100_000 if quick else 1_000_000
    large, small = folder / "large", folder / "small"
    progress(f"app, two runs of {count:,} rows")
    make_runs(large, count)
    taken, prepared, memory = measured(large)
    size = (large / "big1" / "rows.parquet").stat().st_size / 1e6
    lines = [
        (
            what,
            *(f"{ms:,.0f}" for ms in first),
            f"{median(ms for ms, _ in later):,.0f}",
            f"{median(cpu for _, cpu in later):,.0f}",
            f"{max(ms for ms, _ in later):,.0f}",
            f"{target:,}",
        )
        for (what, _, target), (first, later) in zip(_ASKED, taken, strict=True)
    ]
    table(
        f"APP  two runs of {count:,} rows, ten metrics, {size:,.0f} MB each; milliseconds of the clock and of the "
        f"server's CPU; first: the first request, later: the median of {_REPEATS} more; texts for searches took "
        f"{prepared:,.1f} s of CPU after the first page; the server's memory at its peak: {memory:,.0f} MB "
        f"(target: {_MEMORY_MB})",
        ("what", "first", "(CPU)", "later", "(CPU)", "slowest", "target"),
        lines,
    )
    n_small = 200 if quick else 2_000
    progress(f"app, {n_small:,} runs")
    for number in range(n_small):
        shutil.copytree(large / "small", small / f"run{number}")
    with serving(small) as client:
        first, later = client.ask_with_cpu("/"), [client.ask_with_cpu("/") for _ in range(_REPEATS)]
    listed = measure(ragmeter_command("runs", "--output-dir", str(small)))
    wall, cpu = (median(part) for part in zip(*later, strict=True))
    lines = [
        ("the app's list", *(f"{ms:,.0f}" for ms in first), f"{wall:,.0f}", f"{cpu:,.0f}", f"{_FIRST_MS:,}"),
        ("ragmeter runs", f"{listed.seconds * 1000:,.0f}", f"{listed.cpu_seconds * 1000:,.0f}", "", "", ""),
    ]
    table(f"APP  {n_small:,} runs", ("what", "first", "(CPU)", "later", "(CPU)", "target"), lines)
    _compare(large)


def _compare(folder: Path) -> None:
    """The comparison of the two large runs, which their page makes where it is asked for."""
    usage = measure(ragmeter_command("compare", "big1", "big2", "--metrics", "token_f1", "--output-dir", str(folder)))
    print(f"ragmeter compare, one metric: {usage.seconds:,.1f} s ({usage.cpu_seconds:,.1f} of CPU)")


def measured(folder: Path) -> tuple[list[tuple[Milliseconds, list[Milliseconds]]], float, float]:
    """What each request takes the first time and later; seconds of CPU to prepare searches; the memory in MB.

    The texts for searches are written after the first page of a run, while a person looks at it.
    """
    with serving(folder) as client:
        client.ask("/run/big1")
        prepared = client.settled()
        taken = [
            (client.ask_with_cpu(path), [client.ask_with_cpu(path) for _ in range(_REPEATS)]) for _, path, _ in _ASKED
        ]
        return taken, prepared, client.memory()


def make_runs(folder: Path, count: int) -> None:
    """Two runs of the same questions with other answers and scores, and a small one."""
    import ragmeter

    rows = [
        {
            "qid": f"q{i}",
            "question": f"q {i}",
            "reference": ["a b c"],
            "answer": "a b" if i % 2 else "c d e",
            "contexts": ["x y z"],
            "domain": f"d{i % 5}",
        }
        for i in range(200)
    ]
    rng = np.random.default_rng(0)
    for name in ("big1", "big2", "small"):
        ragmeter.evaluate(rows, metrics=_METRICS, run=name, output_dir=folder)
        if name != "small":
            _enlarge(folder / name, count, rng)


def _enlarge(run: Path, count: int, rng: np.random.Generator) -> None:
    """Replace a run's table by one of so many rows with the same columns."""
    path = run / "rows.parquet"
    schema = pq.read_schema(path)
    names = _METRICS.split(",")
    pools = [_texts(rng, words) for words in (8, 30, 100)]
    with table_writer(path, schema, names) as writer:
        for begin in range(0, count, _GROUP):
            numbers = np.arange(begin, min(begin + _GROUP, count))
            writer.write_table(_group(schema, numbers, pools, rng), row_group_size=_GROUP)
    summary = json.loads((run / "summary.json").read_text())
    summary["n_rows"] = count
    lost = int(np.ceil(count / 1_000))
    for metric in summary["metrics"].values():
        metric |= {"n_total": count, "n_scored": count - lost, "n_not_scored": {"no_answer": lost}}
    (run / "summary.json").write_text(json.dumps(summary))


def _texts(rng: np.random.Generator, words: int) -> pa.Array:
    vocabulary = np.array([f"word{i}" for i in range(5_000)])
    return pa.array([" ".join(vocabulary[line]) for line in rng.integers(0, 5_000, (20_000, words))])


def _group(schema: pa.Schema, numbers: Any, pools: list[pa.Array], rng: np.random.Generator) -> pa.Table:
    rows = len(numbers)
    as_text = pc.cast(pa.array(numbers), pa.string())
    question, answer = (pool.take(pa.array(rng.integers(0, len(pool), rows))) for pool in pools[:2])
    passages = pools[2].take(pa.array(rng.integers(0, len(pools[2]), 3 * rows)))
    offsets = np.arange(rows + 1)
    lost = numbers % 1_000 == 0
    columns: dict[str, Any] = {
        "qid": pc.binary_join_element_wise("q", as_text, ""),
        "question": pc.binary_join_element_wise(question, as_text, " "),
        "answer": pc.if_else(pa.array(lost), None, answer),
        "reference": pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), question),
        "contexts": pa.ListArray.from_arrays(pa.array(3 * offsets, pa.int32()), passages),
        "domain": pa.array([f"d{number % 5}" for number in numbers]),
    }
    for field in schema:
        if field.name.endswith(".outcome"):
            outcome = pc.if_else(pa.array(lost), "no_answer", "scored")
            columns[field.name] = outcome.dictionary_encode()
        elif field.name not in columns:
            scores = rng.integers(0, 2, rows) * 1.0 if field.name == "exact_match" else rng.random(rows).round(4)
            scores[lost] = np.nan
            columns[field.name] = pa.array(scores)
    return pa.Table.from_arrays([columns[field.name].cast(field.type) for field in schema], schema=schema)


class _Client:
    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self._process = process
        self._where = urlsplit(address)
        self._cookie = ""
        self._cookie = self._get(f"/?{self._where.query}")[1].split(";")[0]

    def ask(self, path: str) -> float:
        """How many milliseconds a page takes."""
        begin = time.perf_counter()
        self._get(path)
        return 1000 * (time.perf_counter() - begin)

    def ask_with_cpu(self, path: str) -> tuple[float, float]:
        """How many milliseconds a page takes, and how many of the server's CPU."""
        before = self._cpu()
        taken = self.ask(path)
        return taken, 1000 * (self._cpu() - before)

    def settled(self) -> float:
        """Wait until the server does nothing any more; returns the seconds of CPU that it took."""
        begin = before = self._cpu()
        while True:
            time.sleep(2)
            now = self._cpu()
            if now == before:
                return now - begin
            before = now

    def _cpu(self) -> float:
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float:
        """The most megabytes that the server has needed."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1000

    def _get(self, path: str) -> tuple[str, str]:
        connection = http.client.HTTPConnection(str(self._where.hostname), self._where.port, timeout=120)
        connection.request("GET", path, headers={"Cookie": self._cookie} if self._cookie else {})
        reply = connection.getresponse()
        page = reply.read().decode()
        connection.close()
        if reply.status not in (200, 303):
            raise BenchmarkError(f"{path} is answered with {reply.status}: {page[-500:]}")
        return page, reply.getheader("set-cookie") or ""


@contextmanager
def serving(folder: Path) -> Iterator[_Client]:
    """`ragmeter app` in a process of its own."""
    command = ragmeter_command("app", "--no-open", "--output-dir", str(folder), "--labels", str(folder))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            address = process.stdout.readline().rpartition(" ")[2].strip()
            yield _Client(process, address)
        finally:
            process.terminate()
