"""Signs that the terminal, the app and the report share: arrows of directions, and the labels of claims.

A label of a claim has a sign and a kind (yes, partly, no, unsaid), which has a colour on each surface, so that neither
sign nor colour says it alone.
"""

from __future__ import annotations

#: The arrow beside a metric's name: which direction is better.
ARROWS = {"higher": "↑", "lower": "↓", "none": ""}
#: Explains the arrows, under a list of metrics.
ARROWS_EXPLAINED = "↑ higher is better, ↓ lower is better"

#: A label that is not in the table says nothing of the claim.
OTHER = "○", "unsaid"
#: The labels of claims and passages, nuggets, and relevance.
SIGNS = {
    "supported": ("✓", "yes"),
    "support": ("✓", "yes"),
    "relevant": ("✓", "yes"),
    "partial support": ("◐", "partly"),
    "contradicted": ("✗", "no"),
    "no such passage": ("✗", "no"),
    "not mentioned": OTHER,
    "no support": OTHER,
}


def clash_in_words(claim_words: str, passage_words: str) -> str:
    """What a claim and a passage that contradict each other say."""
    return (
        f"the claim says “{claim_words}”, the passage “{passage_words}”"
        if claim_words
        else f"the passage says “{passage_words}”"
    )


def sign_of(label: str) -> tuple[str, str]:
    """The sign and the kind of a label."""
    return SIGNS.get(label, OTHER)
