"""A small RAG application to evaluate: it answers questions about what is on in Puerto Lark, an invented town.

It retrieves with BM25 and answers with what it found, in the events' own words. There is no language model in it, so
it runs anywhere and answers the same every time. Ask it as a function, `pipeline("Where is the night market?")`, or
over HTTP: `python examples/rag_app.py --port 8000`.
"""

import argparse
import asyncio
import contextlib
import json
import math
import re
import socket
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any, TypedDict

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

CORPUS = Path(__file__).with_name("agenda.jsonl")
FALLBACK = "Sorry, I couldn't find any events about that."
TOP_K = 3
MIN_SCORE = 2.2  # about one rare word; what matches less is better left unanswered
MAX_SESSIONS = 1000
PAUSE_S = 0.004  # between two words of a stream, so that it arrives as one

Event = dict[str, str]  # id, title, place, date, text

# Words that say nothing about what is asked for. Few texts are Spanish, so that their "de" and "la" would seem rare.
STOP_WORDS = set(
    re.findall(
        r"\w+",
        """
        about an and any are at be can do does for from get how in is it me much my of on or take takes tell that the
        there this to what when where which who will with you
        al allí ahí cómo con cuál cuándo cuánto de del dónde el en es hay la las los para por qué que se ser son un una
        """,
    )
)
# Spanish leaves the pronoun out, so that "¿Y cuánto cuesta?" is known by how it begins.
REFERS_BACK = re.compile(r"\bit\b|(?<!\bis )(?<!\bare )\bthere\b|\b(allí|ahí)\b|^\W*y\b", re.IGNORECASE)
TEMPLATES = (
    (re.compile(r"\bwhere\b", re.IGNORECASE), "{title} is at {place}."),
    (re.compile(r"\bwhen\b|\bwhat (day|time)\b", re.IGNORECASE), "{title} is on {date}."),
    (re.compile(r"\bd[oó]nde\b", re.IGNORECASE), "{title} es en {place}."),
    (re.compile(r"\bcu[aá]ndo\b|\bqué (día|hora)\b", re.IGNORECASE), "{title} es el {date}."),
)


class Reply(TypedDict):
    """What a question gets."""

    answer: str
    events: list[Event]  # without place and date: the answer is what tells them
    latency_ms: float


def content_words(text: str) -> list[str]:
    """The words of a text that tell it from others, in lower case."""
    return [word for word in re.findall(r"\w\w+", text.lower()) if word not in STOP_WORDS]


class BM25:
    """Okapi BM25 with its usual constants: rare words count more, repeated ones less and less."""

    def __init__(self, texts: Iterable[str], k1: float = 1.5, b: float = 0.75) -> None:
        self.k1 = k1
        self.counts = [Counter(content_words(text)) for text in texts]
        size = len(self.counts)
        mean_length = sum(count.total() for count in self.counts) / size
        self.penalties = [k1 * (1 - b + b * count.total() / mean_length) for count in self.counts]
        spread = Counter(word for count in self.counts for word in count)
        self.rarity = {word: math.log(1 + (size - n + 0.5) / (n + 0.5)) for word, n in spread.items()}

    def scores(self, words: Iterable[str]) -> list[float]:
        """How well each text matches these words."""
        wanted = {word: self.rarity[word] for word in words if word in self.rarity}
        return [
            sum(rarity * n * (self.k1 + 1) / (n + penalty) for word, rarity in wanted.items() if (n := count[word]))
            for count, penalty in zip(self.counts, self.penalties, strict=True)
        ]


class Agenda:
    """The town's events, and for each conversation the one it was last about."""

    def __init__(self, corpus: Path = CORPUS) -> None:
        lines = corpus.read_text(encoding="utf-8").splitlines()
        self.events: list[Event] = [json.loads(line) for line in lines]
        self.index = BM25(" ".join((e["title"], e["place"], e["date"], e["text"])) for e in self.events)
        self.sessions: dict[str, Event] = {}

    def query(self, question: str, session_id: str | None = None) -> Reply:
        """Answer a question. With a session, "it" and "there" mean the event of the turn before."""
        start = time.perf_counter()
        events = self.retrieve(question, self.sessions.get(session_id or ""))
        if events and session_id:
            self._remember(session_id, events[0])
        answer = self._answer(question, events[0]) if events else FALLBACK
        shown = [{key: event[key] for key in ("id", "title", "text")} for event in events]
        return {"answer": answer, "events": shown, "latency_ms": (time.perf_counter() - start) * 1000}

    def retrieve(self, question: str, last: Event | None = None) -> list[Event]:
        """The best events, none if all are poor. A question that only points back gets the event it points to."""
        words = content_words(question)
        if last and (not words or REFERS_BACK.search(question)):
            return [last]
        scores = self.index.scores(words)
        best = sorted(range(len(scores)), key=lambda i: scores[i], reverse=True)[:TOP_K]
        return [self.events[i] for i in best if scores[i] >= MIN_SCORE]

    def _answer(self, question: str, event: Event) -> str:
        """A field if the question asks for one, else the sentence with most of what the title leaves open."""
        for pattern, template in TEMPLATES:
            if pattern.search(question):
                return template.format_map(event)
        wanted = set(content_words(question)).difference(content_words(event["title"]))
        sentences = re.split(r"(?<=[.!?])\s+", event["text"])
        return max(sentences, key=lambda s: sum(self.index.rarity[w] for w in wanted.intersection(content_words(s))))

    def _remember(self, session_id: str, event: Event) -> None:
        self.sessions.pop(session_id, None)  # to the end of the line: the one longest silent is forgotten first
        self.sessions[session_id] = event
        if len(self.sessions) > MAX_SESSIONS:
            del self.sessions[next(iter(self.sessions))]


agenda = Agenda()


def pipeline(question: str) -> Reply:
    """The whole application as one function, each question on its own."""
    return agenda.query(question)


async def asked(request: Request) -> tuple[str, str]:
    """The question and the session of a request; a new session if it names none."""
    try:
        body = await request.json()
    except ValueError:
        raise HTTPException(422, "the body is not JSON") from None
    question, session_id = (body.get("q"), body.get("session_id")) if isinstance(body, dict) else (None, None)
    if not isinstance(question, str) or not question.strip():
        raise HTTPException(422, "q is missing: the question, a text")
    if not isinstance(session_id, str | None):
        raise HTTPException(422, "session_id is not a text")
    return question, session_id or uuid.uuid4().hex


async def query(request: Request) -> Response:
    """The answer in one piece."""
    question, session_id = await asked(request)
    reply = agenda.query(question, session_id)
    return JSONResponse({"answer": reply["answer"], "events": reply["events"], "session_id": session_id})


async def stream(request: Request) -> Response:
    """The answer word by word, as server-sent events; then what it rests on."""
    reply = agenda.query(*await asked(request))

    async def messages() -> AsyncIterator[str]:
        for word in re.findall(r"\S+\s*", reply["answer"]):
            yield sent({"delta": word})
            await asyncio.sleep(PAUSE_S)
        yield sent({"events": reply["events"]})
        yield "data: [DONE]\n\n"

    return StreamingResponse(messages(), media_type="text/event-stream", headers={"cache-control": "no-store"})


def sent(message: dict[str, Any]) -> str:
    """One server-sent event."""
    return f"data: {json.dumps(message, ensure_ascii=False)}\n\n"


async def chat(request: Request) -> Response:
    """A chat page for people, and for `ragmeter web`."""
    return FileResponse(Path(__file__).with_name("chat.html"))


async def health(request: Request) -> Response:
    """Whether it is up, and how much it knows."""
    return JSONResponse({"status": "ok", "events": len(agenda.events)})


async def refused(request: Request, error: Exception) -> Response:
    """Errors as JSON, for programs ask here."""
    known = error if isinstance(error, HTTPException) else HTTPException(500)
    return JSONResponse({"error": known.detail}, status_code=known.status_code, headers=known.headers)


app = Starlette(
    routes=[
        Route("/", chat),
        Route("/query", query, methods=["POST"]),
        Route("/stream", stream, methods=["POST"]),
        Route("/health", health),
    ],
    exception_handlers={HTTPException: refused},
)


def main() -> None:
    """Serve on loopback until interrupted. The port is the first line printed, also when the system chose it (0)."""
    parser = argparse.ArgumentParser(description="Answers questions about what is on in Puerto Lark.")
    parser.add_argument("--port", type=int, default=8000, help="0 takes a free one (default: 8000)")
    listener = socket.create_server(("127.0.0.1", parser.parse_args().port))
    print(listener.getsockname()[1], flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    main()
