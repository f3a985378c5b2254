"""The parser of a command: its errors are ours, and it knows which options were given."""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, TypedDict

from ragmeter.errors import UsageError, did_you_mean

#: A line of a list: a name, and a text after two spaces or more.
_ENTRY = re.compile(r"(?P<name> +\S.*? {2,})(?P<text>\S.*)")


class OptionWords(TypedDict, total=False):
    """What `add_argument` is told about an option, where a table has the options."""

    metavar: str
    help: str
    type: Callable[[str], Any]
    action: str
    const: bool
    nargs: str
    choices: Sequence[Any]


class Parser(argparse.ArgumentParser):
    """A parser that raises UsageError, so that all errors look alike; its help has the options that people use."""

    def format_help(self) -> str:
        """The options that people use, and examples."""
        from ragmeter.cli.help_pages import page

        return page(self)

    def error(self, message: str) -> Any:
        """Raise a UsageError."""
        raise UsageError(message, hint=f"`{self.prog} --help` shows the options")

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments; the error for an unknown option suggests the nearest one.

        The namespace has `given_flags` as well: the options that stand on the command line, also those with their
        default value, each with its flag, by where its value is kept.
        """
        chosen, unknown = self.parse_known_args(args, namespace)
        if not unknown:
            chosen.given_flags = self._given_flags(args)
            return chosen
        option = next((text.partition("=")[0] for text in unknown if text.startswith("-")), None)
        if option is None:
            return self.error(f"unexpected: {' '.join(unknown)}")
        names = [name for action in self._actions for name in action.option_strings]
        return self.error(f"unknown option {option}{did_you_mean(option, names)}")

    def _given_flags(self, args: Any) -> dict[str, str]:
        defaults = [(action, action.default) for action in self._actions]
        try:
            for action, _ in defaults:
                action.default = argparse.SUPPRESS
            given = vars(self.parse_known_args(args)[0])
        finally:
            for action, default in defaults:
                action.default = default
        return {action.dest: _flag(action, given[action.dest]) for action, _ in defaults if action.dest in given}


def _flag(action: argparse.Action, value: Any) -> str:
    """An option's flag for a message, `--no-x` where that was given; a positional argument's name."""
    flags = action.option_strings or [action.dest]
    negative = isinstance(action, argparse.BooleanOptionalAction) and value is False
    return next((flag for flag in flags if negative and flag.startswith("--no-")), flags[0])


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the line breaks of a description; in a terminal that is too narrow for them, words are wrapped anew.

    Commands stay as they are, and a list keeps its columns.
    """

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if not sys.stdout.isatty():
            return super()._fill_text(text, width, indent)
        return "\n\n".join(_wrapped(paragraph, width) for paragraph in text.split("\n\n"))


def _wrapped(paragraph: str, width: int) -> str:
    lines = paragraph.splitlines()
    if all(len(line) <= width for line in lines):
        return paragraph
    if any(line.startswith(" ") for line in lines):
        return "\n".join(_wrapped_entry(line, width) for line in lines)
    return textwrap.fill(" ".join(lines), width, break_long_words=False, break_on_hyphens=False)


def _wrapped_entry(line: str, width: int) -> str:
    """A line of a list, wrapped under the text after its name."""
    entry = _ENTRY.fullmatch(line)
    if len(line) <= width or entry is None or len(entry["name"]) > width // 2:
        return line
    name, text = entry.groups()
    lines = textwrap.wrap(text, width - len(name), break_long_words=False, break_on_hyphens=False)
    return name + f"\n{' ' * len(name)}".join(lines)


def command_parser(prog: str, description: str, *, kind: type[Parser] = Parser) -> Parser:
    """The parser of a command; its description keeps its line breaks."""
    parser = kind(prog=prog, description=description, formatter_class=HelpFormatter, allow_abbrev=False)
    parser.add_argument("--help-all", action=_HelpAll, nargs=0, default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    return parser


class _HelpAll(argparse.Action):
    """Prints the help with all options, and ends the command."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from ragmeter.cli.help_pages import whole_page

        print(whole_page(parser), end="")
        parser.exit()


def destinations(*groups: Callable[[argparse.ArgumentParser], None]) -> set[str]:
    """The names under which the parsed options of these groups are kept."""
    parser = Parser(add_help=False)
    for add_group in groups:
        add_group(parser)
    return {action.dest for action in parser._actions}
