"""What calls have taken: this process's effort, and the tokens and dollars of replies, whenever they were given."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ragmeter.documents.usage import Effort, Latency, Usage

if TYPE_CHECKING:
    from ragmeter.effects.replies.journal import Reply


#: What a task asks for is counted here too: in the usage of the column that it fills.
_PART: ContextVar[UsageCounter | None] = ContextVar("_PART", default=None)


@dataclass(slots=True)
class EffortCounts:
    """What this process did: replies from the journal, calls made, retries, and calls that failed for good."""

    from_journal: int = 0
    made: int = 0
    retried: int = 0
    failed: int = 0

    def with_latency(self, latency: Latency | None, **more: Any) -> Effort:
        """The counts as they are kept, with the latency of the replies."""
        return Effort(**asdict(self), latency_ms=latency, **more)


class UsageCounter:
    """Tokens, cost and latency of a run's replies, new or from the journal. Each key counts once.

    `price` is the cost of tokens, for replies that were recorded when nobody had said a price.
    """

    def __init__(self, price: Callable[[float, float], float] | None = None) -> None:
        self.price = price
        self._keys: set[str] = set()
        self._costs = array("d")
        self.latencies = array("d")
        self.prompt_tokens = self.completion_tokens = 0
        self.without_tokens = self.without_price = 0

    @contextmanager
    def counting(self, part: UsageCounter | None) -> Iterator[None]:
        """Replies that the tasks in here ask for count in `part` too, whatever other tasks ask for at the same time."""
        before = _PART.set(part)
        try:
            yield
        finally:
            _PART.reset(before)

    def add(self, key: str, reply: Reply) -> None:
        """Count a reply, unless it was counted before."""
        if key in self._keys:
            return
        self._keys.add(key)
        self.latencies.append(reply.latency_ms)
        self.prompt_tokens += reply.prompt_tokens or 0
        self.completion_tokens += reply.completion_tokens or 0
        self.without_tokens += reply.prompt_tokens is None or reply.completion_tokens is None
        cost = self._cost(reply)
        self.without_price += cost is None
        self._costs.append(cost or 0.0)
        part = _PART.get()
        if part is not None and part is not self:
            part.add(key, reply)

    def _cost(self, reply: Reply) -> float | None:
        if reply.cost is not None or self.price is None:
            return reply.cost
        if reply.prompt_tokens is None or reply.completion_tokens is None:
            return None
        return self.price(reply.prompt_tokens, reply.completion_tokens)

    def total(self) -> Usage:
        """Calls, tokens and dollars, independent of the order of calls. Without a price the cost is None."""
        calls = len(self._keys)
        cost = None if calls and self.without_price == calls else math.fsum(self._costs)
        tokens = self.prompt_tokens, self.completion_tokens
        return Usage(calls, *tokens, self.without_tokens, self.without_price, cost)

    def latency(self) -> Latency | None:
        """Percentiles of the calls' milliseconds."""
        if not self.latencies:
            return None
        ordered = sorted(self.latencies)
        last = len(ordered) - 1
        p50, p95, p99 = (round(ordered[round(last * p / 100)], 1) for p in (50, 95, 99))
        return Latency(p50, p95, p99, round(ordered[-1], 1))
