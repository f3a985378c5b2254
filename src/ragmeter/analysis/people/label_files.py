"""The files of labels of a run: one for each person, and one for what people have agreed on where they differed."""

from __future__ import annotations

import glob
import hashlib
import re
from pathlib import Path

from ragmeter.analysis.people.labels import AGREED
from ragmeter.errors import UsageError
from ragmeter.io.cells import whole

#: What file names don't have: of a run's name, and of a person's.
_NOT_OF_RUNS, _NOT_OF_PEOPLE = re.compile(r"[^\w-]+"), re.compile(r"\W+")
_OF_A_PERSON = re.compile(r"\w+(?:-[0-9a-f]{8})?")
_LONGEST_NAME = 40
#: The file of somebody without a name.
_NAMELESS = "me"


def labels_path(folder: Path, run: str, rater: str) -> Path:
    """The file of one person's labels of a run. Neither name becomes a path: other characters are replaced.

    A person's has no hyphen, but before a hash: so that `x-y` of the run `base` is not `y` of the run `base-x`.
    """
    name = whole(rater).strip() if rater else _NAMELESS
    if not name:
        raise UsageError("labels need a person's name, and this one has no letter")
    if name.casefold() == AGREED:
        raise UsageError(f"{name!r} is the name of labels that people agreed on", hint="choose another name")
    return _path(folder, run, name)


def agreed_path(folder: Path, run: str) -> Path:
    """The file of the labels that people agreed on after they had labelled a row differently."""
    return _path(folder, run, AGREED)


def questions_path(folder: Path, run: str) -> Path:
    """The file of what people say of a test set's questions."""
    return folder / f"questions-{_plain(run, _NOT_OF_RUNS)}.csv"


def label_files(folder: Path, run: str) -> list[Path]:
    """All files of labels of a run, that of agreed labels among them."""
    begin = prefix_of(run)
    files = sorted(folder.glob(f"{glob.escape(begin)}*.csv"))
    return [file for file in files if _OF_A_PERSON.fullmatch(file.stem.removeprefix(begin))]


def prefix_of(run: str) -> str:
    """How the names of the files of a run's labels begin."""
    return f"labels-{_plain(run, _NOT_OF_RUNS)}-"


def _path(folder: Path, run: str, name: str) -> Path:
    return folder / f"{prefix_of(run)}{_plain(name, _NOT_OF_PEOPLE)}.csv"


def _plain(name: str, replaced: re.Pattern[str]) -> str:
    """A name for a file; where characters had to be replaced or cut, a hash keeps it distinct."""
    plain = replaced.sub("_", name)[:_LONGEST_NAME]
    return plain if plain == name else f"{plain}-{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}"
