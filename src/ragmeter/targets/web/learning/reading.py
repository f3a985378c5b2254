"""What is known of a page at any time: the profile that it is read by, and the samples that it was learnt from."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from ragmeter.targets.web.learning.kinds import looks_like_a_label
from ragmeter.targets.web.learning.learn import Learnt, Sample, joined, learn
from ragmeter.targets.web.profile import ERRORS, Answer, End, Profile

#: After so many different questions nothing more is learnt.
ENOUGH = 3
#: So many other answers with the same first or last line make an answer unsure; a line of fewer words says little.
_OTHERS, _WORDS = 2, 2


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

    def doubt(self, text: str, extra: str, busy: str | None) -> str:
        """What is doubtful about an answer that was read; nothing if nothing is."""
        if self.doubts and self.final and self.samples:
            return f"the page was learnt with a doubt: {self.doubts[0]}"
        if extra:
            return f"the message has a part that the profile does not name: {extra[:80]!r}"
        if busy:
            return f"the answer ended while {busy} showed that the page still works"
        if what := looks_like_a_label(text):
            return f"the answer looks like {what}: {text[:80]!r}"
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if len(lines) < 2:
            return ""
        cause = ""
        for where, line in (("first", lines[0]), ("last", lines[-1])):
            if self._lines[where, line] >= _OTHERS and len(line.split()) >= _WORDS:
                cause = cause or f"its {where} line is that of {self._lines[where, line]} other answers: {line[:60]!r}"
            self._lines[where, line] += 1
        return cause


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
