"""EditDistanceEvaluator: Levenshtein distance between answers and references, raw and normalised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragmeter.compat.base import MetricEvaluator, four_figures, metric
from ragmeter.compat.scoring import Number
from ragmeter.definition import Metric


class EditDistanceEvaluator(MetricEvaluator):
    """Edit distance of each answer from its reference; lower is better.

    Args:
        normalize: also divide by the length of the longer text, which gives a value between 0 and 1.
    """

    whole = frozenset({"edit_distance"})

    def __init__(self, normalize: bool = True) -> None:
        self.normalize = normalize

    def metrics(self) -> dict[str, Metric]:
        """Raw distance, and the normalised one unless it was switched off."""
        names = ["edit_distance", *(["normalized_distance"] if self.normalize else [])]
        return {name: metric(name) for name in names}

    def aggregate(self, scores: Mapping[str, Sequence[Number]]) -> dict[str, Number | None]:
        """Average, minimum, maximum and median of each distance."""
        return {key: value for name, values in scores.items() for key, value in four_figures(name, values).items()}
