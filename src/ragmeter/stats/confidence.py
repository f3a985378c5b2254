"""The settings of intervals and tests, which are part of a run's signature."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ragmeter.documents.metrics import AUTO, FEWEST_DRAWS, METHODS, Statistics
from ragmeter.documents.record import UNSET
from ragmeter.errors import UsageError

__all__ = [
    "ANYTIME", "AUTO", "BOOTSTRAP", "FEWEST_DRAWS", "MCNEMAR", "METHODS", "RANDOMISATION", "STUDENT", "TESTS",
    "Confidence", "check_seed",
]  # fmt: skip
#: The tests of a difference, the default first.
RANDOMISATION, BOOTSTRAP, STUDENT, MCNEMAR = TESTS = ("randomisation", "bootstrap", "t", "mcnemar")
#: The method of intervals that hold however often one looks, and the test that goes with them.
ANYTIME = METHODS[-1]


def check_seed(seed: int) -> None:
    """Refuse a seed below 0."""
    if seed < 0:
        raise UsageError(f"seed must be 0 or more, got {seed}")


@dataclass(frozen=True)
class Confidence:
    """The settings of intervals.

    The method `auto` is Wilson's for scores of 0 and 1, and Student's for others. Rows with the same value in the
    column `cluster` form a cluster; `auto` uses conversations of several turns, and questions that occur several times.
    """

    method: str = AUTO
    cluster: str | None = AUTO
    level: float = 0.95
    seed: int = 0
    draws: int = 9_999

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise UsageError(f"unknown interval {self.method!r}", hint=f"choose from {', '.join(METHODS)}")
        if not 0 < self.level < 1:
            raise UsageError(f"level must be between 0 and 1, got {self.level:g}", hint="0.95 is usual")
        if self.draws < FEWEST_DRAWS:
            raise UsageError(f"draws must be at least {FEWEST_DRAWS}, got {self.draws:,}")
        check_seed(self.seed)

    @classmethod
    def of(cls, kept: Statistics | None) -> Confidence:
        """The settings that a run was made with; the usual ones where it does not say."""
        members = {} if kept is None else {field.name: getattr(kept, field.name) for field in fields(cls)}
        return cls(**{name: value for name, value in members.items() if value is not UNSET})

    def kept(self) -> Statistics:
        """The settings for a run's documents; seed and number of draws only for bootstrap methods."""
        drawn = self.method in ("bootstrap", "bca")
        more = {"seed": self.seed, "draws": self.draws} if drawn else {}
        return Statistics(self.method, self.cluster, self.level, **more)
