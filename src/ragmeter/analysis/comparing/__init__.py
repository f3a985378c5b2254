"""Runs side by side: is B better than A, by how much, how sure is that, and where."""

from ragmeter.analysis.comparing.comparison import Comparison, MetricDifference, Mover, Pair, SliceDifference
from ragmeter.analysis.comparing.deciding import compare

__all__ = ["Comparison", "MetricDifference", "Mover", "Pair", "SliceDifference", "compare"]
