"""Names of runs with fields: `nightly-{n}` takes the next number, `main-{date}` the day."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from itertools import count
from pathlib import Path
from unicodedata import category

from ragmeter.errors import UsageError
from ragmeter.hints import option
from ragmeter.io.locations import Location, folders_in

#: What no file or folder of Windows has in its name; after a colon, it would be a hidden part of another file.
_NOT_ON_WINDOWS = re.compile(r'[<>:"|?*]')
#: Endings of files that ragmeter writes: beside them, a folder with such a name is taken for a file.
_FILES = (
    ".csv", ".html", ".json", ".jsonl", ".lock", ".log", ".md", ".parquet", ".png", ".sqlite", ".svg", ".tex", ".tmp",
    ".tsv", ".txt", ".xlsx", ".xml",
)  # fmt: skip
#: The bytes of a name: files that are made beside the run have it too, and 25 bytes of their own.
_LONGEST = 230
#: Control characters, line breaks, and halves of a character.
_UNSEEN = ("Cc", "Zl", "Zp", "Cs")
#: Marks that turn the direction of what follows: a name would be shown as another one.
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")
#: How the names of journals of a system's answers end, which stand beside the runs.
JOURNAL = ".journal.sqlite"
#: Names of files of ours beside a run: the journal with what SQLite keeps beside it, and the lock.
_BESIDE_RUNS = re.compile(rf".*({re.escape(JOURNAL)}(-.*)?|\.lock)", re.DOTALL)
_FIELD = re.compile(r"\{([^{}]*)\}")
#: A temporary folder of a run's files: the run's name, the process, a random part.
_LEFTOVER = re.compile(r"\.(.+)\.\d+\.\w{8}\.tmp", re.DOTALL)


def run_name(name: str, output_dir: Location, *, latest: bool = False) -> str:
    """A run's name with its fields filled in: {n} is the next free number, {date} and {time} are now.

    With `latest`, {n} is the highest number in use, be it only by a journal. Another process may take the same number:
    `runs.run_place.RunPlace.named()` takes one for good.
    """
    filled = _with_time(name)
    if "{n}" in filled:
        filled = filled.replace("{n}", str(max(_number(filled, output_dir, latest) + (not latest), 1)))
    return checked_name(filled)


def next_names(name: str, output_dir: Location) -> Iterator[str]:
    """The names with {n} filled in, one after another, from the next free number on.

    An interrupted run has no folder yet, so its number is still free, and the same command resumes it.
    """
    filled = _with_time(name)
    for number in count(_number(filled, output_dir, latest=False) + 1):
        yield checked_name(filled.replace("{n}", str(number)))


def is_numbered(name: str) -> bool:
    """Whether a name has the field {n}."""
    return "n" in _FIELD.findall(name)


def _with_time(name: str) -> str:
    """The name with {date} and {time} filled in."""
    now = datetime.now().astimezone()
    known = {"date": now.strftime("%Y-%m-%d"), "time": now.strftime("%H%M%S")}
    for field in _FIELD.findall(name):
        if field not in (*known, "n"):
            raise UsageError(
                f"{name!r}: a run's name has no field {{{field}}}", hint="there are {n}, {date} and {time}"
            )
    return _FIELD.sub(lambda match: known.get(match[1], match[0]), name)


def checked_name(name: str) -> str:
    """The name, if a folder can have it."""
    if _NOT_ON_WINDOWS.search(name) or name.lower().endswith(_FILES):
        hint = 'leave out < > : " | ? * and the ending of a file such as .csv'
        raise UsageError(f"{name!r} can't be the name of a run", hint=hint)
    if not name:
        raise UsageError("the run's name is empty", hint="is a variable not set? Without a name, a run is dated")
    if any(category(character) in _UNSEEN for character in name) or _TURNING.search(name):
        raise UsageError(f"{name!r} is not a name for a run", hint="it has a line break or another control character")
    if _BESIDE_RUNS.fullmatch(name):
        raise UsageError(f"{name!r} is not a name for a run", hint="files beside another run are called so")
    if len(name.encode()) > _LONGEST:
        raise UsageError(
            f"the run's name has {len(name.encode()):,} bytes, which is too long for a folder",
            hint=f"choose one of at most {_LONGEST} with {option('run')}",
        )
    if name in (".", "..") or re.search(r"[/\\]", name):
        raise UsageError(f"{name!r} is not a name for a run", hint="a run's name is that of a folder, without a path")
    if name != name.strip():
        raise UsageError(f"{name!r} is not a name for a run", hint="leave out the blank at its beginning or end")
    if name.startswith("."):
        raise UsageError(f"{name!r} is not a name for a run", hint="a folder that begins with a point is hidden")
    if name.startswith("-"):
        raise UsageError(f"{name!r} is not a name for a run", hint="on a command line it would be an option")
    return name


def plain_name(text: str) -> str:
    """A name made from a file's name; its braces are not fields, and a run is not hidden as the file may be."""
    plain = _NOT_ON_WINDOWS.sub("_", re.sub(r"[{}]", "_", text))
    plain = re.sub(r"^[\s.-]+|\s+$", "", plain)
    if plain.lower().endswith(_FILES):
        plain = plain.replace(".", "_")
    return "".join("_" if category(character) in _UNSEEN else character for character in plain)


def limited_name(name: str, limit: int | None) -> str:
    """A run's name with the number of questions that it is limited to, so that it does not replace the whole run."""
    return name if limit is None else f"{name}-first-{limit}"


def run_of_leftover(name: str) -> str | None:
    """The run that a temporary folder of this name belongs to; None for any other name."""
    match = _LEFTOVER.fullmatch(name)
    return None if match is None else match[1]


def _number(template: str, output_dir: Location, latest: bool) -> int:
    """The highest number of a run that matches, 0 if there is none."""
    pattern = re.compile(r"(\d+)".join(map(re.escape, template.split("{n}", 1))).replace(re.escape("{n}"), r"\1"))
    names = folders_in(output_dir)
    if latest and isinstance(output_dir, Path):  # an interrupted run has only its journal
        names += [journal.name.removesuffix(JOURNAL) for journal in output_dir.glob(f"*{JOURNAL}")]
    matches = [pattern.fullmatch(name) for name in names]
    return max((int(match[1]) for match in matches if match), default=0)
