"""Where a page may lead: its own host, or, if the user wants it so, nowhere but its own origin."""

from __future__ import annotations

import asyncio
import ipaddress
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import SplitResult, urlsplit

from ragmeter.io.decoding import JsonObject

DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_CONNECTED, _FORBIDDEN, _UNREACHABLE, _REFUSED = 0, 2, 4, 5
_SIZES = {1: 4, 4: 16}  # bytes of an IPv4 and an IPv6 address


def is_elsewhere(url: str, home: str, *, same_origin_only: bool = False) -> bool:
    """Whether an address is on another host than `home`, or at another origin.

    The default ports of http and https count as the same host, so that a page may lead from one to the other.
    """
    parts, own = urlsplit(url), urlsplit(home)
    if parts.scheme not in ("http", "https"):
        return False
    if same_origin_only and parts.scheme != own.scheme:
        return True
    return _host(parts) != _host(own)


def _host(parts: SplitResult) -> tuple[str | None, int | None]:
    port = parts.port
    return parts.hostname, None if port == DEFAULT_PORTS.get(parts.scheme) else port


async def block_navigation(context: Any, tab: Any, refuses: Callable[[str], bool], error: type[Exception]) -> Any:
    """Have the browser ask before it opens a document in the tab, until the session that is returned is detached.

    What is refused is never requested.
    """
    session = await context.new_cdp_session(tab)
    main = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]

    async def check_request(event: JsonObject) -> None:
        action, more = "Fetch.continueRequest", {}
        if event["frameId"] == main and refuses(event["request"]["url"]):
            action, more = "Fetch.failRequest", {"errorReason": "BlockedByClient"}
        with suppress(error):  # the page was closed meanwhile
            await session.send(action, {"requestId": event["requestId"], **more})

    session.on("Fetch.requestPaused", check_request)
    await session.send("Fetch.enable", {"patterns": [{"resourceType": "Document"}]})
    return session


class Gate:
    """A SOCKS proxy on loopback that connects a browser context to one origin, and to nothing else.

    All connections of a context go through its proxy: also those of workers, web sockets and beacons, and those that
    follow a redirect, which a browser does not show to whoever intercepts its requests.

    Args:
        url: an address at the origin.
        total: counts refused connections of all gates by host and port, as `refused` does for this one.
    """

    def __init__(self, url: str, total: Counter[str]) -> None:
        parts = urlsplit(url)
        self._origin = _written(parts.hostname or ""), parts.port or DEFAULT_PORTS[parts.scheme]
        self.refused: Counter[str] = Counter()
        self._total = total
        self._server: asyncio.Server | None = None
        self.failure = ""
        self._connections: set[asyncio.Task[Any]] = set()

    async def open(self) -> dict[str, str]:
        """Listen; returns the proxy setting for a browser context."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        return {"server": f"socks5://127.0.0.1:{port}", "bypass": "<-loopback>"}  # loopback addresses too

    async def close(self) -> None:
        """Close all connections."""
        if self._server is not None:
            self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine runs in one
        self._connections.add(task)
        try:
            await self._connect(reader, writer)
        except (OSError, EOFError, ValueError, asyncio.CancelledError):  # it was closed, by either side or by us
            return
        finally:
            self._connections.discard(task)
            writer.close()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly((await reader.readexactly(2))[1])  # the ways to log in that the browser offers
        writer.write(b"\x05\x00")  # none is needed
        host, port = await _wanted(reader)
        if (host, port) != self._origin:
            name = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
            self.refused[name] += 1
            self._total[name] += 1
            return await _reply(writer, _FORBIDDEN)
        try:
            far_reader, far_writer = await asyncio.open_connection(host, port)
        except OSError as problem:
            self.failure = problem.strerror or str(problem)
            return await _reply(writer, _REFUSED if isinstance(problem, ConnectionRefusedError) else _UNREACHABLE)
        try:
            await _reply(writer, _CONNECTED)
            async with asyncio.TaskGroup() as both:
                both.create_task(_copy(reader, far_writer))
                both.create_task(_copy(far_reader, writer))
        except* OSError:  # one side has hung up
            pass
        finally:
            far_writer.close()


async def _wanted(reader: asyncio.StreamReader) -> tuple[str, int]:
    """The host and the port that a SOCKS client asks for."""
    _, command, _, kind = await reader.readexactly(4)
    if command != 1:
        raise ValueError("only TCP connections")
    if kind in _SIZES:
        host = str(ipaddress.ip_address(await reader.readexactly(_SIZES[kind])))
    else:
        host = (await reader.readexactly((await reader.readexactly(1))[0])).decode("ascii").lower()
    return host, int.from_bytes(await reader.readexactly(2))


async def _reply(writer: asyncio.StreamWriter, code: int) -> None:
    writer.write(bytes([5, code, 0, 1, 0, 0, 0, 0, 0, 0]))
    await writer.drain()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.write_eof()


def _written(host: str) -> str:
    """A host as the browser writes it: an IP address in its short form, a name in ASCII."""
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return host.lower() if host.isascii() else host.encode("idna").decode("ascii")
