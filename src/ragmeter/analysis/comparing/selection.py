"""Which pairs of rows changed how by a metric: those that got better, that are wrong in both, that failed, …"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ragmeter.analysis.comparing.row_pairs import Pairing
from ragmeter.runs.run import Run
from ragmeter.table import Scores

#: How a row changed. `right` and `wrong` are rows of a metric of 0 and 1 that both runs have right or wrong.
ALL_ROWS, BETTER, WORSE, DIFFERS, SAME, RIGHT, WRONG, FAILED = (
    "all", "better", "worse", "differs", "same", "right", "wrong", "failed",
)  # fmt: skip
CHANGES = (ALL_ROWS, BETTER, WORSE, DIFFERS, SAME, RIGHT, WRONG, FAILED)
#: Numbers of pairs, in the order of a pairing.
Places = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Gains:
    """The scores of paired rows by one metric, and by how much the second run is better; NaN where one has no score."""

    a: Scores
    b: Scores
    gain: Scores
    is_lower_better: bool

    @classmethod
    def of(cls, a: Run, b: Run, pairing: Pairing, metric: str) -> Gains:
        """The pairs' scores by a metric of both runs."""
        before, after = a.scores(metric)[pairing.a], b.scores(metric)[pairing.b]
        is_lower_better = b.measure(metric).direction == "lower"
        return cls(before, after, before - after if is_lower_better else after - before, is_lower_better)

    def that(self, change: str) -> Flags:
        """The pairs that changed in one way, as flags."""
        best = 0.0 if self.is_lower_better else 1.0
        flags: dict[str, Flags] = {
            ALL_ROWS: np.ones(len(self.gain), dtype=np.bool_),
            BETTER: self.gain > 0,
            WORSE: self.gain < 0,
            DIFFERS: np.abs(self.gain) > 0,
            SAME: self.gain == 0,
            RIGHT: (self.a == best) & (self.b == best),
            WRONG: (self.a == 1 - best) & (self.b == 1 - best),
            FAILED: np.isnan(self.b) & ~np.isnan(self.a),
        }
        return flags[change]

    def largest_first(self, places: Places) -> Places:
        """Pairs by the size of their change, those without one last; equal ones stay in their order."""
        sizes = np.nan_to_num(np.abs(self.gain[places]), nan=-1.0)
        return places[np.argsort(-sizes, kind="stable")]
