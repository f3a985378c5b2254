"""Decides when an answer on a page is finished: its text has not changed for long enough, given what the page shows."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, quote_plus

#: Seconds that a text must not have changed: once the ready selector is visible, once the stop button has gone, once
#: all requests have ended, without any such signal, and while requests are still open.
_READY, _STOPPED, _SETTLED, _STILL, _PENDING = 0.1, 0.5, 1.0, 4.0, 20.0
#: The most seconds that one look adds: on a slow machine, the text may have changed between two looks.
_GLANCE = 0.25
_AT_WORK = r"thinking|loading|typing|generating|searching|pensando|cargando|escribiendo|generando|buscando"
_DOING = rf"{_AT_WORK}|writing|retrieving|reading|processing|working|waiting|wait|moment|procesando|espere|momento"
#: Placeholders that pages show until they have an answer: "Thinking", "The assistant is typing", "Reading ...".
_WAITING = re.compile(
    rf"\W*((\w+\W+){{0,3}}(is|are|está)\W+)?({_AT_WORK})?\W*|(?=.{{0,60}}$).*\b({_DOING})\b.*(\.\.\.|…)\W*",
    re.IGNORECASE | re.DOTALL,
)
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


def is_answer(text: str) -> bool:
    """Whether a text is an answer, and not a placeholder."""
    return bool(text) and not _WAITING.fullmatch(text)


@dataclass
class Traffic:
    """A page's connections: `under_way` are requests since the question, `lines` were open before it."""

    under_way: set[Any] = field(default_factory=set)
    lines: set[Any] = field(default_factory=set)
    requests: int = 0
    heard_at: float = 0.0
    carried: bool = False  # something that the page sent has the question in it
    _forms: tuple[bytes, ...] = ()

    def question(self, now: float, text: str = "") -> None:
        """A question is about to be sent. An answer may also come over a connection that is already open."""
        self.carried, self._forms = False, _forms(text)
        self.lines |= self.under_way
        self.under_way = set()
        self.requests, self.heard_at = 0, now

    def begin(self, request: Any, now: float) -> None:
        """A request was sent."""
        if request.resource_type in _REQUESTS:
            self.under_way.add(request)
            self.requests += 1
            self.heard_at = now

    def sent(self, message: str | bytes | None) -> None:
        """The page has sent this: the body or the address of a request, or a message on a web socket."""
        if message and not self.carried:
            content = message.encode("utf-8", "replace") if isinstance(message, str) else message
            self.carried = any(form in content[:_MOST_BYTES] for form in self._forms)

    def end(self, request: Any, now: float) -> None:
        """A request has ended or failed."""
        if request in self.under_way:
            self.heard_at = now
        self.under_way.discard(request)
        self.lines.discard(request)

    def settled(self, now: float) -> bool:
        """Whether all requests since the question have ended, and no other connection is open."""
        return self.requests > 0 and not self.lines and now - self.heard_at >= _SETTLED / 2


class Finish:
    """Watches a growing text, and decides when it is finished. Times are in seconds.

    Args:
        begun: when the question was sent.
        named: whether the user gave a ready selector.
    """

    def __init__(self, begun: float, *, named: bool) -> None:
        self.begun = self.changed = begun
        self.named = named
        self.text = ""
        self.first: float | None = None
        self._seen = begun
        self._still = 0.0
        self._was_unready = False
        self._was_busy = self._spoke = self._stopped = False

    def see(self, look: Mapping[str, Any], traffic: Traffic, now: float) -> bool:
        """Evaluate one look at the page; True if the answer is finished."""
        text = look["text"]
        changed = text != self.text
        self._still = 0.0 if changed else self._still + min(now - self._seen, _GLANCE)
        self._seen = now
        if changed:
            self.text, self.changed = text, now
            if self.first is None and is_answer(text):
                self.first = now
        self._signals(look, changed)
        return is_answer(text) and self._still >= self._patience(look, traffic, now)

    def _signals(self, look: Mapping[str, Any], changed: bool) -> None:
        """A stop button that was shown with the text and disappears means the end, unless the text changes again."""
        busy = bool(look["busy"])
        self._was_unready = self._was_unready or not look["ready"]
        if busy:
            self._spoke = self._spoke or is_answer(self.text)
            self._stopped = False
        elif self._was_busy:
            self._stopped = self._spoke
        elif changed:
            self._stopped = False
        self._was_busy = busy

    def _patience(self, look: Mapping[str, Any], traffic: Traffic, now: float) -> float:
        """Seconds that the text must not have changed. Idle connections shorten the wait; they prove nothing."""
        if self.named and not look["ready"]:
            return math.inf
        if self.named and (self._was_unready or look["newly"]):
            return _READY
        if look["busy"]:
            return math.inf
        if traffic.under_way or look["off"]:
            return _PENDING
        if self._stopped:
            return _STOPPED
        return _SETTLED if traffic.settled(now) and not look["timers"] else _STILL
