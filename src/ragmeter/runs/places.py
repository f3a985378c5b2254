"""Where a run's files are put: whole, by one writer at a time, and over a kill at any moment.

New files are written to a temporary folder. If there is no run yet, the folder becomes the run by one rename. In a
folder that exists, one rename makes the temporary folder `.replacing` or `.adding` in it. From this moment on the new
files count: whoever comes next, be it only to read, moves those into place that a killed process has not moved.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path

from ragmeter.errors import BusyError, RagmeterError
from ragmeter.io.locations import Location
from ragmeter.io.lock import file_lock, is_lock, real_path
from ragmeter.io.names import run_of_leftover
from ragmeter.io.write import WRITTEN
from ragmeter.runs.layout import COMPARISONS, MANIFEST, ROWS, writing
from ragmeter.runs.status import clear_statuses

#: New files that are complete: in place of all of the folder's files but journals, or beside them.
REPLACING, ADDING = ".replacing", ".adding"
_LOCK = ".lock"
#: Single files that were being written.
_UNFINISHED = re.compile(r"\..+\.\d+\.tmp", re.DOTALL)


@contextmanager
def hold(path: Location, doing: str, *, asks: bool = False, wait: bool = True) -> Iterator[None]:
    """Be the only one who writes to a run's folder, which need not exist. First finish or remove what a kill has left.

    A holder that only computes is waited for, unless `wait` is false; one that asks a server (`asks`) is a BusyError
    for others. In a store there are no locks.
    """
    if not isinstance(path, Path):
        yield
        return
    path = real_path(path)
    place = _lock_file(path)
    created = [folder for folder in (place.parent, *place.parent.parents) if not folder.exists()]
    try:
        with writing(path):
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with file_lock(place, f"this run, {path.name}", doing, asks=asks, wait=wait) as is_first:
            if is_first:
                _clear(path)
                _clear_others(path.parent)
            yield
    finally:
        for folder in created:
            with suppress(OSError):  # only if it is empty: nothing was written
                folder.rmdir()


def is_held(path: Path) -> bool:
    """Whether a process is at work on a run's folder, which need not exist."""
    lock = _lock_file(real_path(path))
    if not lock.exists():
        return False
    try:
        with file_lock(lock, path.name, "looks at it", wait=False):
            return False
    except BusyError:
        return True


def hold_for(file: Path, doing: str) -> AbstractContextManager[None]:
    """Hold the run that this file belongs to, if it is in a run's folder."""
    return hold(file.parent, doing) if (file.parent / MANIFEST).is_file() else nullcontext()


def settle(path: Path) -> None:
    """Finish what a killed process has begun to move into place; waits for one that is alive and does it right now."""

    def is_settled() -> bool:
        return not _is_unsettled(path)

    if not is_settled():
        path = real_path(path)
        lock = file_lock(_lock_file(path), f"this run, {path.name}", "settles it", until=is_settled)
        with suppress(RagmeterError), lock as is_first:  # where this user can't, the reader says what is missing
            if is_first:
                _clear(path)


def temporary_folder(path: Path) -> Path:
    """A new folder for the files of a run, on the same file system. It is its owner's only."""
    path = real_path(path)
    parent = path.parent
    if path.is_dir() and (path.stat().st_dev != parent.stat().st_dev or not os.access(parent, os.W_OK)):
        parent = path
    return Path(tempfile.mkdtemp(prefix=f".{path.name}.{os.getpid()}.", suffix=".tmp", dir=parent))


def put(new: Path, path: Path, *, beside: bool) -> None:
    """Make the files of the folder `new` those of the run: `beside` those that it has, or in their place.

    Journals stay in any case: their replies were paid for.
    """
    real = real_path(path)
    if not real.exists():
        new.rename(real)
        WRITTEN[str(path)] = None
        return
    new.rename(real / (ADDING if beside else REPLACING))
    WRITTEN[str(path)] = None
    _move_in(real)


def _move_in(path: Path) -> None:
    """Move new files into place. Every step may be done again after a kill, and then does nothing new."""
    replacing, adding = path / REPLACING, path / ADDING
    if replacing.is_dir():
        staying = {REPLACING, _LOCK, *(file.name for file in replacing.iterdir())}
        for file in path.iterdir():
            if file.name not in staying and not is_journal(file):
                _remove(file)
        replacing.rename(adding)
    if adding.is_dir():
        for file in sorted(adding.iterdir(), key=lambda file: file.name == MANIFEST):  # the manifest last
            target = path / file.name
            if target.is_dir() and not target.is_symlink():
                shutil.rmtree(target)
            file.replace(target)
        adding.rmdir()


def is_journal(file: Path) -> bool:
    """Whether a file is a journal, or one of those that SQLite keeps beside it."""
    return file.suffix.startswith(".sqlite")


def _is_unsettled(path: Path) -> bool:
    return any(os.path.isdir(os.path.join(path, name)) for name in (ADDING, REPLACING))  # noqa: PTH112, PTH118


def _clear(path: Path) -> None:
    """Finish what was complete, and remove what was not. Only the holder of the lock may do so."""
    with writing(path):
        if path.is_dir():
            _move_in(path)
            for folder in (path, path / COMPARISONS):
                for file in _listed(folder):
                    if _UNFINISHED.fullmatch(file.name) and file.is_file():
                        _remove(file)
        for folder in (*_leftovers(path.parent, path.name), *_leftovers(path, path.name)):
            _remove(folder)


def _clear_others(parent: Path) -> None:
    """Clear up after the other runs of a folder, as far as no process is at work on them."""
    clear_statuses(parent)
    for name in {run_of_leftover(folder.name) for folder in _leftovers(parent)}:
        path = parent / str(name)
        with (
            suppress(RagmeterError),
            file_lock(_lock_file(path), path.name, "clears up", wait=False, certain=True) as is_first,
        ):
            if is_first:
                _clear(path)
    for file in _listed(parent):
        if file.name.startswith(".") and file.suffix == _LOCK and is_lock(file):
            with suppress(RagmeterError), file_lock(file, file.name, "clears up", wait=False, certain=True):
                pass  # which removes the file


def _leftovers(parent: Path, name: str | None = None) -> list[Path]:
    """Temporary folders of this run, or of any. A folder of such a name that holds other files is not ours."""
    folders = []
    for folder in _listed(parent):
        run = run_of_leftover(folder.name)
        if run is not None and name in (None, run) and folder.is_dir():
            files = {file.name for file in _listed(folder)}
            if not files or files & {ROWS, MANIFEST}:
                folders.append(folder)
    return folders


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _remove(file: Path) -> None:
    if file.is_dir() and not file.is_symlink():
        shutil.rmtree(file, ignore_errors=True)
    else:
        file.unlink(missing_ok=True)


def _lock_file(path: Path) -> Path:
    """Beside the folder, which need not exist; in it, where nothing can be written beside it."""
    if path.is_dir() and not os.access(path.parent, os.W_OK):
        return path / _LOCK
    return path.with_name(f".{path.name}{_LOCK}")
