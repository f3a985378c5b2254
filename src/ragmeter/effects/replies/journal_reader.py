"""Look up recorded replies without locking their journal: a run may be writing to it at the same time.

What a process has not moved from its write-ahead log into the file yet is not seen.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from ragmeter.effects.replies.journal import Reply
from ragmeter.effects.replies.journal_file import SQLITE_ERRORS, checksum, explained


@dataclass(frozen=True, slots=True)
class RecordedReply:
    """A reply, and when it was recorded."""

    reply: Reply
    at: str


class RecordedReplies:
    """The replies of a journal's file, to be read only."""

    def __init__(self, path: Path) -> None:
        self._path = path
        address = f"{path.resolve().as_uri()}?immutable=1"  # read without a lock, which would stop a run from starting
        try:
            self._database = sqlite3.connect(address, uri=True)
        except SQLITE_ERRORS as error:
            raise explained(error, str(path)) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self._database.close()

    def get(self, key: str) -> RecordedReply | None:
        """The reply under this key. A damaged one counts as missing."""
        fields = "body, prompt_tokens, completion_tokens, cost, latency_ms, attempts, at, checksum"
        for *numbers, at, expected in self._read(f"SELECT {fields} FROM replies WHERE key = ?", key):  # noqa: S608
            body, *rest = numbers
            if checksum(key.encode(), body.encode(), *rest, at.encode()) == expected:
                return RecordedReply(Reply(body, *rest), at)
        return None

    def round_of(self, run: str) -> int | None:
        """The number of the run's last finished round of answers."""
        query = "SELECT max(number) FROM rounds WHERE run = ? AND finished IS NOT NULL"
        return next((number for (number,) in self._read(query, run)), None)

    def _read(self, query: str, value: str) -> list[Any]:
        try:
            rows: list[Any] = self._database.execute(query, (value,)).fetchall()
        except SQLITE_ERRORS as error:  # of another version, or changed while it was read
            raise explained(error, str(self._path)) from error
        return rows
