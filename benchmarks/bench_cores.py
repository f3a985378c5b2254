"""Many rows by one worker, by two, and so on up to the cores of the machine, beside threads and the default."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pyarrow.csv as csv
import pyarrow.parquet as pq
from bench_cluster import Watched, evaluate, mb, rows_between
from common import BenchmarkError, progress, table
from common import cores as available

_METRICS = "token_f1,exact_match,edit_distance,rouge_l_score,meteor_score,cosine_similarity"
_FILES = 64


def cores(folder: Path, *, quick: bool) -> None:
    """Text metrics in three formats, and a metric of Python code."""
    count = 100_000 if quick else 1_000_000
    rounds = 1 if quick else 3
    for name, path in _data(folder / "cores", count):
        _scaling(folder, path, name, count, _METRICS, rounds)
    few = count // 20
    path = folder / "cores" / "few.parquet"
    pq.write_table(rows_between(0, few), path, row_group_size=2_000)
    _scaling(folder, path, "Parquet", few, "offline_correct", rounds)


def _data(folder: Path, count: int) -> Iterator[tuple[str, Path]]:
    """The same rows in Parquet files, as CSV and as JSON Lines."""
    parquet = folder / "parquet"
    parquet.mkdir(parents=True)
    for number in range(_FILES):
        rows = rows_between(number * count // _FILES, (number + 1) * count // _FILES)
        pq.write_table(rows, parquet / f"{number:03}.parquet")
    yield "Parquet", parquet
    rows = rows_between(0, count)
    csv.write_csv(rows, folder / "rows.csv")
    yield "CSV", folder / "rows.csv"
    with (folder / "rows.jsonl").open("w", encoding="utf-8") as file:
        for batch in rows.to_batches(10_000):
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in batch.to_pylist())
    yield "JSONL", folder / "rows.jsonl"


def _workers() -> list[int]:
    """1, 2, 4 … and all cores."""
    most = available()
    return sorted({*(1 << power for power in range(most.bit_length()) if 1 << power <= most), most})


def _scaling(folder: Path, path: Path, kind: str, count: int, metrics: str, rounds: int) -> None:
    progress(f"cores, {count:,} rows of {kind}, {metrics}")
    engines = ["auto", "threads", *(f"local:{workers}" for workers in _workers())]
    taken: dict[str, list[Watched]] = {engine: [] for engine in engines}
    summaries = set()
    for _ in range(rounds):  # one after the other, so that what else the machine does meets all of them
        for engine, times in taken.items():
            where = (str(path), str(folder / "runs"), "cores", ("--engine", engine), dict(os.environ))
            times.append(evaluate(*where, metrics=metrics))
            summaries.add((folder / "runs" / "cores" / "summary.json").read_text())
    if len(summaries) > 1:
        raise BenchmarkError("engines give different summaries")
    rates = {engine: count / median(watched.seconds for watched in times) for engine, times in taken.items()}
    lines = []
    for engine, times in taken.items():
        workers = int(engine.partition(":")[2] or 0)
        own, of_workers = (
            median(seconds) for seconds in zip(*((one.own_cpu, one.workers_cpu) for one in times), strict=True)
        )
        efficiency = f"{rates[engine] / workers / rates['local:1']:.0%}" if workers else ""
        serial = f"{1e6 * own / count:.2f}" if workers else ""
        memory = (mb(max(one.driver for one in times)), mb(max(one.worker for one in times)))
        cpu = (f"{own:.1f}", f"{of_workers:.1f}" if workers or of_workers else "")
        lines.append((engine, f"{rates[engine]:,.0f}", efficiency, *cpu, serial, *memory))
    header = ("--engine", "rows/s", "efficiency", "CPU s", "of workers", "serial µs/row", "command MB", "worker MB")
    title = f"{count:,} rows of {kind}, {metrics}, {available()} cores, medians of {rounds}; all summaries are the same"
    table(title, header, lines)
