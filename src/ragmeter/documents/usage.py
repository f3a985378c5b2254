"""What calls to a model, or to a system, have taken."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ragmeter.documents.record import UNSET, Count, Record, UnsetType


class Usage(Record, frozen=True):
    """What replies have taken, whenever they were given: the same for the same replies, whichever was first."""

    calls: Count  # those with a reply
    prompt_tokens: Count
    completion_tokens: Count
    calls_without_token_counts: Count  # the server has not counted the tokens
    calls_without_price: Count
    cost_usd: float | None  # None where no call has a price
    charged_usd: float | UnsetType | None = UNSET  # to the budget, where there is one


def total_usage(usages: Iterable[Usage]) -> Usage:
    """The sum of several usages."""
    added = list(usages)
    calls = sum(usage.calls for usage in added)
    without_price = sum(usage.calls_without_price for usage in added)
    cost = math.fsum(usage.cost_usd or 0.0 for usage in added) if not calls or without_price < calls else None
    return Usage(
        calls,
        sum(usage.prompt_tokens for usage in added),
        sum(usage.completion_tokens for usage in added),
        sum(usage.calls_without_token_counts for usage in added),
        without_price,
        cost,
    )


class Latency(Record, frozen=True):
    """Percentiles of the milliseconds of calls."""

    p50: float
    p95: float
    p99: float
    max: float


class Effort(Record, frozen=True):
    """What the process that made a run did to have its replies."""

    from_journal: Count
    made: Count  # calls, those that failed among them
    retried: Count
    failed: Count  # for good
    latency_ms: Latency | None  # None where there was no reply
    parameters_the_server_refused: list[str] | UnsetType = UNSET  # of a judge
    journal_notice: str | UnsetType = UNSET  # why nothing of the judge's journal was used
    workers: Count | UnsetType = UNSET  # of a judge: how many calls were made at the same time


class Calls(Record, frozen=True):
    """What the calls of one command to a judge have taken."""

    usage: Usage
    effort: Effort
