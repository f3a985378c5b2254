"""What was asked and answered, kept durably: a call counts when it is in here, and is never made again.

A journal is an SQLite file that one process holds at a time. Replies are committed in groups: while one group is being
flushed to the disk the next one gathers, so that a slow disk costs latency and not throughput.
"""

from __future__ import annotations

import asyncio
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from ragmeter.errors import BusyError, InputError, OutputError
from ragmeter.hints import by_caller

_APPLICATION = 0x5241474D  # "RAGM": how we know our own files
_VERSION = 1
_TABLE = """
CREATE TABLE replies (
  key TEXT PRIMARY KEY,
  body TEXT NOT NULL,
  prompt_tokens INTEGER,
  completion_tokens INTEGER,
  cost REAL,
  latency_ms REAL NOT NULL,
  attempts INTEGER NOT NULL,
  at TEXT NOT NULL
) WITHOUT ROWID
"""
#: What the attempts of a run have come to, failed ones included: a budget is the run's, not one command's.
_SPENDING = "CREATE TABLE spending (scope TEXT PRIMARY KEY, calls INTEGER NOT NULL, cost REAL NOT NULL) WITHOUT ROWID"
_CHARGE = """
INSERT INTO spending VALUES (?, ?, ?)
ON CONFLICT (scope) DO UPDATE SET calls = calls + excluded.calls, cost = cost + excluded.cost
"""
_FIELDS = "body, prompt_tokens, completion_tokens, cost, latency_ms, attempts"


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. `cost` is None where the price is not known, tokens where the server did not say."""

    body: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    latency_ms: float = 0.0
    attempts: int = 1


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run has used up so far."""

    calls: int
    cost: float


@dataclass(frozen=True, slots=True)
class _Entry:
    key: str
    reply: Reply
    kept: asyncio.Future[None]


class Journal:
    """Replies by key. With no path it is kept in memory, and is gone with the process."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._pending: list[_Entry] = []
        self._charges: dict[str, Spent] = {}
        self._committing: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ragmeter-journal")
        self._database = self._open()
        try:
            self._keys = {key for (key,) in self._read("SELECT key FROM replies")}
        except InputError:
            self._database.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._keys)

    def _open(self) -> sqlite3.Connection:
        where = ":memory:" if self.path is None else str(self.path)
        if self.path is not None:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise OutputError(f"can't make {self.path.parent}: {error.strerror}") from error
        try:
            database = sqlite3.connect(where, timeout=0, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise OutputError(f"can't open the journal {where}: {error}") from error
        try:
            _prepare(database, where)
        except sqlite3.Error as error:
            database.close()
            raise _explained(error, where) from error
        except BaseException:
            database.close()
            raise
        return database

    def get(self, key: str) -> Reply | None:
        """The reply under that key, if there is one."""
        if key not in self._keys:
            return None
        (found,) = self._read(f"SELECT {_FIELDS} FROM replies WHERE key = ?", key)  # noqa: S608 - our own constant
        return Reply(*found)

    def spent(self, scope: str) -> Spent:
        """What a run has used up so far."""
        found = self._read("SELECT calls, cost FROM spending WHERE scope = ?", scope)
        return Spent(*found[0]) if found else Spent(0, 0.0)

    def charge(self, scope: str, cost: float) -> None:
        """One more call, which has cost this much: written with the next replies, or when the journal is closed."""
        before = self._charges.get(scope, Spent(0, 0.0))
        self._charges[scope] = Spent(before.calls + 1, before.cost + cost)

    def _read(self, query: str, *values: str) -> list[Any]:
        try:
            return self._database.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise _explained(error, str(self.path)) from error

    async def record(self, key: str, reply: Reply) -> None:
        """Keep a reply; returns when it is on the disk."""
        kept = asyncio.get_running_loop().create_future()
        self._pending.append(_Entry(key, reply, kept))
        if self._committing is None:
            self._committing = asyncio.create_task(self._commit())
        await kept

    async def _commit(self) -> None:
        """Write group after group until nothing is waiting."""
        loop = asyncio.get_running_loop()
        try:
            while self._pending:
                group, self._pending = self._pending, []
                charges, self._charges = self._charges, {}
                error: Exception | None = None
                try:
                    await loop.run_in_executor(self._thread, self._write, group, charges)
                except Exception as problem:  # nobody may wait for ever, whatever went wrong
                    error = _explained(problem, str(self.path)) if isinstance(problem, sqlite3.Error) else problem
                for entry in group:
                    if error is None:
                        self._keys.add(entry.key)
                    if entry.kept.done():  # whoever waited was cancelled
                        continue
                    if error is None:
                        entry.kept.set_result(None)
                    else:
                        entry.kept.set_exception(error)
        finally:
            self._committing = None

    def _write(self, group: list[_Entry], charges: dict[str, Spent]) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        rows = [(entry.key, *astuple(entry.reply), now) for entry in group]
        self._database.execute("BEGIN IMMEDIATE")
        try:
            self._database.executemany("INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
            self._database.executemany(_CHARGE, [(scope, each.calls, each.cost) for scope, each in charges.items()])
            self._database.execute("COMMIT")
        except BaseException:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Let go of the file. What was answered and not yet written, because of a second Ctrl-C, is written now."""
        self._thread.shutdown()
        try:
            if self._pending or self._charges:
                self._write(self._pending, self._charges)
        except sqlite3.Error as error:
            raise _explained(error, str(self.path)) from error
        finally:
            self._database.close()


def _prepare(database: sqlite3.Connection, where: str) -> None:
    """Take hold of the file alone, and see that it is a journal of ours."""
    database.execute("PRAGMA locking_mode = EXCLUSIVE")
    database.execute("BEGIN EXCLUSIVE")
    tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    application = database.execute("PRAGMA application_id").fetchone()[0]
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if not tables:
        database.execute(_TABLE)
        database.execute(_SPENDING)
        database.execute(f"PRAGMA application_id = {_APPLICATION}")
        database.execute(f"PRAGMA user_version = {_VERSION}")
    elif application != _APPLICATION:
        raise InputError("this is not a journal of ragmeter's", file=where, hint="choose another place for it")
    elif version != _VERSION:
        raise InputError(f"the journal has version {version}, and this ragmeter knows {_VERSION}", file=where)
    database.execute("COMMIT")
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")


def _explained(error: sqlite3.Error, where: str) -> Exception:
    """SQLite's error in our words."""
    text = str(error)
    if "locked" in text:
        return BusyError(
            f"another process is at work on this run: it holds {where}",
            hint="wait until it has finished, or give this one another place for its output",
        )
    if "not a database" in text or "malformed" in text:
        return InputError(f"the journal can't be read: {text}", file=where, hint="move it away to begin anew")
    return OutputError(
        f"can't write the journal {where}: {text}",
        hint="what was recorded is safe: make room, and "
        + by_caller("run the same command again", "make the same call again"),
    )
