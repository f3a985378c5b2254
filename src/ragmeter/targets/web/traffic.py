"""A page's connections since a question: whether one of them has the question in it, and whether all have ended."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, quote_plus

#: Seconds after which a page whose requests have ended has settled.
_SETTLED = 0.5
_REQUESTS = frozenset({"fetch", "xhr", "eventsource", "document"})
#: Characters of a question that tell it from other texts, and bytes of a message that are searched for it.
_TELLING, _MOST_BYTES = 4, 1_000_000


def _forms(question: str) -> tuple[bytes, ...]:
    """How a question may be written in what a page sends: as it is, as JSON, in an address. None if it is too short."""
    if len(question.strip()) < _TELLING:
        return ()
    escaped = (json.dumps(question, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False))
    forms = {question, *escaped, quote(question), quote_plus(question)}
    return tuple(form.encode("utf-8", "replace") for form in forms)


@dataclass
class Traffic:
    """A page's connections: `under_way` are requests since the question, `lines` were open before it."""

    under_way: set[Any] = field(default_factory=set)
    lines: set[Any] = field(default_factory=set)
    requests: int = 0
    heard_at: float = 0.0
    carried: bool = False  # something that the page sent has the question in it
    pause: float | None = None  # the seconds that a server asks to wait
    broken: str = ""  # the request with the question failed, and how
    _forms: tuple[bytes, ...] = ()
    _carriers: set[Any] = field(default_factory=set)

    def question(self, now: float, text: str = "") -> None:
        """A question is about to be sent. An answer may also come over a connection that is already open."""
        self.carried, self.broken, self.pause, self._forms = False, "", None, _forms(text)
        self._carriers = set()
        self.lines |= self.under_way
        self.under_way = set()
        self.requests, self.heard_at = 0, now

    @property
    def is_form(self) -> bool:
        """Whether the question was sent by loading a page, as forms do: that the page is a new one is no loss."""
        return any(request.resource_type == "document" for request in self._carriers)

    def begin(self, request: Any, now: float) -> None:
        """A request was sent."""
        if request.resource_type in _REQUESTS:
            self.under_way.add(request)
            self.requests += 1
            self.heard_at = now

    def sent(self, message: str | bytes | None, request: Any = None) -> None:
        """The page has sent this: the body or the address of a request, or a message on a web socket."""
        if not message or not self._forms:
            return
        content = message.encode("utf-8", "replace") if isinstance(message, str) else message
        if any(form in content[:_MOST_BYTES] for form in self._forms):
            self.carried = True
            if request is not None:
                self._carriers.add(request)
                self.broken = ""  # it is tried again

    def hear(self, now: float) -> None:
        """A message went over a web socket; before a question, that shows that the page is being set up."""
        if not self._forms:
            self.heard_at = now

    def fail(self, request: Any, cause: str) -> None:
        """A request was refused or broke off. Only that with the question matters: others may be about anything."""
        if request in self._carriers:
            self.broken = cause

    def end(self, request: Any, now: float) -> None:
        """A request has ended or failed."""
        if request in self.under_way:
            self.heard_at = now
        self.under_way.discard(request)
        self.lines.discard(request)

    @property
    def has_asked(self) -> bool:
        """Whether a request that has the question in it is still under way."""
        return not self._carriers.isdisjoint(self.under_way)

    def settled(self, now: float) -> bool:
        """Whether all requests since the question have ended, and no other connection is open."""
        return self.requests > 0 and not self.lines and now - self.heard_at >= _SETTLED
