"""What is known of a page at any time: the profile that it is read by, and the samples that it was learnt from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from ragmeter.targets.web.learning.doubts import doubt_of
from ragmeter.targets.web.learning.kinds import is_label
from ragmeter.targets.web.learning.learn import Learnt, Sample, joined, learn
from ragmeter.targets.web.looks import LeftOver
from ragmeter.targets.web.profile import ERRORS, Answer, End, Profile

#: After so many different questions nothing more is learnt.
ENOUGH = 3
#: So many other answers with the same first or last line make an answer unsure; a line of fewer words says little.
_OTHERS, _WORDS = 2, 2
#: What is said of what is left over, by its kind.
_LEFT = {
    "fold": "{0} may show more of the answer on a click (answer.more = [{1!r}])",
    "part": "the answer has a part that the profile does not name: {0} (answer.ignore = [{1!r}])",
    "text": "a text beside the answer is not named in the profile: {0} (answer.beside, or answer.ignore = [{1!r}])",
}


class Reading:
    """The profile of a page, given or learnt. It is final once it was given, or once enough questions were asked."""

    def __init__(self, base: Profile, *, final: bool = False) -> None:
        self.base = base
        self.profile: Profile | None = base if final or base.answer.selector else None
        self.final = final
        self.application = ""
        self.samples: list[Sample] = []
        self.doubts: list[str] = []
        self._lines: Counter[tuple[str, str]] = Counter()

    def recognise(self, application: str, profile: Profile) -> None:
        """The page is that of a known application: its profile says where answers are, if the user does not."""
        if not (self.final or self.samples or self.application):
            self.application = application
            self.base = self.profile = joined(self.base, profile.answer, profile.end, profile.errors)

    def add(self, sample: Sample) -> Learnt:
        """Learn from one more question."""
        learnt = learn([*self.samples, sample], self.base)
        if learnt.is_same and self.profile is not None:
            learnt = Learnt(self.profile, learnt.doubts)
        if learnt.has_text and not self.final:
            self.samples.append(sample)
            self.profile, self.doubts = learnt.profile, learnt.doubts
            questions = {known.question for known in self.samples}
            self.final = self.profile is not None and len(questions) >= ENOUGH
        return learnt

    def rule(self) -> dict[str, Any] | None:
        """The profile as our script wants it."""
        return None if self.profile is None else flat(self.profile)

    @property
    def end(self) -> End:
        """What the end of an answer looks like."""
        return (self.profile or self.base).end

    def doubt(self, question: str, text: str, left: Sequence[LeftOver], busy: str | None) -> str:
        """What is doubtful about an answer that was read; nothing if nothing is."""
        if self.doubts and self.final and self.samples:
            return f"the page was learnt with a doubt: {self.doubts[0]}"
        if parts := self.left_over(left):
            return parts[0]
        if busy:
            return f"the answer ended while {busy} showed that the page still works"
        return doubt_of(question, text) or self._common_line(text)

    def left_over(self, left: Sequence[LeftOver]) -> list[str]:
        """What is new on the page, is not the answer, and not known to stand beside it."""
        beside = self.profile.answer.beside if self.profile is not None else None
        known = {key(text) for text in beside or ()}
        parts = []
        for part in left:
            if part["what"] == "text" and (key(part["text"]) in known or is_label(part["text"])):
                continue
            parts.append(_LEFT[part["what"]].format(repr(part["text"][:80]), part["selector"]))
        return parts

    def _common_line(self, text: str) -> str:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if len(lines) < 2:
            return ""
        cause = ""
        for where, line in (("first", lines[0]), ("last", lines[-1])):
            if self._lines[where, line] >= _OTHERS and len(line.split()) >= _WORDS:
                cause = cause or f"its {where} line is that of {self._lines[where, line]} other answers: {line[:60]!r}"
            self._lines[where, line] += 1
        return cause


def key(text: str) -> str:
    """Texts that differ in their numbers alone have the same key."""
    return re.sub(r"[\d#][\d.,:]*", "#", text.casefold())


def flat(profile: Profile) -> dict[str, Any]:
    """A profile as our script wants it."""
    rule: dict[str, Any] = msgspec.to_builtins(profile.answer)
    rule.update(gone=list(profile.end.gone), back=list(profile.end.back), errors=list(profile.errors))
    return rule


def of_selectors(
    answer: str | None, ready: str | None, sources: str | None, ignore: tuple[str, ...], before: tuple[str, ...]
) -> Profile:
    """The part of a profile that the user's own options say."""
    end = End(back=(ready,), still=0.1) if ready else End()
    return Profile(Answer(answer or "", ignore=ignore, sources=sources or ""), before=before, end=end, errors=ERRORS)
