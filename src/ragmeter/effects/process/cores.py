"""How many cores there are."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

#: What a container may use: microseconds of CPU in so many of the clock, or `max`.
_QUOTA = Path("/sys/fs/cgroup/cpu.max")
#: The share of a worker beside which others work.
_share: int | None = None


def available_cores() -> int:
    """How many cores this process may use."""
    if _share is not None:
        return _share
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with suppress(OSError, ValueError):  # another system, or no limit
        quota, period = map(int, _QUOTA.read_text().split())
        cores = min(cores, max(1, -(-quota // period)))
    return cores


def share_cores(cores: int) -> None:
    """Have this process, a worker, use no more than so many."""
    global _share
    _share = cores
