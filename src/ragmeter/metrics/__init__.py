"""The built-in metrics. Importing this package declares them."""

from ragmeter.metrics import offline, operational, ranking, semantic, text

__all__ = ["offline", "operational", "ranking", "semantic", "text"]
