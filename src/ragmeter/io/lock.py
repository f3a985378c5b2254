"""The operating system's lock on a file: it ends with the process that holds it, however that ends.

The file says who holds the lock. A process that only computes is waited for; one that asks a server may take hours,
so a second process learns at once who is at work.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from ragmeter.errors import BusyError, OutputError
from ragmeter.hints import option
from ragmeter.io.progress import show_notice
from ragmeter.io.write import remedy

#: Seconds to wait for the same process, and after which a person is told what the wait is for.
_PATIENCE, _SILENCE = 600.0, 3.0
#: Seconds until the file's text counts: a new holder writes it after it has locked the file.
_GRACE = 0.3
_POLL = 0.02
#: How often at most a lock is tried in a row, while others remove its file or its folder.
_ATTEMPTS = 100
#: Some network file systems have no locks: there, as before, nothing stops a second process.
_NO_LOCKS = {errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.ENOLCK}
#: The locks of this thread. Another thread is a second writer, as another process is.
_OWN = threading.local()
_DESCRIPTORS: set[int] = set()


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lock, as the file says: in it every value may be missing but that there is a process."""

    process: int
    host: str | None
    since: str | None
    doing: str | None
    asks: bool | None


@contextmanager
def file_lock(
    path: Path,
    what: str,
    doing: str,
    *,
    asks: bool = False,
    wait: bool = True,
    certain: bool = False,
    until: Callable[[], bool] | None = None,
) -> Iterator[bool]:
    """Hold the lock of the file `path`, which is made for it and removed at the end. Yields False within itself.

    `what` is locked, by a process that is `doing` something; `asks` says that this may take hours. Without `wait`, a
    lock that is taken is a BusyError at once, and if `certain`, so is one of which that can't be known; waiting ends,
    too, when `until` is true: then this yields False.
    """
    own: set[Path] = _OWN.__dict__.setdefault("locks", set())
    if path in own:
        yield False
        return
    descriptor = _wait_for(path, what, wait=wait, certain=certain, until=until)
    if descriptor is None:
        yield False
        return
    own.add(path)
    try:
        _sign(descriptor, doing, asks=asks)
        yield True
    finally:
        own.discard(path)
        with suppress(OSError):  # some systems remove no open file; one that stays is not locked
            path.unlink()
        _close(descriptor)


def real_path(path: Path) -> Path:
    """The file or folder by the one name that all have in common who write to it, where `path` is a link."""
    return Path(os.path.realpath(path))


def is_lock(path: Path) -> bool:
    """Whether this file was made by `file_lock`."""
    return _holder(path) is not None


def _wait_for(path: Path, what: str, *, wait: bool, certain: bool, until: Callable[[], bool] | None) -> int | None:
    """The open and locked file; None if what it was needed for has happened meanwhile."""
    holder: Holder | None = None
    begun = time.monotonic()
    is_announced = False
    while True:
        descriptor = _try(path, certain=certain)
        if descriptor is not None:
            return descriptor
        if until is not None and until():
            return None
        current = _holder(path)
        if current != holder:
            holder, begun = current, time.monotonic()
        waited = time.monotonic() - begun
        if not wait or waited > (_GRACE if holder is not None and holder.asks else _PATIENCE):
            raise BusyError(
                f"another process is working on {what}: {_described(holder)}",
                hint="wait until it has finished, or choose another name or folder for this output",
            )
        if waited > _SILENCE and not is_announced:
            show_notice(f"waiting for {what}: {_described(holder)} is working on it")
            is_announced = True
        time.sleep(_POLL)


def _try(path: Path, *, certain: bool) -> int | None:
    """Lock the file, or return None if another process has locked it; if `certain`, also if that can't be known."""
    for _ in range(_ATTEMPTS):
        try:
            descriptor = _open(path)
        except OSError as error:
            raise _not_written(path, error) from error
        if descriptor is None:
            continue
        _DESCRIPTORS.add(descriptor)
        is_locked = _lock(descriptor)
        if is_locked is False or (is_locked is None and certain):
            _close(descriptor)
            return None
        with suppress(OSError):
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        _close(descriptor)  # its last holder removed the file after it was opened here
    return None  # it is made and removed all the time: somebody else is at work


def _open(path: Path) -> int | None:
    """The open file; None if another process has removed its folder meanwhile, which is there again now."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return None
    except PermissionError as error:  # another user's, in a folder of several; to lock it, reading is enough
        try:
            return os.open(path, os.O_RDONLY)
        except FileNotFoundError:  # it can't be made
            raise error from None


def _not_written(path: Path, error: OSError) -> OutputError:
    elsewhere = f"choose another folder with {option('output_dir')}"
    if isinstance(error, PermissionError):
        own = "change its permissions, or copy what you need to a folder of your own, and name that with"
        return OutputError(f"can't write into {path.parent}: {error.strerror}", hint=f"{own} {option('output_dir')}")
    return OutputError(f"can't write {path}: {error.strerror or error}", hint=remedy(error, elsewhere))


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> bool | None:
        os.lseek(descriptor, 1 << 30, os.SEEK_SET)  # beyond the text, which others read
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _lock(descriptor: int) -> bool | None:
        """Whether the file is locked for this process now; None where there are no locks."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise OutputError(f"can't lock a file: {error.strerror}") from error
            return None
        return True


def _sign(descriptor: int, doing: str, *, asks: bool) -> None:
    """Write down who holds the lock. No arguments of the command: there may be a key among them."""
    since = datetime.now().astimezone().isoformat(timespec="seconds")
    holder = Holder(os.getpid(), socket.gethostname(), since, doing, asks=asks)
    with suppress(OSError):  # a full disk; the lock holds all the same
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, json.dumps(asdict(holder)).encode())


def _holder(path: Path) -> Holder | None:
    """Who holds the lock; None if that is not written down (yet)."""
    try:
        written = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(written, dict) or "process" not in written:
        return None
    host, since, doing, asks = map(written.get, ("host", "since", "doing", "asks"))
    return Holder(written["process"], host, since, doing, asks=asks)


def _described(holder: Holder | None) -> str:
    if holder is None:
        return "it has not said which"
    return f"process {holder.process} on {holder.host}, since {holder.since} ({holder.doing})"


def _close(descriptor: int) -> None:
    _DESCRIPTORS.discard(descriptor)
    os.close(descriptor)


def _forget() -> None:
    """A forked child has copies of the open files, and a lock lasts until the last of them is closed."""
    for descriptor in list(_DESCRIPTORS):
        with suppress(OSError):
            _close(descriptor)
    _OWN.__dict__.pop("locks", None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
