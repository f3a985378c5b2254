"""How many calls are under way at once, and how long to wait before a retry; both adapt to the server."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

#: The longest pause that a server's Retry-After can ask for, in seconds.
LONGEST_PAUSE = 60.0
#: Slots at the start, and the seconds after which one more opens.
_AT_FIRST, _EVERY = 8, 0.0008


class Pace:
    """A semaphore whose number of slots adapts: one more per round of successes, half as many after an overload.

    At the start, slots open one after another up to `most`: calls that all begin at once also end at once, and would go
    on in waves. A pause that a server asks for applies to all calls.
    """

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        self.limit = float(min(most, _AT_FIRST))
        self._opening: asyncio.TimerHandle | None = None
        self.inside = 0
        self.closed = False
        self._clock = clock
        self._cut_at = -math.inf
        self._too_long = math.inf  # the shortest time after which a call was given up
        self._open_at = -math.inf
        self._waiting: deque[asyncio.Future[bool]] = deque()

    async def enter(self) -> bool:
        """Wait for a slot, first come first served; False once closed."""
        if self._opening is None:
            self._open_next()
        if self.closed:
            return False
        if not self._waiting and self._free():
            self.inside += 1
            return True
        turn: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.result():
                self.leave()  # the slot was assigned just before the cancellation
            raise

    def _free(self) -> bool:
        return self._clock() >= self._open_at and self.inside < int(self.limit)

    def _open_next(self) -> None:
        if self._cut_at == -math.inf and not self.closed and self.limit < self.most:
            self._opening = asyncio.get_running_loop().call_later(_EVERY, self._open_next)
            self.limit = min(float(self.most), self.limit + 1)
            self._admit()

    def leave(self) -> None:
        """Free a slot, for the next that waits."""
        self.inside -= 1
        self._admit()

    def went_well(self, started: float) -> None:
        """Additive increase: about one slot more for each round of calls.

        Not for a reply that took as long as what was given up elsewhere: with more calls the server's queue would be
        longer still.
        """
        if self._clock() - started < self._too_long:
            self.limit = min(float(self.most), self.limit + 1 / self.limit)

    def too_much(self, started: float) -> None:
        """Multiplicative decrease, once for all the calls that were under way when it was noticed."""
        if started > self._cut_at:
            self.limit = max(1.0, self.limit / 2)
            self._cut_at = self._clock()

    def timed_out(self, started: float) -> None:
        """Decrease the calls under way after a time-out: a server may work on fewer calls at once than it is sent."""
        self._too_long = min(self._too_long, self._clock() - started)
        self.too_much(started)

    def pause(self, seconds: float) -> None:
        """Begin no call for so many seconds."""
        until = self._clock() + seconds
        if until > self._open_at:
            self._open_at = until
            asyncio.get_running_loop().call_later(seconds + 0.001, self._admit)

    def now(self) -> float:
        """The clock's time, at which a call starts."""
        return self._clock()

    def close(self) -> None:
        """Begin no further calls."""
        self.closed = True
        self._admit()

    def _admit(self) -> None:
        while self._waiting and (self.closed or self._free()):
            turn = self._waiting.popleft()
            if not turn.done():
                self.inside += not self.closed
                turn.set_result(not self.closed)


@dataclass(frozen=True)
class Retries:
    """How often to retry, and how long to wait before: full jitter, so that retries don't come in step.

    `refusals` of a busy server are retried more often than `failures`.
    """

    failures: int = 3
    refusals: int = 20
    base: float = 0.5
    cap: float = 30.0

    @classmethod
    def of(cls, failures: int) -> Retries:
        """Settings for so many retries after failures; after refusals the default, or none if `failures` is 0."""
        return cls(failures=failures, refusals=20 if failures else 0)

    def wait(self, attempt: int) -> float:
        """Seconds before attempt number `attempt` + 1."""
        return random.uniform(0, min(self.cap, self.base * 2 ** min(attempt, 30)))  # noqa: S311 - not a secret


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """The seconds in a `Retry-After` header, given in seconds or as a date: bounded, None if it can't be read."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            when = parsedate_to_datetime(value)
        except (ValueError, TypeError, OverflowError):
            return None
        seconds = (when.replace(tzinfo=when.tzinfo or UTC) - (now or datetime.now(UTC))).total_seconds()
    return None if math.isnan(seconds) else min(max(seconds, 0.0), LONGEST_PAUSE)
