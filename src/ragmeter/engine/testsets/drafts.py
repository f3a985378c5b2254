"""Drafts of questions: what is written next, which were taken, and why others were not."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ragmeter.table import SKIPPED_BUDGET
from ragmeter.testsets.filters import NEAR_DUPLICATE, Duplicates
from ragmeter.testsets.questions import PlannedQuestion, Question

#: So many drafts are written and checked together; after so many without a question that is taken, nothing more is
#: asked: a model that always replies the same would cost as much as one that works.
_ROUND = 50


@dataclass
class Draft:
    """A question that is being written and checked, or the turns of a conversation.

    `cause` says why it is none; `relevant` are the ids of other passages that answer it as well.
    """

    planned: PlannedQuestion
    questions: list[Question] = field(default_factory=list)
    cause: str = ""
    example: str = ""
    relevant: list[str] = field(default_factory=list)

    def reject(self, cause: str, example: str = "") -> None:
        """Say why it is none, unless that is known."""
        if not self.cause:
            self.cause = cause
            self.example = example or (self.questions[-1].text if self.questions else "")


@dataclass
class Drafts:
    """All drafts: those that were taken, in their order, and the rest counted by why they were not."""

    plans: Mapping[str, Sequence[PlannedQuestion]]
    wanted: Mapping[str, int]
    taken: list[Draft] = field(default_factory=list)
    rejected: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    duplicates: Duplicates = field(default_factory=Duplicates)
    in_vain: int = 0

    def __post_init__(self) -> None:
        self._queues = {kind: deque(plan) for kind, plan in self.plans.items()}

    @property
    def missing(self) -> int:
        """How many drafts are still to be taken."""
        return sum(self.wanted.values()) - len(self.taken)

    @property
    def is_over_budget(self) -> bool:
        """Whether calls were not made because a limit was reached."""
        return SKIPPED_BUDGET in self.rejected

    @property
    def is_in_vain(self) -> bool:
        """Whether so many drafts in a row were none that nothing more is asked."""
        return self.in_vain >= _ROUND

    def next_round(self) -> list[Draft]:
        """What to write next: of each kind what is missing; another kind where no passage is left for it."""
        if self.is_over_budget or self.is_in_vain:
            return []
        taken = Counter(draft.planned.kind for draft in self.taken)
        room = min(self.missing, _ROUND)
        plans = [
            queue.popleft()
            for kind, queue in self._queues.items()
            for _ in range(min(len(queue), max(0, self.wanted[kind] - taken[kind])))
            if room
        ][:_ROUND]
        return [Draft(plan) for plan in self._filled(plans, room)]

    def _filled(self, plans: list[PlannedQuestion], room: int) -> list[PlannedQuestion]:
        for kind in self._queues:
            while len(plans) < room and self._queues[kind]:
                plans.append(self._queues[kind].popleft())
        return plans

    def reject_twins(self, drafts: Iterable[Draft]) -> None:
        """Reject what is nearly a question that was taken."""
        for draft in drafts:
            if not draft.cause and self.duplicates.has(draft.questions[0]):
                draft.reject(NEAR_DUPLICATE)

    def settle(self, drafts: Iterable[Draft]) -> int:
        """Take drafts until there are enough, and count those that are no questions; returns how many were taken."""
        before = len(self.taken)
        for draft in drafts:
            if not self.missing:
                break
            self.reject_twins([draft])  # of one that was taken a moment ago
            if draft.cause:
                self.rejected[draft.cause] += 1
                self.examples.setdefault(draft.cause, draft.example)
                self.in_vain += 1
            else:
                self.taken.append(draft)
                self.duplicates.add(draft.questions[0])
                self.in_vain = 0
        return len(self.taken) - before
