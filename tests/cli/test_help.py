"""`--help`, `--help-all` and `ragmeter help`: what people use, all of it, and the judge's options once."""

from __future__ import annotations

import argparse
import re
import shlex

import pytest

from ragmeter.cli.commands import COMMANDS, find_command
from ragmeter.cli.help_pages import JUDGE_GROUPS, PAGES
from ragmeter.cli.parser import HelpFormatter
from tests.conftest import Run

_FLAG = re.compile(r"^  (?:-\w, )?(--[\w-]+)", re.MULTILINE)


def flags(text: str) -> list[str]:
    return _FLAG.findall(text)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_is_short_and_the_long_one_has_every_option(name: str, ragmeter: Run) -> None:
    short, long = (ragmeter(*name.split(), flag) for flag in ("--help", "--help-all"))
    assert (short.returncode, long.returncode) == (0, 0)
    assert short.stdout.count("\n") <= 76, "one screen and a half"
    assert len(flags(short.stdout)) <= 19
    assert set(flags(short.stdout)) <= set(flags(long.stdout))
    parser = COMMANDS[name].parser()
    groups = [group for group in parser._action_groups if group.title not in JUDGE_GROUPS]
    actions = [action for group in groups for action in group._group_actions if action.option_strings]
    actions = [action for action in actions if action.help != argparse.SUPPRESS]  # a former option, which is refused
    own = {next(flag for flag in action.option_strings if flag.startswith("--")) for action in actions}
    assert own - {"--help-all"} <= set(flags(long.stdout))


@pytest.mark.parametrize("prog", PAGES)
def test_the_examples_are_commands(prog: str) -> None:
    page = PAGES[prog]
    assert len(page.examples) == 2
    for example in page.examples:
        program, *arguments = shlex.split(example)
        called = find_command(arguments)
        assert program == "ragmeter"
        assert called is not None
        command, rest = called
        assert f"ragmeter {command.name}" == prog
        command.parser().parse_args(rest)


def test_the_judge_s_options_stand_once(ragmeter: Run) -> None:
    judge = ragmeter("help", "judge").stdout
    assert {"--judge-model", "--judge-base-url", "--judge-repeats", "--target-agreement", "--dry-run"} <= {
        *flags(judge)
    }
    assert "[judge]\n  model =" in judge
    for name in ("evaluate", "ask", "web", "compare", "crag evaluate"):
        shown = ragmeter(*name.split(), "--help-all").stdout
        assert "--judge-base-url" not in flags(shown)
        assert "`ragmeter help judge`" in shown


def test_help_of_a_command_and_of_none(ragmeter: Run) -> None:
    assert ragmeter("help").stdout == ragmeter("--help").stdout
    assert ragmeter("help", "runs", "tag").stdout == ragmeter("runs", "tag", "--help").stdout
    assert ragmeter("help", "crag").stdout == ragmeter("crag", "--help").stdout
    done = ragmeter("help", "jugde")
    assert (done.returncode, "there is no help about 'jugde': did you mean judge" in done.stderr) == (2, True)


def test_a_narrow_terminal_breaks_no_word(monkeypatch: pytest.MonkeyPatch) -> None:
    prose = "Score a file of answers and keep it.\nMore of it."
    text = f"{prose}\n\n  ragmeter evaluate answers.jsonl  # a comment\n  run  a b c"
    formatter = HelpFormatter("ragmeter", width=26)
    monkeypatch.setattr("sys.stdout.isatty", lambda: False, raising=False)
    assert formatter._fill_text(text, 26, "") == text
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert formatter._fill_text(text, 26, "").splitlines() == [
        "Score a file of answers",
        "and keep it. More of it.",
        "",
        "  ragmeter evaluate answers.jsonl  # a comment",
        "  run  a b c",
    ]
    assert formatter._fill_text("  run  " + "word " * 5 + "word", 20, "").splitlines() == [
        "  run  word word",
        "       word word",
        "       word word",
    ]
