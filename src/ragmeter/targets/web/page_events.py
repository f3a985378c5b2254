"""What a page reports by itself while it is open: its console, dialogs, windows and connections."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ragmeter.effects.limits.pace import retry_after
from ragmeter.io.addresses import public
from ragmeter.targets.web.traffic import Traffic

#: Characters of a message that are kept.
_LONGEST = 1000
#: Errors about fonts, pictures and styles: they explain nothing.
_ASIDE = re.compile(
    r"\.(woff2?|ttf|otf|eot|png|jpe?g|gif|webp|svg|ico|css|map)\b|\bfonts?\b|preload|manifest", re.IGNORECASE
)
#: The lowest status of HTTP that is a refusal.
_REFUSED = 400
#: The status of a server that asks for a pause.
TOO_MANY = 429


class Events:
    """Listens to a page from its beginning; `more` are listeners of the caller's, by their events."""

    def __init__(self, context: Any, tab: Any, error: type[Exception], **more: Callable[[Any], None]) -> None:
        self.console: deque[str] = deque(maxlen=200)
        self.traffic = Traffic()
        self.crashed = False
        self.dialogs = self.windows = self.loads = 0
        self._error = error
        self._listeners = (
            (tab, "console", self._log),
            (tab, "pageerror", lambda problem: self.console.append(f"error: {str(problem)[:_LONGEST]}")),
            (tab, "dialog", self._answer),
            (tab, "crash", self._crash),
            (tab, "request", self._request),
            (tab, "requestfinished", lambda request: self.traffic.end(request, time.perf_counter())),
            (tab, "requestfailed", self._failed),
            (tab, "response", self._response),
            (tab, "websocket", self._socket),
            (context, "page", self._window),
            *((tab, event, listener) for event, listener in more.items()),
        )
        for source, event, listener in self._listeners:
            source.on(event, listener)

    def detach(self) -> None:
        """Listen no more."""
        for source, event, listener in self._listeners:
            source.remove_listener(event, listener)

    def _request(self, request: Any) -> None:
        self.traffic.begin(request, time.perf_counter())
        self.traffic.sent(request.url, request)
        with suppress(self._error):
            self.traffic.sent(request.post_data_buffer, request)

    def _response(self, response: Any) -> None:
        if response.status >= _REFUSED:
            request = response.request
            if response.status == TOO_MANY:
                self.traffic.pause = retry_after(response.headers.get("retry-after"))
            self.traffic.fail(request, f"{request.method} {public(request.url)} answered HTTP {response.status}")

    def _failed(self, request: Any) -> None:
        self.traffic.end(request, time.perf_counter())
        failure = request.failure or "it failed"
        if "ABORTED" not in failure:  # by the page itself
            self.traffic.fail(request, f"{request.method} {public(request.url)}: {failure}")

    def last_error(self) -> str:
        """The last error on the console, on one line; nothing if there is none."""
        errors = (line for line in reversed(self.console) if line.startswith("error") and not _ASIDE.search(line))
        logged = next(errors, "")
        return " ".join(logged.split())[:200]

    def _log(self, message: Any) -> None:
        where = public(message.location.get("url") or "")
        if not where.endswith("/favicon.ico"):
            self.console.append(f"{message.type}: {message.text[:_LONGEST]}" + (f" ({where})" if where else ""))

    async def _answer(self, dialog: Any) -> None:
        """Say no to a dialog, but let the page be left: a form may load the page with the answer."""
        self.dialogs += 1
        self.console.append(f"dialog: {dialog.message[:_LONGEST]}")
        with suppress(self._error):  # the page was closed meanwhile
            await (dialog.accept() if dialog.type == "beforeunload" else dialog.dismiss())

    def _crash(self, tab: Any) -> None:
        self.crashed = True

    def _socket(self, socket: Any) -> None:
        self.traffic.lines.add(socket)
        socket.on("framesent", self.traffic.sent)
        for event in ("framesent", "framereceived"):
            socket.on(event, lambda message: self.traffic.hear(time.perf_counter()))
        socket.on("close", lambda closed: self.traffic.lines.discard(socket))

    def _window(self, window: Any) -> None:
        self.windows += 1
