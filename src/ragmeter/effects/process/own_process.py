"""What a process is told at its start that is ours alone: the command, and the workers that we start on this machine.

A program that imports ragmeter decides about its own memory and imports, and so do the workers of somebody's cluster.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

#: Parameters of mallopt(), from malloc.h, with their values: what is below 1 GiB comes from the heap, of which 1 GiB
#: may be free, and which grows by 64 MiB; all threads share it.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -2, -3, -8
_SETTINGS = {_MMAP_THRESHOLD: 1 << 30, _TRIM_THRESHOLD: 1 << 30, _TOP_PAD: 64 << 20, _ARENA_MAX: 1}
_POOL = "ARROW_DEFAULT_MEMORY_POOL"


def set_up_own_process() -> None:
    """Keep freed memory, and leave pandas alone; before Arrow is imported."""
    _keep_freed_memory()
    _avoid_pandas()


def _keep_freed_memory() -> None:
    """Have the C library keep the memory that arrays free for the next ones, and Arrow use it too.

    glibc gives the memory of a large array back to the system, and every page of the next one has to be mapped and
    cleared again: that was a fifth of the time of scoring texts. With another C library nothing changes.
    """
    if not sys.platform.startswith("linux") or any(name.startswith("MALLOC_") for name in os.environ):
        return
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:  # another C library
        return
    if all(mallopt(parameter, value) for parameter, value in _SETTINGS.items()):
        os.environ.setdefault(_POOL, "system")


class _NoPandas:
    """An import finder that hides pandas."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name == "pandas":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def _avoid_pandas() -> None:
    """Keep Arrow from importing pandas, which takes longer than most commands.

    If pandas is installed, Arrow imports it on its first conversion of a list, to check whether that is a Series; we
    have none. Arrow checks only once, so we trigger the check while pandas is hidden. A plugin of the user's can still
    import pandas later, and Arrow still converts to frames for it.
    """
    if "pandas" in sys.modules:
        return
    import pyarrow

    no_pandas = _NoPandas()
    sys.meta_path.insert(0, no_pandas)
    try:
        pyarrow.array([])
    finally:
        sys.meta_path.remove(no_pandas)
