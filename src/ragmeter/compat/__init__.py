"""The named suites, and how an evaluator is found by its name."""

from __future__ import annotations

import importlib
from typing import Any

from ragmeter.errors import UnknownNameError, UsageError
from ragmeter.registry import import_object

#: Loaded only when asked for: `ragmeter --help` must not wait for numpy.
BUILTIN = {
    "EditDistanceEvaluator": "ragmeter.compat.edit_distance",
    "ContextRecall": "ragmeter.compat.context_recall",
    "ResponseEvaluator": "ragmeter.compat.response",
}


def find(name: str) -> type[Any]:
    """The evaluator class of that name or dotted path.

    A path that can't be imported but ends in one of our names means ours: scripts written for earlier tools keep
    their paths.
    """
    last = name.replace(":", ".").rpartition(".")[2]
    if name in BUILTIN:
        return _builtin(name)
    if last == name:
        raise UnknownNameError(
            "evaluator",
            name,
            BUILTIN,
            hint=f"built in are {', '.join(BUILTIN)}; for a class of yours give its dotted path",
        )
    try:
        found = import_object(name, "evaluator")
    except UsageError:
        if last in BUILTIN:
            return _builtin(last)
        raise
    if not isinstance(found, type) or not callable(getattr(found, "evaluate", None)):
        raise UsageError(
            f"{name!r} is not an evaluator", hint="it should be a class with evaluate(rag_results, references)"
        )
    return found


def _builtin(name: str) -> type[Any]:
    found: type[Any] = getattr(importlib.import_module(BUILTIN[name]), name)
    return found
