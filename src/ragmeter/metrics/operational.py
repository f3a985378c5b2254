"""Metrics of a service: coverage, and an estimate of user satisfaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from ragmeter.definition import metric
from ragmeter.errors import UsageError
from ragmeter.metrics.normalize import fold
from ragmeter.metrics.semantic import Prefix
from ragmeter.table import Scores


class Phrases(str):
    """Phrases of a system's fallback answers, separated by `|`."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """The phrases; at least one is needed."""
        if not any(phrase.strip() for phrase in text.split("|")):
            raise UsageError("at least one fallback phrase is needed", hint="separate several with |")
        return cls("|".join(phrase.strip() for phrase in text.split("|") if phrase.strip()))

    def folded(self) -> list[str]:
        """Each phrase in the form in which texts are compared."""
        return [fold(phrase) for phrase in self.split("|")]


DEFAULT_FALLBACK = Phrases("couldn't find any events")


@metric(direction="higher", binary=True, optional=("retrieved", "answer"), failed_score=0.0)
def response_coverage_rate(
    retrieved: Sequence[Sequence[str] | None], answer: Sequence[str | None], *, fallback: Phrases = DEFAULT_FALLBACK
) -> Scores:
    """Share of all questions for which something was retrieved and presented.

    **Formula.** 1 if at least one document was retrieved and the answer contains none of the `fallback` phrases, else
    0; case and the form of apostrophes are ignored. Several phrases are separated by `|`. The mean is over all
    questions: a call that failed or timed out counts 0.

    **Edge cases.** Nothing retrieved, or no `retrieved` in the row: 0, whatever the answer. No answer, or a row that
    failed: 0. An empty answer contains no phrase. A question that was not asked because the budget was spent
    (`skipped_budget`) has no score.

    **Use it** to see how often a system has anything to offer. **Not** as a measure of quality: wrong answers count 1.
    """
    phrases = fallback.folded()
    return np.array(
        [
            bool(documents) and text is not None and not _has_any(fold(text), phrases)
            for documents, text in zip(retrieved, answer, strict=True)
        ],
        dtype=np.float64,
    )


def _has_any(text: str, phrases: Sequence[str]) -> bool:
    return any(phrase in text for phrase in phrases)


@metric(direction="higher", optional=("retrieved",))
def satisfaction_score(
    similarities: Scores,
    retrieved: Sequence[Sequence[str] | None],
    latency_ms: Sequence[float],
    *,
    similarity_weight: float = 0.5,
    events_weight: float = 0.3,
    latency_weight: float = 0.2,
    latency_limit_ms: float = 5000.0,
    model: str | None = None,
    base_url: str | None = None,
    prefix: Prefix | None = None,
) -> Scores:
    """An estimate of a user's satisfaction: is the answer right, was something retrieved, was it quick?

    **Formula.** `0.5 · similarity + 0.3 · found + 0.2 · max(0, 1 − latency_ms / 5000)`, where similarity is
    `semantic_similarity` and found is 1 if anything was retrieved. The three weights and the limit are settings.

    **Edge cases.** At the latency limit and above, the last part is 0. In a row without `retrieved`, found is 0. A row
    without a latency has no score, and neither has a call that failed; the number of rows with a score is shown.

    **Use it** for a single number over time, as in the tool that it comes from. **Not** to learn why it changed: look
    at its three parts.
    """
    if not latency_limit_ms > 0:
        raise UsageError(f"latency_limit_ms must be above 0, got {latency_limit_ms:g}")
    has_documents = np.fromiter(map(bool, retrieved), np.float64, len(retrieved))
    speed = np.maximum(0.0, 1.0 - np.asarray(latency_ms, dtype=np.float64) / latency_limit_ms)
    return similarity_weight * similarities + events_weight * has_documents + latency_weight * speed
