"""The number of each run's colour: runs of the same questions, in the order of their creation. Kept beside the runs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragmeter.errors import BusyError, InputError, OutputError
from ragmeter.runs.folder_documents import changing, read_document, read_or_warn
from ragmeter.runs.layout import MANIFEST, SUMMARY

if TYPE_CHECKING:
    from ragmeter.runs.run import Run

COLOURS = "colours.json"
#: When a run was made, and the fingerprint of its questions.
Made = tuple[str, str]
_HINT = "delete the file: it has nothing but the colours of runs"


def read_colours(folder: Path) -> dict[str, int]:
    """The numbers that are kept, by run."""
    return read_or_warn(folder / COLOURS, _read)


def _read(path: Path) -> dict[str, int]:
    should_be = "an object with a number for each run"
    return read_document(path, lambda number: type(number) is int, should_be, _HINT)


def keep_colours(folder: Path, made: Mapping[str, Made]) -> None:
    """Keep the numbers of new runs, so that they are the same after others are deleted. Not where nobody may write."""
    if made.keys() - read_colours(folder).keys():
        with (
            suppress(InputError, OutputError, BusyError, OSError),
            changing(folder / COLOURS, "the colours", _read) as kept,
        ):
            kept.update(_numbered(kept, made))


def rename_colour(folder: Path, run: str, other: str) -> None:
    """Let a run that is renamed have its colour still."""
    if run in read_colours(folder):
        with changing(folder / COLOURS, "the colours", _read) as kept:
            kept[other] = kept.pop(run)


def colours_of(runs: Sequence[Run]) -> list[int]:
    """The number of each run's colour; runs of several folders are numbered as they come."""
    folder = runs[0].folder if runs else None
    if folder is None or any(run.folder != folder for run in runs):
        return [*range(len(runs))]
    numbers = read_colours(folder)
    if any(run.name not in numbers for run in runs):
        numbers = _numbered(numbers, _made(path.parent for path in folder.glob(f"*/{MANIFEST}")))
    return [numbers.get(run.name, place) for place, run in enumerate(runs)]


def _numbered(known: Mapping[str, int], made: Mapping[str, Made]) -> dict[str, int]:
    """The known numbers, and the next ones of their questions for new runs: the older run has the lower one."""
    numbers, last = dict(known), Counter[str]()
    for name in known.keys() & made.keys():
        last[made[name][1]] = max(last[made[name][1]], known[name])
    for name in sorted(made.keys() - known.keys(), key=lambda name: (made[name], name)):
        last[made[name][1]] += 1
        numbers[name] = last[made[name][1]]
    return numbers


def _made(paths: Iterable[Path]) -> dict[str, Made]:
    """When each run was made, and of which questions; those that can't be read come first, as in the list of runs."""
    made = {}
    for path in paths:
        manifest = _object(path / MANIFEST)
        questions = _object(path / str(manifest.get("files_in") or "") / SUMMARY).get("questions")
        fingerprint = questions.get("fingerprint") if isinstance(questions, dict) else ""
        made[path.name] = str(manifest.get("created") or ""), str(fingerprint or "")
    return made


def _object(path: Path) -> dict[str, Any]:
    """A JSON object; an empty one where there is none."""
    with suppress(OSError, ValueError, RecursionError):
        document = json.loads(path.read_text(encoding="utf-8"))
        return document if isinstance(document, dict) else {}
    return {}
