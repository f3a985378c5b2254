"""What may still be spent."""

from __future__ import annotations

import asyncio


class Budget:
    """Lets a call begin only if the limits hold even should everything under way cost the most that it can."""

    def __init__(self, dollars: float | None = None, calls: int | None = None) -> None:
        self.dollars = dollars
        self.calls = calls
        self.spent = 0.0
        self.made = 0
        self._reserved = 0.0
        self._open = 0
        self._closed = False
        self._settled = asyncio.Event()

    async def reserve(self, worst: float) -> bool:
        """Set the worst case aside; False if there is not enough left, whatever the calls under way will cost."""
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

    def reason(self) -> str:
        """Why there is nothing left."""
        if self.calls is not None and self.made >= self.calls:
            return f"the limit of {self.calls:,} calls was reached"
        return "what is left of the budget is less than one call may cost"

    def release(self, worst: float) -> None:
        """A call that was to begin did not."""
        self.made -= 1
        self.settle(worst, 0.0)

    def close(self) -> None:
        """Let nobody wait any more."""
        self._closed = True
        self._settled.set()

    def settle(self, worst: float, actual: float) -> None:
        """A call has come to its end and has cost this much."""
        self._open -= 1
        self._reserved = self._reserved - worst if self._open else 0.0  # sums of floats: nothing is nothing
        self.spent += actual
        self._settled.set()
