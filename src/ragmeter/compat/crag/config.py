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


def _from_environment() -> int:
    given = os.environ.get("MAX_BATCH_SIZE", "").strip() or "16"
    if not given.isdecimal() or int(given) < MIN_BATCH_SIZE:
        raise UsageError(f"MAX_BATCH_SIZE is {given!r}", hint=f"set it to a whole number from {MIN_BATCH_SIZE} up")
    return int(given)


MAX_BATCH_SIZE = _from_environment()


def batch_size(wanted: int) -> int:
    """An agent's batch size, clipped to the limits."""
    return max(MIN_BATCH_SIZE, min(int(wanted), MAX_BATCH_SIZE))
