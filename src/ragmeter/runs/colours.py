"""The number of each run's colour: runs of a folder in the order of their creation. Kept beside the runs once it is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ragmeter.errors import BusyError, InputError, OutputError
from ragmeter.runs.folder_documents import changing, read_document, read_or_warn
from ragmeter.runs.layout import MANIFEST

if TYPE_CHECKING:
    from ragmeter.runs.run import Run

COLOURS = "colours.json"
_HINT = "delete the file: it has nothing but the colours of runs"


def read_colours(folder: Path) -> dict[str, int]:
    """The numbers that are kept, by run."""
    return read_or_warn(folder / COLOURS, _read)


def _read(path: Path) -> dict[str, int]:
    should_be = "an object with a number for each run"
    return read_document(path, lambda number: type(number) is int, should_be, _HINT)


def keep_colours(folder: Path, created: Mapping[str, str]) -> None:
    """Keep the numbers of new runs, so that they are the same after others are deleted. Not where nobody may write."""
    if created.keys() - read_colours(folder).keys():
        with (
            suppress(InputError, OutputError, BusyError, OSError),
            changing(folder / COLOURS, "the colours", _read) as kept,
        ):
            kept.update(_numbered(kept, created))


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
        unknown = (path.parent for path in folder.glob(f"*/{MANIFEST}") if path.parent.name not in numbers)
        numbers = _numbered(numbers, _created(unknown))
    return [numbers.get(run.name, place) for place, run in enumerate(runs)]


def _numbered(known: Mapping[str, int], created: Mapping[str, str]) -> dict[str, int]:
    """The known numbers, and the next ones for new runs: the older run has the lower one."""
    new = sorted(created.keys() - known.keys(), key=lambda name: (created[name], name))
    return {**known, **{name: number for number, name in enumerate(new, max(known.values(), default=0) + 1)}}


def _created(paths: Iterable[Path]) -> dict[str, str]:
    """When each run was made; those that can't be read come first, as in the list of runs."""
    created = {}
    for path in paths:
        manifest = None
        with suppress(OSError, ValueError, RecursionError):
            manifest = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
        made = manifest.get("created") if isinstance(manifest, dict) else ""
        created[path.name] = made if isinstance(made, str) else ""
    return created
