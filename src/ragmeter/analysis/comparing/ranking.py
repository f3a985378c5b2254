"""The order of several systems by a metric or by a judge's preference, and which of them can't be told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragmeter.documents.comparison import JUDGES_DIFFER, NO_VERDICT, NOT_SIGNIFICANT

#: Each pair of runs, by their labels in the order of the runs, with the verdict on them.
Verdicts = Mapping[tuple[str, str], str]


@dataclass(frozen=True)
class Rank:
    """A system's place: between the number of systems that are surely better, and of those that are not surely worse.

    `mean` is that of the headline metric over all rows with a score, or the rating by preference.
    """

    run: str
    mean: float
    first: int
    last: int

    @property
    def places(self) -> str:
        """The ranks that the system may have: 1, or 2–4."""
        return f"{self.first}" if self.first == self.last else f"{self.first}–{self.last}"


@dataclass(frozen=True)
class Ranking:
    """Systems, the best one first; groups in which no pair differs significantly; and those that may be the best."""

    metric: str
    ranks: list[Rank]
    groups: list[list[str]]
    best: list[str]


def ranked(metric: str, direction: str, means: Mapping[str, float | None], verdicts: Verdicts) -> Ranking | None:
    """The ranking of systems; None where the metric has no direction, or where some pair can't be compared."""
    known = {run: mean for run, mean in means.items() if mean is not None}
    if direction not in ("higher", "lower") or len(known) < len(means) or JUDGES_DIFFER in verdicts.values():
        return None
    order = sorted(known, key=lambda run: known[run], reverse=direction == "higher")
    apart = {frozenset(pair) for pair, verdict in verdicts.items() if verdict not in (NOT_SIGNIFICANT, NO_VERDICT)}
    ranks = [
        Rank(
            run,
            known[run],
            first=1 + sum(frozenset((run, other)) in apart for other in order[:place]),
            last=len(order) - sum(frozenset((run, other)) in apart for other in order[place + 1 :]),
        )
        for place, run in enumerate(order)
    ]
    return Ranking(metric, ranks, _groups(order, apart), [rank.run for rank in ranks if rank.first == 1])


def _groups(order: Sequence[str], apart: set[frozenset[str]]) -> list[list[str]]:
    """The longest stretches of the order in which no two systems are apart."""
    groups: list[list[str]] = []
    end_of_last = 0
    for start in range(len(order)):
        end = start + 1
        while end < len(order) and all(frozenset((order[end], other)) not in apart for other in order[start:end]):
            end += 1
        if end - start > 1 and end > end_of_last:
            groups.append(list(order[start:end]))
        end_of_last = max(end_of_last, end)
    return groups
