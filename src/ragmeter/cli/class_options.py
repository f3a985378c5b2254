"""Options that are made from a class's keywords: those of the evaluators that --evaluator names."""

from __future__ import annotations

import argparse
import functools
import inspect
import re
import types
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ragmeter import compat
from ragmeter.cli.parser import OptionWords, Parser

#: Options of the command that mean the same as an evaluator's keyword of that name.
_SHARED = frozenset({"language", "doc_id_pattern"})


class EvaluatorParser(Parser):
    """A parser that knows the options of the classes that --evaluator names, from the moment it parses that.

    The namespace has `evaluators`: each class, and where the values of its keywords are kept.
    """

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self._evaluators: dict[type[Any], dict[str, str]] = {}
        self._destinations: set[str] = set()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments, with the options of the evaluators in them."""
        first_pass = Parser(add_help=False, allow_abbrev=False)
        first_pass.add_argument("--evaluator", nargs="+", action="append", default=[])
        groups = first_pass.parse_known_args(args)[0].evaluator
        for name in (name for group in groups for part in group for name in part.split(",") if name):
            kind = compat.find(name)
            if kind not in self._evaluators:
                self._evaluators[kind] = class_options(self, kind, self._destinations)
        chosen, unknown = super().parse_known_args(args, namespace)
        chosen.evaluators = self._evaluators
        return chosen, unknown


def class_options(parser: argparse.ArgumentParser, kind: type[Any], added: set[str]) -> dict[str, str]:
    """Add an option for each keyword of a class; return the destination of each keyword.

    `added` are the destinations that earlier classes have added: a keyword that two classes have is one option.
    """
    group = parser.add_argument_group(f"options of {kind.__name__}")
    reserved = {action.dest for action in parser._actions} - added
    hints = _hints(kind)
    destinations = {}
    shared = []
    for parameter in list(inspect.signature(kind.__init__).parameters.values())[1:]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        name = parameter.name
        required = parameter.default is parameter.empty
        default = None if required else parameter.default
        shown = f"{_described(kind, name)}{'required' if required else f'default: {default}'}"
        if name in _SHARED:
            destinations[name] = name
            shared.append(f"--{name.replace('_', '-')}: {shown}")
            continue
        destination = destinations[name] = f"evaluator_{name}" if name in reserved else name
        if destination in added:
            continue
        added.add(destination)
        flag = "--" + destination.replace("_", "-")
        add = functools.partial(
            group.add_argument,
            flag,
            dest=destination,
            default=argparse.SUPPRESS,
            required=required,
            help=shown.replace("%", "%%"),
        )
        annotation = hints.get(name, type(default) if default is not None else str)
        if _without_none(annotation) is bool:
            add(action=argparse.BooleanOptionalAction)
        else:
            add(**_reading(annotation))
    group.description = "\n".join(shared) or None
    return destinations


def _hints(kind: type[Any]) -> dict[str, object]:
    try:
        return get_type_hints(kind.__init__)
    except (NameError, TypeError, AttributeError):  # a name that is imported only for type checking
        return {}


def _described(kind: type[Any], name: str) -> str:
    """A keyword's description in the class's docstring, in the usual form `name: text` under `Args:`."""
    match = re.search(rf"^\s+{name}(?: \(.*?\))?: (.+)$", inspect.getdoc(kind) or "", re.MULTILINE)
    return f"{match[1].rstrip('.;')}; " if match else ""


def _reading(annotation: Any) -> OptionWords:
    """The keywords of `add_argument` that read a value of this type."""
    annotation = _without_none(annotation)
    if get_origin(annotation) is Literal:
        return {"choices": get_args(annotation), "type": type(get_args(annotation)[0])}
    if get_origin(annotation) in (list, tuple, set):
        kind = next(iter(get_args(annotation)), str)
        return {"nargs": "+", "type": kind if kind in (int, float) else str}
    kind = annotation if annotation in (int, float) else str
    return {"type": kind, "metavar": kind.__name__.upper()}


def _without_none(annotation: Any) -> Any:
    """A type without None: `int` for `int | None`."""
    if get_origin(annotation) in (Union, types.UnionType):
        return next((member for member in get_args(annotation) if member is not type(None)), str)
    return annotation
