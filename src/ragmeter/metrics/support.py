"""Claims and what supports them: the labels, and the forms in which tables have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

SUPPORTED, CONTRADICTED, NOT_MENTIONED = "supported", "contradicted", "not mentioned"
NO_CONTEXTS = "no_contexts"
#: The label of a passage that has no text. It keeps its number and counts for nothing.
NO_TEXT = "no text"
#: Who says what a text claims and what supports it: a language model, the offline support model, or an encoder.
Judged = Literal["llm", "offline", "encoder"]
#: What other tools call a claim that a text supports.
_SUPPORTED = frozenset({SUPPORTED, "entailment", "yes", "true"})
_CONTRADICTED = frozenset({CONTRADICTED, "contradiction"})


def claim_texts(claims: Sequence[Any]) -> list[str]:
    """Each claim on one line. RAGChecker's are triplets."""
    return [" ".join((claim if isinstance(claim, str) else " ".join(map(str, claim))).split()) for claim in claims]


def as_passages(contexts: Any) -> list[str]:
    """The texts of passages, where a single one may stand without a list. Where all are blank there are none."""
    passages = [contexts] if isinstance(contexts, str) else list(contexts or ())
    return passages if any(map(has_text, passages)) else []


def has_text(passage: str) -> bool:
    """Whether there is anything to read in a passage."""
    return bool(passage.strip())


def as_label(label: Any) -> str:
    """A label as it is called here: supported, contradicted or not mentioned."""
    text = str(label).strip().casefold()
    return SUPPORTED if text in _SUPPORTED else CONTRADICTED if text in _CONTRADICTED else NOT_MENTIONED


def is_supported(labels: Sequence[Any]) -> npt.NDArray[np.bool_]:
    """Which labels say that a claim is supported: one for each claim, or for each claim and passage."""
    if labels and not isinstance(labels[0], str):
        return np.array([is_supported(row) for row in labels], dtype=np.bool_).reshape(len(labels), -1)
    return np.array([as_label(label) == SUPPORTED for label in labels], dtype=np.bool_)
