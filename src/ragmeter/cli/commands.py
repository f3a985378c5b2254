"""The commands of ragmeter: their names, what each does in a line, and where its parser and its work are."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragmeter.cli.parser import Parser


@dataclass(frozen=True)
class Command:
    """A command. Its module is imported when its parser or its work is wanted, so that `ragmeter --help` is quick.

    `evaluate` is `parser()` and `run(chosen)` of `evaluate.py`; `runs remove` is `remove_parser()` and
    `run_remove(chosen)` of `runs.py`.
    """

    name: str
    help: str

    def parser(self) -> Parser:
        """A new parser with all options of the command."""
        parser: Parser = self._function("{}_parser")()
        return parser

    def run(self, chosen: argparse.Namespace) -> int:
        """Do what the parsed options ask for; the exit code."""
        code: int = self._function("run_{}")(chosen)
        return code

    def call(self, arguments: Sequence[str]) -> int:
        """Parse the arguments that stand after the command's name, and run it."""
        return self.run(self.parser().parse_args(list(arguments)))

    def _function(self, name: str) -> Any:
        module, _, second = self.name.partition(" ")
        return getattr(import_module(f"ragmeter.cli.{module}"), name.format(second).strip("_"))


_ALL = (
    Command("app", "look at all runs in the browser, compare them, and label their answers"),
    Command("ask", "put a dataset's questions to a live system, and score its answers"),
    Command("calibrate", "a run's verdicts against people's labels, and the accuracy behind them"),
    Command("compare", "say whether one run is better than another, and how certain that is"),
    Command("crag generate", "have an agent answer the turns of conversations, and save them"),
    Command("crag evaluate", "judge saved turns"),
    Command("doctor", "say what is installed, what is missing, and which endpoints answer"),
    Command("documents", "say which documents a run's questions found, and which they missed"),
    Command("evaluate", "score a file of results against references"),
    Command("explain", "say who judged a row and how, and what the offline judge sees in it"),
    Command("export", "write a run as csv, parquet, jsonl, for trec_eval or MLflow, or as spans"),
    Command("gate", "is a run good enough, and no worse than another? For CI"),
    Command("init", "write a ragmeter.toml, by looking at a file of questions"),
    Command("label", "choose some of a run's rows, and have a person say which are correct"),
    Command("metrics", "list the metrics, or explain one"),
    Command("power", "say how many questions a difference needs"),
    Command("report", "show runs on one page, or as figures and tables for papers"),
    Command("run", "do all that ragmeter.toml asks for, and compare the systems"),
    Command("runs", "list the runs, remove some, and delete what nobody needs"),
    Command("runs remove", "delete runs, each with its journal"),
    Command("runs tag", "attach words to a run"),
    Command("runs prune", "delete what has not been used for a while"),
    Command("summary", "show a run's figures again, by slices"),
    Command("web", "ask a RAG that is only a web page, and score its answers"),
)
#: All commands by name.
COMMANDS = {command.name: command for command in _ALL}
#: First words that are no command of their own: a second word has to follow.
GROUPS = {"crag": "answer conversations with an agent, and judge the answers"}


def first_words() -> dict[str, str]:
    """What may stand first on the command line, and what it does."""
    words = [name.partition(" ")[0] for name in COMMANDS]
    return {word: GROUPS[word] if word in GROUPS else COMMANDS[word].help for word in words}


def find_command(arguments: Sequence[str]) -> tuple[Command, Sequence[str]] | None:
    """The command that the arguments begin with, and those after its name; None if they begin with no command."""
    for length in (2, 1):
        name = " ".join(arguments[:length])
        if len(arguments) >= length and name in COMMANDS:
            return COMMANDS[name], arguments[length:]
    return None
