"""Deleted runs: out of the list, and there to be restored until `ragmeter runs prune` deletes them for good."""

from __future__ import annotations

import secrets
import shutil
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ragmeter.documents.record import Record
from ragmeter.errors import RagmeterError, UnknownNameError, UsageError
from ragmeter.io.lock import file_lock
from ragmeter.io.write import dumps
from ragmeter.runs.baselines import read_baselines, replace_baseline, set_baseline
from ragmeter.runs.documents import read_record
from ragmeter.runs.journals import journals_of, size_of
from ragmeter.runs.layout import writing
from ragmeter.runs.places import hold, settle
from ragmeter.runs.run import Run
from ragmeter.runs.tags import change_tags, read_tags

#: The folder beside the runs. In it each deleted run has a folder with the run, its journal, and what was said of it.
TRASH = ".trash"
_RUN, _ABOUT = "run", "deleted.json"
_HINT = "move the run out of this folder by hand, or delete the folder"


class About(Record, frozen=True):
    """What was said of a run that is deleted."""

    run: str
    deleted: str  # when, as ISO 8601 in UTC
    tags: list[str]
    baseline_of: list[str]  # question sets


@dataclass(frozen=True)
class DeletedRun:
    """A run that can be restored."""

    path: Path
    name: str
    deleted: str

    @property
    def days(self) -> float:
        """How long ago it was deleted."""
        with suppress(ValueError, TypeError):
            return (datetime.now(UTC) - datetime.fromisoformat(self.deleted)).total_seconds() / 86_400
        return 0.0


def delete_run(path: Path) -> Path:
    """Move a run with its journal to the trash; returns its folder there. One that is being written is a BusyError."""
    Run.at(path)
    with hold(path, "deletes it", asks=True, wait=False):
        settle(path)
        Run.at(path)  # another process may have deleted it meanwhile
        if path.is_symlink():
            raise UsageError(f"{path} is a link to a run in another folder", hint="delete it there")
        folder = path.parent
        sets = [questions for questions, run in read_baselines(folder).items() if run == path.name]
        about = About(path.name, datetime.now(UTC).isoformat(timespec="seconds"), _tags_of(path), sets)
        place = folder / TRASH / secrets.token_hex(8)
        with writing(place):
            place.mkdir(mode=0o700, parents=True)
            (place / _ABOUT).write_text(dumps(about, indent=2) + "\n", encoding="utf-8")
            path.rename(place / _RUN)  # from here on it is deleted
            for file in journals_of(path):
                file.rename(place / file.name)
        if about.tags:
            change_tags(folder, path.name, remove=about.tags)
        replace_baseline(folder, path.name, None)
    return place


def remove_run(path: Path) -> int:
    """Delete a run with its journal for good; returns how many bytes that freed."""
    place = delete_run(path)
    freed = size_of(place)
    empty(place)
    return freed


def empty(place: Path) -> None:
    """Delete a deleted run for good."""
    with _held(place):
        shutil.rmtree(place, ignore_errors=True)
    with suppress(OSError):
        place.parent.rmdir()  # if it was the last one


def deleted_runs(folder: Path) -> list[DeletedRun]:
    """The runs that can be restored, the last deleted first."""
    runs = []
    for path in (folder / TRASH).glob("*/"):
        with suppress(RagmeterError):
            about = read_record(path / _ABOUT, About, _HINT)
            if (path / _RUN).is_dir():
                runs.append(DeletedRun(path, about.run, about.deleted))
    return sorted(runs, key=lambda run: (run.deleted, run.name), reverse=True)


def restore_run(folder: Path, key: str) -> Path:
    """Put a deleted run back under its name. `key` is the name of its folder in the trash."""
    keys = [run.path.name for run in deleted_runs(folder)]
    if key not in keys:
        raise UnknownNameError("deleted run", key[:100], [], hint="it was restored, or deleted for good")
    place = folder / TRASH / key
    with _held(place):
        about = read_record(place / _ABOUT, About, _HINT)
        path = folder / about.run
        if path.parent != folder or path.name.startswith("."):  # somebody has changed the document
            raise UsageError(f"{about.run[:100]!r} is not a name for a run", hint=_HINT)
        with hold(path, "restores it", asks=True, wait=False), writing(path):
            if path.exists() or journals_of(path):
                raise UsageError(
                    f"there is another run {path.name} meanwhile", hint="rename that one, then restore this one"
                )
            for file in place.iterdir():
                if file.name not in (_RUN, _ABOUT):
                    file.rename(folder / file.name)
            (place / _RUN).rename(path)
            if about.tags:
                change_tags(folder, path.name, add=about.tags)
            for questions in set(about.baseline_of) - read_baselines(folder).keys():
                set_baseline(folder, questions, path.name)
        shutil.rmtree(place, ignore_errors=True)
    with suppress(OSError):
        place.parent.rmdir()
    return path


def _held(place: Path) -> AbstractContextManager[bool]:
    return file_lock(place.with_name(f".{place.name}.lock"), "a deleted run", "restores or deletes it", wait=False)


def _tags_of(path: Path) -> list[str]:
    return read_tags(path.parent).get(path.name, [])
