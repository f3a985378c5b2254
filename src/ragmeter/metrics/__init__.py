"""The metrics that come with ragmeter. Importing this package declares them."""

from ragmeter.metrics import operational, ranking, semantic, text

__all__ = ["operational", "ranking", "semantic", "text"]
