"""`ragmeter COMMAND ...`: runs a command, and turns errors into one message and an exit code."""

from __future__ import annotations

import argparse
import io
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ragmeter.cli.commands import COMMANDS, GROUPS, find_command, first_words, overview
from ragmeter.effects.process.own_process import set_up_own_process
from ragmeter.effects.process.signals import exit_code, raising_terminated
from ragmeter.errors import Interrupted, RagmeterError, RagmeterWarning, UsageError, did_you_mean

_EXAMPLES = """\
examples:
  ragmeter evaluate answers.jsonl reference.tsv --run before
  ragmeter compare before after

`ragmeter COMMAND --help` says more about a command, `ragmeter help judge` about a language model as the judge.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the exit code is 0, 1 if a gate failed, or 2 if the input or the call is invalid."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # don't fail on an arrow that the terminal can't encode
            stream.reconfigure(errors="replace")
    try:
        with _plain_warnings(), raising_terminated():
            code = _dispatch(arguments)
        sys.stdout.flush()
        return code
    except RagmeterError as error:
        _say(error.for_command_line())
        if isinstance(error, Interrupted):
            os._exit(error.exit_code)  # as below
        return error.exit_code
    except KeyboardInterrupt as stop:
        _say(_what_stays())
        os._exit(exit_code(stop))  # all files are closed; a thread in a slow scorer would delay the exit
    except BrokenPipeError:  # the reader of our output, such as `head`, has closed the pipe
        _drop_output()
        return 0
    except OSError as error:  # most errors of files are handled where they are read and written
        _drop_output()
        what = f"use {error.filename}" if error.filename else "print the result"
        _say(f"can't {what}: {error.strerror or error}")
        return 2


def _say(message: str) -> None:
    """Print a message on standard error; the exit code says the same."""
    from ragmeter.io.progress import show_notice

    show_notice(f"ragmeter: {message}")


def _what_stays() -> str:
    """A line about what an interrupted command has written: it is complete, and need not be made again."""
    from ragmeter.io.write import WRITTEN

    if not WRITTEN:
        return "interrupted; nothing was written"
    run = next((path for path in WRITTEN if os.path.isdir(path)), "")  # noqa: PTH112 - it may be in a store
    shown = f"\n  `ragmeter summary {run}` shows it" if run else ""
    return f"interrupted; already complete: {', '.join(WRITTEN)}{shown}"


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Print ragmeter's own warnings on standard error like errors, without a line of code."""

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if isinstance(message, RagmeterWarning):
            _say(f"warning: {message.for_command_line()}")
        else:
            default_show(message, category, *place, **more)

    with warnings.catch_warnings():
        default_show = warnings.showwarning
        warnings.simplefilter("always", RagmeterWarning)
        warnings.showwarning = show
        yield


def _drop_output() -> None:
    """Discard what is still in the output buffer when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _dispatch(arguments: list[str]) -> int:
    if (called := find_command(arguments)) is not None:
        command, rest = called
        if not {"-h", "--help", "--help-all"}.intersection(rest):  # help needs no heavy import
            set_up_own_process()
        return command.call_in_project(rest)
    if arguments and arguments[0] in GROUPS:
        return _incomplete(arguments)
    known, parser = first_words(), outer_parser()
    if arguments and arguments[0].partition("=")[0] in ("--version", "--completion"):
        return _answer(arguments)
    parser.parse_known_args(arguments[:1])  # answers --help
    if not arguments:
        parser.print_help()
        return 2
    raise UsageError(
        f"unknown command {arguments[0]!r}{did_you_mean(arguments[0], known)}", hint="`ragmeter --help` lists them"
    )


def outer_parser() -> argparse.ArgumentParser:
    """The parser of what stands before a command, which has the help of them all."""
    from ragmeter.cli.parser import HelpFormatter

    parser = argparse.ArgumentParser(
        prog="ragmeter",
        usage="ragmeter COMMAND ...",
        description=f"Measure retrieval-augmented generation: fast, offline, honest.\n\n{overview()}",
        epilog=_EXAMPLES,
        formatter_class=HelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="the versions of ragmeter and of all that it uses")
    parser.add_argument("--completion", metavar="SHELL", help="a script for completion: bash, zsh or fish")
    return parser


def _incomplete(arguments: list[str]) -> int:
    """Answer --help for a first word that needs a second one; without it that is an error."""
    first, *rest = arguments
    commands = {name: command.help for name, command in COMMANDS.items() if name.startswith(f"{first} ")}
    if not {"-h", "--help"}.intersection(rest[:1]):
        raise UsageError(f"a command is missing: {' or '.join(f'`ragmeter {name}`' for name in commands)}")
    from ragmeter.cli.parser import HelpFormatter

    listed = "".join(f"  ragmeter {name:15} {text}\n" for name, text in commands.items())
    argparse.ArgumentParser(
        prog=f"ragmeter {first}",
        usage=f"ragmeter {first} COMMAND ...",
        description=f"{GROUPS[first].capitalize()}.\n\n{listed}",
        formatter_class=HelpFormatter,
    ).print_help()
    return 0


def _answer(arguments: list[str]) -> int:
    """Print the versions, or the script for a shell's completion."""
    if arguments[0] == "--version":
        from ragmeter.cli.environment import version_text

        print(version_text())
        return 0
    from ragmeter.cli.completion import completion

    shell = arguments[0].partition("=")[2] or next(iter(arguments[1:]), "")
    print(completion(shell))
    return 0
