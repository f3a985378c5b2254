"""The earlier name of `ragmeter.compat`: imports from here, `ragmeter.evaluators.crag.config` too, go on working."""

from typing import Any

from ragmeter.compat import BUILTIN, __path__, find

__all__ = ["BUILTIN", "__path__", "find"]
#: Names that scripts import from a package called `evaluators`. They are imported when they are used.
_PUBLIC = frozenset({*BUILTIN, "CRAGEvaluator", "EvaluationResult", "EvaluationResultRow", "EvaluatorInterface"})


def __getattr__(name: str) -> Any:
    import ragmeter

    if name in _PUBLIC:
        return getattr(ragmeter, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
