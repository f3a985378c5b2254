"""Decides when an error that a page shows, or a request that failed, stands in the place of an answer."""

from __future__ import annotations

from ragmeter.targets.web.finish import Finish, is_answer
from ragmeter.targets.web.looks import Look
from ragmeter.targets.web.traffic import Traffic

#: Seconds that an error must be there while the answer does not go on; the same after a failed request; after a sign of
#: work has gone, or the page has loaded itself again, without an answer.
_SHOWN, _BROKEN, _NOTHING = 1.0, 3.0, 10.0
#: An answer that still changes so many seconds after an error has nothing to do with it.
_GOES_ON = 0.5
_STOPPED = "the page has stopped working on the question and shows no answer"
LOST = "the page has loaded itself again and lost the question"
_ERRORS = frozenset({"problem", "broken"})


class Trouble:
    """Watches for an error beside an answer. An answer that goes on after it has nothing to do with it."""

    def __init__(self) -> None:
        self._problem = ""
        self._since: dict[str, float] = {}
        self._was_busy = False
        self._harmless: set[str] = set()

    def see(self, look: Look, finish: Finish, traffic: Traffic, now: float, *, ended: bool) -> str:
        """The error that one look at the page shows for sure; nothing if there is none."""
        busy = bool(look["busy"])
        self._was_busy = self._was_busy or busy or not look["ready"]
        if look["problem"]:
            self._problem = look["problem"]
        nothing = not (busy or look["moves"] or not look["ready"] or traffic.under_way or is_answer(finish.text))
        lost = look["lost"] and not look["guess"] and not traffic.is_form
        cases = {
            "problem": (bool(look["problem"]), _SHOWN, f"the page shows an error: {self._problem}"),
            "broken": (bool(traffic.broken), _BROKEN, f"the page's request failed: {traffic.broken}"),
            "nothing": (nothing and self._was_busy and not lost, _NOTHING, _STOPPED),
            "lost": (nothing and lost, _NOTHING, LOST),
        }
        for name, (is_there, seconds, cause) in cases.items():
            if not is_there or cause in self._harmless:
                self._since.pop(name, None)
                continue
            since = self._since.setdefault(name, now)
            if name == "lost":
                since = max(since, traffic.heard_at)  # a page that asks for something may be getting the answer
            if name in _ERRORS and finish.changed > since + _GOES_ON:
                self._harmless.add(cause)
            elif now - since >= seconds or (ended and name in _ERRORS):
                return cause
        return ""
