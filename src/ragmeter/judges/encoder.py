"""What a support model's probabilities say of claims, as labels: `judge=encoder`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragmeter.metrics.support import CONTRADICTED, NO_TEXT, NOT_MENTIONED, SUPPORTED, has_text

if TYPE_CHECKING:
    from ragmeter.definition.judge_columns import RowsOfTexts
    from ragmeter.embedders.support import SupportModel

#: From this probability on a claim is supported, or contradicted.
LEAST = 0.5


class EncoderSupport:
    """A support model as what fills the columns of `judge=encoder`."""

    def __init__(self, model: SupportModel) -> None:
        self.model = model

    def labels(self, claims: RowsOfTexts, passages: RowsOfTexts) -> list[list[list[str]]]:
        """A label for each row, each of its claims and each of its passages."""
        rows = zip(passages, self.model.probabilities(claims, passages), strict=True)
        return [
            [
                [_label(text, *pair) for text, pair in zip(texts, of_claim, strict=True)]
                for of_claim in probabilities.tolist()
            ]
            for texts, probabilities in rows
        ]

    def chances(self, claims: RowsOfTexts, texts: Sequence[str]) -> list[list[float]]:
        """For each row the probability that its text supports each of its claims."""
        return [row[:, 0, 0].tolist() for row in self.model.probabilities(claims, [[text] for text in texts])]


def _label(passage: str, supported: float, contradicted: float) -> str:
    if not has_text(passage):
        return NO_TEXT
    return SUPPORTED if supported >= LEAST else CONTRADICTED if contradicted >= LEAST else NOT_MENTIONED
