"""The commands: each has a parser, which is had without running anything, and a line of help."""

from __future__ import annotations

import argparse
import subprocess
import sys

import pytest

from ragmeter.cli.commands import COMMANDS, HEADINGS, Command, find_command, first_words
from ragmeter.cli.parser import Parser, command_parser
from ragmeter.errors import UsageError
from tests.conftest import Run


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_command_has_a_parser_and_runs(command: Command, ragmeter: Run) -> None:
    parser = command.parser()
    assert parser.prog == f"ragmeter {command.name}"
    assert parser is not command.parser(), "each caller has its own"
    assert parser.description
    assert callable(command._function("run_{}"))
    shown = ragmeter(*command.name.split(), "--help")
    assert (shown.returncode, shown.stdout) == (0, parser.format_help())


@pytest.mark.parametrize(
    ("line", "name", "rest"),
    [
        ("ask --dataset x", "ask", ["--dataset", "x"]),
        ("runs", "runs", []),
        ("runs --json", "runs", ["--json"]),
        ("runs prune --yes", "runs prune", ["--yes"]),
        ("crag generate", "crag generate", []),
    ],
)
def test_a_command_is_found_by_its_longest_name(line: str, name: str, rest: list[str]) -> None:
    called = find_command(line.split())
    assert called is not None
    assert (called[0].name, called[1]) == (name, rest)


@pytest.mark.parametrize("line", ["", "crag", "crag reduce", "Evaluate", "--help", "generate"])
def test_other_words_are_no_command(line: str) -> None:
    assert find_command(line.split()) is None


def test_the_help_lists_each_first_word_once_in_the_order_of_use(ragmeter: Run) -> None:
    shown = ragmeter("--help").stdout
    listed = shown.partition("\nStart:\n")[2].partition("\noptions:")[0].splitlines()
    commands = [line for line in listed if line.startswith("  ")]
    assert [line.split()[0] for line in commands] == list(first_words())
    assert [line[:-1] for line in listed if line and line not in commands] == list(HEADINGS)[1:]
    assert [len(line) <= 120 for line in listed] == [True] * len(listed)


def test_a_word_that_needs_another(ragmeter: Run) -> None:
    for words in (["crag"], ["crag", "judge"], ["crag", "--json"]):
        done = ragmeter(*words)
        assert done.returncode == 2
        assert "a command is missing: `ragmeter crag generate` or `ragmeter crag evaluate`" in done.stderr
    done = ragmeter("crag", "--help")
    assert done.returncode == 0
    assert all(f"  ragmeter crag {word} " in done.stdout for word in ("generate", "evaluate"))


def test_the_list_of_commands_imports_no_command() -> None:
    code = (
        "import sys; from ragmeter.cli.main import main; main([])\n"
        "print(sorted(name for name in sys.modules if name.startswith('ragmeter.cli.')), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "['ragmeter.cli.commands', 'ragmeter.cli.main', 'ragmeter.cli.parser']"


# -- Parsers -----------------------------------------------------------------------------------------------------------


def small_parser() -> Parser:
    parser = command_parser("ragmeter small", "A small command.")
    parser.add_argument("run", nargs="?")
    parser.add_argument("--n", type=int, default=3)
    parser.add_argument("--tag", action="append", default=["usual"])
    parser.add_argument("--check", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--no-quotes", dest="quotes", action="store_false")
    parser.add_argument("--judge-model", "--model", dest="judge_model", default="m")
    return parser


@pytest.mark.parametrize(
    ("line", "given"),
    [
        ("", {}),
        ("--n 3", {"n": "--n"}),
        ("x --n=3 --tag a --tag b", {"run": "run", "n": "--n", "tag": "--tag"}),
        ("--check", {"check": "--check"}),
        ("--no-check", {"check": "--no-check"}),
        ("--no-quotes", {"quotes": "--no-quotes"}),
        ("--model m", {"judge_model": "--judge-model"}),
    ],
)
def test_which_options_were_given(line: str, given: dict[str, str]) -> None:
    """Also those with their default value; the parser is as before."""
    parser = small_parser()
    before = {action.dest: action.default for action in parser._actions}
    chosen = parser.parse_args(line.split())
    assert chosen.given_flags == given
    assert {action.dest: action.default for action in parser._actions} == before
    assert vars(parser.parse_args([])) == {**vars(small_parser().parse_args([]))}


def test_a_parser_is_used_again() -> None:
    parser = small_parser()
    assert parser.parse_args(["--tag", "a"]).tag == ["usual", "a"]
    assert parser.parse_args(["--tag", "b"]).tag == ["usual", "b"]


def test_an_unknown_option_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="unknown option --judge-modle: did you mean --judge-model"):
        small_parser().parse_args(["--judge-modle", "m"])


def test_an_evaluator_s_keywords_are_options_once_it_is_named() -> None:
    parser = COMMANDS["evaluate"].parser()
    line = ["--evaluator", "EditDistanceEvaluator", "--results", "x.csv"]
    for _ in range(2):
        chosen = parser.parse_args(line)
        [(kind, keywords)] = chosen.evaluators.items()
        assert kind.__name__ == "EditDistanceEvaluator"
        assert keywords
    assert chosen.given_flags == {"evaluator": "--evaluator", "results": "--results"}
    assert COMMANDS["evaluate"].parser().parse_args(["--metrics", "token_f1"]).evaluators == {}


def test_the_help_lists_each_command_once() -> None:
    listed = [command.name for commands in HEADINGS.values() for command in commands]
    assert sorted(listed) == sorted(set(listed))
