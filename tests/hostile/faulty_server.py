"""A server on loopback that answers well, or plays one fault byte by byte to the requests that ask for it."""

from __future__ import annotations

import asyncio
import enum
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterable
from typing import Any, Self

from tests.judge_server import completion, texts, verdict

#: A request that contains this gets the fault.
TRIGGER = "misbehave"


class End(enum.Enum):
    """What happens on the connection after the bytes."""

    CLOSE = "close it"
    RESET = "break it"
    HANG = "say nothing more"


class Flood(bytes):
    """Bytes that are sent again and again, until the client has had enough."""


#: The bytes of a reply, pauses in seconds, and how it ends; without an end the connection stays open for more.
Steps = Iterable["bytes | float | End"]
#: A fault: what is sent in place of a good body.
Play = Callable[[bytes], Steps]


def response(
    body: bytes,
    status: str = "200 OK",
    content_type: str | None = "application/json",
    length: object = None,
    headers: str = "",
) -> bytes:
    """A whole reply. `length` is what it says of the body's length, and "" for nothing; `headers` are more lines."""
    said = len(body) if length is None else length
    lines = [f"HTTP/1.1 {status}"]
    lines += [] if content_type is None else [f"Content-Type: {content_type}"]
    lines += [] if said == "" else [f"Content-Length: {said}"]
    lines += [headers] if headers else []
    return "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape") + body


def chunked(*chunks: bytes, content_type: str = "application/json", last: bool = True) -> bytes:
    """A reply in chunks, with or without the last one that ends it."""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    return head + b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + (b"0\r\n\r\n" if last else b"")


def stream(*pieces: bytes) -> bytes:
    """Server-sent events whose end is that of the connection."""
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + b"".join(pieces)


def good_body(request: dict[str, Any]) -> bytes:
    """A good reply: a chat completion to a judge, a plain answer to everybody else."""
    if "messages" not in request:
        return json.dumps({"answer": "Paris"}).encode()
    is_judge = bool(texts(request))
    return json.dumps(verdict(request) if is_judge else completion("Paris")).encode()


class FaultyServer:
    """The server, a context in a thread. `choose` gives the fault for a request; `requests` counts what came in."""

    def __init__(self, choose: Callable[[str], Play]) -> None:
        self.choose = choose
        self.requests = 0
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self._socket.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *failure: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def _serve(self) -> None:
        self._loop.set_exception_handler(lambda loop, context: None)  # connections break here on purpose
        starting = asyncio.start_server(self._connection, sock=self._socket, limit=1 << 24)
        server = self._loop.run_until_complete(starting)
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0.001))
        self._loop.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._request(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Read one request and reply to it; whether the connection may be used again."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        sizes = [line for line in head.lower().splitlines() if line.startswith("content-length:")]
        body = await reader.readexactly(int(sizes[0].split(":")[1]) if sizes else 0)
        self.requests += 1
        good = good_body(json.loads(body or b"{}"))
        text = body.decode()
        steps = self.choose(text)(good) if TRIGGER in text else [response(good)]
        for step in steps:
            if isinstance(step, Flood):
                while True:
                    writer.write(step)
                    await writer.drain()
            if isinstance(step, bytes):
                writer.write(step)
                await writer.drain()
            elif isinstance(step, float):
                await asyncio.sleep(step)
            else:
                return await _end(step, reader, writer)
        return True


async def _end(end: End, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    if end is End.HANG:
        await reader.read()  # until the client closes
    if end is End.RESET:
        connection = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
    return False
