"""Decides when an answer is finished by the sign of the end that a profile names."""

from __future__ import annotations

from ragmeter.targets.web.finish import BROKEN_OFF, PENDING, Traffic, ends_well, is_answer, without_cursor
from ragmeter.targets.web.looks import Look
from ragmeter.targets.web.profile import End

#: The most seconds that one look adds: on a slow machine, the text may have changed between two looks.
_GLANCE = 0.25
#: Seconds that a sign must be gone; and that a text must be still if its sign was never seen: it may come late.
_OFF, _NEVER_SEEN = 0.3, 1.0
#: A stillness from here on shows that the profile has no sure sign: pauses that were seen make the wait longer.
_NO_SIGN, _LONGER, _LONGEST = 1.0, 2.0, 10.0


class RuledFinish:
    """Watches a text, and the signs that the profile names. Times are in seconds."""

    def __init__(self, begun: float, end: End) -> None:
        self.begun = self.changed = self._seen = begun
        self.text = ""
        self.first: float | None = None
        self._end = end
        self._still = self._off = self._pause = 0.0
        self._was_on = False

    def see(self, look: Look, traffic: Traffic, now: float) -> bool:
        """Evaluate one look at the page; True if the answer is finished."""
        text, passed = without_cursor(look["text"]), min(now - self._seen, _GLANCE)
        self._seen = now
        if text != self.text:
            self._pause = max(self._pause, self._still if is_answer(self.text) else 0.0)
            self.text, self.changed, self._still = text, now, 0.0
            if self.first is None and is_answer(text):
                self.first = now
        else:
            self._still += passed
        on = not look["ready"] or (self._end.request and traffic.has_asked)
        self._was_on = self._was_on or on or (self._end.request and traffic.carried)
        self._off = 0.0 if on else self._off + passed
        return (
            not on
            and is_answer(text)
            and self._off >= min(_OFF, self._end.still)
            and self._still >= self._patience(traffic, look)
        )

    def seems_complete(self, look: Look, traffic: Traffic) -> bool:
        """Whether the text has been still for a second, and nothing shows that the page is at work."""
        return (
            look["ready"] and not look["busy"] and not traffic.under_way and is_answer(self.text) and self._still >= 1
        )

    def _patience(self, traffic: Traffic, look: Look) -> float:
        """Seconds that the text must not have changed."""
        still, end = self._end.still, self._end
        has_sign = bool(end.gone or end.back or end.request)
        if has_sign and still < _NO_SIGN and (self._was_on or look["newly"]):
            return still
        if still < _NO_SIGN and has_sign:
            still = _NEVER_SEEN
        if traffic.has_asked:
            return max(still, PENDING)
        if end.request and traffic.settled(self._seen):
            return still
        if not ends_well(self.text):
            still = max(still, BROKEN_OFF)
        return max(still, min(_LONGER * self._pause, _LONGEST))
