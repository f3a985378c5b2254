"""`ragmeter help [COMMAND]`, and `ragmeter help judge`: the judge's options, which many commands share."""

from __future__ import annotations

import argparse

from ragmeter.cli.commands import GROUPS, PROJECT, find_command, first_words
from ragmeter.cli.help_pages import every_option
from ragmeter.cli.judge_options import judge_options
from ragmeter.cli.parser import Parser, command_parser
from ragmeter.errors import UsageError, did_you_mean

JUDGE = "judge"
_JUDGE = f"""\
A language model as the judge: it stands behind metrics such as llm_correct. These options are the same on `evaluate`,
`ask`, `web`, `compare --preference` and `crag evaluate`. Each of these takes --judge-model, and needs no other. Where
the answers exist (not `ask` and `web`), --dry-run says what it would cost. So see first, then judge:

  ragmeter evaluate answers.jsonl --metrics llm_correct --judge-model gpt-4o-mini --dry-run
  ragmeter evaluate answers.jsonl --metrics llm_correct --judge-model gpt-4o-mini --judge-budget 2

In a {PROJECT} they stand once, without "judge" in their names, and each of these commands reads them when it is run in
that folder. What is given on the command line comes first; another --judge-model there leaves the table aside.

  [judge]
  model = "gpt-4o-mini"
  budget = 2
"""


def parser() -> Parser:
    """The parser of `ragmeter help`."""
    parser = command_parser("ragmeter help", "Show the help of a command, with the options that people use.")
    words = f"a command, or `{JUDGE}` for the options of a language model as the judge"
    parser.add_argument("words", metavar="COMMAND", nargs="*", help=words)
    return parser


def run(chosen: argparse.Namespace) -> int:
    """Print the help that was asked for."""
    from ragmeter.cli.main import main

    if chosen.words == [JUDGE]:
        parser = command_parser("ragmeter", _JUDGE)
        judge_options(parser, offline=True, encoder=True, jury=True)
        print(every_option(parser), end="")
        return 0
    if chosen.words and find_command(chosen.words) is None and chosen.words[0] not in GROUPS:
        known = [JUDGE, *first_words()]
        raise UsageError(
            f"there is no help about {chosen.words[0]!r}{did_you_mean(chosen.words[0], known)}",
            hint="`ragmeter --help` lists the commands",
        )
    return main([*chosen.words, "--help"])
