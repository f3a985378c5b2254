"""`ragmeter demo`: the main job on the examples that come with ragmeter, in a folder of its own."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
from pathlib import Path

import ragmeter
from ragmeter.cli.commands import COMMANDS
from ragmeter.cli.parser import Parser, command_parser
from ragmeter.errors import OutputError, UsageError

_FOLDER = Path("ragmeter-demo")
#: The examples, in a wheel and in a clone of the repository.
_PLACES = (Path(ragmeter.__file__).parent / "examples" / "nq", Path(ragmeter.__file__).parents[2] / "examples" / "nq")
_COMMANDS = (
    ("evaluate", "search.jsonl", "reference.jsonl", "--run", "search"),
    ("evaluate", "reader.jsonl", "reference.jsonl", "--run", "reader"),
    ("compare", "reader", "search"),
    ("report", "reader", "search"),
)
_DESCRIPTION = """\
Show the main job on examples that come with ragmeter: 200 questions of Natural Questions, with the answers of two
systems. Each is evaluated, the two are compared, and the report is written. It needs no network and no model, and takes
a few seconds. The examples are written into a folder of their own, so that you can try other commands on them.
"""


def parser() -> Parser:
    """The parser of `ragmeter demo`."""
    parser = command_parser("ragmeter demo", _DESCRIPTION)
    parser.add_argument(
        "folder", metavar="FOLDER", nargs="?", type=Path, default=_FOLDER, help=f"a new folder; default: {_FOLDER}"
    )
    return parser


def run(chosen: argparse.Namespace) -> int:
    """Write the examples, run the commands there, and say what to open."""
    folder: Path = chosen.folder
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there already", hint="name another folder: ragmeter demo FOLDER")
    source = next((place for place in _PLACES if place.is_dir()), None)
    if source is None:
        raise UsageError("the examples are not here", hint="install ragmeter anew: they are part of its wheel")
    try:
        shutil.copytree(source, folder, dirs_exist_ok=True)
    except OSError as error:
        raise OutputError(f"can't write {folder}: {error}", hint="name another folder: ragmeter demo FOLDER") from None
    back = Path.cwd()
    print(f"$ cd {shlex.quote(str(folder))}")
    os.chdir(folder)
    try:
        for name, *arguments in _COMMANDS:
            print(f"\n$ ragmeter {shlex.join((name, *arguments))}", flush=True)
            if code := COMMANDS[name].call(arguments):
                return code
    finally:
        os.chdir(back)
    print(f"\nopen {folder / 'report.html'} in a browser")
    print(f"next: `cd {shlex.quote(str(folder))}`, `ragmeter explain search nq113`, `ragmeter app`")
    return 0
