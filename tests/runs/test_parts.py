"""A table in many files."""

from __future__ import annotations

import os
import resource
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragmeter.runs import parts
from ragmeter.runs.parts import RowsParts


def test_a_table_in_more_files_than_may_be_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [(f"{number}.parquet", 2) for number in range(100)]
    for number, (name, _) in enumerate(files):
        pq.write_table(pa.table({"score": [number * 1.0, number + 0.5]}), tmp_path / name)
    monkeypatch.setattr(parts, "_MOST_OPEN", 8)
    next_free = os.open(tmp_path, os.O_RDONLY)
    os.close(next_free)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (next_free + 40, before[1]))
    try:
        with closing(RowsParts(tmp_path, files)) as rows:
            assert rows.read(["score"])["score"].to_pylist() == [number / 2 for number in range(200)]
            assert rows.records([199, 0, 77], ["score"]) == [{"score": 99.5}, {"score": 0.0}, {"score": 38.5}]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
