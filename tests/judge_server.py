"""A chat server on loopback that judges by a simple rule, counts its calls, and misbehaves when told to.

In tests it is a context in a thread: `with JudgeServer(behave) as server`. For benchmarks it is a process:
`python tests/judge_server.py --latency 0.05` prints its port and serves until its standard input ends. Each line that
it is given there, and the end, it answers with what it counted since the one before.

It finds the texts in the prompt by their fences, as the judge's prompt promises, and says CORRECT if the expected
answer is part of the given one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import re
import selectors
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
_FENCED = re.compile(r"^([^\n:]+): \[([0-9a-f]{8})\] (.*?) \[\2\]$", re.DOTALL | re.MULTILINE)
#: Columns by what a model is told of them.
_COLUMNS = {
    "Question": "question", "Correct answer": "reference", "Student answer": "answer",
    "Expected answer": "reference", "Given answer": "answer",
    "Reference answer": "reference", "Answer to grade": "answer",
}  # fmt: skip


@dataclass
class Action:
    """What to do with one request. `cut` sends only so many bytes of the body; `reset` breaks the connection then.

    `pieces` are a stream in place of a body, with a pause before each.
    """

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: int | None = None
    reset: bool = False
    pieces: list[bytes] = field(default_factory=list)
    pause: float = 0.0


#: Given the request's document and its number from 1 up; None stands for a good answer.
Behaviour = Callable[[dict[str, Any], int], "Action | None"]


def texts(request: dict[str, Any]) -> dict[str, str]:
    """The fenced texts of a judge's prompt."""
    content = request["messages"][-1]["content"]
    return {_COLUMNS.get(name, name): text.replace("\u200b", "") for name, _, text in _FENCED.findall(content)}


def completion(content: Any, finish_reason: str = "stop", **message: Any) -> dict[str, Any]:
    """A chat completion."""
    return {
        "id": "x",
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, **message},
                "finish_reason": finish_reason,
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }


def verdict(request: dict[str, Any]) -> dict[str, Any]:
    """The rule: right if the expected answer is in the given one."""
    given = texts(request)
    right = given["reference"].casefold() in given["answer"].casefold()
    return completion(json.dumps({"reason": "by rule", "verdict": "CORRECT" if right else "WRONG"}))


class JudgeServer:
    """The server. `requests` holds every document that came in; `peak` the most that were under way at once.

    `first` is when the first request was there, `last` when the last reply was sent. Requests beyond number `answers`
    get no reply before `release()` is called. `exact`: replies after the latency and not up to a millisecond later, as
    epoll has it; for fewer than a thousand connections.
    """

    def __init__(
        self, behave: Behaviour | None = None, latency: float = 0.0, *, keep: bool = True, exact: bool = False
    ) -> None:
        self.behave = behave or (lambda request, number: None)
        self.latency = latency
        self.keep = keep
        self.requests: list[dict[str, Any]] = []
        self.headers: list[str] = []
        self.count = self.inside = self.peak = 0
        self.answers = math.inf
        self.unanswered: list[Callable[[], None]] = []
        self.first = self.last = 0.0
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = self._socket.getsockname()[1]
        self.loop: asyncio.AbstractEventLoop
        if exact:
            self.loop = asyncio.SelectorEventLoop(selectors.SelectSelector())
        else:
            self.loop = asyncio.new_event_loop()
        self.transports: set[asyncio.Transport] = set()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *failure: object) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()

    def release(self) -> None:
        """Reply to all that wait, and to all that come."""

        def reply_to_all() -> None:
            self.answers = math.inf
            for reply in self.unanswered:
                reply()
            self.unanswered.clear()

        self.loop.call_soon_threadsafe(reply_to_all)

    def counted(self) -> dict[str, float]:
        """The calls, the most at once, and the seconds from the first request to the last reply; then all from 0."""
        results = {"count": self.count, "peak": self.peak, "seconds": self.last - self.first}
        self.count = self.peak = 0
        return results

    def _serve(self) -> None:
        server = self.loop.run_until_complete(self.loop.create_server(lambda: _Connection(self), sock=self._socket))
        self._ready.set()
        self.loop.run_forever()
        server.close()
        for transport in self.transports:
            transport.abort()
        self.loop.run_until_complete(asyncio.sleep(0))
        self.loop.close()


class _Connection(asyncio.Protocol):
    """One connection, which a client may keep for several requests."""

    def __init__(self, server: JudgeServer) -> None:
        self.server = server
        self.received = b""
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.server.transports.add(transport)

    def connection_lost(self, error: Exception | None) -> None:
        self.server.transports.discard(self.transport)

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, blank, rest = self.received.partition(b"\r\n\r\n")
        match = _LENGTH.search(head)
        length = int(match[1]) if match else 0
        if not blank or len(rest) < length:
            return
        self.received = rest[length:]
        server = self.server
        if server.count == 0:
            server.first = time.monotonic()
        server.count += 1
        server.inside += 1
        server.peak = max(server.peak, server.inside)
        request = json.loads(rest[:length]) if length else {}
        if server.keep:
            server.requests.append(request)
            server.headers.append(head.decode("latin-1"))
        action = server.behave(request, server.count) or Action(body=verdict(request))
        if server.count > server.answers:
            server.unanswered.append(lambda: self.reply(action))
        else:
            server.loop.call_later(server.latency + action.delay, self.reply, action)

    def reply(self, action: Action) -> None:
        self.server.inside -= 1
        if self.transport.is_closing():
            return
        if action.pieces:
            self.stream(action)
            return
        body = action.body if isinstance(action.body, bytes) else json.dumps(action.body).encode()
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **action.headers}
        lines = [f"HTTP/1.1 {action.status} Whatever", *(f"{name}: {value}" for name, value in headers.items())]
        self.transport.write("\r\n".join([*lines, "", ""]).encode() + body[: action.cut])
        self.server.last = time.monotonic()
        if action.reset:
            raw = self.transport.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.transport.abort()
        elif action.cut is not None:
            self.transport.close()

    def stream(self, action: Action) -> None:
        """A reply whose length nobody knows: it ends with the connection."""
        self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        for number, piece in enumerate(action.pieces, 1):
            self.server.loop.call_later(action.pause * number, self.transport.write, piece)
        self.server.loop.call_later(action.pause * len(action.pieces) + 0.01, self.transport.close)


def main() -> None:
    """Serve as a process of its own."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.0)
    chosen = parser.parse_args()
    with JudgeServer(latency=chosen.latency, keep=False, exact=True) as server:
        print(server.port, flush=True)
        for _ in sys.stdin:
            print(json.dumps(server.counted()), flush=True)
        print(json.dumps(server.counted()), flush=True)


if __name__ == "__main__":
    main()
