"""The labels of claims as the terminal, the app and the report show them: a sign, and what kind of label it is.

The kind (yes, partly, no, unsaid) has a colour on each surface, so that neither sign nor colour says it alone.
"""

from __future__ import annotations

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
