"""A server that repeats the key, in any form and anywhere: it gets into no file, and onto no screen."""

from __future__ import annotations

import base64
import json
import sqlite3
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, Self
from urllib.parse import quote

import pyarrow.parquet as pq
import pytest

from tests.command import PATIENCE
from tests.conftest import Run
from tests.forward_proxy import ForwardProxy
from tests.hostile.key_forms import FORMS, KEY
from tests.judge_server import Action, JudgeServer, completion, texts

ENVIRONMENT = {"OPENAI_API_KEY": KEY, "MY_KEY": KEY}
#: Where a target repeats it.
PLACES = ("answer", "raw", "document", "context", "error", "stream", "broken stream")


def everything(folder: Path) -> Iterator[tuple[str, str]]:
    """Every text of every file."""
    for path in folder.rglob("*"):
        if path.suffix == ".parquet":
            yield str(path), repr(pq.read_table(path).to_pylist())
        elif path.suffix == ".sqlite":
            with sqlite3.connect(path) as database:
                names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
                rows = [database.execute(f"SELECT * FROM {name}").fetchall() for name in names]  # noqa: S608 - our own
                yield str(path), repr(rows)
        elif path.is_file():
            yield str(path), path.read_text(encoding="utf-8", errors="replace")


def leaks(folder: Path, *screens: str) -> list[tuple[str, str]]:
    """Where which form of the key is."""
    written = {name: write(KEY) for name, write in FORMS.items()}
    once_more = {name: json.dumps(form)[1:-1] for name, form in written.items()}  # as a text in a JSON file
    once_more |= {f"{name}, repr": repr(form)[1:-1] for name, form in written.items()}
    return [
        (place, name)
        for place, text in [*everything(folder), *(("screen", screen) for screen in screens)]
        for name, form in [*written.items(), *once_more.items()]
        if form in text
    ]


def target(request: dict[str, Any], number: int) -> Action:
    """Repeats the key as the question asks for it: where, and in which form."""
    place, _, form = request["question"].partition(": ")
    said = FORMS[form](KEY)
    if place == "error":
        return Action(400, {"error": {"message": f"{said} is wrong"}})
    if place == "raw" and '"' not in said and ("\\" not in said or form in ("slashes", "\\u", "\\u in capitals")):
        return Action(body=f'{{"answer": "it is {said}"}}'.encode())
    if "stream" in place:
        half = len(said) // 2
        events = [{"delta": "it is "}, {"delta": said[:half]}, {"delta": said[half:]}]
        broken = [b"event: error\ndata: no more\n\n"] if place == "broken stream" else []
        return Action(pieces=[*(f"data: {json.dumps(event)}\n\n".encode() for event in events), *broken])
    document = {"id": said if place == "document" else "d", "text": said if place == "context" else "t"}
    return Action(body={"answer": f"it is {said}" if place == "answer" else "x", "events": [document]})


def test_a_target_that_repeats_it(tmp_path: Path, ragmeter: Run) -> None:
    questions = [{"question": f"{place}: {form}", "reference": "x"} for place in PLACES for form in FORMS]
    (tmp_path / "questions.json").write_text(json.dumps(questions))
    out = tmp_path / "out"
    with JudgeServer(target) as server:
        done = ragmeter(
            "ask", "--dataset", "questions.json", "--target", f"http://127.0.0.1:{server.port}/?token={KEY}x",
            "--header", "Authorization: Bearer $MY_KEY", "--metrics", "exact_match", "--output-dir", out,
            "--output", out / "results.json", "--retrieved-path", "events[*].id", "--contexts-path", "events[*].text",
            "--retries", "0", "--workers", "64", "--max-unscored", "1", "--timeout", str(PATIENCE), env=ENVIRONMENT,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert leaks(out, done.stdout, done.stderr) == []
    rows = {row["question"]: row for row in json.loads((out / "results.json").read_text())["results"]}
    shown = {"answer": "generated_answer", "document": "retrieved", "error": "error", "broken stream": "partial_answer"}
    for question, row in rows.items():
        place = question.partition(": ")[0]
        assert row["scores"]["exact_match"] is not None or place in ("error", "broken stream"), row
        assert "***" in str(row[shown[place]] if place in shown else "***")


def judge(request: dict[str, Any], number: int) -> Action:
    form, _, place = texts(request)["answer"].partition(" in ")
    said = FORMS[form](KEY)
    if place == "an error":
        return Action(400, {"error": {"message": f"{said} is wrong"}})
    reply = json.dumps({"reason": f"it is {said}", "verdict": "CORRECT"}) if place == "a reason" else said
    return Action(body=completion(reply))


def test_a_judge_that_repeats_it(tmp_path: Path, ragmeter: Run) -> None:
    places = ("a reason", "an error", "a reply")
    rows = [{"question": "q", "reference": "x", "answer": f"{form} in {place}"} for form in FORMS for place in places]
    (tmp_path / "results.json").write_text(json.dumps(rows))
    with JudgeServer(judge) as server:
        done = ragmeter(
            "evaluate", "--results", "results.json", "--metrics", "llm_correct", "--judge-model", "m", "--reasons",
            "--base-url", server.url, "--no-judge-check", "--retries", "0", "--tries", "1", "--max-unscored", "1",
            "--output-dir", tmp_path / "out", "--json", "--timeout", str(PATIENCE), env=ENVIRONMENT,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert leaks(tmp_path / "out", done.stdout, done.stderr) == []


@pytest.mark.parametrize("form", FORMS)
def test_the_error_that_ends_a_run(form: str, tmp_path: Path, ragmeter: Run) -> None:
    (tmp_path / "questions.json").write_text(json.dumps([{"question": "q", "reference": "x"}]))
    body = json.dumps({"error": {"message": f"{FORMS[form](KEY)} is wrong"}}).encode()
    location = {"Location": f"http://elsewhere.example/{FORMS['percent'](KEY)}/"}
    for action in (Action(401, body), Action(302, b"", headers=location)):
        with JudgeServer(lambda request, number, action=action: action) as server:  # type: ignore[misc]
            done = ragmeter(
                "ask", "--dataset", "questions.json", "--target", f"http://127.0.0.1:{server.port}/", "--metrics",
                "exact_match", "--header", "X-Key: $MY_KEY", "--output-dir", tmp_path / "out", env=ENVIRONMENT,
            )  # fmt: skip
        assert done.returncode == 2
        assert "***" in done.stderr
        assert leaks(tmp_path / "out", done.stdout, done.stderr) == []


def seen(headers: dict[str, str]) -> dict[str, str]:
    """What a server finds in the headers of a request: the lines, and what a `Basic` stands for."""
    pairs = [base64.b64decode(value[6:]).decode() for value in headers.values() if value.startswith("Basic ")]
    return {**headers, **{pair: pair.partition(":")[2] for pair in pairs}}


class EchoServer:
    """Answers each question with all headers of its request, and with the passwords in them in the form asked for."""

    def __init__(self) -> None:
        self.headers: list[dict[str, str]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://echo.test:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        echo = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                headers = dict(self.headers)
                echo.headers.append(headers)
                form = request["question"] if "question" in request else texts(request)["answer"]
                passwords = [*seen(headers).items(), ("token", str(request.get("token")))]
                said = " ".join(f"{name} is {FORMS[form](value)}" for name, value in passwords)
                status = 400 if form.startswith("HTML") and "question" in request else 200
                words = json.dumps({"reason": said, "verdict": "CORRECT"})
                body = {"answer": said, "error": {"message": said}, "events": [{"id": said, "text": said}]}
                content = json.dumps(body if "question" in request else completion(words)).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *arguments: object) -> None:
                """Be quiet."""

        return Handler


def machines(tmp_path: Path, *hosts: str) -> str:
    """A .netrc with the key as the password for these hosts."""
    file = tmp_path / "netrc"
    lines = [f"machine {host} login robot password {KEY}\n" for host in hosts]
    file.write_text("".join([*lines, f"default login anyone password {KEY}\n"]), encoding="utf-8")
    file.chmod(0o600)
    return str(file)


def behind(proxy: ForwardProxy, tmp_path: Path, password: str = KEY) -> dict[str, str]:
    """An environment with a proxy that wants a password, and a .netrc."""
    return {
        "http_proxy": f"http://robot:{quote(password, safe='')}@127.0.0.1:{proxy.port}",
        "NO_PROXY": "", "no_proxy": "", "NETRC": machines(tmp_path, "echo.test", "127.0.0.1"),
        "HOME": str(tmp_path),
    }  # fmt: skip


def ask_behind(ragmeter: Run, out: Path, url: str, environment: dict[str, str], *more: str) -> CompletedProcess[str]:
    (out.parent / "questions.json").write_text(json.dumps([{"question": form, "reference": "x"} for form in FORMS]))
    return ragmeter(
        "ask", "--dataset", "questions.json", "--target", url, "--metrics", "exact_match", "--output-dir", out,
        "--output", out / "results.json", "--retrieved-path", "events[*].id", "--contexts-path", "events[*].text",
        "--retries", "0", "--max-unscored", "1", "--timeout", str(PATIENCE), *more, env=environment,
    )  # fmt: skip


def test_the_password_of_a_proxy_that_is_passed_on(tmp_path: Path, ragmeter: Run) -> None:
    """And nothing of a .netrc: its passwords were not given to us."""
    out = tmp_path / "out"
    with EchoServer() as server, ForwardProxy("robot", KEY) as proxy:
        done = ask_behind(ragmeter, out, server.url, behind(proxy, tmp_path))
    assert done.returncode == 0, done.stderr
    assert len(server.headers) == len(FORMS)
    assert all(headers["Proxy-Authorization"] == proxy.expected for headers in server.headers)
    assert not any("Authorization" in headers for headers in server.headers)
    assert leaks(out, done.stdout, done.stderr) == []
    assert proxy.expected.split()[1] not in repr([*everything(out), done.stdout, done.stderr])
    shown = json.loads((out / "results.json").read_text())["results"]
    assert any("***" in str(row["generated_answer"]) for row in shown)


def test_a_judge_behind_a_proxy(tmp_path: Path, ragmeter: Run) -> None:
    out = tmp_path / "out"
    rows = [{"question": "q", "reference": "x", "answer": form} for form in FORMS]
    (tmp_path / "results.json").write_text(json.dumps(rows))
    with EchoServer() as server, ForwardProxy("robot", KEY) as proxy:
        done = ragmeter(
            "evaluate", "--results", "results.json", "--metrics", "llm_correct", "--judge-model", "m", "--reasons",
            "--base-url", server.url, "--no-judge-check", "--retries", "0", "--tries", "1", "--max-unscored", "1",
            "--output-dir", out, "--json", "--timeout", str(PATIENCE), env=behind(proxy, tmp_path),
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(server.headers) == len(FORMS)
    assert leaks(out, done.stdout, done.stderr) == []
    assert any("***" in text for _, text in everything(out))


@pytest.mark.parametrize("password", ["pw", "hunter2", "p\u00e4ssw\u00f6rd-\u00e9"])
def test_short_and_other_passwords_of_a_proxy(password: str, tmp_path: Path, ragmeter: Run) -> None:
    out = tmp_path / "out"
    with EchoServer() as server, ForwardProxy("robot", password) as proxy:
        done = ask_behind(ragmeter, out, server.url, behind(proxy, tmp_path, password), "--header", "Cookie: a=b")
    assert done.returncode == 0, done.stderr
    assert server.headers
    written = repr([*everything(out), done.stdout, done.stderr])
    assert f"robot:{password}" not in written
    assert proxy.expected.split()[1] not in written
    assert base64.b64encode(f"robot:{password}".encode()).decode() not in written


def test_a_proxy_that_repeats_what_it_refuses(tmp_path: Path, ragmeter: Run) -> None:
    with EchoServer() as server, ForwardProxy("robot", "another") as proxy:
        done = ask_behind(ragmeter, tmp_path / "out", server.url, behind(proxy, tmp_path))
    assert "407" in done.stdout + done.stderr
    assert leaks(tmp_path / "out", done.stdout, done.stderr) == []
    assert base64.b64encode(f"robot:{KEY}".encode()).decode() not in done.stdout + done.stderr


def test_a_token_in_a_request(tmp_path: Path, ragmeter: Run) -> None:
    out = tmp_path / "out"
    more = [{"Authorization": f"Bearer {KEY}"}]
    request = {"question": "{question}", "token": KEY, "more": more, "model": "gpt-4o-1"}
    with EchoServer() as server:
        address = server.url.replace("echo.test", "127.0.0.1")
        done = ask_behind(ragmeter, out, address, {}, "--request", json.dumps(request))
        assert done.returncode == 0, done.stderr
        again = ask_behind(ragmeter, out, address, {}, "--request", json.dumps({**request, "token": KEY + "x"}))
    manifests = [json.loads(path.read_text()) for path in sorted(out.glob("*/manifest.json"))]
    assert len(manifests) == 2  # another token is another system
    reported = ragmeter("report", *sorted(path.parent for path in out.glob("*/manifest.json")))
    assert reported.returncode == 0, reported.stderr
    assert leaks(out, done.stdout, done.stderr, again.stdout, again.stderr, reported.stdout, reported.stderr) == []
    for manifest in manifests:
        assert manifest["target"]["request"] == {
            "question": "{question}", "token": "***", "more": [{"Authorization": "***"}], "model": "gpt-4o-1"
        }  # fmt: skip
