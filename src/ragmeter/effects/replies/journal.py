"""A durable record of replies: a call counts once its reply is recorded, and is never made again.

A journal is an SQLite file, locked by one process at a time. Replies are committed in groups: the next group gathers
while one is being written, so that a slow disk costs latency and not throughput. On a fast disk a group gathers for a
moment, since a commit takes as much work as many replies.
"""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from ragmeter.effects.replies.charges import Charges, Spent
from ragmeter.effects.replies.journal_file import CHECKSUMS, SQLITE_ERRORS, checksum, explained, open_journal
from ragmeter.errors import BusyError, OutputError

#: How the keys of a target's answers begin; a judge's are digests.
_ROUND = "round "
_BETWEEN = 0.02  # seconds from the beginning of a commit to that of the next
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


@dataclass(slots=True)
class _Account:
    """What a run has spent, and what its calls under way may cost at most: if this process is killed, they count."""

    calls: int
    cost: float
    under_way: int = 0
    reserved: float = 0.0

    def begin(self, worst: float) -> None:
        self.calls += 1
        self.under_way += 1
        self.reserved += worst

    def end(self, worst: float, cost: float) -> None:
        self.under_way -= 1
        self.reserved = self.reserved - worst if self.under_way else 0.0  # exactly 0: float sums drift
        self.cost += cost

    def total(self) -> Spent:
        return Spent(self.calls, self.cost + self.reserved)


#: Replies by key, and what runs have spent by scope: what is written in one commit.
_Group = tuple[list[tuple[str, Reply]], dict[str, Spent]]


class Journal:
    """Replies by key. Without a path it is in memory only."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.opened = _now()
        self._replies: list[tuple[str, Reply]] = []
        self._accounts: dict[str, _Account] = {}
        self._changed: set[str] = set()  # the scopes whose accounts are not on disk yet
        self._waiting: list[asyncio.Future[None]] = []
        self._committing: asyncio.Task[None] | None = None
        self._next_commit = 0.0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ragmeter-journal")
        self._lock = threading.Lock()
        self._database, self._keys = open_journal(path)
        self._charges = None if path is None else Charges(path)
        try:
            self._take_over_charges()
        except BaseException:
            self._database.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def get(self, key: str) -> Reply | None:
        """The reply under that key, if there is one."""
        if key not in self._keys:
            return None
        rows = self._read(f"SELECT {_FIELDS} FROM replies WHERE key = ?", key)  # noqa: S608 - our own constant
        return Reply(*rows[0]) if rows else None

    def unused_notice(self, keys: Iterable[str], of_cases: int) -> str:
        """Says so if none of the replies is under one of these keys, but for some `of_cases` that a judge is tried on.

        For a journal that is kept for one purpose: of one that many share, most replies are always somebody else's.
        """
        replies = sum(not key.startswith(_ROUND) for key in self._keys)
        wanted = False
        for key in keys if replies > of_cases else ():
            wanted = True
            if key in self._keys:
                return ""
        if not wanted:
            return ""
        begin = f"of the {replies:,} replies in {self.path}, only those about built-in cases are used: the others"
        if not of_cases:
            begin = f"none of the {replies:,} replies in {self.path} is used: they"
        return f"{begin} were given to another prompt, model or setting, or about other texts"

    def spent(self, scope: str) -> Spent:
        """Calls and dollars that a run has used so far. A call under way counts with the most that it can cost."""
        return self._account(scope).total()

    def _take_over_charges(self) -> None:
        """Add what a process that was killed has left: its calls under way count as spent."""
        for scope, spent in ({} if self._charges is None else self._charges.left_behind()).items():
            if spent.calls > self._account(scope).calls:  # otherwise the journal has it, and knows better what it cost
                self._accounts[scope] = _Account(spent.calls, spent.cost)
                self._changed.add(scope)
        if self._changed:
            self._write(self._take())
        if self._charges is not None:
            self._charges.remove()

    def _account(self, scope: str) -> _Account:
        if scope not in self._accounts:
            rows = self._read("SELECT calls, cost FROM spending WHERE scope = ?", scope)
            self._accounts[scope] = _Account(*rows[0]) if rows else _Account(0, 0.0)
        return self._accounts[scope]

    def begin_call(self, scope: str, worst: float, *, limited: bool) -> None:
        """Charge a run with a call that is about to be sent, and with the most that it can cost.

        If the run is `limited`, the charge outlives this process, so that the budget holds even if it is killed.
        Otherwise it is written with the next replies.
        """
        account = self._account(scope)
        account.begin(worst)
        self._changed.add(scope)
        if limited and self._charges is not None:
            self._charges.write(scope, account.total())

    def end_call(self, scope: str, worst: float, cost: float) -> None:
        """Settle a call that has ended; written with the next replies, or when the journal is closed."""
        self._account(scope).end(worst, cost)
        self._changed.add(scope)

    def rounds(self, run: str) -> list[RoundRecord]:
        """The rounds of this run, the last one first: at most one finished round, and those begun after it."""
        fields = "number, target, target_after, questions, begun, finished"
        query = f"SELECT {fields} FROM rounds WHERE run = ? ORDER BY number DESC"  # noqa: S608 - our own
        return [RoundRecord(*record) for record in self._read(query, run)]

    def begin_round(self, run: str, target: str, questions: str | None) -> int:
        """Add a round; its number is new in this file."""
        statement = "INSERT INTO rounds (run, target, questions, begun) VALUES (?, ?, ?, ?)"
        return self._change_round(statement, run, target, questions, _now())

    def reopen_round(self, number: int, questions: str | None) -> None:
        """Mark a round as not finished."""
        statement = "UPDATE rounds SET finished = NULL, questions = ? WHERE number = ?"
        self._change_round(statement, questions, number, number=number)

    def let_go(self, number: int, target: str) -> None:
        """Record the identity of a round's target after it was asked."""
        self._change_round("UPDATE rounds SET target_after = ? WHERE number = ?", target, number, number=number)

    def finish_round(self, number: int) -> None:
        """Mark a round as complete, and delete the run's earlier rounds with their answers."""
        self._change_round("UPDATE rounds SET finished = ? WHERE number = ?", _now(), number, number=number)
        older = "SELECT number FROM rounds WHERE number < ?1 AND run = (SELECT run FROM rounds WHERE number = ?1)"
        for (earlier,) in self._read(older, number):
            with self._transaction():
                self._database.execute("DELETE FROM replies WHERE key LIKE ?", (_of_round(earlier),))
                self._database.execute("DELETE FROM rounds WHERE number = ?", (earlier,))
        self._keys = {key for (key,) in self._read("SELECT key FROM replies")}

    def _change_round(self, statement: str, *values: Any, number: int | None = None) -> int:
        """Change a round, or add one; returns its number."""
        with self._transaction():
            added = self._database.execute(statement, values).lastrowid
            number = int(added or 0) if number is None else number
            seal = f"UPDATE rounds SET checksum = {CHECKSUMS['rounds']} WHERE number = ?"  # noqa: S608 - our own
            self._database.execute(seal, (number,))
        return number

    def round_size(self, number: int) -> int:
        """How many answers a round has."""
        return int(self._read("SELECT count(*) FROM replies WHERE key LIKE ?", _of_round(number))[0][0])

    def round_times(self, number: int) -> tuple[str, str]:
        """When the first and the last answer of a round were recorded, before this process added any."""
        times = self._read(
            "SELECT min(at), max(at) FROM replies WHERE key LIKE ? AND at <= ?", _of_round(number), self.opened
        )[0]
        return (times[0] or self.opened, times[1] or self.opened)

    def forget_before(self, day: str) -> int:
        """Delete a judge's replies that were recorded before this time, and give the disk its space back.

        A system's answers belong to their run, and stay. Returns how many replies were deleted.
        """
        with self._transaction():
            query = "DELETE FROM replies WHERE at < ? AND key NOT LIKE ?"
            deleted = self._database.execute(query, (day, f"{_ROUND}%")).rowcount
        self._keys = {key for (key,) in self._read("SELECT key FROM replies")}
        self._read("VACUUM")
        return deleted

    def older_than(self, day: str) -> int:
        """How many of a judge's replies were recorded before this time."""
        query = "SELECT count(*) FROM replies WHERE at < ? AND key NOT LIKE ?"
        return int(self._read(query, day, f"{_ROUND}%")[0][0])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All of the changes, or none. The thread that writes replies and this one take turns."""
        try:
            with self._lock:
                self._database.execute("BEGIN IMMEDIATE")
                try:
                    yield
                    self._database.execute("COMMIT")
                except BaseException:
                    if self._database.in_transaction:
                        self._database.execute("ROLLBACK")
                    raise
        except SQLITE_ERRORS as error:
            raise explained(error, str(self.path)) from error

    def _read(self, query: str, *values: Any) -> list[Any]:
        try:
            return self._database.execute(query, values).fetchall()
        except SQLITE_ERRORS as error:
            raise explained(error, str(self.path)) from error

    async def record(self, key: str, reply: Reply) -> None:
        """Record a reply; returns when it is on disk."""
        written = asyncio.get_running_loop().create_future()
        self._replies.append((key, reply))
        self._waiting.append(written)
        if self._committing is None:
            self._committing = asyncio.create_task(self._commit())
        await written

    async def _commit(self) -> None:
        """Write group after group until nobody waits."""
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                if (early := self._next_commit - loop.time()) > 0:
                    await asyncio.sleep(early)
                self._next_commit = loop.time() + _BETWEEN
                waiting, self._waiting = self._waiting, []
                group = self._take()
                error: Exception | None = None
                try:
                    await loop.run_in_executor(self._thread, self._write, group)
                except Exception as problem:  # whatever went wrong, the waiting tasks must learn of it
                    error = problem
                    self._put_back(group, replies=isinstance(problem, OutputError))
                else:
                    self._keys.update(key for key, _ in group[0])
                for written in waiting:
                    if written.done():  # the waiting task was cancelled
                        continue
                    if error is None:
                        written.set_result(None)
                    else:
                        written.set_exception(error)
        finally:
            self._committing = None

    def _take(self) -> _Group:
        """Take the records that are to be written."""
        replies, self._replies = self._replies, []
        changed, self._changed = self._changed, set()
        return replies, {scope: self._accounts[scope].total() for scope in changed}

    def _put_back(self, group: _Group, *, replies: bool) -> None:
        """Keep what could not be written for the next commit, and at the latest for the end: it was paid for.

        Replies only if the disk is at fault: one that can't be written at all would stop every commit after it.
        """
        if replies:
            self._replies[:0] = group[0]
        self._changed.update(group[1])

    def _write(self, group: _Group) -> None:
        replies, accounts = group
        now = _now()
        rows = [_row(key, reply, now) for key, reply in replies]
        spending = [
            (scope, spent.calls, spent.cost, checksum(scope.encode(), spent.calls, spent.cost))
            for scope, spent in accounts.items()
        ]
        with self._transaction():
            self._database.executemany("INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
            self._database.executemany("INSERT OR REPLACE INTO spending VALUES (?, ?, ?, ?)", spending)

    def close(self) -> None:
        """Close the file. Replies that are still pending are written first: after a second Ctrl-C, or a full disk."""
        self._thread.shutdown()
        try:
            if self._replies or self._changed:
                self._write_the_rest()
            if self._charges is not None:
                self._charges.remove()
        finally:
            self._database.close()

    def _write_the_rest(self) -> None:
        """Write all that is pending, or on a disk that has no room for all, as many of the replies as it has room for.

        What was spent comes first: a budget must hold.
        """
        replies, spending = self._take()
        try:
            self._write((replies, spending))
        except OutputError:
            self._write(([], spending))
            for reply in sorted(replies, key=lambda reply: len(reply[1].body)):
                self._write(([reply], {}))


@contextmanager
def journal_to_read(path: Path | None) -> Iterator[Journal]:
    """A journal that nothing is recorded in: of one that another process has locked, a copy as it is now."""
    existing = path if path is not None and path.exists() else None
    try:
        journal = Journal(existing)
    except BusyError:
        assert existing is not None  # noqa: S101 - nobody locks what is in memory
        with TemporaryDirectory(prefix="ragmeter-") as folder:
            for file in (existing, existing.with_name(f"{existing.name}-wal")):  # the log has the latest replies
                if file.exists():
                    shutil.copyfile(file, Path(folder) / file.name)
            with Journal(Path(folder) / existing.name) as copy:
                copy.path = existing
                yield copy
        return
    with journal:
        yield journal


def _row(key: str, reply: Reply, now: str) -> tuple[Any, ...]:
    """A row of `replies`, with the types that come back when it is read: its checksum depends on them."""
    cost = None if reply.cost is None or reply.cost != reply.cost else reply.cost + 0.0
    numbers = (reply.prompt_tokens, reply.completion_tokens, cost, reply.latency_ms + 0.0, reply.attempts)
    return key, reply.body, *numbers, now, checksum(key.encode(), reply.body.encode(), *numbers, now.encode())


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def round_key(number: int, digest: str) -> str:
    """The key of an answer; all keys of a round have the same prefix."""
    return f"{_ROUND}{number}: {digest}"


def _of_round(number: int) -> str:
    return round_key(number, "%")
