"""The settings of intervals and tests, which are part of a run's signature."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from ragmeter.errors import UsageError
from ragmeter.naming import Settings

AUTO = "auto"
METHODS = (AUTO, "t", "wilson", "bootstrap", "bca")
#: The tests of a difference, the default first.
RANDOMISATION, BOOTSTRAP, STUDENT, MCNEMAR = TESTS = ("randomisation", "bootstrap", "t", "mcnemar")


#: With fewer draws, an interval or a p-value is too noisy.
FEWEST_DRAWS = 999


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
    def of(cls, settings: Settings) -> Confidence:
        """The settings in a run's documents; unknown keys, which a later version may write, are ignored."""
        return cls(**{field.name: settings[field.name] for field in fields(cls) if field.name in settings})

    def as_dict(self) -> dict[str, Any]:
        """The settings as a dict for the signature; seed and number of draws only for bootstrap methods."""
        settings = asdict(self)
        if self.method not in ("bootstrap", "bca"):
            del settings["seed"], settings["draws"]
        return settings
