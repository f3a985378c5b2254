"""The earlier name of `ragmeter.compat`: imports from here, `ragmeter.evaluators.crag.config` too, go on working."""

from ragmeter.compat import BUILTIN, __path__, find

__all__ = ["BUILTIN", "__path__", "find"]
