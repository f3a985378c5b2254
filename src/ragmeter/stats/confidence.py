"""How intervals and tests are made: the settings, which are part of a run's signature."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ragmeter.errors import UsageError

AUTO = "auto"
METHODS = (AUTO, "t", "wilson", "bootstrap", "bca")
#: The tests of a difference, the usual one first.
RANDOMISATION, BOOTSTRAP, STUDENT, MCNEMAR = TESTS = ("randomisation", "bootstrap", "t", "mcnemar")


#: With fewer draws, an interval or a p-value is noise.
FEWEST_DRAWS = 999


def check_seed(seed: int) -> None:
    """Refuse what no generator takes."""
    if seed < 0:
        raise UsageError(f"a seed is 0 or more, and not {seed}")


@dataclass(frozen=True)
class Confidence:
    """How intervals are made.

    The method `auto` is Wilson's for scores of 0 and 1, and Student's for the rest. `cluster` names the column whose
    values tell which rows belong together; `auto` takes conversations of several turns and questions that were asked
    several times.
    """

    method: str = AUTO
    cluster: str | None = AUTO
    level: float = 0.95
    seed: int = 0
    draws: int = 9_999

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise UsageError(f"unknown interval {self.method!r}", hint=f"there are {', '.join(METHODS)}")
        if not 0 < self.level < 1:
            raise UsageError(f"a level of {self.level:g} is none", hint="it lies between 0 and 1: 0.95 is usual")
        if self.draws < FEWEST_DRAWS:
            raise UsageError(f"{self.draws:,} draws are too few", hint=f"at least {FEWEST_DRAWS} tell something")
        check_seed(self.seed)

    def as_dict(self) -> dict[str, Any]:
        """For the signature: the seed and the number of draws only where something is drawn."""
        found = asdict(self)
        if self.method not in ("bootstrap", "bca"):
            del found["seed"], found["draws"]
        return found
