"""The example application, asked as its users do: over HTTP in a process of its own, and as a Python function."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command import PATIENCE

EXAMPLES = Path(__file__).parent.parent / "examples"
FALLBACK = "couldn't find any events"

Post = Callable[[str, bytes | dict[str, Any]], tuple[int, str, str]]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Where the application listens, on a port that the system chose."""
    command = [sys.executable, str(EXAMPLES / "rag_app.py"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.terminate()


def fetch(request: str | urllib.request.Request) -> tuple[int, str, str]:
    """The status, the media type and the body of a reply, of an error too."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=PATIENCE) as reply:
            return reply.status, reply.headers.get_content_type(), reply.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers.get_content_type(), error.read().decode()


@pytest.fixture
def post(server: str) -> Post:
    def send(path: str, body: bytes | dict[str, Any]) -> tuple[int, str, str]:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return fetch(urllib.request.Request(server + path, data, {"Content-Type": "application/json"}))  # noqa: S310

    return send


@pytest.fixture
def ask(post: Post) -> Callable[..., dict[str, Any]]:
    def query(question: str, **more: str) -> dict[str, Any]:
        status, kind, body = post("/query", {"q": question, **more})
        assert (status, kind) == (200, "application/json")
        reply = json.loads(body)
        assert list(reply) == ["answer", "events", "session_id"]
        assert isinstance(reply, dict)
        return reply

    return query


@pytest.fixture(scope="module")
def rag_app() -> Any:
    """The application as a module, loaded anew."""
    spec = importlib.util.spec_from_file_location("rag_app", EXAMPLES / "rag_app.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (EXAMPLES / name).read_text(encoding="utf-8").splitlines()]


def test_health(server: str) -> None:
    status, _, body = fetch(f"{server}/health")
    assert (status, json.loads(body)) == (200, {"status": "ok", "events": len(load("agenda.jsonl"))})


def test_a_plain_question(ask: Callable[..., dict[str, Any]]) -> None:
    reply = ask("How much are tickets for the jazz night?")
    assert reply["answer"] == "Tickets cost 12 euros at the door."
    assert 1 <= len(reply["events"]) <= 3
    best = reply["events"][0]
    assert list(best) == ["id", "title", "text"]
    assert best["title"] == "Harbour Jazz Night"
    assert reply["answer"] in best["text"]


def test_a_stream_says_what_a_plain_reply_says(post: Post, ask: Callable[..., dict[str, Any]]) -> None:
    question = "¿Cuánto cuesta el taller de cerámica?"
    status, kind, body = post("/stream", {"q": question})
    assert (status, kind) == (200, "text/event-stream")
    messages = [message.removeprefix("data: ") for message in body.removesuffix("\n\n").split("\n\n")]
    *deltas, events, done = messages
    plain = ask(question)
    assert len(deltas) == len(plain["answer"].split()) > 1
    assert "".join(json.loads(delta)["delta"] for delta in deltas) == plain["answer"]
    assert json.loads(events) == {"events": plain["events"]}
    assert done == "[DONE]"


def test_a_session_knows_what_it_is_about(post: Post, ask: Callable[..., dict[str, Any]]) -> None:
    first = ask("When is the night market?")
    assert first["answer"] == "Night Market is on Friday 29 May 2026, 18:00."
    second = ask("And where is it?", session_id=first["session_id"])
    assert second["answer"] == "Night Market is at Rope Street."
    assert second["session_id"] == first["session_id"]
    assert [event["title"] for event in second["events"]] == ["Night Market"]
    assert FALLBACK in ask("Is there a heavy metal concert?", session_id=first["session_id"])["answer"]
    assert '"Rope "' in post("/stream", {"q": "Where is it?", "session_id": first["session_id"]})[2]


def test_sessions_are_apart(ask: Callable[..., dict[str, Any]]) -> None:
    ask("When is the night market?", session_id="one")
    ask("When is the botany walk?", session_id="two")
    assert "Rope Street" in ask("And where is it?", session_id="one")["answer"]
    assert "Fennel Park" in ask("And where is it?", session_id="two")["answer"]
    nobodys = ask("And where is it?")
    assert (FALLBACK in nobodys["answer"], nobodys["events"]) == (True, [])


def test_what_is_not_in_the_agenda_is_not_made_up(ask: Callable[..., dict[str, Any]], post: Post) -> None:
    reply = ask("Where can I renew my passport?")
    assert FALLBACK in reply["answer"]
    assert reply["events"] == []
    assert 'data: {"events": []}' in post("/stream", {"q": "Where can I renew my passport?"})[2]


def test_spanish(ask: Callable[..., dict[str, Any]]) -> None:
    where = ask("¿Dónde es la noche de flamenco?", session_id="es")
    assert where["answer"] == "Noche de Flamenco es en el Patio de los Naranjos."
    price = ask("¿Y cuánto cuesta?", session_id="es")
    assert price["answer"] == "La entrada cuesta 10 euros e incluye una bebida."


@pytest.mark.parametrize("path", ["/query", "/stream"])
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "q is missing"),
        ({"q": "  "}, "q is missing"),
        ({"q": 3}, "q is missing"),
        ({"q": "When?", "session_id": 3}, "session_id"),
        (b"[]", "q is missing"),
        (b"{", "not JSON"),
        (b"\xff", "not JSON"),
    ],
)
def test_bad_requests(post: Post, path: str, body: bytes | dict[str, Any], said: str) -> None:
    status, kind, text = post(path, body)
    assert (status, kind) == (422, "application/json")
    assert said in json.loads(text)["error"]


def test_unknown_paths_and_methods(server: str, post: Post) -> None:
    assert post("/nowhere", {"q": "?"}) == (404, "application/json", '{"error":"Not Found"}')
    assert fetch(f"{server}/query") == (405, "application/json", '{"error":"Method Not Allowed"}')


def test_the_function(rag_app: Any) -> None:
    reply = rag_app.pipeline("Where is the night market?")
    assert list(reply) == ["answer", "events", "latency_ms"]
    assert reply["answer"] == "Night Market is at Rope Street."
    assert list(reply["events"][0]) == ["id", "title", "text"]
    assert 0 < reply["latency_ms"] < 1000
    assert rag_app.pipeline("And when is it?")["answer"] == rag_app.FALLBACK, "each question stands on its own"
    assert rag_app.pipeline("")["events"] == []


def test_old_sessions_are_forgotten(rag_app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rag_app, "MAX_SESSIONS", 2)
    agenda = rag_app.Agenda()
    for session in ("one", "two", "one", "three"):
        agenda.query("When is the night market?", session)
    assert list(agenda.sessions) == ["one", "three"]


def test_the_questions_are_answered_as_the_readme_says(rag_app: Any) -> None:
    agenda = rag_app.Agenda()
    wrong, uncovered = [], []
    for row in load("agenda_qa.jsonl"):
        reply = agenda.query(row["question"], row.get("session_id"))
        if not reply["events"]:
            assert reply["answer"] == row["ground_truth"]
            uncovered.append(row["question"])
        elif max(re.findall(r"\w+", row["ground_truth"]), key=len) not in reply["answer"]:
            wrong.append(row["question"])
    assert uncovered == ["Is there a heavy metal concert?", "Where can I renew my passport?"]
    assert wrong == ["How long does the puppet play last?"]


def test_the_corpus_is_in_order() -> None:
    events = load("agenda.jsonl")
    assert all(list(event) == ["id", "title", "place", "date", "text"] for event in events)
    assert len({event["id"] for event in events}) == len(events)
    turns = [row["turn_idx"] for row in load("agenda_qa.jsonl") if row.get("session_id") == "puppets"]
    assert turns == [0, 1]
