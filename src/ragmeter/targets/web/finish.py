"""Decides when an answer is finished: by the sign of the end that a profile names, or because its text is still."""

from __future__ import annotations

import re
from collections import deque

from ragmeter.targets.web.looks import Look
from ragmeter.targets.web.profile import End
from ragmeter.targets.web.traffic import Traffic

#: Seconds that a sign must be gone; that a text must be still if its sign was never seen, since it may come late; and
#: if no sign is known that goes.
_OFF, _NEVER_SEEN, STILL = 0.3, 1.0, 4.0
#: Seconds while a page is learnt: what comes late is to be seen once.
LEARNS = 8.0
#: Seconds for a text that does not end as a sentence, a table or code does: the rest may still come. The same while
#: the request with the question is under way, or something moves; and for a text with a placeholder among others.
BROKEN_OFF, _AT_WORK_STILL, _WITH_PLACEHOLDER = 8.0, 20.0, 15.0
#: Pauses that were seen make the wait longer: by this factor, and up to so many seconds.
_LONGER, _LONGEST = 2.0, 10.0
#: The most seconds that one look adds: on a slow machine, the text may have changed between two looks.
_GLANCE = 0.25
#: How many of the last texts are remembered, to know a text that comes and goes; seconds after which it seems whole.
_LAST, _SEEMS = 8, 1.0
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


def ends_well(text: str) -> bool:
    """Whether a text ends as a sentence, code or a table does."""
    return bool(_ENDS.search(text))


def is_answer(text: str) -> bool:
    """Whether a text is an answer, and not a placeholder."""
    return bool(text) and not _WAITING.fullmatch(text)


class Finish:
    """Watches a growing text, and the signs that the profile names. Times are in seconds.

    While a page is learnt, `end` names no sign, and the text must be still for longer.
    """

    def __init__(self, begun: float, end: End) -> None:
        self.begun = self.changed = self._seen = begun
        self.text = ""
        self._end = end
        self._has_sign = bool(end.gone or end.back or end.request)
        self._still = self._off = self._pause = 0.0
        self._was_on = False
        self._texts: deque[str] = deque(maxlen=_LAST)
        self._firsts: dict[str, float] = {}  # the first words of the texts, and when they were seen

    @property
    def first(self) -> float | None:
        """When the first word of the answer was seen. A placeholder before it is no word of it."""
        word = _first_word(self.text)
        return next((when for known, when in self._firsts.items() if word.startswith(known)), None)

    def see(self, look: Look, traffic: Traffic, now: float) -> bool:
        """Evaluate one look at the page; True if the answer is finished."""
        text = without_cursor(look["text"] or re.sub(r"\d+", "0", look["guess"]))  # numbers run
        passed = min(now - self._seen, _GLANCE)
        self._seen = now
        if text == self.text or text in self._texts:  # what blinks comes back
            self._still += passed
        else:
            self._pause = max(self._pause, self._still if is_answer(self.text) else 0.0)
            self._texts.append(text)
            self.changed, self._still = now, 0.0
            if is_answer(text):
                self._firsts.setdefault(_first_word(text), now)
        self.text = text
        on = self._is_at_work(look, traffic)
        self._was_on = self._was_on or on or (self._end.request and traffic.carried)
        self._off = 0.0 if on else self._off + passed
        is_whole = not on and is_answer(text) and self._off >= min(_OFF, self._end.still)
        return is_whole and self._still >= self._patience(traffic, look)

    def seems_complete(self, look: Look, traffic: Traffic) -> bool:
        """Whether the text has been still for a while, and nothing shows that the page is at work."""
        at_work = not look["ready"] or look["busy"] or look["moves"] or traffic.under_way
        return not at_work and is_answer(self.text) and self._still >= _SEEMS

    def _is_at_work(self, look: Look, traffic: Traffic) -> bool:
        if not self._has_sign:
            return bool(look["busy"])
        return not look["ready"] or (self._end.request and traffic.has_asked)

    def _patience(self, traffic: Traffic, look: Look) -> float:
        """Seconds that the text must not have changed."""
        still, end = self._end.still, self._end
        if self._has_sign and still < _NEVER_SEEN:
            if self._was_on or look["newly"]:
                return still
            still = _NEVER_SEEN if end.gone or end.request else STILL
        if traffic.has_asked or (look["moves"] and not self._has_sign):
            return max(still, _AT_WORK_STILL)
        if end.request and traffic.settled(self._seen):
            return still
        if any(_WAITING.fullmatch(line) for line in self.text.split("\n") if line.strip()):
            still = max(still, _WITH_PLACEHOLDER)
        if not ends_well(self.text):
            still = max(still, BROKEN_OFF)
        return max(still, min(_LONGER * self._pause, _LONGEST))


def _first_word(text: str) -> str:
    return text.split(maxsplit=1)[0] if text.strip() else ""


def without_cursor(text: str) -> str:
    """The text without the cursor that some pages show at its end while they write."""
    return _CURSOR.sub("", text)
