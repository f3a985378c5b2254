"""Vectors of texts that were embedded before, in the user's cache folder.

An SQLite file that any number of processes may use at once. It holds hashes of texts, never the texts. A cache is a
comfort: where it can't be used a warning says so, and this run keeps its vectors in a file of its own.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from ragmeter.embedders.port import Identity, Vectors

_APPLICATION = 0x52414745  # "RAGE": how we know our own files
_VERSION = 1
_TABLES = (
    "CREATE TABLE vectors (key BLOB PRIMARY KEY, truncated INTEGER NOT NULL, vector BLOB NOT NULL)",
    "CREATE TABLE notes (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
)
_FILE = "embeddings.sqlite"
_PRIVATE = ""  # SQLite's own word for a file that nobody else sees, and that goes with the connection
_AT_ONCE = 500  # keys in one question
_PATIENCE = 60.0  # seconds that another process may take for its part

_log = logging.getLogger("ragmeter")
Result = TypeVar("Result")


def cache_folder() -> Path:
    """Where things lie that can be had again: $RAGMETER_CACHE, or `ragmeter` in the user's cache folder."""
    if own := os.environ.get("RAGMETER_CACHE"):
        return Path(own).expanduser()
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path("~/.cache").expanduser()) / "ragmeter"


def keys_of(identity: Identity, texts: Iterable[str]) -> list[bytes]:
    """A key for each text: a hash of all that its vector depends on."""
    parts = [identity.backend, identity.model, identity.revision, identity.prefix, identity.endpoint]
    start = hashlib.blake2b(json.dumps(parts).encode(), digest_size=16)
    found = []
    for text in texts:
        each = start.copy()
        each.update(text.encode())
        found.append(each.digest())
    return found


class Cache:
    """Vectors by key. Not for several threads at once: whoever has it keeps the others out."""

    def __init__(self, folder: Path | None = None) -> None:
        self.path: Path | None = None
        self._database = self._open(folder)

    def get(self, keys: Sequence[bytes]) -> dict[bytes, tuple[bool, Vectors]]:
        """What is known of these keys: whether the text was cut, and its vector."""
        return self._careful(lambda: self._get(keys))

    def _get(self, keys: Sequence[bytes]) -> dict[bytes, tuple[bool, Vectors]]:
        found = {}
        for part in _parts(keys):
            marks = ",".join("?" * len(part))
            asked = f"SELECT key, truncated, vector FROM vectors WHERE key IN ({marks})"  # noqa: S608
            for key, truncated, vector in self._database.execute(asked, part):
                values = np.frombuffer(vector, dtype="<f4") if len(vector) % 4 == 0 else np.zeros(0, dtype="<f4")
                if len(values) and np.isfinite(values).all():  # what is damaged is embedded again
                    found[key] = bool(truncated), values
        if len({len(vector) for _, vector in found.values()}) > 1:
            raise sqlite3.DatabaseError("vectors of different lengths under one model")
        return found

    def put(self, vectors: Mapping[bytes, tuple[bool, Vectors]]) -> None:
        """Keep vectors. What another process has put there meanwhile stays."""
        rows = [(key, int(cut), vector.astype("<f4").tobytes()) for key, (cut, vector) in vectors.items()]
        self._careful(lambda: self._write("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", rows))

    def remembered(self, key: str, compute: Callable[[], str]) -> str:
        """A text that is costly to find, found once."""
        asked = "SELECT value FROM notes WHERE key = ?"
        known = self._careful(lambda: self._database.execute(asked, (key,)).fetchone())
        if known is not None:
            return str(known[0])
        value = compute()
        self._careful(lambda: self._write("INSERT OR IGNORE INTO notes VALUES (?, ?)", [(key, value)]))
        return value

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def __del__(self) -> None:
        """Whoever scores a few texts by hand closes nothing, and need not."""
        if hasattr(self, "_database"):
            self._database.close()

    def _write(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            self._database.executemany(statement, rows)

    def _careful(self, work: Callable[[], Result]) -> Result:
        """Do it; if the file turns out to be of no use, go on without it."""
        try:
            return work()
        except sqlite3.Error as error:
            if self.path is None:
                raise
            self._do_without(error)
            return work()

    def _open(self, folder: Path | None) -> sqlite3.Connection:
        try:
            self.path = (folder or cache_folder()) / _FILE
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return _connected(str(self.path))
        except (OSError, RuntimeError, sqlite3.Error) as error:  # a user without a home is a RuntimeError
            self._warn(error)
            return _connected(_PRIVATE)

    def _do_without(self, error: Exception) -> None:
        self._database.close()
        self._warn(error)
        self._database = _connected(_PRIVATE)

    def _warn(self, error: Exception) -> None:
        _log.warning(
            "the cache of embeddings can't be used: %s: %s; this run does without, and keeps nothing for the next "
            "(delete the file to begin anew, or set RAGMETER_CACHE to another folder)",
            self.path or "no folder for it",
            getattr(error, "strerror", None) or error,
        )
        self.path = None


def _connected(where: str) -> sqlite3.Connection:
    database = sqlite3.connect(where, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
    try:
        _prepare(database)
    except BaseException:
        database.close()
        raise
    return database


def _prepare(database: sqlite3.Connection) -> None:
    """See that the file is a cache of ours, and make it one if it is new."""
    if database.execute("PRAGMA user_version").fetchone()[0] == 0:
        with database:
            database.execute("BEGIN IMMEDIATE")  # of two that begin at once, the second finds the work done
            if not database.execute("SELECT 1 FROM sqlite_master").fetchone():
                for table in _TABLES:
                    database.execute(table)
                database.execute(f"PRAGMA application_id = {_APPLICATION}")
                database.execute(f"PRAGMA user_version = {_VERSION}")
    application, version = (database.execute(f"PRAGMA {name}").fetchone()[0] for name in _MARKS)
    if application != _APPLICATION:
        raise sqlite3.DatabaseError("this is not a cache of ragmeter's")
    if version != _VERSION:
        raise sqlite3.DatabaseError(f"it has version {version}, and this ragmeter knows {_VERSION}")
    database.execute("PRAGMA journal_mode = WAL")  # readers need not wait for a writer
    database.execute("PRAGMA synchronous = NORMAL")


_MARKS = ("application_id", "user_version")


def _parts(keys: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    return (keys[start : start + _AT_ONCE] for start in range(0, len(keys), _AT_ONCE))
