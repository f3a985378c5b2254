"""The file of a journal: an SQLite database with a checksum in every row. It is checked whenever it is opened.

A reply that is damaged is removed, and a warning says so: it is asked for again. Damage elsewhere is an error that
names the file.
"""

from __future__ import annotations

import os
import sqlite3
import warnings
import zlib
from pathlib import Path
from typing import Any

from ragmeter.errors import BusyError, InputError, OutputError, RagmeterWarning
from ragmeter.hints import by_caller, option

_APPLICATION = 0x5241474D  # "RAGM": marks our files
_VERSION = 2
_TABLES = {
    "replies": """(
        key TEXT PRIMARY KEY,
        body TEXT NOT NULL,
        prompt_tokens INTEGER,
        completion_tokens INTEGER,
        cost REAL,
        latency_ms REAL NOT NULL,
        attempts INTEGER NOT NULL,
        at TEXT NOT NULL,
        checksum INTEGER NOT NULL DEFAULT -1
    ) WITHOUT ROWID""",
    # Calls and cost of all attempts of a run, failed ones included: a budget is for the run, not for one command.
    "spending": """(
        scope TEXT PRIMARY KEY,
        calls INTEGER NOT NULL,
        cost REAL NOT NULL,
        checksum INTEGER NOT NULL DEFAULT -1
    ) WITHOUT ROWID""",
    # One pass of a target over a dataset: see rounds.py.
    "rounds": """(
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        run TEXT NOT NULL,
        target TEXT NOT NULL,
        target_after TEXT,
        questions TEXT,
        begun TEXT NOT NULL,
        finished TEXT,
        checksum INTEGER NOT NULL DEFAULT -1
    )""",
}
_TEXTS = {"key", "body", "at", "scope", "run", "target", "target_after", "questions", "begun", "finished"}
_START_AGAIN = "move it away to start again"
#: What SQLite raises. The second is of a damaged schema, which SQLite quotes in a message that is no UTF-8.
SQLITE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
#: What is no damage: a full disk, a file that may not be written.
_NOT_WRITABLE = {
    sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM,
}  # fmt: skip


def _checksum_of(table: str) -> str:
    """The checksum of a row of this table, in SQL. Texts are taken as bytes: damaged ones may be no UTF-8."""
    names = [line.split()[0] for line in _TABLES[table].splitlines()[1:-1]][:-1]
    return f"checksum({', '.join(f'CAST({name} AS BLOB)' if name in _TEXTS else name for name in names)})"


#: The checksum that a row of each table should have.
CHECKSUMS = {table: _checksum_of(table) for table in _TABLES}


def _is_sound(table: str) -> str:
    """Whether a row of this table is what was written, in SQL: its checksum, and the type of every value.

    The checksum alone doesn't see a text in place of a number in a file whose checksums were computed anew.
    """
    conditions = [f"checksum IS {CHECKSUMS[table]}"]
    for line in _TABLES[table].splitlines()[1:-1]:
        name, kind = line.strip(" ,").split()[:2]
        required = "NOT NULL" in line or "PRIMARY KEY" in line
        types = (kind.lower(),) if required else (kind.lower(), "null")
        conditions.append(f"typeof({name}) IN ({', '.join(map(repr, types))})")
    return " AND ".join(conditions)


_SOUND = {table: _is_sound(table) for table in _TABLES}


def checksum(*values: bytes | float | None) -> int:
    """A number that changes if any of the values does."""
    return zlib.crc32(b"\0".join([value if isinstance(value, bytes) else repr(value).encode() for value in values]))


def open_journal(path: Path | None) -> tuple[sqlite3.Connection, set[str]]:
    """Open and lock a journal, in memory if there is no path; returns it and the keys of its replies.

    A new one, and a folder that is made for it, is its owner's only: it has prompts and replies.
    """
    where = ":memory:" if path is None else str(path)
    try:
        is_new = path is None or not path.exists()
        if path is not None and is_new:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # SQLite's other files get the same mode
    except OSError as error:
        raise OutputError(f"can't make {error.filename}: {error.strerror}") from error
    try:
        database = sqlite3.connect(where, timeout=0, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise OutputError(f"can't open the journal {where}: {error}") from error
    try:
        _prepare(database, where, is_new=is_new)
        return database, _check(database, where)
    except SQLITE_ERRORS as error:
        database.close()
        raise explained(error, where) from error
    except BaseException:
        database.close()
        raise


def _prepare(database: sqlite3.Connection, where: str, *, is_new: bool) -> None:
    """Lock the file, check that it is a journal of ours and of this version, and make the tables of a new one."""
    database.create_function("checksum", -1, checksum, deterministic=True)
    database.execute("PRAGMA locking_mode = EXCLUSIVE")
    database.execute("BEGIN EXCLUSIVE")
    tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    application = database.execute("PRAGMA application_id").fetchone()[0]
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if tables and application != _APPLICATION:
        raise InputError("this is not a ragmeter journal", file=where, hint="choose another place for it")
    if tables and version != _VERSION:
        raise InputError(f"the journal has version {version}, and this ragmeter knows {_VERSION}", file=where)
    if not tables and not is_new:
        warnings.warn(f"the journal {where} is empty: everything is asked for", RagmeterWarning, stacklevel=2)
    for table in set(_TABLES) - tables:
        database.execute(f"CREATE TABLE {table} {_TABLES[table]}")
    if version != _VERSION:
        database.execute(f"PRAGMA application_id = {_APPLICATION}")
        database.execute(f"PRAGMA user_version = {_VERSION}")
    database.execute("COMMIT")
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")


def _check(database: sqlite3.Connection, where: str) -> set[str]:
    """The keys of all replies, none of which is damaged."""
    sound = f"SELECT CASE WHEN {_SOUND['replies']} THEN key END FROM replies"  # noqa: S608 - our own
    keys = [key for (key,) in database.execute(sound)]
    damaged = keys.count(None)
    (problem,) = database.execute("PRAGMA integrity_check(1)").fetchone()
    if damaged and problem != "ok" and "PRIMARY KEY" in problem:  # a damaged key is not where it should be
        problem = "ok"
    for table in ("spending", "rounds"):
        if database.execute(f"SELECT 1 FROM {table} WHERE NOT ({_SOUND[table]})").fetchone():  # noqa: S608
            problem = f"a row of {table} is damaged"
    if problem != "ok":
        raise InputError(f"the journal can't be read: {problem}", file=where, hint=_START_AGAIN)
    if damaged:
        _remove_damaged(database)
        warnings.warn(
            f"{where}: damaged replies: {damaged:,} of {len(keys):,}; they are removed, and asked for again",
            RagmeterWarning,
            stacklevel=2,
        )
    return {key for key in keys if key is not None}


def _remove_damaged(database: sqlite3.Connection) -> None:
    """Copy the sound replies to a new table: in the old one, those with a damaged key can't be found by it."""
    database.execute("BEGIN IMMEDIATE")
    database.execute(f"CREATE TABLE sound {_TABLES['replies']}")
    database.execute(f"INSERT INTO sound SELECT * FROM replies WHERE {_SOUND['replies']}")  # noqa: S608
    database.execute("DROP TABLE replies")
    database.execute("ALTER TABLE sound RENAME TO replies")
    database.execute("COMMIT")


def explained(error: sqlite3.Error | UnicodeDecodeError, where: str) -> Exception:
    """An SQLite error as one of ours, with a hint."""
    if isinstance(error, UnicodeDecodeError):
        return InputError("the journal can't be read: its schema is damaged", file=where, hint=_START_AGAIN)
    code: Any = getattr(error, "sqlite_errorcode", None)
    primary = None if code is None else code & 0xFF
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return BusyError(
            f"another process is using the journal {where}",
            hint=f"wait until it has finished, or name another file with {option('journal', of='judge')}",
        )
    if primary in _NOT_WRITABLE:
        return OutputError(
            f"can't write the journal {where}: {error}",
            hint="what was recorded is safe: free some space, and "
            + by_caller("run the same command again", "make the same call again"),
        )
    return InputError(f"the journal can't be read: {error}", file=where, hint=_START_AGAIN)
