"""A forward proxy on loopback: it asks for a password, and passes each request on, with all its headers.

A good proxy keeps the password to itself; this one doesn't, as the worst that a user may be behind.
"""

from __future__ import annotations

import base64
import threading
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import urlsplit


class ForwardProxy:
    """The proxy. Every name stands for this machine; the port says which server is meant."""

    def __init__(self, user: str, password: str) -> None:
        pair = f"{user}:{password}".encode("latin-1")
        self.expected = f"Basic {base64.b64encode(pair).decode()}"
        self.passed_on: list[dict[str, str]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if self.headers.get("Proxy-Authorization") != proxy.expected:
                    self._reply(407, str(self.headers).encode(), "text/plain")
                    return
                proxy.passed_on.append(dict(self.headers))
                parts = urlsplit(self.path)
                server = HTTPConnection("127.0.0.1", parts.port or 80)
                server.request("POST", parts.path or "/", body, dict(self.headers))
                reply = server.getresponse()
                self._reply(reply.status, reply.read(), reply.headers.get("Content-Type", ""))
                server.close()

            def _reply(self, status: int, content: bytes, kind: str) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *arguments: object) -> None:
                """Be quiet."""

        return Handler
