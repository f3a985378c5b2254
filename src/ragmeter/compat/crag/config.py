"""The constants of the CRAG-MM evaluation. `MAX_BATCH_SIZE` may be set in the environment."""

from __future__ import annotations

import os

from ragmeter.errors import UsageError
from ragmeter.judges.judge import DEFAULT_EVAL_MODEL as DEFAULT_EVAL_MODEL
from ragmeter.judges.judge import MAX_API_RETRIES as MAX_API_RETRIES
from ragmeter.judges.judge import MAX_EVAL_TOKENS as MAX_EVAL_TOKENS

DEFAULT_NUM_WORKERS = 1
MIN_BATCH_SIZE = 1
MAX_RESPONSE_LENGTH_IN_TOKENS = 75


def max_batch_size() -> int:
    """The greatest batch size, as the environment says at the moment."""
    given = os.environ.get("MAX_BATCH_SIZE", "").strip() or "16"
    if not given.isdecimal() or int(given) < MIN_BATCH_SIZE:
        raise UsageError(f"MAX_BATCH_SIZE is {given!r}", hint=f"set it to a whole number from {MIN_BATCH_SIZE} up")
    return int(given)


def __getattr__(name: str) -> int:
    """`MAX_BATCH_SIZE` reads the environment when it is asked for, not when this module is imported."""
    if name == "MAX_BATCH_SIZE":
        return max_batch_size()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def batch_size(wanted: int) -> int:
    """An agent's batch size, clipped to the limits."""
    return max(MIN_BATCH_SIZE, min(int(wanted), max_batch_size()))
