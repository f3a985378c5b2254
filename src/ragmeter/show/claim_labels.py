"""What a claim's label looks like, on the terminal, in the app and in the report: a sign, and what kind of label it is.

The kind (yes, partly, no, unsaid) has a colour on each surface, so that neither sign nor colour says it alone.
"""

from __future__ import annotations

from ragmeter.judges.relevance import RELEVANT
from ragmeter.metrics.nuggets import NONE, PARTIAL, SUPPORT
from ragmeter.metrics.support import CONTRADICTED, NOT_MENTIONED, SUPPORTED

#: A label that is not in the table says nothing of the claim.
OTHER = "○", "unsaid"
SIGNS = {
    SUPPORTED: ("✓", "yes"),
    SUPPORT: ("✓", "yes"),
    RELEVANT: ("✓", "yes"),
    PARTIAL: ("◐", "partly"),
    CONTRADICTED: ("✗", "no"),
    "no such passage": ("✗", "no"),
    NOT_MENTIONED: OTHER,
    NONE: OTHER,
}


def sign_of(label: str) -> tuple[str, str]:
    """The sign and the kind of a label."""
    return SIGNS.get(label, OTHER)
