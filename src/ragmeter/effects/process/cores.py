"""How many cores there are."""

from __future__ import annotations

import os

#: The share of a worker beside which others work.
_share: int | None = None


def available_cores() -> int:
    """How many cores this process may use."""
    if _share is not None:
        return _share
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def share_cores(cores: int) -> None:
    """Have this process, a worker, use no more than so many."""
    global _share
    _share = cores
