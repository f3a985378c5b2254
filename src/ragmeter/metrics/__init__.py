"""The built-in metrics. Importing this package declares them."""

from ragmeter.metrics import claims, offline, operational, ranking, semantic, text

__all__ = ["claims", "offline", "operational", "ranking", "semantic", "text"]
