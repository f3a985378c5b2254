"""A durable record of replies: a call counts once its reply is recorded, and is never made again.

A journal is an SQLite file, locked by one process at a time. Replies are committed in groups: the next group gathers
while one is being written, so that a slow disk costs latency and not throughput.
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

_APPLICATION = 0x5241474D  # "RAGM": marks our files
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
#: Calls and cost of all attempts of a run, failed ones included: a budget is for the run, not for one command.
_SPENDING = "CREATE TABLE spending (scope TEXT PRIMARY KEY, calls INTEGER NOT NULL, cost REAL NOT NULL) WITHOUT ROWID"
#: One pass of a target over a dataset: see rounds.py.
_ROUNDS = """
CREATE TABLE IF NOT EXISTS rounds (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  run TEXT NOT NULL,
  target TEXT NOT NULL,
  target_after TEXT,
  questions TEXT,
  begun TEXT NOT NULL,
  finished TEXT
)
"""
_CHARGE = """
INSERT INTO spending VALUES (?, ?, ?)
ON CONFLICT (scope) DO UPDATE SET calls = calls + excluded.calls, cost = cost + excluded.cost
"""
_FIELDS = "body, prompt_tokens, completion_tokens, cost, latency_ms, attempts"


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply. `cost` is None where the price is not known, tokens where the server did not report them."""

    body: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    latency_ms: float = 0.0
    attempts: int = 1


@dataclass(frozen=True, slots=True)
class Spent:
    """Calls and dollars that a run has used so far."""

    calls: int
    cost: float


@dataclass(frozen=True, slots=True)
class RoundRecord:
    """A recorded round: its target as JSON, a digest of its questions, and when it began and ended.

    `target_after` is the target after it was last asked: asking may have changed its state.
    """

    number: int
    target: str
    target_after: str | None
    questions: str | None
    begun: str
    finished: str | None


@dataclass(frozen=True, slots=True)
class _Entry:
    key: str
    reply: Reply
    written: asyncio.Future[None]


class Journal:
    """Replies by key. Without a path it is in memory only."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.opened = _now()
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

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def get(self, key: str) -> Reply | None:
        """The reply under that key, if there is one."""
        if key not in self._keys:
            return None
        (row,) = self._read(f"SELECT {_FIELDS} FROM replies WHERE key = ?", key)  # noqa: S608 - our own constant
        return Reply(*row)

    def spent(self, scope: str) -> Spent:
        """Calls and dollars that a run has used so far."""
        rows = self._read("SELECT calls, cost FROM spending WHERE scope = ?", scope)
        return Spent(*rows[0]) if rows else Spent(0, 0.0)

    def charge(self, scope: str, cost: float) -> None:
        """Add one call and its cost; written with the next replies, or when the journal is closed."""
        before = self._charges.get(scope, Spent(0, 0.0))
        self._charges[scope] = Spent(before.calls + 1, before.cost + cost)

    def rounds(self, run: str) -> list[RoundRecord]:
        """The rounds of this run, the last one first: at most one finished round, and those begun after it."""
        fields = "number, target, target_after, questions, begun, finished"
        query = f"SELECT {fields} FROM rounds WHERE run = ? ORDER BY number DESC"  # noqa: S608 - our own
        return [RoundRecord(*record) for record in self._read(query, run)]

    def begin_round(self, run: str, target: str, questions: str | None) -> int:
        """Add a round; its number is new in this file."""
        values = (run, target, questions, _now())
        return self._change("INSERT INTO rounds (run, target, questions, begun) VALUES (?, ?, ?, ?)", *values)

    def reopen_round(self, number: int, questions: str | None) -> None:
        """Mark a round as not finished."""
        self._change("UPDATE rounds SET finished = NULL, questions = ? WHERE number = ?", questions, number)

    def let_go(self, number: int, target: str) -> None:
        """Record the identity of a round's target after it was asked."""
        self._change("UPDATE rounds SET target_after = ? WHERE number = ?", target, number)

    def finish_round(self, number: int) -> None:
        """Mark a round as complete, and delete the run's earlier rounds with their answers."""
        self._change("UPDATE rounds SET finished = ? WHERE number = ?", _now(), number)
        older = "SELECT number FROM rounds WHERE number < ?1 AND run = (SELECT run FROM rounds WHERE number = ?1)"
        for (earlier,) in self._read(older, number):
            self._change("DELETE FROM replies WHERE key LIKE ?", _of_round(earlier))
            self._change("DELETE FROM rounds WHERE number = ?", earlier)
        self._keys = {key for (key,) in self._read("SELECT key FROM replies")}

    def round_size(self, number: int) -> int:
        """How many answers a round has."""
        return int(self._read("SELECT count(*) FROM replies WHERE key LIKE ?", _of_round(number))[0][0])

    def round_times(self, number: int) -> tuple[str, str]:
        """When the first and the last answer of a round were recorded, before this process added any."""
        times = self._read(
            "SELECT min(at), max(at) FROM replies WHERE key LIKE ? AND at <= ?", _of_round(number), self.opened
        )[0]
        return (times[0] or self.opened, times[1] or self.opened)

    def _change(self, statement: str, *values: Any) -> int:
        try:
            return int(self._database.execute(statement, values).lastrowid or 0)
        except sqlite3.Error as error:
            raise _explained(error, str(self.path)) from error

    def _read(self, query: str, *values: Any) -> list[Any]:
        try:
            return self._database.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise _explained(error, str(self.path)) from error

    async def record(self, key: str, reply: Reply) -> None:
        """Record a reply; returns when it is on disk."""
        written = asyncio.get_running_loop().create_future()
        self._pending.append(_Entry(key, reply, written))
        if self._committing is None:
            self._committing = asyncio.create_task(self._commit())
        await written

    async def _commit(self) -> None:
        """Write group after group until none is pending."""
        loop = asyncio.get_running_loop()
        try:
            while self._pending:
                group, self._pending = self._pending, []
                charges, self._charges = self._charges, {}
                error: Exception | None = None
                try:
                    await loop.run_in_executor(self._thread, self._write, group, charges)
                except Exception as problem:  # whatever went wrong, the waiting tasks must learn of it
                    error = _explained(problem, str(self.path)) if isinstance(problem, sqlite3.Error) else problem
                for entry in group:
                    if error is None:
                        self._keys.add(entry.key)
                    if entry.written.done():  # the waiting task was cancelled
                        continue
                    if error is None:
                        entry.written.set_result(None)
                    else:
                        entry.written.set_exception(error)
        finally:
            self._committing = None

    def _write(self, group: list[_Entry], charges: dict[str, Spent]) -> None:
        now = _now()
        rows = [(entry.key, *astuple(entry.reply), now) for entry in group]
        self._database.execute("BEGIN IMMEDIATE")
        try:
            self._database.executemany("INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
            self._database.executemany(_CHARGE, [(scope, spent.calls, spent.cost) for scope, spent in charges.items()])
            self._database.execute("COMMIT")
        except BaseException:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Close the file. Replies that are still pending, after a second Ctrl-C, are written first."""
        self._thread.shutdown()
        try:
            if self._pending or self._charges:
                self._write(self._pending, self._charges)
        except sqlite3.Error as error:
            raise _explained(error, str(self.path)) from error
        finally:
            self._database.close()


def _prepare(database: sqlite3.Connection, where: str) -> None:
    """Lock the file, and check that it is a journal of ours."""
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
        raise InputError("this is not a ragmeter journal", file=where, hint="choose another place for it")
    elif version != _VERSION:
        raise InputError(f"the journal has version {version}, and this ragmeter knows {_VERSION}", file=where)
    database.execute(_ROUNDS)
    database.execute("COMMIT")
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def round_key(number: int, digest: str) -> str:
    """The key of an answer; all keys of a round have the same prefix."""
    return f"round {number}: {digest}"


def _of_round(number: int) -> str:
    return round_key(number, "%")


def _explained(error: sqlite3.Error, where: str) -> Exception:
    """An SQLite error as one of ours, with a hint."""
    text = str(error)
    if "locked" in text:
        return BusyError(
            f"another process is working on this run: it has locked {where}",
            hint="wait until it has finished, or choose another folder for this output",
        )
    if "not a database" in text or "malformed" in text:
        return InputError(f"the journal can't be read: {text}", file=where, hint="move it away to start again")
    return OutputError(
        f"can't write the journal {where}: {text}",
        hint="what was recorded is safe: free some space, and "
        + by_caller("run the same command again", "make the same call again"),
    )
