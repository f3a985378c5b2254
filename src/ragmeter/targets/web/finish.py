"""Decides when an answer on a page is finished: its text has not changed for long enough, given what the page shows."""

from __future__ import annotations

import json
import math
import re
from collections import deque
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, quote_plus

from ragmeter.targets.web.looks import Look

#: Seconds that a text must not have changed: once the ready selector is visible, once a sign that the page is at work
#: has gone, once all requests have ended (sooner if the text came with that of the question), without any such signal,
#: while something moves, and while requests are open.
_READY, _STOPPED, _STREAMED, _SETTLED, _STILL, _MOVING, PENDING = 0.1, 0.3, 0.5, 1.0, 4.0, 6.0, 20.0
#: Signs of work that some pages take away with the first word of an answer, or before the last one.
_WEAK = frozenset({"signs", "waiting", "off"})
#: Pauses that were seen make the wait longer: by this factor, and up to so many seconds.
_LONGER, _LONGEST = 2.0, 10.0
#: Seconds without any signal for a text that does not end as a sentence, a table or code does: the rest may still come.
BROKEN_OFF = 8.0
#: Seconds for a text with a placeholder among others: it may be that of a thought that stays.
_WITH_PLACEHOLDER = 15.0
#: How many of the last texts are remembered, to know a text that comes and goes; and how many beginnings of the first.
_LAST, _FIRST = 8, 200
#: The most seconds that one look adds: on a slow machine, the text may have changed between two looks.
_GLANCE = 0.25
_AT_WORK = r"thinking|loading|typing|generating|searching|pensando|cargando|escribiendo|generando|buscando"
_DOING = rf"{_AT_WORK}|writing|retrieving|reading|processing|working|waiting|wait|moment|procesando|espere|momento"
#: Placeholders that pages show until they have an answer: "Thinking", "The assistant is typing", "Reading ...".
_WAITING = re.compile(
    rf"\W*(((\w+\W+){{0,3}}(is|are|está)\W+)?({_AT_WORK}))?\W*|(?=.{{0,60}}$).*\b({_DOING})\b.*(\.\.\.|…)\W*",
    re.IGNORECASE | re.DOTALL,
)
#: How a complete text ends: with the end of a sentence, perhaps in brackets or with a reference; of code; of a table.
_ENDS = re.compile(r"([.!?。！？…:;]|```|\|)[\s\"'”’»)\]\d\[*_]*$")
_CURSOR = re.compile(r"\s*[▌▍▎▋▊▉█▮▯⬤●]+\s*$")
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


def ends_well(text: str) -> bool:
    """Whether a text ends as a sentence, code or a table does."""
    return bool(_ENDS.search(text))


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
        return self.requests > 0 and not self.lines and now - self.heard_at >= _STREAMED


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
        self._seen = begun
        self._still = self._pause = self._signs_still = 0.0
        self._texts: deque[str] = deque(maxlen=_LAST)
        self._beginnings: list[tuple[float, str]] = []
        self._was_unready = False
        self._working: dict[str, bool] = {}
        self._spoke: set[str] = set()
        self._stopped: set[str] = set()  # signs of work that have gone
        self._streamed = False  # the text changed while the request with the question was under way

    @property
    def first(self) -> float | None:
        """When the first word of the answer was seen. A placeholder before it is no word of it."""
        word = _first_word(self.text)
        return next((when for when, beginning in self._beginnings if beginning and word.startswith(beginning)), None)

    def see(self, look: Look, traffic: Traffic, now: float) -> bool:
        """Evaluate one look at the page; True if the answer is finished."""
        text = without_cursor(look["text"] or re.sub(r"\d+", "0", look["guess"]))  # numbers run
        passed = min(now - self._seen, _GLANCE)
        self._seen = now
        changed = text != self.text and text not in self._texts  # what blinks comes back
        if changed:
            self._pause = max(self._pause, self._still if is_answer(self.text) else 0.0)
            self._texts.append(text)
            self.changed = now
            self._begins(text, now)
        self._streamed = self._streamed or (changed and is_answer(text) and traffic.has_asked)
        self._still = 0.0 if changed else self._still + passed
        self.text = text
        self._signals(look, changed, passed)
        return is_answer(text) and self._at_rest() and self._still >= self._patience(look, traffic, now)

    def seems_complete(self, look: Look, traffic: Traffic) -> bool:
        """Whether the text has not changed for a second, and nothing shows that the page is at work."""
        at_work = look["busy"] or look["off"] or look["signs"] or traffic.under_way
        return not at_work and is_answer(self.text) and self._still >= _SETTLED

    def _begins(self, text: str, now: float) -> None:
        if is_answer(text) and len(self._beginnings) < _FIRST:
            self._beginnings.append((now, _first_word(text)))

    def _signals(self, look: Look, changed: bool, passed: float) -> None:
        """A sign of work that was shown with the text and disappears means the end, unless the text changes again."""
        self._was_unready = self._was_unready or not look["ready"]
        working = {name: bool(look[name]) for name in ("busy", "off", "signs", "waiting", "idle")}
        self._signs_still = self._signs_still + passed if working == self._working else 0.0
        if is_answer(self.text):
            self._spoke |= {name for name, is_shown in working.items() if is_shown}
        ended = {name for name in self._spoke - {"idle"} if self._working.get(name) and not working[name]}
        self._working = working
        if look["busy"] or (changed and not ended):
            self._stopped = set()
        else:
            self._stopped |= ended

    def _at_rest(self) -> bool:
        """Whether the signs of work are the same for a while: the last words may come after they go. Some blink."""
        return self.named or self._signs_still >= _STOPPED or self._still >= _LONGEST

    def _has_stopped(self, look: Look, traffic: Traffic) -> bool:
        """Whether the page has stopped working. A weak sign proves nothing while the page still has something to do."""
        doubtful = self._stopped <= _WEAK and (look["ticking"] or traffic.has_asked)
        return look["idle"] or (bool(self._stopped) and not doubtful and not look["off"])

    def _patience(self, look: Look, traffic: Traffic, now: float) -> float:
        """Seconds that the text must not have changed. Idle connections shorten the wait; they prove nothing."""
        if self.named and not look["ready"]:
            return math.inf
        if self.named and (self._was_unready or look["newly"]):
            return _READY
        if look["busy"]:
            return math.inf
        under_way = bool(traffic.under_way) or look["off"]
        if self._has_stopped(look, traffic):
            return _STILL if look["signs"] else _SETTLED if under_way else _STOPPED
        if under_way:
            return PENDING
        if any(_WAITING.fullmatch(line) for line in self.text.split("\n") if line.strip()):
            return _WITH_PLACEHOLDER
        is_whole = ends_well(self.text)
        if traffic.settled(now) and not look["timers"]:
            return _STREAMED if self._streamed else _SETTLED
        if look["worked"] and is_whole:
            return _SETTLED
        least = _MOVING if look["signs"] else _STILL if is_whole or look["worked"] else BROKEN_OFF
        return max(least, min(_LONGER * self._pause, _LONGEST))


def _first_word(text: str) -> str:
    return text.split(maxsplit=1)[0] if text.strip() else ""


def without_cursor(text: str) -> str:
    """The text without the cursor that some pages show at its end while they write."""
    return _CURSOR.sub("", text)
