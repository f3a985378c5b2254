"""`ragmeter runs`: all runs of a folder; `remove` and `prune` delete."""

from __future__ import annotations

import argparse
from pathlib import Path

from ragmeter.cli.options import json_option, runs_option
from ragmeter.cli.parser import Parser, command_parser
from ragmeter.errors import BusyError, UsageError
from ragmeter.io.write import dumps

_LIST = """\
The runs of a folder, the newest first:

  ragmeter runs
  ragmeter runs --search bm25 --json
  ragmeter runs tag nightly-7 baseline
  ragmeter runs --tag baseline
  ragmeter runs rename nightly-7 release-2
  ragmeter runs remove old-baseline
  ragmeter runs prune --older-than 90
"""
_REMOVE = "Delete runs for good, each with its journal."
_RENAME = "Give a run another name, with its journal, its tags and the comparisons that are kept."
_TAGS = "Attach words to a run, which stay when the run is replaced."
_PRUNE = """\
Delete what has not been used for a while: runs that were deleted in the app, journals of runs that were never finished,
replies of judges, the cache of embeddings, which all folders share. What a command is using stays. Without --yes it
only says what that would be.
"""


def parser() -> Parser:
    """The parser of `ragmeter runs`."""
    parser = command_parser("ragmeter runs", _LIST)
    parser.add_argument("--search", metavar="TEXT", default="", help="only runs with this text in their name or system")
    parser.add_argument("--tag", metavar="WORD", action="append", default=[], help="only runs with this tag")
    runs_option(parser)
    json_option(parser)
    return parser


def run(chosen: argparse.Namespace) -> int:
    """List the runs."""
    from ragmeter.runs.catalogue import catalogue
    from ragmeter.show.terminal.catalogue import show_runs

    text = chosen.search.casefold()
    entries = [
        entry
        for entry in catalogue(chosen.output_dir)
        if text in f"{entry.name}\n{entry.system}".casefold() and set(chosen.tag) <= set(entry.tags)
    ]
    if chosen.json:
        print(dumps([entry.as_dict() for entry in entries], indent=2))
    else:
        show_runs(entries, str(chosen.output_dir))
    return 0


def _yes_option(parser: Parser) -> None:
    parser.add_argument("--yes", action="store_true", help="delete; without it, only say what would be deleted")


def remove_parser() -> Parser:
    """The parser of `ragmeter runs remove`."""
    parser = command_parser("ragmeter runs remove", _REMOVE)
    parser.add_argument("runs", metavar="RUN", nargs="+", help="a run's name, or its folder")
    _yes_option(parser)
    runs_option(parser)
    return parser


def run_remove(chosen: argparse.Namespace) -> int:
    """Remove runs, each with its journal."""
    from ragmeter.runs.journals import size_of
    from ragmeter.runs.lookup import find_run
    from ragmeter.runs.trash import remove_run
    from ragmeter.show.terminal.catalogue import size

    paths = [find_run(name, chosen.output_dir).path for name in chosen.runs]  # all of them first: all or none
    for path in paths:
        if chosen.yes:
            print(f"removed: {path} ({size(remove_run(path))})")
        else:
            print(f"would be removed: {path} ({size(size_of(path))})")
    return _said(chosen)


def tag_parser() -> Parser:
    """The parser of `ragmeter runs tag`."""
    parser = command_parser("ragmeter runs tag", _TAGS)
    parser.add_argument("run", metavar="RUN", help="a run's name")
    parser.add_argument("words", metavar="WORD", nargs="*", help="without one, the tags of the run are shown")
    parser.add_argument("--remove", action="store_true", help="remove these words")
    runs_option(parser)
    return parser


def run_tag(chosen: argparse.Namespace) -> int:
    """Change a run's tags, or show them."""
    from ragmeter.runs.lookup import find_run
    from ragmeter.runs.tags import change_tags

    path = find_run(chosen.run, chosen.output_dir).path
    change = {"remove" if chosen.remove else "add": chosen.words}
    tags = change_tags(path.parent, path.name, **change)
    print(f"{path.name}: {', '.join(tags) or 'no tags'}")
    return 0


def rename_parser() -> Parser:
    """The parser of `ragmeter runs rename`."""
    parser = command_parser("ragmeter runs rename", _RENAME)
    parser.add_argument("run", metavar="RUN", help="a run's name")
    parser.add_argument("name", metavar="NAME", help="the new name, which no run has")
    runs_option(parser)
    return parser


def run_rename(chosen: argparse.Namespace) -> int:
    """Give a run another name."""
    from ragmeter.runs.lookup import find_run
    from ragmeter.runs.renaming import rename_run

    path = find_run(chosen.run, chosen.output_dir).path
    print(f"{path.name} is {rename_run(path, chosen.name).name} now")
    return 0


def prune_parser() -> Parser:
    """The parser of `ragmeter runs prune`."""
    parser = command_parser("ragmeter runs prune", _PRUNE)
    parser.add_argument(
        "--older-than", metavar="DAYS", type=float, default=30.0, help="not used for so long; default: 30"
    )
    _yes_option(parser)
    runs_option(parser)
    return parser


def run_prune(chosen: argparse.Namespace) -> int:
    """Delete what has not been used for a while."""
    from ragmeter.analysis.pruning import unneeded
    from ragmeter.show.terminal.catalogue import size
    from ragmeter.wording.numbers import given

    if not Path(chosen.output_dir).is_dir():
        raise UsageError(f"there is no folder {chosen.output_dir}/", hint="name it with --output-dir")
    things = unneeded(chosen.output_dir, chosen.older_than)
    for thing in things:
        done = "deleted" if chosen.yes else "would be deleted"
        try:
            if chosen.yes:
                thing.delete()
        except BusyError:
            done = "not deleted, since it is in use"
        print(f"{done}: {thing.path}: {thing.what} ({size(thing.size)})")
    if not things:
        print(f"nothing has been unused for {given(chosen.older_than)} days")
        return 0
    return _said(chosen)


def _said(chosen: argparse.Namespace) -> int:
    if not chosen.yes:
        print("nothing was deleted: add --yes to do so")
    return 0
