"""Evaluators by their names."""

from __future__ import annotations

import importlib
from typing import Any

from ragmeter.errors import UnknownNameError, UsageError
from ragmeter.registry import import_object

#: Imported when they are used: `ragmeter --help` must not wait for numpy.
BUILTIN = {
    "EditDistanceEvaluator": "ragmeter.compat.edit_distance",
    "ContextRecall": "ragmeter.compat.context_recall",
    "ResponseEvaluator": "ragmeter.compat.response",
}


def find(name: str) -> type[Any]:
    """The evaluator class with this name or dotted path.

    A path that can't be imported, but ends in the name of a built-in evaluator, gives that one: scripts written for
    earlier tools can keep their paths.
    """
    class_name = name.replace(":", ".").rpartition(".")[2]
    if name in BUILTIN:
        return _builtin(name)
    if class_name == name:
        raise UnknownNameError(
            "evaluator",
            name,
            BUILTIN,
            hint=f"built in are {', '.join(BUILTIN)}; for your own class give its dotted path",
        )
    try:
        evaluator = import_object(name, "evaluator")
    except UsageError:
        if class_name in BUILTIN:
            return _builtin(class_name)
        raise
    if not isinstance(evaluator, type) or not callable(getattr(evaluator, "evaluate", None)):
        raise UsageError(
            f"{name!r} is not an evaluator", hint="it must be a class with evaluate(rag_results, references)"
        )
    return evaluator


def _builtin(name: str) -> type[Any]:
    evaluator: type[Any] = getattr(importlib.import_module(BUILTIN[name]), name)
    return evaluator
