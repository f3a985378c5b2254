"""Limits on calls and dollars."""

from __future__ import annotations

import asyncio


class Budget:
    """Lets a call begin only if the limits hold even if every call under way costs its maximum."""

    def __init__(self, dollars: float | None = None, calls: int | None = None) -> None:
        self.dollars = dollars
        self.calls = calls
        self.spent = 0.0
        self.made = 0
        self._reserved = 0.0
        self._open = 0
        self._closed = False
        self._settled = asyncio.Event()

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit at all."""
        return self.dollars is not None or self.calls is not None

    async def reserve(self, worst: float) -> bool:
        """Reserve the maximum cost of a call; False if not enough is left even after all calls under way have ended."""
        while not self._closed and (self.calls is None or self.made < self.calls):
            if self.dollars is None or self.spent + self._reserved + worst <= self.dollars:
                self._reserved += worst
                self._open += 1
                self.made += 1
                return True
            if not self._open:
                return False
            self._settled.clear()
            await self._settled.wait()
        return False

    def allows(self, calls: int, dollars: float) -> bool:
        """Whether so many more calls, of so many dollars in all, are within what is left."""
        return (self.calls is None or self.made + calls <= self.calls) and (
            self.dollars is None or self.spent + self._reserved + dollars <= self.dollars
        )

    def reason(self) -> str:
        """The reason why no further call may begin."""
        if self.calls is not None and self.made >= self.calls:
            return f"the limit of {self.calls:,} {'call' if self.calls == 1 else 'calls'} was reached"
        return "what is left of the budget is less than one call may cost"

    def release(self, worst: float) -> None:
        """Undo the reservation of a call that did not begin."""
        self.made -= 1
        self.settle(worst, 0.0)

    def close(self) -> None:
        """Refuse calls from now on, also those that wait for budget."""
        self._closed = True
        self._settled.set()

    def settle(self, worst: float, actual: float) -> None:
        """Replace the reservation of a call that has ended by its actual cost."""
        self._open -= 1
        self._reserved = self._reserved - worst if self._open else 0.0  # exactly 0: float sums drift
        self.spent += actual
        self._settled.set()
