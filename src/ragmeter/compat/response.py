"""ResponseEvaluator: five scores of an answer's text, and their average."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragmeter.compat.base import MetricEvaluator, average, metric
from ragmeter.compat.scoring import Number
from ragmeter.definition import Metric

_STEMMED = ("cosine_similarity", "rouge_l_score", "meteor_score", "average_score")
_COLUMNS = ("cosine_similarity", "rouge_l_score", "exact_match", "token_f1", "meteor_score", "average_score")


class ResponseEvaluator(MetricEvaluator):
    """TF-IDF cosine, ROUGE-L, exact match, token F1, METEOR and their average.

    Args:
        language: the language whose stemmer is used, by code or name.
    """

    def __init__(self, language: str = "es") -> None:
        self.language = language

    def metrics(self) -> dict[str, Metric]:
        """The five scores and their average."""
        return {name: metric(name, language=self.language) if name in _STEMMED else metric(name) for name in _COLUMNS}

    def columns(self, columns: Mapping[str, Sequence[Any]], rows: int) -> dict[str, Sequence[Any]]:
        """Question, reference and answer, before the scores."""
        missing = [None] * rows
        references = columns.get("reference", missing)
        return {
            "query": columns.get("question", missing),
            "ground_truth": [
                texts[0] if texts and len(texts) == 1 else list(texts or ()) or None for texts in references
            ],
            "actual_response": columns.get("answer", missing),
        }

    def aggregate(self, scores: Mapping[str, Sequence[Number]]) -> dict[str, Number | None]:
        """The averages, under `avg_` names except that of `average_score`."""
        return {name if name == "average_score" else f"avg_{name}": average(values) for name, values in scores.items()}
