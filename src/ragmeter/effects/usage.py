"""What calls have taken: this process's effort, and the tokens and dollars of replies, whenever they were given."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from ragmeter.effects.journal import Reply

_COUNTS = ("calls", "prompt_tokens", "completion_tokens", "calls_without_token_counts", "calls_without_price")


#: What a task asks for is counted here too: in the usage of the column that it fills.
_PART: ContextVar[Usage | None] = ContextVar("_PART", default=None)


@dataclass(slots=True)
class Effort:
    """What this process did: replies from the journal, calls made, retries, and calls that failed for good."""

    from_journal: int = 0
    made: int = 0
    retried: int = 0
    failed: int = 0


class Usage:
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
    def counting(self, part: Usage | None) -> Iterator[None]:
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

    def as_dict(self) -> dict[str, Any]:
        """Calls, tokens and dollars, independent of the order of calls. Without a price the cost is None."""
        calls = len(self._keys)
        counts = (calls, self.prompt_tokens, self.completion_tokens, self.without_tokens, self.without_price)
        cost = None if calls and self.without_price == calls else math.fsum(self._costs)
        return {**dict(zip(_COUNTS, counts, strict=True)), "cost_usd": cost}

    def latency(self) -> dict[str, float] | None:
        """Percentiles of the calls' milliseconds."""
        if not self.latencies:
            return None
        ordered = sorted(self.latencies)
        last = len(ordered) - 1
        return {f"p{p}": round(ordered[round(last * p / 100)], 1) for p in (50, 95, 99)} | {
            "max": round(ordered[-1], 1)
        }


def total_usage(usages: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The sum of several usages."""
    total: dict[str, Any] = dict.fromkeys(_COUNTS, 0)
    costs: list[float] = []
    for usage in usages:
        for name in _COUNTS:
            total[name] += usage[name]
        costs.append(usage["cost_usd"] or 0.0)
    is_known = not total["calls"] or total["calls_without_price"] < total["calls"]
    return {**total, "cost_usd": math.fsum(costs) if is_known else None}
