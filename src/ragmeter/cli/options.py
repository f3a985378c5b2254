"""Options that commands share, and options made from a class's keywords."""

from __future__ import annotations

import argparse
import inspect
import types
from collections.abc import Iterable
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ragmeter.errors import UsageError


class Parser(argparse.ArgumentParser):
    """A parser whose errors are ragmeter's own, so that all look alike."""

    def error(self, message: str) -> Any:
        """Say what is wrong with the call."""
        raise UsageError(message, hint=f"`{self.prog} --help` shows the options")


def input_options(parser: argparse.ArgumentParser) -> None:
    """What to read, and how."""
    group = parser.add_argument_group("input")
    group.add_argument("--results", metavar="FILE", help="the system's answers: csv, tsv, json, jsonl or parquet")
    group.add_argument("--reference", metavar="FILE", help="the gold answers or documents, joined by qid")
    group.add_argument(
        "--column",
        metavar="NAME=YOURS",
        action="append",
        default=[],
        help="what a column is called in your file, for example answer=generated_answer; may be repeated",
    )
    group.add_argument("--encoding", help="the files' encoding, if it is not UTF-8")
    group.add_argument(
        "--no-quotes",
        dest="quotes",
        action="store_false",
        help="in csv and tsv files, a double quote is just a character",
    )


def read_columns(pairs: Iterable[str]) -> dict[str, str]:
    """`--column name=yours`, as a mapping."""
    mapping = {}
    for pair in pairs:
        name, separator, yours = pair.partition("=")
        if not separator or not name or not yours:
            raise UsageError(f"--column {pair}: write it as NAME=YOURS, for example answer=generated_answer")
        mapping[name.strip()] = yours.strip()
    return mapping


def class_options(parser: argparse.ArgumentParser, kind: type[Any]) -> dict[str, str]:
    """Add an option for each keyword of a class, and say which destination holds which keyword."""
    group = parser.add_argument_group(f"options of {kind.__name__}")
    taken = {action.dest for action in parser._actions}
    hints = get_type_hints(kind.__init__)
    found = {}
    for parameter in list(inspect.signature(kind.__init__).parameters.values())[1:]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        found[parameter.name] = parameter.name
        if parameter.name in taken:  # an option of the command's own, such as --language, or of another evaluator
            continue
        flag = "--" + parameter.name.replace("_", "-")
        required = parameter.default is parameter.empty
        default = None if required else parameter.default
        shown = "required" if required else f"default: {default}"
        options: dict[str, Any] = {"dest": parameter.name, "default": argparse.SUPPRESS, "help": shown}
        annotation = hints.get(parameter.name, type(default) if default is not None else str)
        if annotation is bool:
            group.add_argument(flag, action=argparse.BooleanOptionalAction, required=required, **options)
        else:
            group.add_argument(flag, required=required, **options, **_reading(annotation))
    return found


def _reading(annotation: Any) -> dict[str, Any]:
    """How argparse should read a value of this type."""
    if get_origin(annotation) in (Union, types.UnionType):
        annotation = next((each for each in get_args(annotation) if each is not type(None)), str)
    if get_origin(annotation) is Literal:
        return {"choices": get_args(annotation)}
    if get_origin(annotation) in (list, tuple, set):
        return {"nargs": "+", "type": next(iter(get_args(annotation)), str)}
    return {"type": annotation if annotation in (int, float, str) else str, "metavar": annotation.__name__.upper()}
