"""Pages that reach for another origin, with a second server that they must not reach."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ragmeter.errors import EndpointError, UsageError
from ragmeter.targets.web.browser import launch, playwright_api
from ragmeter.targets.web.origin import Gate, is_elsewhere
from ragmeter.targets.web.page import Page
from ragmeter.targets.web.target import Login, WebTarget
from tests.browser import missing
from tests.command import PATIENCE
from tests.conftest import Run
from tests.web import hard
from tests.web.helpers import ask_all, give_up_soon, target, texts


def in_browser(test: Callable[..., None]) -> Callable[..., None]:
    """A test that needs the tests' browser."""
    needed = pytest.mark.skipif(bool(missing()), reason=missing() or "there is one")
    marked: Callable[..., None] = needed(pytest.mark.usefixtures("shared_browser")(test))
    return marked


class Other:
    """A server on another port, which is another origin: the paths it was asked for, and its connections."""

    def __init__(self, server: ThreadingHTTPServer) -> None:
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        self.host = self.url.removeprefix("http://")
        self.paths: set[str] = set()
        self.connections = 0


@pytest.fixture
def other() -> Iterator[Other]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path != "/favicon.ico":
                seen.paths.add(self.path.strip("/"))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_POST = do_GET  # noqa: N815 - as the base class calls it

        def log_message(self, *_: Any) -> None:
            return

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def verify_request(self, *_: Any) -> bool:
            seen.connections += 1
            return True

    with Server(("127.0.0.1", 0), Handler) as server:
        seen = Other(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield seen
        server.shutdown()


@pytest.mark.parametrize(
    ("url", "other_host", "other_origin"),
    [
        ("http://a.org/x", False, False),
        ("http://a.org:80/", False, False),
        ("https://a.org/", False, True),  # a page may lead from http to https, and that is another origin
        ("http://a.org:8000/", True, True),
        ("http://b.org/", True, True),
        ("http://www.a.org/", True, True),
        ("about:blank", False, False),
        ("blob:http://a.org/1", False, False),
    ],
)
def test_what_is_elsewhere(url: str, other_host: bool, other_origin: bool) -> None:
    assert is_elsewhere(url, "http://a.org/chat") is other_host
    assert is_elsewhere(url, "http://a.org/chat", same_origin_only=True) is other_origin


def test_following_and_staying_contradict_each_other() -> None:
    with pytest.raises(UsageError, match="any_host and same_origin_only contradict each other"):
        WebTarget(Page("http://a.org/", any_host=True, same_origin_only=True))


def test_a_page_that_may_reach_less_is_another_system() -> None:
    page = Page("http://a.org/")
    assert WebTarget(page).name != WebTarget(replace(page, same_origin_only=True)).name


@in_browser
def test_a_page_reaches_other_origins(site: str, other: Other) -> None:
    deadline = time.monotonic() + PATIENCE
    while other.paths != hard.REACHED and time.monotonic() < deadline:  # a beacon may be lost with its page
        assert texts(ask_all(target(site, f"reaches?to={other.url}"), "x")) == ["Answer to x: it is so."]
    assert other.paths == hard.REACHED


@in_browser
def test_nothing_is_sent_to_another_origin(site: str, other: Other) -> None:
    web = target(site, f"reaches?to={other.url}", same_origin_only=True)
    assert texts(ask_all(web, "x")) == ["Answer to x: it is so."]
    assert other.connections == 0
    assert web.blocked[other.host] >= 10


@in_browser
def test_everything_at_its_own_origin_works(site: str) -> None:
    for kind in ("line_open_before", "form"):
        answers = texts(ask_all(target(site, kind, same_origin_only=True), "x"))
        assert answers == ["Answer to x: it is so."], kind
    basic = target(site, "basic", same_origin_only=True, login=Login(credentials=("me", "secret-password")))
    assert texts(ask_all(basic, "x")) == ["Answer to x: it is so."]
    assert not any(host.startswith(("127.", "localhost")) for host in basic.blocked)


@in_browser
@pytest.mark.parametrize("kind", ["redirect", "leave_to"])
def test_the_page_itself_does_not_go_to_another_origin(site: str, other: Other, kind: str) -> None:
    with pytest.raises(UsageError) as caught:
        ask_all(target(site, f"{kind}?to={other.url}/", same_origin_only=True), "x")
    assert f"the page leads to another origin, {other.url} (same_origin_only blocks it)" in str(caught.value)
    login = Login(credentials=("me", "x"))  # with a password the browser asks nobody before it follows
    with pytest.raises(UsageError, match="another origin"):
        ask_all(target(site, f"{kind}?to={other.url}/", same_origin_only=True, login=login), "x")
    assert other.connections == 0


@in_browser
def test_a_row_says_what_was_blocked(site: str, other: Other, monkeypatch: pytest.MonkeyPatch) -> None:
    give_up_soon(monkeypatch, "x")
    (failure,) = texts(ask_all(target(site, f"elsewhere?to={other.url}", same_origin_only=True), "x"))
    blocked = f"same_origin_only has blocked connections to {other.host}"
    assert failure.startswith(f"timeout: no answer within 3 s; {blocked}; the page's console says: ")


@in_browser
def test_a_server_that_does_not_run_is_named(site: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}/"
    with pytest.raises(EndpointError, match=r"can't open .*: (Connect call failed|Connection refused)"):
        ask_all(WebTarget(Page(nobody, "#q", same_origin_only=True)), "x")


@in_browser
def test_the_command_says_what_was_blocked(ragmeter: Run, tmp_path: Path, site: str, other: Other) -> None:
    (tmp_path / "queries.csv").write_text("query,ground_truth\nx,Answer to x: it is so.\n")
    command = ["web", "--url", f"{site}/reaches?to={other.url}", "--input", "queries.csv", "--output", "out.csv"]
    done = ragmeter(*command, "--same-origin-only", "--timeout", str(PATIENCE))
    assert done.returncode == 0, done.stderr
    assert "connections to other origins were blocked: " in done.stdout
    assert f"{other.host} (" in done.stdout
    assert other.connections == 0
    assert "not allowed with" in ragmeter(*command, "--same-origin-only", "--any-host").stderr


GATHER = """async (server) => {
  const call = new RTCPeerConnection({iceServers: [{urls: "stun:" + server}]});
  const complete = new Promise((done) => { call.onicegatheringstatechange = () => call.iceGatheringState === "complete" && done(); });
  call.createDataChannel("x");
  await call.setLocalDescription(await call.createOffer());
  await Promise.race([complete, new Promise((done) => setTimeout(done, 3000))]);
}"""  # noqa: E501 - a script


@pytest.mark.slow
@pytest.mark.skipif(bool(missing()), reason=missing() or "there is one")
@pytest.mark.parametrize("own_origin", [False, True])
def test_calls_between_browsers_send_nothing(own_origin: bool) -> None:
    async def gather(server: str) -> None:
        gate = Gate("http://127.0.0.1:8/", Counter())
        async with playwright_api().async_playwright() as playwright:
            browser = await launch(playwright, None, headed=False, own_origin=own_origin)
            context = await browser.new_context(**({"proxy": await gate.open()} if own_origin else {}))
            await (await context.new_page()).evaluate(GATHER, server)
            await browser.close()
            await gate.close()

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as route, socket.socket(type=socket.SOCK_DGRAM) as server:
        try:
            route.connect(("192.0.2.1", 9))  # sends nothing, but has an address that is not a loopback one
        except OSError:
            pytest.skip("this machine has a loopback address only")
        server.bind(("", 0))
        server.settimeout(0.5)
        asyncio.run(gather(f"{route.getsockname()[0]}:{server.getsockname()[1]}"))
        with pytest.raises(TimeoutError) if own_origin else nullcontext():
            server.recv(2000)
