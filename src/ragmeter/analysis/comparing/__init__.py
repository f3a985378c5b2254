"""Compare runs: is B better than A, by how much, how certain is that, and in which slices."""

from ragmeter.analysis.comparing.changed_rows import ChangedRow
from ragmeter.analysis.comparing.comparison import (
    Comparison,
    MetricDifference,
    Mover,
    Pair,
    SliceDifference,
)
from ragmeter.analysis.comparing.pairwise import compare, shared_measures, with_another_test
from ragmeter.analysis.comparing.slices import differing_slices

__all__ = [
    "ChangedRow",
    "Comparison",
    "MetricDifference",
    "Mover",
    "Pair",
    "SliceDifference",
    "compare",
    "differing_slices",
    "shared_measures",
    "with_another_test",
]
