"""Google Cloud Storage, by an emulator on loopback: runs there are those on a disk."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ragmeter import add_metrics, compare, evaluate
from ragmeter.errors import InputError
from ragmeter.io.locations import folders_in, location
from tests.in_parts import in_parts

ROWS = [{"qid": str(n), "answer": f"a {n % 5}", "reference": "a 1"} for n in range(200)]

#: With a thread for each request: Arrow begins to read another part of a file before it has read the first.
SERVER = """
import http.server, sys
http.server.HTTPServer = http.server.ThreadingHTTPServer
from gcp_storage_emulator.server import create_server
server = create_server("127.0.0.1", 0, in_memory=True, default_bucket="bucket")
server.start()
print(server._api._httpd.server_port, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of an empty bucket."""
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, "-c", SERVER], text=True, **pipes) as server:
        assert server.stdout is not None
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"127.0.0.1:{int(server.stdout.readline())}")
        yield "gs://bucket"
        server.terminate()


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["threads", "local:2"])
def test_from_and_to_the_store(bucket: str, engine: str, tmp_path: Path) -> None:
    for day in (1, 2):
        lines = "".join(json.dumps(row) + "\n" for row in ROWS[(day - 1) * 100 : day * 100])
        location(f"{bucket}/in/day={day}/a.jsonl").write_bytes(lines.encode())
    metrics = "token_f1,exact_match"
    plain = evaluate(f"{bucket}/in", metrics=metrics, run="plain", output_dir=tmp_path)
    for number in (1, 2):
        stored = evaluate(f"{bucket}/in/*/*.jsonl", metrics=metrics, run="night-{n}", output_dir=f"{bucket}/runs")
        assert stored.name == f"night-{number}"
    parts = in_parts(f"{bucket}/in", metrics=metrics, run="parts", output_dir=f"{bucket}/runs", engine=engine)
    assert parts.rows.equals(plain.rows)
    assert replace(parts.summary, run="") == replace(plain.summary, run="")
    assert list(add_metrics("parts", "edit_distance", output_dir=f"{bucket}/runs")) == [*plain, "edit_distance"]
    assert len(folders_in(location(f"{bucket}/runs/parts"))) == 1, "files of older versions are removed"
    assert folders_in(location(f"{bucket}/runs")) == ["night-1", "night-2", "parts"]
    compare([f"{bucket}/runs/night-1", f"{bucket}/runs/night-2"])
    large = location(f"{bucket}/large")
    large.write_bytes(bytes(range(256)) * (1 << 16))
    with large.open() as file:
        file.seek(12_345_678)
        assert file.read(3) == bytes([78, 79, 80])
    with pytest.raises(InputError, match="there is no such file"):
        evaluate("gs://another/in", metrics=metrics)
