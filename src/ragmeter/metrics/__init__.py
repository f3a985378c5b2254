"""The metrics that come with ragmeter. Importing this package declares them."""

from ragmeter.metrics import ranking, semantic, text

__all__ = ["ranking", "semantic", "text"]
