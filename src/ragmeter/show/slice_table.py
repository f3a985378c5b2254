"""The table of the slices of two runs whose difference is farthest from the whole's, for the terminal and Markdown."""

from __future__ import annotations

from dataclasses import dataclass

from ragmeter.analysis.comparing import Pair, differing_slices
from ragmeter.wording import verdicts
from ragmeter.wording.numbers import compared, deserved_decimals, percent, signed_interval


@dataclass(frozen=True)
class SliceTable:
    """The slices of two runs: at most four with a greater gain than the whole, and four with a smaller one.

    Without rows there is nothing to show.
    """

    pair: Pair
    level: float

    @property
    def sentence(self) -> str:
        """What the table has, and which of its slices surely differ."""
        parts = [part for parts in self.pair.headline_slices.values() for part in parts]
        return verdicts.slices_sentence(self.pair.headline, len(parts), any_differs=any(p.differs for p in parts))

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of the table."""
        return "slice", "", "baseline", "candidate", "difference", f"{percent(self.level)} interval", "n"

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """A row for each slice, the candidate's greatest gain first."""
        rows: list[tuple[str, ...]] = []
        for part in differing_slices(self.pair):
            decimals = deserved_decimals(part.interval)
            figures = *compared(part.mean_a, part.mean_b, decimals), signed_interval(part.interval, decimals)
            sign = verdicts.SLICE_DIFFERS if part.differs else ""
            rows.append((f"{part.column}: {part.value}", sign, *figures, f"{part.n:,}"))
        return rows
