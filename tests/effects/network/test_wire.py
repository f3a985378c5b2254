"""What the environment adds to requests: a proxy, and no passwords of a .netrc."""

from __future__ import annotations

import asyncio
import base64
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragmeter.effects.keys.headers import Secret
from ragmeter.effects.keys.redaction import Cleaner
from ragmeter.effects.network.wire import Wire
from ragmeter.table import JUDGE_ERROR
from tests.judge_server import Action, JudgeServer

URL = "http://judge.test/v1"


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    """A proxy that answers for every server."""
    monkeypatch.setenv("NO_PROXY", "direct.test")
    monkeypatch.delenv("no_proxy", raising=False)
    with JudgeServer(lambda request, number: Action(body={})) as server:
        monkeypatch.setenv("http_proxy", f"http://me:word@127.0.0.1:{server.port}")
        yield server


def ask(url: str, times: int = 1, **headers: str) -> None:
    async def calls() -> None:
        secrets = {name: Secret(value) for name, value in headers.items()}
        async with Wire(url, outcome=JUDGE_ERROR, timeout=20, headers=secrets) as wire:
            for _ in range(times):
                await wire.request("POST", f"{url}/chat", b"{}")

    asyncio.run(calls())


def basic(text: str) -> str:
    return f"Basic {base64.b64encode(text.encode()).decode()}"


def test_the_proxy_of_the_environment_is_used(proxy: JudgeServer) -> None:
    ask(URL)
    (head,) = proxy.headers
    assert head.startswith("POST http://judge.test/v1/chat ")
    assert f"Proxy-Authorization: {basic('me:word')}" in head


def test_the_environment_is_looked_at_once(proxy: JudgeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """For each call it took longer than the call."""
    looks: list[int] = []
    look = urllib.request.getproxies

    def counted() -> Any:
        looks.append(1)
        return look()

    monkeypatch.setattr("urllib.request.getproxies", counted)
    ask(URL, times=5)
    assert proxy.count == 5
    assert len(looks) == 1


def test_no_password_of_a_netrc_is_sent(proxy: JudgeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody gave it to us, for the server or for the proxy."""
    file = tmp_path / "netrc"
    file.write_text(
        "machine judge.test login you password secret-word\nmachine 127.0.0.1 login you password secret-word\n",
        encoding="utf-8",
    )
    file.chmod(0o600)
    monkeypatch.setenv("NETRC", str(file))
    ask(URL)
    ask(URL, authorization="Bearer of-its-own")
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
    ask(URL)
    assert "\nAuthorization:" not in proxy.headers[0]
    assert "authorization: Bearer of-its-own" in proxy.headers[1]
    assert "Proxy-Authorization" not in proxy.headers[2]
    assert not any("secret-word" in head or basic("you:secret-word") in head for head in proxy.headers)


def test_large_replies_are_cleaned_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other calls go on meanwhile."""
    threads: set[str] = set()
    clean = Cleaner.__call__

    def watched(cleaner: Cleaner, text: str) -> str:
        if len(text) > 1_000_000:
            threads.add(threading.current_thread().name)
        return clean(cleaner, text)

    monkeypatch.setattr(Cleaner, "__call__", watched)
    with JudgeServer(lambda request, number: Action(body={"x": "a" * 2_000_000})) as server:
        ask(server.url, authorization="secret-word-1")
    assert threads
    assert threading.main_thread().name not in threads


def test_addresses_of_this_machine_take_no_proxy(proxy: JudgeServer) -> None:
    with JudgeServer(lambda request, number: Action(body={})) as server:
        ask(server.url)
        assert server.count == 1
    assert proxy.count == 0
