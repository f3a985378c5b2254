"""Lets the C library keep the memory that arrays free, for the next ones.

glibc gives the memory of a large array back to the system, and every page of the next one has to be mapped and cleared
again: that was a fifth of the time of scoring texts. Only the command does this; a program that imports ragmeter
decides about its own memory.
"""

from __future__ import annotations

import os
import sys

#: Parameters of mallopt(), from malloc.h, with their values: what is below 1 GiB comes from the heap, of which 1 GiB
#: may be free, and which grows by 64 MiB; all threads share it.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -2, -3, -8
_SETTINGS = {_MMAP_THRESHOLD: 1 << 30, _TRIM_THRESHOLD: 1 << 30, _TOP_PAD: 64 << 20, _ARENA_MAX: 1}
_POOL = "ARROW_DEFAULT_MEMORY_POOL"


def keep_freed_memory() -> None:
    """Tell glibc, and have Arrow use it too; before Arrow is imported. Elsewhere nothing changes."""
    if not sys.platform.startswith("linux") or any(name.startswith("MALLOC_") for name in os.environ):
        return
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:  # another C library
        return
    if all(mallopt(parameter, value) for parameter, value in _SETTINGS.items()):
        os.environ.setdefault(_POOL, "system")
