"""The built-in metrics. Importing this package declares them."""

from ragmeter.metrics import (
    abstention,
    assertions,
    citations,
    claims,
    conversation,
    hops,
    nuggets,
    offline,
    operational,
    ranking,
    semantic,
    text,
)

__all__ = [
    "abstention",
    "assertions",
    "citations",
    "claims",
    "conversation",
    "hops",
    "nuggets",
    "offline",
    "operational",
    "ranking",
    "semantic",
    "text",
]
