"""Which sign of the page ends an answer: what was there while the text grew, and went when it was whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ragmeter.targets.web.profile import End

#: A pseudo-sign: a request that has the question in it is under way.
REQUEST = "@request"
#: A text may be drawn so many seconds after its sign has gone.
_DRAWN = 0.3
#: A text that changed so often, over so many seconds, while a sign was on has shown that the sign lasts.
_CHANGES, _SPAN = 3, 0.5
#: Seconds of stillness: after a sign that has been seen to last; after a request with the whole answer; with no sign.
SURE, WHOLE, UNSURE = 0.3, 1.0, 6.0
_MOST = 2
#: Without a sign, a text must be still for so many times the longest pause that was seen; the most seconds of that.
_LONGER, _LONGEST = 2.0, 15.0


@dataclass(frozen=True)
class Moment:
    """One look at a page: when, a stand-in for the new text, and the signs that could be seen."""

    when: float
    text: int
    signs: frozenset[str]


@dataclass
class Course:
    """All looks at a page from a question to the end of its answer, and the signs before it."""

    before: frozenset[str] = frozenset()
    moments: list[Moment] = field(default_factory=list)
    requested: float | None = None  # when the last request ended, where one of them had the question in it

    @property
    def changes(self) -> list[float]:
        """When the text changed."""
        times = []
        text = self.moments[0].text if self.moments else 0
        for moment in self.moments:
            if moment.text != text:
                text = moment.text
                times.append(moment.when)
        return times

    @property
    def after(self) -> frozenset[str]:
        """The signs at the end."""
        return self.moments[-1].signs if self.moments else frozenset()

    @property
    def came_with_its_request(self) -> bool:
        """Whether the text was whole once the requests had ended; they may be too quick for a look."""
        return bool(self.requested is not None and self.changes and self.changes[-1] <= self.requested + 2 * _DRAWN)

    def while_working(self) -> tuple[set[str], set[str]]:
        """Signs that came and went again, and signs that went and came again."""
        seen = frozenset[str]().union(*(moment.signs for moment in self.moments))
        came = set(seen - self.before - self.after)
        always = frozenset.intersection(*(moment.signs for moment in self.moments)) if self.moments else frozenset()
        return came, set((self.before & self.after) - always)

    def covers(self, sign: str, *, gone: bool) -> tuple[bool, bool]:
        """Whether a sign of work lasted until the text was whole, and whether it was seen to last while it grew."""
        on = [moment.when for moment in self.moments if (sign in moment.signs) == gone]
        changes = self.changes
        if not on or not changes:
            return False, False
        during = [when for when in changes if on[0] <= when <= on[-1] + _DRAWN]
        lasted = len(during) >= _CHANGES and during[-1] - during[0] >= _SPAN
        return changes[-1] <= on[-1] + _DRAWN, lasted


def learn_end(courses: Sequence[Course]) -> End:
    """The sign of the end that holds for all courses; without one, only that the text is still."""
    courses = [course for course in courses if course.moments]
    if not courses:
        return End()
    pairs = [course.while_working() for course in courses]
    found: dict[bool, list[tuple[bool, str]]] = {True: [], False: []}
    for gone in (True, False):
        common = set.intersection(*(came if gone else went for came, went in pairs))
        for sign in sorted(common, key=lambda name: (len(name), name)):
            results = [course.covers(sign, gone=gone) for course in courses]
            if all(covers for covers, _ in results):
                found[gone].append((any(lasted for _, lasted in results), sign))
    sure = {
        gone: _plain([sign for lasted, sign in signs if lasted and sign != REQUEST]) for gone, signs in found.items()
    }
    request = [lasted for lasted, sign in found[True] if sign == REQUEST]
    if any(sure.values()):
        works, rests = tuple(sure[True][:_MOST]), tuple(sure[False][:_MOST])
        return End(works, () if works else rests, bool(request), SURE)
    weak = tuple(_plain([sign for _, sign in found[True] if sign != REQUEST]))[:_MOST]
    if request:
        return End(weak, (), request=True, still=SURE if request[0] else WHOLE)
    if all(course.came_with_its_request for course in courses):
        return End(weak, (), request=True, still=WHOLE)
    pause = max((later - sooner for course in courses for sooner, later in pairwise(course.changes)), default=0.0)
    return End(weak, (), still=max(UNSURE, min(round(_LONGER * pause, 1), _LONGEST)))


def _plain(signs: Sequence[str]) -> list[str]:
    """Signs without those that only say more of another one."""
    return [sign for sign in signs if not any(sign != other and sign.startswith(other) for other in signs)]
