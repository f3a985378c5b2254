"""The commands of ragmeter: their names, what each does in a line, and where its parser and its work are."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragmeter.cli.parser import Parser

#: The file of a project: systems, a judge, a gate.
PROJECT = "ragmeter.toml"


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

    def call_in_project(self, arguments: Sequence[str]) -> int:
        """The same, with the judge that the ragmeter.toml of the current folder names, where there is one."""
        parser = self.parser()
        chosen: argparse.Namespace = parser.parse_args(list(arguments))
        if Path(PROJECT).is_file():
            from ragmeter.cli.project_judge import with_judge_of_project

            chosen = with_judge_of_project(parser, list(arguments), chosen)
        return self.run(chosen)

    def _function(self, name: str) -> Any:
        module, _, second = self.name.partition(" ")
        return getattr(import_module(f"ragmeter.cli.{module}"), name.format(second).strip("_"))


#: The commands in the order of use, under the headings of `ragmeter --help`.
HEADINGS = {
    "Start": (
        Command("demo", "see the main job on examples that come with ragmeter"),
        Command("questions", "make a test set from documents, and say what it is good for"),
        Command("evaluate", "score a file of answers, by what its columns allow"),
        Command("ask", "put a dataset's questions to a live system, and score its answers"),
        Command("compare", "say whether one run is better than another, and how certain that is"),
        Command("report", "show runs on one page, or as charts and tables for papers"),
        Command("app", "look at all runs in the browser, compare them, and label their answers"),
    ),
    "Judge and people": (
        Command("label", "choose some of a run's rows, and have a person say which are correct"),
        Command("calibrate", "a run's verdicts beside people's labels, and the accuracy behind them"),
        Command("documents", "say which documents a run's questions found, and which they missed"),
        Command("explain", "say who judged a row and how, and what the offline judge sees in it"),
    ),
    "CI": (
        Command("gate", "is a run good enough, and no worse than another?"),
        Command("run", "do all that ragmeter.toml asks for, and compare the systems"),
        Command("init", "write a ragmeter.toml, by looking at a file of questions"),
        Command("power", "say how many questions a difference needs"),
    ),
    "Manage": (
        Command("runs", "list the runs, remove some, and delete unused files"),
        Command("runs remove", "delete runs for good, each with its journal"),
        Command("runs tag", "attach words to a run"),
        Command("runs rename", "give a run another name"),
        Command("runs prune", "delete what has not been used for a while"),
        Command("export", "write a run as csv, parquet, jsonl, for trec_eval or MLflow, or as spans"),
        Command("summary", "show a run's scores again, by slices"),
        Command("metrics", "list the metrics, or explain one"),
        Command("mcp", "let a coding assistant read the runs of a folder"),
        Command("doctor", "say what is installed, what is missing, and which endpoints answer"),
        Command("help", "show the help of a command; `ragmeter help judge`: the judge's options"),
    ),
    "Old tools": (
        Command("crag generate", "have an agent answer the turns of conversations, and save them"),
        Command("crag evaluate", "judge saved turns"),
        Command("web", "ask a RAG that is only a web page, and score its answers"),
    ),
}
#: All commands by name.
COMMANDS = {command.name: command for commands in HEADINGS.values() for command in commands}
#: First words that are no command of their own: a second word has to follow.
GROUPS = {"crag": "answer conversations with an agent, and judge the answers"}


def first_words(commands: Iterable[Command] | None = None) -> dict[str, str]:
    """What may stand first on the command line, and what it does."""
    words = [command.name.partition(" ")[0] for command in (COMMANDS.values() if commands is None else commands)]
    return {word: GROUPS[word] if word in GROUPS else COMMANDS[word].help for word in words}


def overview() -> str:
    """The commands under their headings, as `ragmeter --help` lists them."""
    return "\n".join(
        f"{heading}:\n" + "".join(f"  {name:10} {text}\n" for name, text in first_words(commands).items())
        for heading, commands in HEADINGS.items()
    )


def find_command(arguments: Sequence[str]) -> tuple[Command, Sequence[str]] | None:
    """The command that the arguments begin with, and those after its name; None if they begin with no command."""
    for length in (2, 1):
        name = " ".join(arguments[:length])
        if len(arguments) >= length and name in COMMANDS:
            return COMMANDS[name], arguments[length:]
    return None
