"""How long a run goes on while no call succeeds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

#: Seconds without a success after which a run stops, unless the user says otherwise.
GIVE_UP_AFTER = 300.0


class Patience:
    """Calls `run_out` when every call has failed for so many seconds.

    The time begins with the first failure after a success. Where calls are under way when it is over (`is_calling`),
    the next one that ends decides: a server may be slow without being broken.
    """

    def __init__(self, seconds: float, is_calling: Callable[[], bool], run_out: Callable[[], None]) -> None:
        self.seconds = seconds
        self.last_cause = ""
        self._is_calling = is_calling
        self._run_out = run_out
        self._timer: asyncio.TimerHandle | None = None
        self._is_over = False

    def succeeded(self) -> None:
        """A call has succeeded: all the time is there again."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer, self._is_over = None, False

    def failed(self, cause: str) -> None:
        """A call has failed."""
        self.last_cause = cause
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self.seconds, self._time_is_over)
        elif self._is_over:
            self._run_out()

    def _time_is_over(self) -> None:
        self._is_over = True
        if not self._is_calling():
            self._run_out()
