"""Files that a dataset names by their addresses: https, public addresses, a limit of size and of time."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragmeter.effects.network.downloads import Fetcher, FetchError, is_public
from tests.tls_server import Answer, TlsServer


def answer(path: str) -> Answer:
    if path == "/file":
        return 200, {}, b"the file"
    if path.startswith("/to?"):
        return 302, {"Location": path.removeprefix("/to?")}, b""
    if path == "/broken":
        return 302, {"Location": "https://["}, b""
    if path == "/round":
        return 302, {"Location": "/round"}, b""
    if path == "/large":
        return 200, {}, b"x" * 2000
    if path == "/endless":
        return 200, {"Transfer-Encoding": "chunked"}, b"fff\r\n" + b"x" * 0xFFF + b"\r\n0\r\n\r\n"
    return int(path[1:]), {}, b"no"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[TlsServer]:
    with TlsServer(tmp_path, answer) as running:
        yield running


def here(server: TlsServer, **more: Any) -> Fetcher:
    """A fetcher that may connect to this machine."""
    return Fetcher(pause=0, may_connect=lambda address: True, tls=server.trust, **more)


def fetched(fetcher: Fetcher, url: str) -> bytes:
    return asyncio.run(fetcher.fetch(url))


def refused(fetcher: Fetcher, url: str) -> str:
    with pytest.raises(FetchError) as error:
        fetched(fetcher, url)
    return str(error.value)


def test_a_file_and_a_redirect(server: TlsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://user:secret@127.0.0.1:1")
    assert fetched(here(server), f"{server.url}/file") == b"the file"
    assert fetched(here(server), f"{server.url}/to?/file") == b"the file"
    assert {name for headers in server.headers for name in headers} == {
        "Host",
        "Accept",
        "Accept-Encoding",
        "User-Agent",
    }


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",  # noqa: S104
        "255.255.255.255", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2", "::7f00:1",
    ],
)  # fmt: skip
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "8.8.8.8", "2606:2800:220:1:248:1893:25c8:1946", "::ffff:8.8.8.8"]
)
def test_addresses_that_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "[::1]", "127.1", "2130706433", "0x7f.1", "169.254.169.254"]
)
def test_this_machine_and_its_network_are_not_asked(server: TlsServer, host: str) -> None:
    port = server.url.rpartition(":")[2]
    said = refused(Fetcher(pause=0, tls=server.trust), f"https://{host}:{port}/file")
    assert "is not at a public address" in said or said == "this is not an address"
    assert not server.asked


def test_a_redirect_is_checked_like_an_address(server: TlsServer) -> None:
    asked: list[str] = []

    def may_connect(address: str) -> bool:  # the first host is let through, the second is not
        asked.append(address)
        return len(asked) == 1

    fetcher = replace(here(server), may_connect=may_connect)
    port = server.url.rpartition(":")[2]
    said = refused(fetcher, f"https://127.0.0.1:{port}/to?https://127.0.0.2:{port}/file")
    assert said == "127.0.0.2 is not at a public address"
    assert asked == ["127.0.0.1", "127.0.0.2"]
    assert "only https" in refused(here(server), f"{server.url}/to?http://localhost/file")
    assert "only https" in refused(here(server), f"{server.url}/to?file:///etc/passwd")
    assert "password" in refused(here(server), f"{server.url}/to?https://user:pw@localhost/file")
    assert "not an address" in refused(here(server), f"{server.url}/broken")
    assert "more than 5 redirects" in refused(here(server), f"{server.url}/round")


def test_a_host_with_one_private_address_among_several_is_not_asked(
    server: TlsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = [
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 443)),
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 443)),
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: both)
    assert refused(Fetcher(pause=0), "https://rebinding.example/") == "rebinding.example is not at a public address"


def test_a_host_is_resolved_once_and_the_connection_goes_there(
    server: TlsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, asked = socket.getaddrinfo, []

    def changing(host: Any, *arguments: Any, **keywords: Any) -> Any:
        asked.append(host)
        return real("127.0.0.1", *arguments, **keywords)

    monkeypatch.setattr(socket, "getaddrinfo", changing)
    assert fetched(here(server), f"{server.url}/file") == b"the file"
    assert asked.count("localhost") == 1


@pytest.mark.parametrize(
    "url", ["http://localhost/x", "file:///etc/passwd", "ftp://x/y", "x", "https://", "https://[", ""]
)
def test_only_https(url: str) -> None:
    assert "https" in refused(Fetcher(), url) or "not an address" in refused(Fetcher(), url)


def test_a_limit_of_size(server: TlsServer) -> None:
    fetcher = here(server, most_bytes=1000)
    assert "larger than 1,000 bytes" in refused(fetcher, f"{server.url}/large")
    assert "larger than 1,000 bytes" in refused(fetcher, f"{server.url}/endless")


def test_what_may_pass_is_tried_again(server: TlsServer) -> None:
    assert refused(here(server), f"{server.url}/503") == "HTTP 503"
    assert len(server.asked) == 3
    assert refused(here(server), f"{server.url}/404") == "HTTP 404"
    assert len(server.asked) == 4


def test_a_certificate_of_somebody_else(server: TlsServer) -> None:
    said = refused(replace(here(server), tls=None), f"{server.url}/file")
    assert said.startswith("the connection failed")
    assert not server.asked


def test_a_server_that_says_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        fetcher = Fetcher(timeout=0.2, tries=1, may_connect=lambda address: True)
        assert "no answer within" in refused(fetcher, f"https://127.0.0.1:{silent.getsockname()[1]}/")


def test_a_server_that_drips(tmp_path: Path) -> None:
    """The limit is of the whole answer, and not of the pause between two pieces of it."""
    done = threading.Event()

    def slowly(path: str) -> Answer:
        done.wait(60)
        return 200, {}, b""

    async def work(fetcher: Fetcher, url: str) -> None:
        with pytest.raises(FetchError, match="no answer within"):
            await fetcher.fetch(url)
        done.set()
        await asyncio.sleep(0.2)  # the loop closes the connection that was broken off

    with TlsServer(tmp_path, slowly) as server:
        asyncio.run(work(here(server, timeout=0.5, tries=1), f"{server.url}/file"))
