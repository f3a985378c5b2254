"""Messages quote what others wrote; a terminal shows it as text and obeys nothing in it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ragmeter.wording.texts import visible
from tests.conftest import Run

#: Clear the screen, set the title, and paint green what follows.
ESCAPES = "\x1b[2J\x1b]0;title\x07\x1b[32m\x9b1m"
SEEN = r"\x1b[2J\x1b]0;title\x07\x1b[32m\x9b1m"


def harmless(text: str) -> bool:
    return not any((ord(character) < 32 and character != "\n") or 127 <= ord(character) < 160 for character in text)


def test_a_header(tmp_path: Path, ragmeter: Run) -> None:
    (tmp_path / "r.csv").write_text(f"qid,{ESCAPES},answer\n1,a,a\n", encoding="utf-8")
    done = ragmeter("evaluate", "--metrics", "token_f1", "--results", "r.csv")
    assert done.returncode == 2
    assert SEEN in done.stderr
    assert harmless(done.stderr)


def test_a_file_s_name(tmp_path: Path, ragmeter: Run) -> None:
    name = f"{ESCAPES}.csv"
    (tmp_path / name).write_text("qid,answer\n1\n", encoding="utf-8")
    done = ragmeter("evaluate", "--metrics", "token_f1", "--results", name)
    assert done.returncode == 2
    assert f"ragmeter: {SEEN}.csv, line 2" in done.stderr
    assert harmless(done.stderr)


def test_an_unknown_option_and_a_warning(tmp_path: Path, ragmeter: Run) -> None:
    done = ragmeter("evaluate", f"--{ESCAPES}")
    assert done.returncode == 2
    assert harmless(done.stderr)
    name = f"{ESCAPES}.csv"
    (tmp_path / name).write_text("qid,answer\n1,a\n", encoding="utf-8")
    done = ragmeter("evaluate", "--metrics", "token_f1", "--results", name, "--reference", name, "--run", "r")
    assert f"warning: the results and the reference are the same ({SEEN}.csv)" in done.stderr
    assert harmless(done.stderr)


class _Refusing(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = f'{{"error": {{"message": "no {ESCAPES}"}}}}'.encode()
        self.send_response(401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *given: Any) -> None:
        """Say nothing."""


@pytest.fixture
def refusing() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_server_that_refuses(tmp_path: Path, ragmeter: Run, refusing: str) -> None:
    (tmp_path / "d.jsonl").write_text('{"question": "q", "reference": "a"}\n')
    env = {"OPENAI_API_KEY": "k"}
    for target in (["--target", refusing], ["--target", "openai:m", "--base-url", f"{refusing}/v1"]):
        done = ragmeter("ask", "--dataset", "d.jsonl", *target, "--metrics", "token_f1", "--run", "r", env=env)
        assert done.returncode == 2, done.stderr
        assert "401" in done.stderr
        assert harmless(done.stderr)


def test_what_is_shown_as_text() -> None:
    assert visible("a\nb") == "a\nb"
    assert visible("a\tb\rc\0") == r"a\tb\rc\x00"
    assert visible("\ufeffqid \u202eabc") == r"\ufeffqid \u202eabc"
    assert visible("naïve \U0001f469\u200d\U0001f4bb می\u200cخواهم") == "naïve \U0001f469\u200d\U0001f4bb می\u200cخواهم"
    assert visible("\udcff") == r"\udcff"
    assert len(visible("x" * 1_000_000)) < 5000
