"""The metrics that come with ragmeter. Importing this package declares them."""

from ragmeter.metrics import operational, ranking, text

__all__ = ["operational", "ranking", "text"]
