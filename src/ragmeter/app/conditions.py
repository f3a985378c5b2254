"""Conditions on rows, as an address writes them: `recall@5<=0`, `topic=science`, `answer~Paris`, `reference:none`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ragmeter.errors import UsageError
from ragmeter.runs.run import Run
from ragmeter.table import LIST_COLUMNS

#: How a condition compares: texts, numbers, and whether there is a value at all.
EQUAL, NOT_EQUAL, CONTAINS, AT_LEAST, ABOVE, AT_MOST, BELOW = "=", "!=", "~", ">=", ">", "<=", "<"
MISSING, PRESENT = WITHOUT_VALUE = (":none", ":some")
OF_TEXTS = (EQUAL, NOT_EQUAL, CONTAINS)
OF_NUMBERS = (EQUAL, NOT_EQUAL, BELOW, AT_MOST, ABOVE, AT_LEAST)
_WRITTEN = re.compile(r"(!=|~|>=|>|<=|<|=)(.*)|(:none|:some)()", re.DOTALL)
_EXAMPLE = "write it as recall@5<=0, topic=science, answer~Paris or reference:none"


@dataclass(frozen=True)
class Condition:
    """What a column of a row must be. Of numbers, the value is one in writing."""

    column: str
    comparison: str = EQUAL
    value: str = ""

    @classmethod
    def read(cls, run: Run, written: str) -> Condition:
        """A condition of an address on the columns of a run."""
        for column in sorted(run.columns, key=len, reverse=True):
            rest = _WRITTEN.fullmatch(written[len(column) :]) if written.startswith(column) else None
            if rest is not None:
                return cls.of(run, column, rest[1] or rest[3], rest[2] or "")
        name = re.split("!=|[~><=]|:none$|:some$", written)[0]
        if name == written:
            raise UsageError(f"can't read the filter {written[:60]!r}", hint=_EXAMPLE)
        raise UsageError(f"{run.name} has no column {name[:60]!r}")

    @classmethod
    def of(cls, run: Run, column: str, comparison: str, value: str) -> Condition:
        """A condition that the values of the column can meet; any other is an error."""
        if column not in run.columns:
            raise UsageError(f"{run.name} has no column {column[:60]!r}")
        if comparison not in (known := comparisons(run, column)):
            raise UsageError(f"{column[:60]} can't be filtered by {comparison[:20]!r}", hint=f"use {' '.join(known)}")
        condition = cls(column, comparison, "" if comparison in WITHOUT_VALUE else value)
        if column in run.measures and comparison in OF_NUMBERS:
            as_number(value)
        return condition

    @property
    def number(self) -> float:
        """The value of a condition on numbers."""
        return as_number(self.value)

    @property
    def written(self) -> str:
        """As an address has it."""
        return f"{self.column}{self.comparison}{self.value}"


def comparisons(run: Run, column: str) -> tuple[str, ...]:
    """How the values of a column can be compared."""
    if column in LIST_COLUMNS:
        return CONTAINS, *WITHOUT_VALUE
    return (*(OF_NUMBERS if column in run.measures else OF_TEXTS), *WITHOUT_VALUE)


def added_filter(query: Any) -> str:
    """The filter that a form adds: its column, comparison and value as one. Empty where no column was chosen."""
    column, comparison, value = (query.get(name, "") for name in ("column", "is", "value"))
    if not column:
        if value or comparison:
            raise UsageError("a filter needs a column", hint=_EXAMPLE)
        return ""
    return f"{column}{comparison or EQUAL}{'' if comparison in WITHOUT_VALUE else value}"


def as_number(written: str) -> float:
    """A number of an address, or an error."""
    try:
        number = float(written)
    except ValueError:
        raise UsageError(f"{written[:40]!r} is not a number") from None
    if number != number or abs(number) > 1e12:
        raise UsageError(f"{written[:40]!r} is not a number that can be used here")
    return number
