"""Who may use the app: the person who started it, in a browser that opened the address with its token.

Answers under evaluation are hostile text, and other web pages in the same browser are strangers: a content security
policy allows only our own scripts, the Host header is checked against DNS rebinding, and writes need a CSRF token.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlencode

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
#: Hosts that mean every address of this machine.
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - only where the user asks for it
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_CLOSED = "This app is for the person who started it: open the address that `ragmeter app` has printed.\n"


class Keys:
    """The app's secret, new at every start, and what is derived from it.

    A browser sends a cookie to every port of a host: each server has its own name for it, so that two can be used.
    """

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(24)
        self.cookie_name = f"ragmeter-app-{self._derived('name')[:8]}"
        self.cookie = self._derived("cookie")
        self.csrf = self._derived("csrf")

    def _derived(self, purpose: str) -> str:
        return hmac.new(self.token.encode(), purpose.encode(), hashlib.sha256).hexdigest()


class Guard:
    """Lets a request through to the pages only if it may pass, and adds the headers that protect them."""

    def __init__(self, app: ASGIApp, keys: Keys, hosts: Hosts) -> None:
        self._app = app
        self._keys = keys
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        refusal = self._refusal(request)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        await (refusal or self._app)(scope, receive, send_with_headers)

    def _refusal(self, request: Request) -> Response | None:
        """The answer to a request that may not pass; None for one that may."""
        if request.headers.get("host", "") not in self._hosts:
            return PlainTextResponse("This is not the address of this app.\n", 421)
        token = request.query_params.get("token")
        if token is not None and request.method == "GET":
            return self._first_visit(request, token)
        if not _same(request.cookies.get(self._keys.cookie_name, ""), self._keys.cookie):
            return PlainTextResponse(_CLOSED, 403)
        if request.method not in ("GET", "HEAD") and not self._may_write(request):
            return PlainTextResponse("This request did not come from a page of this app.\n", 403)
        return None

    def _first_visit(self, request: Request, token: str) -> Response:
        """Exchange the token in the address for a cookie, so that the address can be shown to others."""
        if not _same(token, self._keys.token):
            return PlainTextResponse(_CLOSED, 403)
        rest = urlencode([(name, value) for name, value in request.query_params.multi_items() if name != "token"])
        response = RedirectResponse(request.url.path + (f"?{rest}" if rest else ""), 303)
        response.set_cookie(self._keys.cookie_name, self._keys.cookie, httponly=True, samesite="strict")
        return response

    def _may_write(self, request: Request) -> bool:
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return False
        if request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return False
        origin = request.headers.get("origin")
        if origin is not None and origin.partition("://")[2] != request.headers.get("host"):
            return False
        return _same(request.headers.get("x-csrf-token", ""), self._keys.csrf)


def _same(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode(), secret.encode())


@dataclass(frozen=True)
class Hosts:
    """The Host headers of this app's own addresses.

    `everywhere`: any address in numbers is among them. A web page of a stranger can't have one that leads here: that
    takes a name, which is made to lead elsewhere.
    """

    names: frozenset[str]
    port: int
    everywhere: bool = False

    def __contains__(self, header: str) -> bool:
        return header in self.names or (self.everywhere and self._is_address(header))

    def _is_address(self, header: str) -> bool:
        host, _, port = header.rpartition(":")
        if port != str(self.port):
            return False
        try:
            ip_address(host[1:-1] if host.startswith("[") and host.endswith("]") else host)
        except ValueError:
            return False
        return True


def allowed_hosts(host: str, port: int) -> Hosts:
    """The Host headers to which a server that listens there answers."""
    own = () if host in ("127.0.0.1", "localhost", "::1", *EVERYWHERE) else (_bracketed(host),)
    return Hosts(frozenset(f"{name}:{port}" for name in (*LOOPBACK, *own)), port, host in EVERYWHERE)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
