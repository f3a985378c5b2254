"""A hub on loopback, asked by the hub's own library: what is fetched, and what is said when it can't be."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ragmeter.embedders.sentence import available
from tests.conftest import Run
from tests.embedders.helpers import write_folder

NAME, COMMIT = "someone/small-e5-model", "0123456789abcdef0123456789abcdef01234567"
ROWS = '{"qid":"1","answer":"It is Paris","reference":["Paris"]}\n'


class Hub(ThreadingHTTPServer):
    """Serves one model's folder by the few calls that fetching one takes."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder
        self.fetched: list[str] = []
        self.calls = 0

    @property
    def env(self) -> dict[str, str]:
        return {"HF_ENDPOINT": f"http://127.0.0.1:{self.server_port}", "NO_PROXY": "127.0.0.1"}


class _Handler(BaseHTTPRequestHandler):
    server: Hub

    def do_GET(self) -> None:
        self.server.calls += 1
        path = self.path.partition("?")[0]
        if path.startswith(f"/api/models/{NAME}"):
            files = [path for path in sorted(self.server.folder.rglob("*")) if path.is_file()]
            names = [path.relative_to(self.server.folder).as_posix() for path in files]
            tree = [{"type": "file", "path": name, "size": 1, "oid": COMMIT} for name in names]
            about = {"id": NAME, "sha": COMMIT, "siblings": [{"rfilename": name} for name in names]}
            self._send(json.dumps(tree if "/tree/" in path else about).encode())
        elif path.startswith(f"/{NAME}/resolve/"):
            name = path.removeprefix(f"/{NAME}/resolve/").partition("/")[2]
            content = (self.server.folder / name).read_bytes()
            if self.command == "GET":
                self.server.fetched.append(name)
            self._send(content, {"ETag": f'"{hashlib.sha256(content).hexdigest()}"', "X-Repo-Commit": COMMIT})
        else:
            self._send(b'{"error": "Repository not found"}', {"X-Error-Code": "RepoNotFound"}, 404)

    def do_HEAD(self) -> None:
        self.do_GET()

    def _send(self, content: bytes, headers: dict[str, str] | None = None, status: int = 200) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, *given: Any) -> None:
        """Say nothing."""


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    with Hub(write_folder(tmp_path / "served")) as server:
        for more in ("model.safetensors", "onnx/model_qint8.onnx", "pytorch_model.bin"):
            (tmp_path / "served" / more).write_bytes(b"big, and not asked for")
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def evaluate(ragmeter_process: Run, tmp_path: Path, env: dict[str, str], model: str = NAME) -> Any:
    (tmp_path / "rows.jsonl").write_text(ROWS)
    options = ("--results", "rows.jsonl", "--run", "a", "--embedding-model", model)
    return ragmeter_process("evaluate", "--metrics", "semantic_similarity", *options, env={"HF_HOME": "hub", **env})


def test_a_model_is_fetched_once(ragmeter_process: Run, tmp_path: Path, hub: Hub) -> None:
    first = evaluate(ragmeter_process, tmp_path, hub.env)
    assert first.returncode == 0, first.stderr
    (used,) = json.loads((tmp_path / "runs" / "a" / "manifest.json").read_text())["embeddings"]
    assert (used["model"], used["revision"], used["prefix"]) == (NAME, COMMIT, "query: ")
    assert "onnx/model.onnx" in hub.fetched
    assert not {"model.safetensors", "onnx/model_qint8.onnx", "pytorch_model.bin"} & set(hub.fetched)
    calls = hub.calls
    (tmp_path / "rows.jsonl").write_text(ROWS.replace("Paris", "Lyon"))
    second = evaluate(ragmeter_process, tmp_path, hub.env)
    assert second.returncode == 0, second.stderr
    assert hub.calls == calls  # what is here is used, and nobody is asked


@pytest.mark.parametrize("command", ["ask", "evaluate"])
def test_nobody_is_asked_where_no_model_was_named(
    command: str, ragmeter_process: Run, tmp_path: Path, hub: Hub
) -> None:
    (tmp_path / "rows.jsonl").write_text('{"question":"capital?","answer":"It is Paris","reference":"Paris"}\n')
    (tmp_path / "rag.py").write_text("def answer(question): return 'Paris'\n")
    options = {
        "ask": ("--dataset", "rows.jsonl", "--target", "rag:answer", "--metrics", "semantic_similarity"),
        "evaluate": ("--metrics", "semantic_similarity", "--results", "rows.jsonl"),
    }
    done = ragmeter_process(command, *options[command], "--run", "a", env={"HF_HOME": "hub", **hub.env})
    assert done.returncode == 0, done.stderr
    assert hub.calls == 0
    assert done.stderr.count("ragmeter: warning: no embedding model was named: wordllama is used") == 1
    assert "--embedding-model intfloat/multilingual-e5-base" in done.stderr
    assert "semantic_similarity[model=wordllama]" in done.stdout


def test_a_model_that_is_not_there(ragmeter_process: Run, tmp_path: Path, hub: Hub) -> None:
    done = evaluate(ragmeter_process, tmp_path, hub.env, "someone/nothing")
    assert done.returncode == 2
    assert "the hub has no model 'someone/nothing'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_model_without_an_onnx_file(ragmeter_process: Run, tmp_path: Path, hub: Hub) -> None:
    for file in (tmp_path / "served" / "onnx").iterdir():
        file.unlink()
    done = evaluate(ragmeter_process, tmp_path, hub.env)
    assert done.returncode == 2
    assert ("sentence-transformers can't load it" if available() else "it has no ONNX file") in done.stderr
    assert "Traceback" not in done.stderr
