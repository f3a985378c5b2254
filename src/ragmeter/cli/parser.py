"""The parser of a command: its errors are ours, and others may ask for it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from importlib import import_module
from typing import Any, TypedDict

from ragmeter.errors import UsageError, did_you_mean


class OptionWords(TypedDict, total=False):
    """What `add_argument` is told about an option, where a table has the options."""

    metavar: str
    help: str
    type: Callable[[str], Any]
    action: str
    nargs: str
    choices: Sequence[Any]


class _ParserMade(Exception):
    def __init__(self, parser: Parser) -> None:
        self.parser = parser


#: Whether a command should hand its parser over in place of parsing.
_handing_over: ContextVar[bool] = ContextVar("handing_over", default=False)


def parser_of(command: str, *first: str) -> Parser:
    """The parser of a command, with all of its options; `first` are the words that come before them."""
    token = _handing_over.set(True)
    try:
        import_module(f"ragmeter.cli.{command}").run(list(first))
    except _ParserMade as made:
        return made.parser
    finally:
        _handing_over.reset(token)
    raise AssertionError(f"{command} parses no arguments")


class Parser(argparse.ArgumentParser):
    """A parser that raises UsageError, so that all errors look alike."""

    def error(self, message: str) -> Any:
        """Raise a UsageError."""
        raise UsageError(message, hint=f"`{self.prog} --help` shows the options")

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments; the error for an unknown option suggests the nearest one."""
        if _handing_over.get():
            raise _ParserMade(self)
        chosen, unknown = self.parse_known_args(args, namespace)
        if not unknown:
            return chosen
        option = next((text.partition("=")[0] for text in unknown if text.startswith("-")), None)
        if option is None:
            return self.error(f"unexpected: {' '.join(unknown)}")
        names = [name for action in self._actions for name in action.option_strings]
        return self.error(f"unknown option {option}{did_you_mean(option, names)}")


def command_parser(prog: str, description: str, *, add_help: bool = True) -> Parser:
    """The parser of a command; its description keeps its line breaks."""
    return Parser(
        prog=prog,
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=add_help,
        allow_abbrev=False,
    )


def destinations(*groups: Callable[[argparse.ArgumentParser], None]) -> set[str]:
    """The names under which the parsed options of these groups are kept."""
    parser = Parser(add_help=False)
    for add_group in groups:
        add_group(parser)
    return {action.dest for action in parser._actions}


def given_options(parser: Parser, argv: Sequence[str]) -> dict[str, str]:
    """The options that stand on the command line, defaults included, by where they are kept. It spoils the parser."""
    for action in parser._actions:
        action.default = argparse.SUPPRESS
    given, _ = parser.parse_known_args(list(argv))
    return {action.dest: action.option_strings[0] for action in parser._actions if hasattr(given, action.dest)}
