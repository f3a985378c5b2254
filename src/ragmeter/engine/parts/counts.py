"""What is counted in the parts of an evaluation, added up in their order, whoever has done them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ragmeter.engine.parts.work import ASIDE, Job, PartDone, counts_file, part_file
from ragmeter.io.join import JoinCounts
from ragmeter.runs.row_counts import RowCounts


@dataclass
class Counted:
    """What all parts together have: added up in their order, whoever has done them."""

    done: dict[int, PartDone] = field(default_factory=dict)
    skipped: dict[int, str] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(part.rows for part in self.done.values())

    @property
    def numbers(self) -> list[int]:
        """The parts that are there."""
        return sorted(self.done)

    def files(self) -> list[tuple[str, int]]:
        """Each part's file with its number of rows."""
        return [(part_file(number), self.done[number].rows) for number in self.numbers]

    def not_scored(self, metric: str) -> Counter[str]:
        """Why rows were not scored."""
        return self._sum(lambda part: part.not_scored.get(metric, {}))

    def left_out(self) -> Counter[str]:
        """Columns that appear late."""
        return self._sum(lambda part: part.left_out)

    def cautions(self) -> Counter[str]:
        """The warnings for the summary."""
        return self._sum(lambda part: part.cautions)

    def of_rows(self, job: Job) -> RowCounts:
        """What was counted row by row."""
        files = (job.folder / ASIDE / counts_file(number) for number in self.numbers)
        return RowCounts.sum(RowCounts.from_bytes(file.read_bytes()) for file in files)

    def _sum(self, counts: Callable[[PartDone], Mapping[str, int]]) -> Counter[str]:
        total: Counter[str] = Counter()
        for number in self.numbers:
            total.update(counts(self.done[number]))
        return total

    def join(self) -> JoinCounts:
        """How many rows of either side have a partner."""
        counts = JoinCounts()
        for number in self.numbers:
            own = self.done[number].join
            counts.matched += own["matched"]
            for side in ("results_only", "reference_only"):
                total, unmatched = getattr(counts, side), own[side]
                total.add(unmatched["qids"])
                total.count += unmatched["count"] - len(unmatched["qids"])
        return counts
