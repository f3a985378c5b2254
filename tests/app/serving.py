"""The app on a free port, in this process, and a client that behaves as a browser does."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn

from ragmeter.app.safety import Keys
from ragmeter.app.server import listen, make_app
from tests.command import PATIENCE


@dataclass
class Answer:
    """A reply of the server."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


@dataclass
class Client:
    """Asks the app for pages, by default with the cookie of a browser that has opened the printed address."""

    port: int
    keys: Keys
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """The address that a browser opens first."""
        return f"http://127.0.0.1:{self.port}/?token={self.keys.token}"

    def ask(self, path: str, *, method: str = "GET", body: Any = None, **headers: str) -> Answer:
        """One request; a header of an empty text is left out."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        sent = {
            "Cookie": f"{self.keys.cookie_name}={self.keys.cookie}",
            "Content-Type": "" if body is None else "application/json",
            **{name.replace("_", "-"): v for name, v in headers.items()},
        }
        data = None if body is None else json.dumps(body).encode()
        connection.request(method, path, data, {name: value for name, value in sent.items() if value})
        reply = connection.getresponse()
        answer = Answer(reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read())
        connection.close()
        return answer

    def page(self, path: str) -> str:
        """A page that must be there."""
        answer = self.ask(path)
        assert answer.status == 200, answer.text
        return answer.text

    def post(self, path: str, **fields: Any) -> Answer:
        """A write as our own pages send it."""
        return self.ask(path, method="POST", body=fields, X_CSRF_Token=self.keys.csrf)


@contextmanager
def serving(folder: Path, labels: Path | None = None, corpus: Path | None = None) -> Iterator[Client]:
    """Serve the runs of a folder."""
    keys = Keys()
    with listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        app = make_app(folder, "127.0.0.1", port, labels or folder, keys, corpus)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        deadline = time.monotonic() + PATIENCE
        while not server.started:
            assert thread.is_alive()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        try:
            yield Client(port, keys)
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
