"""The constants of the CRAG-MM evaluation. `MAX_BATCH_SIZE` may be set in the environment."""

from __future__ import annotations

import os

from ragmeter.errors import UsageError
from ragmeter.judges.asking.judge import DEFAULT_EVAL_MODEL as DEFAULT_EVAL_MODEL
from ragmeter.judges.asking.judge import MAX_API_RETRIES as MAX_API_RETRIES
from ragmeter.judges.asking.judge import MAX_EVAL_TOKENS as MAX_EVAL_TOKENS

DEFAULT_NUM_WORKERS = 1
MIN_BATCH_SIZE = 1
MAX_RESPONSE_LENGTH_IN_TOKENS = 75


def max_batch_size() -> int:
    """The greatest batch size: the environment variable MAX_BATCH_SIZE, or 16."""
    value = os.environ.get("MAX_BATCH_SIZE", "").strip() or "16"
    if not value.isdecimal() or int(value) < MIN_BATCH_SIZE:
        raise UsageError(f"MAX_BATCH_SIZE must be a whole number from {MIN_BATCH_SIZE} up, got {value!r}")
    return int(value)


def __getattr__(name: str) -> int:
    """`MAX_BATCH_SIZE` is read from the environment on access, not when this module is imported."""
    if name == "MAX_BATCH_SIZE":
        return max_batch_size()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def batch_size(requested: int) -> int:
    """An agent's batch size, clipped to the limits."""
    return max(MIN_BATCH_SIZE, min(int(requested), max_batch_size()))
