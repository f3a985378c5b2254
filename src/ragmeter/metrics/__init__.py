"""The built-in metrics. Importing this package declares them."""

from ragmeter.metrics import citations, claims, nuggets, offline, operational, ranking, semantic, text

__all__ = ["citations", "claims", "nuggets", "offline", "operational", "ranking", "semantic", "text"]
