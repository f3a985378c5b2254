"""Who may use the app, and what a stranger gets."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

import ragmeter
from ragmeter.app.safety import EVERYWHERE, Keys, allowed_hosts
from ragmeter.app.server import listen
from tests.app.serving import Client, serving
from tests.command import call

ROWS = [{"qid": str(i), "question": "Q", "answer": "a", "reference": "a"} for i in range(4)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    ragmeter.evaluate(ROWS, metrics="exact_match", run="a", output_dir=folder)
    return folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[Client]:
    with serving(folder) as client:
        yield client


def test_the_token_is_exchanged_for_a_cookie(client: Client) -> None:
    answer = client.ask(f"/run/a?search=x&token={client.keys.token}", Cookie="")
    assert (answer.status, answer.headers["location"]) == (303, "/run/a?search=x")
    cookie = answer.headers["set-cookie"]
    assert f"{client.keys.cookie_name}={client.keys.cookie}" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert client.keys.token not in cookie


@pytest.mark.parametrize("path", ["/", "/run/a", "/static/app.js", "/run/a/export/csv", "/?token=guess", "/nothing"])
def test_without_the_cookie_there_is_nothing(client: Client, path: str) -> None:
    answer = client.ask(path, Cookie="")
    assert answer.status == 403
    assert "run" not in answer.text.replace("ragmeter", "")


def test_another_cookie_does_not_help(client: Client) -> None:
    assert client.ask("/", Cookie=f"{client.keys.cookie_name}={'0' * 64}").status == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1", "127.0.0.1:{port}.evil.example"]
)
def test_another_host_is_refused(client: Client, host: str) -> None:
    assert client.ask("/", Host=host.format(port=client.port)).status == 421


def test_localhost_is_this_machine(client: Client) -> None:
    assert client.ask("/", Host=f"localhost:{client.port}").status == 200
    assert "box.local:80" in allowed_hosts("box.local", 80)
    assert "[::1]:80" in allowed_hosts("127.0.0.1", 80)
    assert "192.168.1.7:80" not in allowed_hosts("127.0.0.1", 80)


@pytest.mark.parametrize(
    ("header", "is_ours"),
    [("192.168.1.7:80", True), ("[fe80::1]:80", True), ("localhost:80", True)]
    + [
        (header, False) for header in ("192.168.1.7", "192.168.1.7:81", "evil.example:80", "192.168.1.7.example:80", "")
    ],
)
def test_a_server_on_all_addresses_is_reached_by_numbers_and_no_other_name(header: str, is_ours: bool) -> None:
    assert (header in allowed_hosts(EVERYWHERE[0], 80)) is is_ours


def test_two_servers_on_one_machine_have_cookies_of_their_own() -> None:
    assert Keys().cookie_name != Keys().cookie_name


def test_every_answer_has_the_policy(client: Client) -> None:
    for path in ("/", "/run/a", "/run/nothing", "/static/app.js", "/run/a/export/csv"):
        headers = client.ask(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe-inline" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("csrf", ["", "0" * 64])
def test_a_write_needs_the_csrf_token(client: Client, folder: Path, csrf: str) -> None:
    fields = {"rater": "Eve", "n": 2, "by": "random", "seed": 0}
    answer = client.ask("/run/a/label/begin", method="POST", body=fields, X_CSRF_Token=csrf)
    assert answer.status == 403
    assert not list(folder.glob("labels-*"))


def test_a_write_from_another_origin_is_refused(client: Client, folder: Path) -> None:
    fields = {"rater": "Eve", "n": 2, "by": "random", "seed": 0}
    answer = client.ask(
        "/run/a/label/begin", method="POST", body=fields, X_CSRF_Token=client.keys.csrf, Origin="http://evil.example"
    )
    assert answer.status == 403
    assert not list(folder.glob("labels-*"))


@pytest.mark.parametrize("header", [{"Sec_Fetch_Site": "cross-site"}, {"Content_Type": "text/plain"}])
def test_a_write_that_no_page_of_ours_sends_is_refused(client: Client, folder: Path, header: dict[str, str]) -> None:
    fields = {"rater": "Eve", "n": 2, "by": "random", "seed": 0}
    headers = {"X_CSRF_Token": client.keys.csrf, **header}
    assert client.ask("/run/a/label/begin", method="POST", body=fields, **headers).status == 403
    assert not list(folder.glob("labels-*"))


@pytest.mark.parametrize("body", ["a", [1], "x" * 200_000])
def test_what_is_no_small_json_object_is_refused(client: Client, body: object) -> None:
    answer = client.ask("/run/a/rename", method="POST", body=body, X_CSRF_Token=client.keys.csrf)
    assert answer.status == 400
    assert "what was sent is" in answer.text


def test_a_name_is_a_text(client: Client, folder: Path) -> None:
    answer = client.post("/run/a/rename", name=5)
    assert (answer.status, "name must be a text" in answer.text) == (400, True)
    assert (folder / "a").exists()


@pytest.mark.parametrize("path", ["/run/a/row/-1", "/label", "/run/a%2fb/x/y"])
def test_an_address_without_a_page_has_a_page_that_says_so(client: Client, path: str) -> None:
    answer = client.ask(path)
    assert answer.status == 404
    assert "There is no such page." in answer.text


def test_reading_is_all_that_a_link_can_do(client: Client) -> None:
    assert client.ask("/run/a/label/begin").status == 405
    assert client.ask("/run/a/label/record").status == 405


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--output-dir", "nowhere"], "there is no folder nowhere/"),
        (["--port", "99999"], "--port must be from 0 to 65535, got 99999"),
    ],
)
def test_wrong_options(tmp_path: Path, arguments: list[str], says: str) -> None:
    result = call(["app", "--no-open", *arguments], tmp_path, {})
    assert result.returncode == 2
    assert says in result.stderr


def test_a_browser_that_is_quicker_than_the_server_waits() -> None:
    with listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()[:2]) as connection:
        assert connection.getpeername()[1] == listener.getsockname()[1]
