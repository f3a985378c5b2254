"""A cache of vectors in the user's cache folder: texts that were embedded before are not embedded again.

It is an SQLite file that several processes may use at once. It has hashes of texts, never the texts. If it can't be
used, a warning says so, and this run keeps its vectors in a temporary file. Every vector has a checksum: one that is
damaged is computed again, and a warning says so.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ragmeter.embedders.port import Identity, Vectors
from ragmeter.errors import BusyError

_APPLICATION = 0x52414745  # "RAGE": marks our files
_VERSION = 2
_TABLES = (
    "CREATE TABLE vectors (key BLOB PRIMARY KEY, truncated INTEGER NOT NULL, vector BLOB NOT NULL, "
    "checksum INTEGER NOT NULL)",
    "CREATE TABLE notes (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
)
_FILE = "embeddings.sqlite"
_PRIVATE = ""  # for SQLite: a temporary file that is deleted with the connection
_AT_ONCE = 500  # keys in one query
_PATIENCE = 60.0  # seconds to wait for another process's lock

#: What SQLite raises. The second is of a damaged schema, which SQLite quotes in a message that is no UTF-8.
_SQLITE_ERRORS = (sqlite3.Error, UnicodeDecodeError)

_log = logging.getLogger("ragmeter")
Result = TypeVar("Result")


def cache_folder() -> Path:
    """$RAGMETER_CACHE, or `ragmeter` in the user's cache folder."""
    if own := os.environ.get("RAGMETER_CACHE"):
        return Path(own).expanduser()
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path("~/.cache").expanduser()) / "ragmeter"


def cache_file() -> Path:
    """The file of the cache; it need not exist."""
    return cache_folder() / _FILE


def remove_cache() -> None:
    """Delete the cache. One that another process has open is a BusyError."""
    path = cache_file()
    database = sqlite3.connect(path, timeout=0, isolation_level=None)
    try:  # SQLite leaves this mode only if nobody else has the file open
        is_free = database.execute("PRAGMA journal_mode = DELETE").fetchone()[0] == "delete"
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        is_free = not isinstance(error, sqlite3.OperationalError)  # a damaged file is in nobody's use
    finally:
        database.close()
    if not is_free:
        raise BusyError(f"another process is using {path}", hint="wait until it has finished")
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)


def keys_of(identity: Identity, texts: Iterable[str]) -> list[bytes]:
    """A key for each text: a hash of everything that its vector depends on."""
    parts = [identity.backend, identity.model, identity.revision, identity.prefix, identity.endpoint]
    start = hashlib.blake2b(json.dumps(parts).encode(), digest_size=16)
    keys = []
    for text in texts:
        digest = start.copy()
        digest.update(text.encode())
        keys.append(digest.digest())
    return keys


class Cache:
    """Vectors by key. Not thread-safe: the owner must lock."""

    def __init__(self, folder: Path | None = None) -> None:
        self.path: Path | None = None
        self._database = self._open(folder)

    def get(self, keys: Sequence[bytes]) -> dict[bytes, tuple[bool, Vectors]]:
        """The known ones of these keys: whether the text was truncated, and its vector."""
        return self._careful(lambda: self._get(keys))

    def _get(self, keys: Sequence[bytes]) -> dict[bytes, tuple[bool, Vectors]]:
        vectors, damaged = {}, []
        for part in _parts(keys):
            marks = ",".join("?" * len(part))
            query = f"SELECT key, truncated, vector, checksum FROM vectors WHERE key IN ({marks})"  # noqa: S608
            for key, truncated, vector, checksum in self._database.execute(query, part):
                values = _read(key, truncated, vector, checksum)
                if values is None:
                    damaged.append((key,))
                else:
                    vectors[key] = bool(truncated), values
        if len({len(vector) for _, vector in vectors.values()}) > 1:
            raise sqlite3.DatabaseError("vectors of different lengths under one model")
        if damaged:
            self._write("DELETE FROM vectors WHERE key = ?", damaged)
            _log.warning(
                "%s in the cache of embeddings %s damaged, and computed again (%s; check the disk that it is on)",
                f"{len(damaged):,} vector{'s' * (len(damaged) > 1)}",
                "are" if len(damaged) > 1 else "is",
                self.path,
            )
        return vectors

    def put(self, vectors: Mapping[bytes, tuple[bool, Vectors]]) -> None:
        """Store vectors. Those that another process has stored meanwhile stay."""
        rows = []
        for key, (cut, vector) in vectors.items():
            content = vector.astype("<f4").tobytes()
            rows.append((key, int(cut), content, _checksum(key, int(cut), content)))
        self._careful(lambda: self._write("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?, ?)", rows))

    def remembered(self, key: str, compute: Callable[[], str]) -> str:
        """The result of `compute`, stored under `key`: computed only once."""
        query = "SELECT value FROM notes WHERE key = ?"
        row = self._careful(lambda: self._database.execute(query, (key,)).fetchone())
        if row is not None:
            return str(row[0])
        value = compute()
        self._careful(lambda: self._write("INSERT OR IGNORE INTO notes VALUES (?, ?)", [(key, value)]))
        return value

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __del__(self) -> None:
        """Close the file for those who use an embedder without closing it."""
        if hasattr(self, "_database"):
            self._database.close()

    def _write(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            self._database.executemany(statement, rows)

    def _careful(self, work: Callable[[], Result]) -> Result:
        """Do the work; if the file can't be used, do it again on a temporary one."""
        try:
            return work()
        except _SQLITE_ERRORS as error:
            if self.path is None:
                raise
            self._use_temporary(error)
            return work()

    def _open(self, folder: Path | None) -> sqlite3.Connection:
        try:
            self.path = cache_file() if folder is None else folder / _FILE
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return _connected(str(self.path))
        except (OSError, RuntimeError, *_SQLITE_ERRORS) as error:  # RuntimeError: the user has no home folder
            self._warn(error)
            return _connected(_PRIVATE)

    def _use_temporary(self, error: Exception) -> None:
        self._database.close()
        self._warn(error)
        self._database = _connected(_PRIVATE)

    def _warn(self, error: Exception) -> None:
        reason = "its schema is damaged" if isinstance(error, UnicodeDecodeError) else getattr(error, "strerror", None)
        _log.warning(
            "the cache of embeddings can't be used: %s: %s; this run caches nothing for the next "
            "(delete the file to start again, or set RAGMETER_CACHE to another folder)",
            self.path or "no folder for it",
            reason or error,
        )
        self.path = None


def _checksum(key: bytes, truncated: int, vector: bytes) -> int:
    return zlib.crc32(b"%b %d %b" % (key, truncated, vector))


def _read(key: Any, truncated: Any, vector: Any, checksum: Any) -> Vectors | None:
    """The vector of a row of the file; None if it is damaged."""
    if not (isinstance(key, bytes) and isinstance(truncated, int) and isinstance(vector, bytes)):
        return None
    if not vector or len(vector) % 4 or checksum != _checksum(key, truncated, vector):
        return None
    values = np.frombuffer(vector, dtype="<f4")
    return values if np.isfinite(values).all() else None


def _connected(where: str) -> sqlite3.Connection:
    database = sqlite3.connect(where, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
    try:
        _prepare(database)
    except BaseException:
        database.close()
        raise
    return database


def _prepare(database: sqlite3.Connection) -> None:
    """Check that the file is a cache of ours, and set it up if it is new."""
    if database.execute("PRAGMA user_version").fetchone()[0] == 0:
        with database:
            database.execute("BEGIN IMMEDIATE")  # if two processes start at once, the second sees the tables
            if not database.execute("SELECT 1 FROM sqlite_master").fetchone():
                for table in _TABLES:
                    database.execute(table)
                database.execute(f"PRAGMA application_id = {_APPLICATION}")
                database.execute(f"PRAGMA user_version = {_VERSION}")
    application, version = (
        database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
    )
    if application != _APPLICATION:
        raise sqlite3.DatabaseError("this is not a ragmeter cache")
    if version != _VERSION:
        raise sqlite3.DatabaseError(f"it has version {version}, and this ragmeter knows {_VERSION}")
    database.execute("PRAGMA journal_mode = WAL")  # readers don't wait for a writer
    database.execute("PRAGMA synchronous = NORMAL")


def _parts(keys: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    return (keys[start : start + _AT_ONCE] for start in range(0, len(keys), _AT_ONCE))
